"""A ledger that was deleted, cut short, replaced, linked or laid open is refused in a sentence. Nothing is forgotten
without a word."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from scumble.errors import BudgetError, CheckError, InputError, ScumbleError
from scumble.flows.ledger_check import check_ledger
from scumble.model.guarantee import PureDP, Unit
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_place import default_witness
from scumble.privacy.receipt import Receipt


def charge(ledger: Ledger, dataset: str = "adult", epsilon: str = "1/3") -> Receipt:
    guarantee = PureDP(epsilon=Fraction(epsilon), unit=Unit.ADD_REMOVE)
    return ledger.reserve(dataset=dataset, unit=Unit.ADD_REMOVE, guarantee=guarantee, method="diffgen", spends=[])


def spent(path: Path, **how: Any) -> Fraction:
    with Ledger.open(path, **how) as ledger:
        return ledger.statement()["adult"].spent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed ledger that has spent 2/3 of 3."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        charge(ledger)
        ledger.grant("adult", Fraction(3), "more")
        charge(ledger)
    return path


def copy(path: Path, place: Path) -> Path:
    """A copy of a closed ledger with its key."""
    place.mkdir(exist_ok=True)
    for each in path.parent.glob(f"{path.name}*"):
        shutil.copy(each, place)
    return place / path.name


def put_back(backup: Path, path: Path) -> None:
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    copy(backup, path.parent)


# ------------------------------------------------------------------------------------------- lost, older, replaced


def test_a_deleted_ledger_is_not_made_anew(path: Path) -> None:
    path.unlink()
    with pytest.raises(CheckError, match=r"is missing, but the witness .* saw 5 entries of it") as refusal:
        Ledger.open(path)
    assert "--new-ledger --reason" in str(refusal.value)
    assert not path.exists()


def test_a_deleted_ledger_is_not_made_anew_though_its_key_is_gone_too(path: Path) -> None:
    for each in path.parent.glob("ledger.db*"):
        each.unlink()
    with pytest.raises(CheckError, match="is missing"):
        Ledger.open(path)


def test_an_emptied_ledger_is_not_made_anew(path: Path) -> None:
    path.write_bytes(b"")
    with pytest.raises(CheckError, match="is missing"):
        Ledger.open(path)


def test_an_older_copy_is_refused(path: Path, tmp_path: Path) -> None:
    backup = copy(path, tmp_path / "backup")
    with Ledger.open(path) as ledger:
        charge(ledger)
    put_back(backup, path)
    with pytest.raises(CheckError, match=r"has 5 entries, but the witness .* saw 6"):
        Ledger.open(path)


def test_an_older_copy_at_another_place_is_refused(path: Path, tmp_path: Path) -> None:
    backup = copy(path, tmp_path / "backup")
    with Ledger.open(path) as ledger:
        charge(ledger)
    with pytest.raises(CheckError, match="older copy"):
        Ledger.open(backup)
    assert spent(path) == 1


def test_an_older_copy_that_was_used_again_is_refused(path: Path, tmp_path: Path) -> None:
    backup = copy(path, tmp_path / "backup")
    with Ledger.open(path) as ledger:
        charge(ledger)
    elsewhere = tmp_path / "other-witness.db"
    with Ledger.open(backup, witness=elsewhere) as ledger:
        charge(ledger, epsilon="1/4")
        charge(ledger, epsilon="1/4")
    with pytest.raises(CheckError, match=r"Entry 6 of the ledger .* is another one"):
        Ledger.open(backup)
    assert spent(path) == 1


def test_two_copies_that_are_used_at_once_are_noticed(path: Path, tmp_path: Path) -> None:
    other = copy(path, tmp_path / "backup")
    with Ledger.open(path) as one, Ledger.open(other) as two:
        charge(one)
        with pytest.raises(ScumbleError, match="a copy that was used at the same time"):
            charge(two, epsilon="1/4")


def test_entries_that_were_cut_off_with_care_are_missed(path: Path) -> None:
    """The chain alone cannot find this: the last entry is gone, and the counter was set back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER entries_remain")
        connection.execute("DELETE FROM entries WHERE sequence = (SELECT max(sequence) FROM entries)")
        connection.execute("UPDATE sqlite_sequence SET seq = seq - 1")
    with pytest.raises(CheckError, match="its last entries or its log"):
        Ledger.open(path)


def test_another_ledger_at_the_same_path_is_refused(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "ledger.db"
    with Ledger.open(other) as ledger:
        charge(ledger)
    put_back(other, path)
    with pytest.raises(CheckError, match="it was replaced by another"):
        Ledger.open(path)


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from fractions import Fraction
from scumble.model.guarantee import PureDP, Unit
from scumble.privacy.ledger import Ledger
guarantee = PureDP(epsilon=Fraction(1, 3), unit=Unit.ADD_REMOVE)
ledger = Ledger.open(Path(sys.argv[1]))
ledger.reserve(dataset="adult", unit=Unit.ADD_REMOVE, guarantee=guarantee, method="diffgen", spends=[])
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_after_a_charge(path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(path), *filter(None, sys.path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def test_a_log_that_was_lost_after_a_crash_is_missed(path: Path) -> None:
    killed_after_a_charge(path)
    log = Path(f"{path}-wal")
    assert log.stat().st_size > 0
    log.unlink()
    Path(f"{path}-shm").unlink()
    with pytest.raises(CheckError, match=r"its log \(-wal\) were lost"):
        Ledger.open(path)


def test_a_crash_alone_is_no_loss(path: Path) -> None:
    killed_after_a_charge(path)
    assert spent(path) == 1


def test_a_moved_ledger_is_followed_and_its_old_place_says_where(path: Path, tmp_path: Path) -> None:
    moved = copy(path, tmp_path / "moved")
    for each in tmp_path.glob("ledger.db*"):
        each.unlink()
    assert spent(moved) == Fraction(2, 3)
    with pytest.raises(CheckError, match=f"last opened at {moved}"):
        Ledger.open(path)


def test_reading_an_older_copy_shows_it_and_says_what_it_lacks(path: Path, tmp_path: Path) -> None:
    backup = copy(path, tmp_path / "backup")
    with Ledger.open(path) as ledger:
        charge(ledger)
    with Ledger.open(backup, reading=True) as ledger:
        assert ledger.statement()["adult"].spent == Fraction(2, 3)
        assert "has 5 entries, but the witness" in ledger.notices[0]
    with pytest.raises(CheckError):
        Ledger.open(backup)


# ------------------------------------------------------------------------------------------------------ declarations


def events(path: Path) -> list[dict[str, Any]]:
    with Ledger.open(path) as ledger:
        return [dict(event.content) for event in ledger.statement().events]


def test_a_lost_ledger_is_replaced_when_the_owner_says_why(path: Path) -> None:
    path.unlink()
    with Ledger.open(path, new_ledger=" the disk failed ") as ledger:
        assert "is new: nothing was ever charged to it" in ledger.notices[0]
        charge(ledger)
    (first,) = events(path)
    assert (first["event"], first["reason"], first["lost"][0]["sequence"]) == ("created", "the disk failed", 5)
    assert spent(path) == Fraction(1, 3)
    with pytest.raises(BudgetError), Ledger.open(path) as ledger:
        charge(ledger)


def test_the_key_of_a_lost_ledger_is_kept_for_its_backup(path: Path, tmp_path: Path) -> None:
    backup = copy(path, tmp_path / "backup")
    path.unlink()
    Ledger.open(path, new_ledger="lost").close()
    kept = list(tmp_path.glob("ledger.db.key.*"))
    assert [each.read_bytes() for each in kept] == [Path(f"{backup}.key").read_bytes()]
    assert Path(f"{path}.key").read_bytes() != kept[0].read_bytes()


def test_an_older_copy_is_accepted_when_the_owner_says_why(path: Path, tmp_path: Path) -> None:
    backup = copy(path, tmp_path / "backup")
    with Ledger.open(path) as ledger:
        charge(ledger)
        charge(ledger)
    put_back(backup, path)
    assert spent(path, new_ledger="restored the backup of Monday") == Fraction(2, 3)
    assert [event["event"] for event in events(path)] == ["created", "accepted"]
    with Ledger.open(path) as ledger:
        charge(ledger)
    assert spent(path) == 1


def test_a_second_loss_needs_a_second_declaration(path: Path, tmp_path: Path) -> None:
    backup = copy(path, tmp_path / "backup")
    for number in range(2):
        with Ledger.open(path) as ledger:
            charge(ledger)
        put_back(backup, path)
        with pytest.raises(CheckError):
            Ledger.open(path)
        Ledger.open(path, new_ledger=f"restored, number {number}").close()


def test_another_ledger_is_accepted_when_the_owner_says_why(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "ledger.db"
    with Ledger.open(other) as ledger:
        charge(ledger, epsilon="2")
    put_back(other, path)
    assert spent(path, new_ledger="both were merged by hand") == 2
    assert spent(path) == 2


def test_a_declaration_needs_a_loss_and_a_reason(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Leave out --new-ledger"):
        Ledger.open(path, new_ledger="just in case")
    with pytest.raises(InputError, match="needs a reason"):
        Ledger.open(tmp_path / "new.db", new_ledger=" ")
    assert not (tmp_path / "new.db").exists()


# --------------------------------------------------------------------------------------------------- links and modes


def test_a_second_name_is_refused(path: Path, tmp_path: Path) -> None:
    os.link(path, tmp_path / "second.db")
    for name in (path, tmp_path / "second.db"):
        with pytest.raises(InputError, match=r"has 2 names \(hard links\).*Delete the other names"):
            Ledger.open(name)
    (tmp_path / "second.db").unlink()
    assert spent(path) == Fraction(2, 3)


def test_a_symbolic_link_is_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(path)
    with pytest.raises(InputError, match=f"is a symbolic link.*Name the file itself: {path}"):
        Ledger.open(tmp_path / "link.db")


def test_a_linked_folder_is_the_same_place(path: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").symlink_to(tmp_path)
    assert spent(tmp_path / "folder" / path.name) == Fraction(2, 3)


@pytest.mark.parametrize("mode", [0o666, 0o644, 0o640, 0o620, 0o604])
@pytest.mark.parametrize("name", ["ledger.db", "ledger.db.key"])
def test_a_file_that_others_can_read_or_write_is_refused(path: Path, name: str, mode: int) -> None:
    file = path.with_name(name)
    file.chmod(mode)
    with pytest.raises(InputError, match=f"mode {mode:04o}.*chmod 600 {file}"):
        Ledger.open(path)
    file.chmod(0o600)
    assert spent(path) == Fraction(2, 3)


# ------------------------------------------------------------------------------------------------------------- key


def test_a_copied_ledger_does_not_contain_its_key(path: Path) -> None:
    with Ledger.open(path) as ledger:
        key = ledger.key
        files = {each.name: each.read_bytes() for each in path.parent.glob("ledger.db*")}
    assert key.hex().encode() in files.pop("ledger.db.key")
    assert set(files) >= {"ledger.db", "ledger.db-wal"}
    for content in files.values():
        assert key not in content
        assert key.hex().encode() not in content


def damaged(file: Path) -> None:
    file.write_bytes(b"scumble-ledger-key-1 abc\n")


def other(file: Path) -> None:
    file.write_bytes(b"scumble-ledger-key-1 " + b"ab" * 32 + b"\n")


@pytest.mark.parametrize(("change", "says"), [(Path.unlink, "is missing"), (damaged, "is damaged"), (other, "another")])
def test_a_missing_or_wrong_key_refuses_and_is_never_replaced(
    path: Path, change: Callable[[Path], None], says: str
) -> None:
    file = Path(f"{path}.key")
    right = file.read_bytes()
    change(file)
    left = file.read_bytes() if file.exists() else None
    with pytest.raises(InputError, match=f"{says}.*"):
        Ledger.open(path)
    assert (file.read_bytes() if file.exists() else None) == left
    file.touch(0o600)
    file.write_bytes(right)
    assert spent(path) == Fraction(2, 3)


def test_a_key_can_be_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, keys = tmp_path / "ledger.db", tmp_path / "keys"
    monkeypatch.setenv("SCUMBLE_LEDGER_KEYS", str(keys))
    with Ledger.open(path) as ledger:
        charge(ledger)
    assert not Path(f"{path}.key").exists()
    (key,) = keys.iterdir()
    assert spent(path) == Fraction(1, 3)
    monkeypatch.delenv("SCUMBLE_LEDGER_KEYS")
    with pytest.raises(InputError, match=r"is missing.*SCUMBLE_LEDGER_KEYS"):
        Ledger.open(path)
    key.rename(f"{path}.key")
    assert spent(path) == Fraction(1, 3)


# --------------------------------------------------------------------------------------------------------- announced


def test_a_new_ledger_is_announced_until_something_is_charged_to_it(tmp_path: Path) -> None:
    path = tmp_path / "ledgr.db"
    for _ in range(2):
        with Ledger.open(path) as ledger:
            (notice,) = ledger.notices
            assert f"The ledger {path} is new: nothing was ever charged to it" in notice
            assert f"Its key is in {path}.key" in notice
    with Ledger.open(path) as ledger:
        charge(ledger)
    with Ledger.open(path) as ledger:
        assert ledger.notices == ()
        assert [event.text for event in ledger.statement().events] == ["created"]


# ----------------------------------------------------------------------------------------------------------- witness


def test_a_new_witness_says_that_it_saw_nothing(path: Path, tmp_path: Path) -> None:
    """An older copy of a ledger passes a witness that never saw it: this is announced, and said only once."""
    backup = copy(path, tmp_path / "backup")
    with Ledger.open(path) as ledger:
        charge(ledger)
    put_back(backup, path)
    with Ledger.open(path, witness=tmp_path / "new.db") as ledger:
        (notice,) = ledger.notices
        assert f"The witness {tmp_path / 'new.db'} is new: it saw nothing of the ledger {path} before" in notice
        assert check_ledger(ledger)[1].startswith("not checked: whether entries are missing")
    with Ledger.open(path, witness=tmp_path / "new.db") as ledger:
        assert ledger.notices == ()
        assert "contains what the witness" in check_ledger(ledger)[1]


def test_a_deleted_witness_says_that_it_saw_nothing(path: Path) -> None:
    for each in default_witness().parent.glob(f"{default_witness().name}*"):
        each.unlink()
    with Ledger.open(path) as ledger:
        assert "is new: it saw nothing of the ledger" in " ".join(ledger.notices)


def test_a_witness_of_other_ledgers_says_that_it_does_not_know_this_one(path: Path, tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "other.db", witness=tmp_path / "others.db") as other:
        charge(other)
    with Ledger.open(path, witness=tmp_path / "others.db") as ledger:
        assert "does not know this ledger: it saw nothing of the ledger" in " ".join(ledger.notices)
        assert not ledger.compared


def test_a_damaged_witness_is_refused_in_a_sentence(path: Path, tmp_path: Path) -> None:
    for content in (b"x", b"not a database " * 100, b"SQLite format 3\x00" + b"\xff" * 5000):
        witness = tmp_path / "damaged.db"
        witness.write_bytes(content)
        with pytest.raises(InputError, match="is not a witness of scumble"):
            Ledger.open(path, witness=witness)
        assert witness.read_bytes() == content


def test_a_witness_that_cannot_be_written_is_refused_before_the_charge(path: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ScumbleError, match=r"The witness .*SCUMBLE_WITNESS"):
        Ledger.open(path, witness=tmp_path / "file" / "witness.db")


def test_the_witness_says_nothing_of_rows_or_names(path: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness.db"
    with Ledger.open(path, witness=witness) as ledger:
        ledger.record_rows(charge(ledger), b"a fingerprint")
        secrets = (ledger.key, b"adult", b"a fingerprint".hex().encode(), b"a fingerprint")
        content = b"".join(each.read_bytes() for each in tmp_path.glob("witness.db*"))
    assert not [secret for secret in secrets if secret in content]


@pytest.mark.parametrize("step", ["record", "close"])
def test_a_kill_between_ledger_and_witness_refuses_nobody(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The ledger has an entry that the witness does not know. The next call accepts it and goes on."""
    from scumble.privacy.ledger_witness import Witness

    class Killed(BaseException):
        pass

    def die(*arguments: Any, **named: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched, ExitStack() as stack:
        ledger = Ledger.open(path)
        patched.setattr(Witness, step, die)
        stack.enter_context(pytest.raises(Killed))
        charge(ledger)
        ledger.close()
    assert spent(path) == 1
    with Ledger.open(path) as ledger:
        charge(ledger)
    assert spent(path) == Fraction(4, 3)


@pytest.mark.parametrize("lost", ["deleted", "older"])
def test_a_kill_after_a_declaration_refuses_nobody(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    from scumble.privacy.ledger_witness import Witness

    backup = copy(path, tmp_path / "backup")
    with Ledger.open(path) as ledger:
        charge(ledger)
    path.unlink()
    if lost == "older":
        put_back(backup, path)

    def die(*arguments: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Witness, "record", die)
        with pytest.raises(KeyboardInterrupt):
            Ledger.open(path, new_ledger="lost")
    with Ledger.open(path) as ledger:
        charge(ledger, "other")
    with Ledger.open(path) as ledger:
        assert ledger.statement()["other"].spent == Fraction(1, 3)
    assert any("lost" in event for event in events(path))


def test_the_slower_of_two_processes_does_not_move_the_witness_back(path: Path, tmp_path: Path) -> None:
    from scumble.privacy.ledger_entries import Head
    from scumble.privacy.ledger_witness import Witness

    with Witness(tmp_path / "witness.db") as witness:
        for sequence in (3, 5, 4):
            witness.record(path, Head(identity="i", sequence=sequence, hash=f"h{sequence}"))
        seen = witness.at(path)
        assert seen is not None
        assert seen.head == Head(identity="i", sequence=5, hash="h5")
        witness.record(path, Head(identity="i", sequence=2, hash="h2"), instead_of=seen)
        seen = witness.of("i")
        assert seen is not None
        assert seen.head.sequence == 2
