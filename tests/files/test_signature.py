"""Signatures: made with a private key of mode 0600, checked with a public key, refused if anything differs."""

import shutil
from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hostile_folders import DEEP, in_document, linked, reseal, stated, text

from scumble.errors import CheckError, InputError
from scumble.files.signature import read_public_key, read_signing_key
from scumble.flows.release import release, verify


def write_key(path: Path, key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> None:
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    path.with_suffix(".pub").write_bytes(public)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(people(100), encoding="utf-8")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    for name in ("key.pem", "other.pem"):
        write_key(folder / name, ed25519.Ed25519PrivateKey.generate())
    words = ["release", folder / "people.csv", "--schema", folder / "schema.yaml", "--epsilon", "1"]
    ended = scumble(*words, "--out", folder / "out", "--ledger", folder / "l.db", "--sign", folder / "key.pem")
    assert ended.code == 0, ended.err
    return folder


def test_a_signed_release_is_verified_with_the_public_key(made: Path) -> None:
    assert "the release was signed with the given key" in verify(made / "out", signed_by=made / "key.pub")
    assert any("compare its key" in check for check in verify(made / "out"))
    ended = scumble("verify", made / "out", "--signed-by", made / "other.pub")
    assert ended.code == 4
    assert "is not a signature of this release by the given key" in ended.error


@pytest.mark.parametrize(
    "change",
    [
        stated("story", value=["another"]),
        in_document("signature.json", "signature", value="00" * 64),
        in_document("signature.json", "signature", value="0"),
        in_document("signature.json", "signature", value=3),
        in_document("signature.json", "public_key", value="00" * 31),
        in_document("signature.json", "scumble", value="signature/2"),
        text("signature.json", DEEP),
        text("signature.json", "[]"),
        linked("signature.json", "release.json"),
        lambda folder: (folder / "signature.json").unlink(),
    ],
)
def test_whatever_is_changed_the_signature_does_not_fit(made: Path, tmp_path: Path, change: object) -> None:
    shutil.copytree(made / "out", tmp_path / "out")
    assert callable(change)
    change(tmp_path / "out")
    if (tmp_path / "out" / "signature.json").exists():
        signature = (tmp_path / "out" / "signature.json").rename(tmp_path / "aside")
        reseal(tmp_path / "out")
        signature.rename(tmp_path / "out" / "signature.json")
    with pytest.raises(CheckError, match=r"signature\.json|not signed"):
        verify(tmp_path / "out", signed_by=made / "key.pub")


def test_keys_are_checked_before_the_charge(made: Path, tmp_path: Path) -> None:
    write_key(tmp_path / "curve.pem", ec.generate_private_key(ec.SECP256R1()))
    write_key(tmp_path / "loose.pem", ed25519.Ed25519PrivateKey.generate())
    (tmp_path / "loose.pem").chmod(0o640)
    (tmp_path / "text.pem").write_text("x")
    (tmp_path / "text.pem").chmod(0o600)
    options = {"schema": made / "schema.yaml", "out": tmp_path / "out", "ledger": tmp_path / "l.db", "epsilon": 1}
    for name, words in (
        ("curve", "not an unencrypted Ed25519"),
        ("loose", "can be read by other users"),
        ("text", "not an unencrypted Ed25519"),
        ("absent", "cannot be read"),
    ):
        with pytest.raises(InputError, match=words):
            release(made / "people.csv", sign=tmp_path / f"{name}.pem", **options)
        with pytest.raises(InputError, match=words):
            read_signing_key(tmp_path / f"{name}.pem")
    assert not (tmp_path / "l.db").exists()
    for name in ("curve.pub", "text.pem", "absent.pub"):
        with pytest.raises(InputError, match="public key"):
            read_public_key(tmp_path / name)
