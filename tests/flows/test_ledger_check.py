"""A ledger compared with the releases that it paid for."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import SCHEMA, people, release, scumble
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from scumble.errors import CheckError
from scumble.flows.ledger_check import check_ledger
from scumble.privacy.ledger import Ledger


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a signed release, `out`, that `ledger.db` paid for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(50))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "key.pem").touch(0o600)
    (tmp_path / "key.pem").write_bytes(key)
    assert release(detail="no", sign="key.pem").code == 0
    return tmp_path


def test_a_release_is_found_in_the_ledger_that_paid_for_it(folder: Path) -> None:
    ended = scumble("ledger", "verify", "--release", "out")
    assert ended.code == 0
    assert ended.out.splitlines()[-1].endswith("and recorded there as published, with its signature")


def test_the_signature_is_recorded_in_the_ledger(folder: Path) -> None:
    shown = scumble("ledger", "show", "--json").json
    settled = shown["datasets"][0]["entries"][-1]
    signature = json.loads((folder / "out" / "signature.json").read_text())
    assert settled["kind"] == "settle"
    assert {name: settled[name] for name in ("signature", "public_key")} == {
        name: signature[name] for name in ("signature", "public_key")
    }
    assert "signed release published" in scumble("ledger", "show").out


def rewrite(name: str, change: Callable[[dict[str, object]], None]) -> Callable[[Path], None]:
    def rewritten(folder: Path) -> None:
        document = json.loads((folder / name).read_text())
        change(document)
        (folder / name).write_text(json.dumps(document))

    return rewritten


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (rewrite("release.json", lambda it: it.update(receipt={})), "states no receipt"),
        (rewrite("release.json", lambda it: it.update(receipt={"entry": "ab" * 32})), "has no entry abababababab"),
        (rewrite("release.json", lambda it: it["receipt"].update(charged="0.1")), "states another charge"),  # type: ignore[attr-defined]
        (rewrite("release.json", lambda it: it.update(method="other")), "paid for another release"),
        (rewrite("signature.json", lambda it: it.update(signature="00")), "not the signature that the ledger"),
        (rewrite("signature.json", dict.clear), "cannot be read"),
        (lambda out: (out / "signature.json").unlink(), "not the signature that the ledger"),
    ],
)
def test_a_release_that_differs_from_the_ledger_is_found(
    folder: Path, change: Callable[[Path], None], says: str
) -> None:
    shutil.copytree(folder / "out", folder / "changed")
    change(folder / "changed")
    with Ledger.open() as ledger:
        assert len(check_ledger(ledger, [folder / "out"])) == 3
        with pytest.raises(CheckError, match=says):
            check_ledger(ledger, [folder / "out", folder / "changed"])


def test_a_ledger_made_from_scratch_lacks_the_release(folder: Path) -> None:
    for path in folder.glob("ledger.db*"):
        path.unlink()
    assert scumble("ledger", "verify").code == 4
    declared = ("ledger", "verify", "--new-ledger", "--reason", "lost")
    assert scumble(*declared).code == 0
    ended = scumble("ledger", "verify", "--release", "out")
    assert (ended.code, "or it lost entries" in ended.error) == (4, True)


def test_a_release_without_its_settlement_is_said_to_be_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "settle", lambda *arguments, **named: None)
    assert release(detail="no", dataset="other", ledger="other.db", out="again").code == 0
    ended = scumble("ledger", "verify", "--ledger", "other.db", "--release", "again")
    assert (ended.code, "before the ledger recorded the release" in ended.out) == (0, True)
