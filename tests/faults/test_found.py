"""Faults that the harness and the fuzzer found, each as a test that failed before it was fixed."""

import asyncio
import errno
import json
import os
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import SCHEMA, accounts, leftovers, people, release, scumble
from fuzzing.network import DUE, NAMES, SESSION, Silent, frame

from scumble import interrupts, sources
from scumble.engines.memory import MemoryEngine
from scumble.errors import InputError, ScumbleError
from scumble.files import atomic_folder
from scumble.files.atomic_folder import Staging
from scumble.files.schema_file import parse_schema
from scumble.files.signature import read_public_key
from scumble.flows.mine import predict
from scumble.joint.network.connection import Link, PartyLost
from scumble.joint.network.wire import Ending, Kind, pack_farewell
from scumble.locked_folders import locked_folder
from scumble.mining.tree_model import TreeModel
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_entries import Head
from scumble.privacy.ledger_witness import Witness
from scumble.sources import open_source


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "people.csv").write_text(people(100))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def unconfirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that does not confirm the last flush, that of the folder in which a release was published."""
    flush = atomic_folder.flush

    def failing(path: Path) -> None:
        if any(each.name.startswith("out") for each in path.iterdir() if path.is_dir()):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        flush(path)

    monkeypatch.setattr(atomic_folder, "flush", lambda path: failing(path) if path.is_dir() else flush(path))


def test_a_release_whose_name_the_disk_does_not_confirm_is_not_denied(folder: Path, unconfirmed: None) -> None:
    ended = release()
    assert (ended.code, scumble("verify", "out").code) == (1, 0)
    assert "is complete, but the disk did not confirm" in ended.error
    assert "The charge stands" in ended.error
    assert "The release out is complete." in ended.error
    assert accounts(folder / "ledger.db")["people"]["spent"] == "1"


def test_neither_are_perturbed_records(folder: Path, unconfirmed: None) -> None:
    ended = scumble("perturb", "people.csv", "--schema", "schema.yaml", "--epsilon", "2", "--out", "out")
    assert (ended.code, scumble("verify", "out").code) == (1, 0)
    assert "is complete, but the disk did not confirm" in ended.error


@pytest.mark.parametrize(
    ("when", "said"), [("before", "No release was made."), ("after", "The release out is complete.")]
)
def test_an_interrupted_perturbation_says_whether_its_folder_is_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, when: str, said: str
) -> None:
    publish = Staging.publish

    def interrupted(self: Staging) -> None:
        if when == "after":
            publish(self)
        os.kill(os.getpid(), signal.SIGTERM)
        if when == "before":
            interrupts.check()

    monkeypatch.setattr(Staging, "publish", interrupted)
    ended = scumble("perturb", "people.csv", "--schema", "schema.yaml", "--epsilon", "2", "--out", "out")
    assert (ended.code, ended.error) == (1, f"Interrupted. {said}")
    assert (folder / "out").exists() is (when == "after")


def test_a_table_that_can_no_longer_be_read_does_not_deny_its_release(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(source: object) -> list[str]:
        raise InputError("people.csv cannot be read: Input/output error. Check the file.")

    monkeypatch.setattr(sources, "readings", failing)
    ended = release()
    assert (ended.code, scumble("verify", "out").code) == (0, 0), ended.err


def test_a_release_that_cannot_be_renamed_can_be_read_by_nobody_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if not self.is_dir():
            return rename(self, target)
        modes.append(self.stat().st_mode & 0o777)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "rename", failing)
    ended = release()
    assert (ended.code, modes) == (1, [0o700])
    assert "No release was made." in ended.error


@pytest.mark.parametrize("failing_from", [1, 2])
def test_an_unfinished_folder_is_removed_even_if_nothing_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing_from: int
) -> None:
    real, calls = os.open, 0

    def failing(*arguments: Any, **named: Any) -> int:
        nonlocal calls
        calls += 1
        if calls >= failing_from:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(*arguments, **named)

    def fill() -> None:
        with locked_folder(tmp_path, ".scumble-unfinished-") as made:
            (made / "table.csv").write_text("rows")
            (made / "report.html").write_text("more")
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(OSError, match="Too many open files"):
        fill()
    assert leftovers(tmp_path) == []


def test_a_folder_that_was_renamed_is_not_removed(tmp_path: Path) -> None:
    with locked_folder(tmp_path, "temporary-") as made:
        (made / "table.csv").write_text("rows")
        made.rename(tmp_path / "final")
        made.mkdir()
        (made / "other.csv").write_text("somebody else's")
    assert (tmp_path / "final" / "table.csv").exists()
    assert (made / "other.csv").exists()


@pytest.mark.parametrize("number", interrupts.SIGNALS)
def test_a_signal_while_a_ceiling_is_raised_does_not_leave_open_whether_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    assert release().code == 0
    grant = Ledger.grant

    def interrupted(self: Ledger, *arguments: Any, **named: Any) -> None:
        grant(self, *arguments, **named)
        os.kill(os.getpid(), number)

    monkeypatch.setattr(Ledger, "grant", interrupted)
    ended = scumble("ledger", "grant", "people", "2", "--reason", "test")
    assert ended.code == 0
    assert ended.out.startswith("people: the ceiling is now 2.\n")
    assert accounts(folder / "ledger.db")["people"]["ceiling"] == "2"


def test_a_disk_that_fails_just_after_an_entry_was_written_does_not_deny_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Witness.record

    def failing(self: Witness, path: Path, head: Head, **how: Any) -> None:
        if head.sequence > failing_after:
            raise ScumbleError("The witness cannot be used: disk I/O error.")
        record(self, path, head, **how)

    failing_after = 1
    monkeypatch.setattr(Witness, "record", failing)
    ended = release()
    assert (ended.code, (folder / "out").exists()) == (1, False)
    assert "It may have been charged: see `scumble ledger show`." in ended.err
    failing_after = 100
    assert accounts(folder / "ledger.db")["people"]["spent"] == "1"
    failing_after = 3
    ended = scumble("ledger", "grant", "people", "2", "--reason", "test")
    assert ended.code == 1
    assert "The entry may have been recorded: see `scumble ledger show`." in ended.err
    failing_after = 100
    assert accounts(folder / "ledger.db")["people"]["ceiling"] == "2"


def test_a_grant_that_fails_after_a_signal_is_interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert release().code == 0

    def refused(self: Ledger, *arguments: Any, **named: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        raise InputError("refused")

    monkeypatch.setattr(Ledger, "grant", refused)
    ended = scumble("ledger", "grant", "people", "2", "--reason", "test")
    assert ended.code in (1, 2)
    assert accounts(folder / "ledger.db")["people"]["ceiling"] == "1"


def test_a_model_may_use_a_column_twice(folder: Path) -> None:
    words = ("--schema", "schema.yaml", "--accept", "interval", "--retain", "job=70%,income=80%", "--out", "out")
    assert scumble("perturb", "people.csv", *words).code == 0
    assert scumble("mine", "train", "out", "--out", "model.json").code == 0
    document = json.loads((folder / "model.json").read_text())
    document["target"] = document["features"][0]["name"]
    (folder / "model.json").write_text(json.dumps(document))
    model = TreeModel.read(folder / "model.json")
    ((predicted, truth),) = predict(model, "people.csv")
    assert len(predicted) == 100 and truth is not None


def test_a_public_key_that_openssl_does_not_understand_is_refused(tmp_path: Path) -> None:
    import cryptography.hazmat.primitives.serialization as serialization
    from cryptography.exceptions import InternalError

    def broken(data: bytes) -> None:
        raise InternalError("Unknown OpenSSL error", [])

    (tmp_path / "key.pub").write_text("-----BEGIN PUBLIC KEY-----\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serialization, "load_pem_public_key", broken)
        with pytest.raises(InputError, match="not an Ed25519 public key"):
            read_public_key(tmp_path / "key.pub")


def test_a_parquet_file_with_a_column_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"agexx": [1]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"agexx", b"age\xff\xfe"))
    with pytest.raises(InputError, match="is not a Parquet file"):
        open_source(path).columns()


def test_indices_into_an_empty_dictionary_are_missing_values() -> None:
    schema = parse_schema("scumble: schema/1\nattributes: {x: {classes: [a, b], outside: clamp, missing: b}}")
    buffers = pa.array([0, 0, 0], pa.int32()).buffers()
    column = pa.DictionaryArray.from_buffers(
        pa.dictionary(pa.int32(), pa.string()), 3, buffers, pa.array([], pa.string())
    )
    engine = MemoryEngine.open([pa.RecordBatch.from_arrays([column], ["x"])], schema)
    assert [block[0].tolist() for block in engine.blocks()] == [[1, 1, 1]]


def test_a_party_that_leaves_after_its_message_is_lost_at_once() -> None:
    async def converse() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(frame(Kind.DATA, 0, bytes(DUE[0])))
        reader.feed_data(frame(Kind.FAREWELL, 1, pack_farewell(Ending.DONE, None)))
        writer: Any = Silent()
        link = Link(reader, writer, names=NAMES, party=0, peer=1, session=SESSION, silence=8, observer=None)
        link.start(lambda loss: None)
        assert await link.receive(DUE[0], 60) == bytes(DUE[0])
        await asyncio.sleep(0.01)
        with pytest.raises(PartyLost, match="finished before"):
            await asyncio.wait_for(link.receive(DUE[0], 600), 30)
        for task in link._tasks:
            task.cancel()

    asyncio.run(converse())
