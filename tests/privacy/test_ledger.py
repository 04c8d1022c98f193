"""The ledger under what it is for: several processes, killed processes, edited files, exact ceilings."""

import json
import os
import random
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scumble
from scumble.errors import BudgetError, CheckError, InputError, ScumbleError
from scumble.model.guarantee import Guarantee, KAnonymity, PureDP, Unit
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_entries import START, Entry, EntryChain, canonical, entry_hash
from scumble.privacy.ledger_place import default_path
from scumble.privacy.receipt import Receipt

COLUMNS = ("sequence", "time", "kind", "dataset", "body", "previous", "hash")
RELEASE = "ab" * 32
PACKAGE = list(scumble.__path__)


def pure(epsilon: str | int, unit: Unit = Unit.ADD_REMOVE) -> PureDP:
    return PureDP(epsilon=Fraction(epsilon), unit=unit)


def reserve(
    ledger: Ledger, dataset: str = "adult", guarantee: Guarantee | None = None, unit: Unit = Unit.ADD_REMOVE
) -> Receipt:
    return ledger.reserve(
        dataset=dataset,
        unit=unit,
        guarantee=guarantee or pure(1),
        method="diffgen",
        spends=[{"label": "counts", "epsilon": "1", "times": 1}],
    )


def account(ledger: Ledger, dataset: str = "adult") -> dict[str, Any]:
    accounts: dict[str, dict[str, Any]] = {each["name"]: each for each in ledger.datasets()["datasets"]}
    return accounts[dataset]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger.open(path) as opened:
        yield opened


@pytest.fixture
def full(path: Path) -> Path:
    """A closed ledger with every kind of entry: its own (1), 6 of adult (2-7), 2 of census (8-9), 1 of adult (10)."""
    with Ledger.open(path) as opened:
        first = reserve(opened)
        opened.record_rows(first, b"rows of adult")
        opened.settle(first, RELEASE)
        opened.grant("adult", Fraction(2), "a second wave")
        reserve(opened, guarantee=pure("1/2"))
        reserve(opened, "census")
        opened.grant("adult", Fraction(3), "a third wave")
    return path


# ---------------------------------------------------------------------------------------------- charges and ceilings


def test_the_first_charge_opens_the_account_with_itself_as_the_ceiling(ledger: Ledger) -> None:
    receipt = reserve(ledger, guarantee=pure("0.7"))
    assert (receipt.charged, receipt.spent, receipt.ceiling) == (Fraction(7, 10), Fraction(7, 10), Fraction(7, 10))
    found = account(ledger)
    assert (found["unit"], found["spent"], found["ceiling"]) == ("add-remove", "0.7", "0.7")
    assert [entry["kind"] for entry in found["entries"]] == ["open", "reserve"]
    assert found["entries"][1]["hash"] == receipt.entry
    assert receipt.to_json() == {"entry": receipt.entry, "charged": "0.7", "spent": "0.7", "ceiling": "0.7"}


def test_a_second_charge_is_refused_then_granted_then_accepted(ledger: Ledger) -> None:
    reserve(ledger)
    with pytest.raises(BudgetError) as refusal:
        reserve(ledger, guarantee=pure("0.5"))
    message = str(refusal.value)
    assert "'adult' has spent 1 of its ceiling of 1, and this release needs 0.5" in message
    assert 'scumble ledger grant adult 1.5 --reason "..."' in message
    assert account(ledger)["spent"] == "1"
    ledger.grant("adult", Fraction("1.5"), "a second wave")
    assert reserve(ledger, guarantee=pure("0.5")).spent == Fraction(3, 2)
    with pytest.raises(BudgetError):
        reserve(ledger, guarantee=pure("0.000000001"))


def test_the_command_in_the_refusal_is_quoted_for_the_shell(ledger: Ledger) -> None:
    reserve(ledger, "my survey; rm")
    with pytest.raises(BudgetError, match="scumble ledger grant 'my survey; rm' 2 --reason"):
        reserve(ledger, "my survey; rm")


def test_the_command_in_the_refusal_leads_to_this_ledger(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve(ledger)
    with pytest.raises(BudgetError) as refusal:
        reserve(ledger)
    assert str(refusal.value).endswith(f'scumble ledger grant adult 2 --reason "..." --ledger {ledger.path}')
    monkeypatch.setenv("SCUMBLE_LEDGER", str(ledger.path))
    with pytest.raises(BudgetError) as refusal:
        reserve(ledger)
    assert str(refusal.value).endswith('scumble ledger grant adult 2 --reason "..."')


def test_ceilings_are_exact_with_thirds(ledger: Ledger) -> None:
    reserve(ledger, guarantee=pure("1/3"))
    ledger.grant("adult", Fraction(1), "three releases")
    reserve(ledger, guarantee=pure("1/3"))
    assert reserve(ledger, guarantee=pure("1/3")).spent == 1
    assert account(ledger)["spent"] == "1"
    with pytest.raises(BudgetError):
        reserve(ledger, guarantee=pure("1/1000000000"))


def test_datasets_have_accounts_of_their_own(ledger: Ledger) -> None:
    reserve(ledger, "adult")
    reserve(ledger, "census", pure(2))
    assert (account(ledger, "adult")["spent"], account(ledger, "census")["spent"]) == ("1", "2")


def test_an_add_remove_epsilon_counts_double_in_a_replace_account(ledger: Ledger) -> None:
    reserve(ledger, guarantee=pure(1, Unit.REPLACE), unit=Unit.REPLACE)
    ledger.grant("adult", Fraction(3), "more")
    receipt = reserve(ledger, guarantee=pure(1, Unit.ADD_REMOVE))
    assert (receipt.charged, receipt.spent) == (Fraction(2), Fraction(3))
    assert ledger.verify() == 5


def test_a_replace_guarantee_is_refused_in_an_add_remove_account(ledger: Ledger) -> None:
    reserve(ledger)
    ledger.grant("adult", Fraction(9), "more")
    with pytest.raises(InputError, match="add-remove"):
        reserve(ledger, guarantee=pure(1, Unit.REPLACE))
    assert account(ledger)["spent"] == "1"


def test_what_is_not_differentially_private_is_recorded_and_adds_up_to_nothing(ledger: Ledger) -> None:
    assert reserve(ledger, guarantee=KAnonymity(k=5), unit=Unit.REPLACE).charged == 0
    found = account(ledger)
    assert (found["unit"], found["spent"], found["ceiling"]) == ("replace", "0", "0")
    assert found["entries"][1]["guarantee"] == {"kind": "KAnonymity", "k": 5}
    with pytest.raises(BudgetError):
        reserve(ledger, guarantee=pure(1, Unit.REPLACE))


def test_an_epsilon_that_could_not_be_read_back_is_never_charged(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="1001"):
        reserve(ledger, guarantee=pure(1001))
    assert ledger.datasets() == {"datasets": []}
    assert reserve(ledger).spent == 1


def test_a_charge_that_fails_half_way_leaves_nothing_behind(ledger: Ledger) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        ledger.reserve(
            dataset="adult", unit=Unit.REPLACE, guarantee=pure(3), method="diffgen", spends=[{"epsilon": Fraction(3)}]
        )
    assert ledger.datasets() == {"datasets": []}
    assert reserve(ledger).ceiling == 1
    assert account(ledger)["unit"] == "add-remove"


@settings(deadline=None, max_examples=30)
@given(
    steps=st.lists(
        st.tuples(st.booleans(), st.fractions(min_value=Fraction(1, 7), max_value=3, max_denominator=12)), max_size=8
    )
)
def test_spent_is_the_sum_of_what_was_accepted_and_never_above_the_ceiling(
    steps: list[tuple[bool, Fraction]],
) -> None:
    spent, ceiling = Fraction(1), Fraction(1)
    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder) / "ledger.db") as ledger:
        reserve(ledger)
        for is_grant, amount in steps:
            if is_grant and amount < spent:
                with pytest.raises(InputError):
                    ledger.grant("adult", amount, "less")
            elif is_grant:
                ledger.grant("adult", amount, "more")
                ceiling = amount
            elif spent + amount > ceiling:
                with pytest.raises(BudgetError):
                    reserve(ledger, guarantee=pure(str(amount)))
            else:
                spent += amount
                assert reserve(ledger, guarantee=pure(str(amount))).spent == spent
            found = account(ledger)
            assert (Fraction(found["spent"]), Fraction(found["ceiling"])) == (spent, ceiling)
        assert ledger.verify() == 1 + sum(len(each["entries"]) for each in ledger.datasets()["datasets"])


# ------------------------------------------------------------------------------------------------------------ grants


def test_a_grant_below_what_is_spent_is_refused_and_one_at_it_is_not(ledger: Ledger) -> None:
    reserve(ledger)
    with pytest.raises(InputError, match=r"has already spent 1.*not 0\.9"):
        ledger.grant("adult", Fraction("0.9"), "less")
    ledger.grant("adult", Fraction(5), "more")
    ledger.grant("adult", Fraction(1), "no more")
    assert account(ledger)["ceiling"] == "1"


def test_a_grant_needs_a_dataset_that_is_there(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="the first release opens an account"):
        ledger.grant("adult", Fraction(1), "why not")
    reserve(ledger)
    with pytest.raises(InputError, match=r"no dataset 'adul'\. Available: 'adult'"):
        ledger.grant("adul", Fraction(2), "a slip of the finger")


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_grant_needs_a_reason(ledger: Ledger, reason: str) -> None:
    reserve(ledger)
    with pytest.raises(InputError, match="--reason"):
        ledger.grant("adult", Fraction(2), reason)
    assert account(ledger)["ceiling"] == "1"


@pytest.mark.parametrize("name", ["", " ", "adult ", "a\nb", "a\x00b", "a\u202eb", "a" * 201])
def test_a_name_that_cannot_be_read_is_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(InputError, match="is not a valid name of a dataset"):
        reserve(ledger, name)
    assert ledger.verify() == 1


def test_two_spellings_of_one_name_share_an_account(ledger: Ledger) -> None:
    reserve(ledger, "e\u0301tude")
    with pytest.raises(BudgetError):
        reserve(ledger, "\u00e9tude")


def test_the_longest_name_is_taken(ledger: Ledger) -> None:
    assert reserve(ledger, "a" * 200).spent == 1


# ---------------------------------------------------------------------------------------------------- rows and settle


def test_the_same_rows_under_another_name_are_refused_and_the_charge_stands(ledger: Ledger) -> None:
    ledger.record_rows(reserve(ledger, "adult"), b"the rows")
    second = reserve(ledger, "adult again")
    with pytest.raises(BudgetError, match=r"'adult', not 'adult again'.*--dataset adult") as refusal:
        ledger.record_rows(second, b"the rows")
    assert refusal.value.exit_code == 3
    assert account(ledger, "adult again")["spent"] == "1"
    assert [entry["kind"] for entry in account(ledger, "adult again")["entries"]] == ["open", "reserve"]


def test_the_same_rows_under_the_same_name_are_fine(ledger: Ledger) -> None:
    ledger.record_rows(reserve(ledger), b"the rows")
    ledger.grant("adult", Fraction(3), "more")
    second = reserve(ledger)
    ledger.record_rows(second, b"the rows")
    ledger.record_rows(second, b"the rows")
    ledger.record_rows(reserve(ledger), b"the rows after a correction")
    assert [entry["kind"] for entry in account(ledger)["entries"]].count("rows") == 3


def test_tables_without_rows_are_not_the_same_people(ledger: Ledger) -> None:
    ledger.record_rows(reserve(ledger, "first"), b"")
    ledger.record_rows(reserve(ledger, "second"), b"")
    assert ledger.verify() == 7


def test_one_reservation_pays_for_one_table(ledger: Ledger) -> None:
    receipt = reserve(ledger)
    ledger.record_rows(receipt, b"the rows")
    with pytest.raises(BudgetError, match="Make a new reservation"):
        ledger.record_rows(receipt, b"other rows")
    ledger.settle(receipt, RELEASE)
    with pytest.raises(BudgetError, match="Make a new reservation"):
        ledger.record_rows(receipt, b"the rows")


def test_a_settled_reservation_reads_no_rows(ledger: Ledger) -> None:
    receipt = reserve(ledger)
    ledger.settle(receipt, RELEASE)
    with pytest.raises(BudgetError, match="Make a new reservation"):
        ledger.record_rows(receipt, b"the rows")


def test_settling_refunds_nothing_and_happens_once(ledger: Ledger) -> None:
    receipt = reserve(ledger)
    ledger.settle(receipt, RELEASE)
    ledger.settle(receipt, RELEASE)
    with pytest.raises(BudgetError, match="another release"):
        ledger.settle(receipt, "cd" * 32)
    found = account(ledger)
    assert found["spent"] == "1"
    assert [entry["kind"] for entry in found["entries"]] == ["open", "reserve", "settle"]
    assert (found["entries"][2]["reserve"], found["entries"][2]["release"]) == (receipt.entry, RELEASE)


@pytest.mark.parametrize("text", ["", "ab", "AB" * 32, "zz" * 32, RELEASE + "\n"])
def test_a_release_is_named_by_its_hash(ledger: Ledger, text: str) -> None:
    receipt = reserve(ledger)
    with pytest.raises(InputError, match=r"release\.json"):
        ledger.settle(receipt, text)


def test_a_receipt_of_another_ledger_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "other.db") as other:
        foreign = reserve(other)
    with pytest.raises(InputError, match="no such reservation"):
        ledger.settle(foreign, RELEASE)
    with pytest.raises(InputError, match="no such reservation"):
        ledger.record_rows(foreign, b"the rows")


def test_the_fingerprint_and_the_key_stay_inside(full: Path) -> None:
    with Ledger.open(full) as ledger:
        shown = json.dumps(ledger.datasets())
        assert len(ledger.key) == 32
        assert ledger.key.hex() not in shown
    assert b"rows of adult".hex() not in shown
    assert [entry["kind"] for entry in json.loads(shown)["datasets"][0]["entries"]].count("rows") == 1


def test_a_receipt_does_not_reveal_the_name(path: Path, tmp_path: Path) -> None:
    """The same history in two ledgers has different hashes: nobody can try names against a published one."""
    with Ledger.open(path) as one, Ledger.open(tmp_path / "other.db") as other:
        assert one.key != other.key
        first, second = reserve(one), reserve(other)
    assert "adult" not in str(first)
    assert first.entry != second.entry


def test_the_key_and_the_accounts_survive_closing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        key = ledger.key
        reserve(ledger)
        before = ledger.datasets()
    with Ledger.open(path) as ledger:
        assert ledger.key == key
        assert ledger.datasets() == before


# -------------------------------------------------------------------------------------------------- several processes


def spawn(script: str, *arguments: object) -> "subprocess.Popen[str]":
    """A Python process of its own, with this one's search path, that talks over its pipes.

    It goes round the package's front door, behind which every library is imported: the ledger needs none of them.
    """
    prelude = (
        "import os, signal, sys, types; from fractions import Fraction; from pathlib import Path\n"
        f"sys.modules['scumble'] = types.ModuleType('scumble'); sys.modules['scumble'].__path__ = {PACKAGE!r}\n"
        "from scumble.errors import BudgetError; from scumble.model.guarantee import PureDP, Unit\n"
        "from scumble.privacy.ledger import Ledger\n"
        "third = dict(unit=Unit.ADD_REMOVE, guarantee=PureDP(epsilon=Fraction(1, 3), unit=Unit.ADD_REMOVE),\n"
        "             method='diffgen', spends=[])\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", prelude + script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


RACER = """
print("ready", flush=True)
sys.stdin.readline()
with Ledger.open(Path(sys.argv[1]), busy_seconds=60) as ledger:
    for attempt in range(int(sys.argv[2])):
        try:
            ledger.reserve(dataset="adult", **third)
            print("charged", flush=True)
        except BudgetError:
            print("refused", flush=True)
"""


def race(path: Path, processes: int, attempts: int) -> list[str]:
    """What all attempts came to, of processes that start on the same signal."""
    racers = [spawn(RACER, path, attempts) for _ in range(processes)]
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    outputs = [racer.communicate(timeout=60)[0] for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * processes
    return "".join(outputs).split()


@pytest.mark.parametrize("processes", [2, 8])
def test_processes_at_once_cannot_overspend(path: Path, processes: int) -> None:
    with Ledger.open(path) as ledger:
        reserve(ledger, guarantee=pure("1/3"))
        ledger.grant("adult", Fraction(2, 3), "room for one more")
    outcomes = race(path, processes, attempts=2)
    assert sorted(outcomes) == ["charged"] + ["refused"] * (2 * processes - 1)
    with Ledger.open(path) as ledger:
        assert (account(ledger)["spent"], ledger.verify()) == ("2/3", 5)


def test_processes_at_once_make_one_ledger_and_open_one_account(path: Path) -> None:
    outcomes = race(path, processes=8, attempts=1)
    assert sorted(outcomes) == ["charged"] + ["refused"] * 7
    with Ledger.open(path) as ledger:
        assert (account(ledger)["spent"], ledger.verify()) == ("1/3", 3)


def test_processes_at_once_spend_all_that_there_is(path: Path) -> None:
    with Ledger.open(path) as ledger:
        reserve(ledger, guarantee=pure("1/3"))
        ledger.grant("adult", Fraction(21, 3), "room for twenty more")
    outcomes = race(path, processes=3, attempts=10)
    assert (outcomes.count("charged"), outcomes.count("refused")) == (20, 10)
    with Ledger.open(path) as ledger:
        assert (account(ledger)["spent"], ledger.verify()) == ("7", 24)


SPENDER = """
with Ledger.open(Path(sys.argv[1])) as ledger:
    while True:
        receipt = ledger.reserve(dataset="adult", **third)
        print("reserve", receipt.entry, flush=True)
        ledger.settle(receipt, "ab" * 32)
        print("settle", receipt.entry, flush=True)
"""


def test_a_process_killed_at_any_moment_leaves_its_charges_standing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        reserve(ledger)
        ledger.grant("adult", Fraction(10**6), "as many as there will be")
    reported: set[tuple[str, str]] = set()
    delays = random.Random(20110821)
    for _ in range(12):
        spender = spawn(SPENDER, path)
        assert spender.stdout
        first = spender.stdout.readline()
        time.sleep(delays.uniform(0, 0.03))
        spender.kill()
        rest, _ = spender.communicate(timeout=60)
        whole_lines = (first + rest).split("\n")[:-1]
        reported |= {(kind, entry) for kind, entry in (line.split() for line in whole_lines)}
        with Ledger.open(path) as ledger:
            entries = account(ledger)["entries"]
            assert ledger.verify() == 1 + len(entries)
        reserved = {("reserve", entry["hash"]) for entry in entries if entry["kind"] == "reserve"}
        settled = {("settle", entry["reserve"]) for entry in entries if entry["kind"] == "settle"}
        assert reported <= reserved | settled
    with Ledger.open(path) as ledger:
        assert Fraction(account(ledger)["spent"]) == 1 + Fraction(len(reserved) - 1, 3)
    assert len(reserved) > 12


SUICIDE = """
ledger = Ledger.open(Path(sys.argv[1]))
if sys.argv[2] == "before the commit":
    append = ledger._append
    def append_and_die(*arguments):
        append(*arguments)
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    ledger._append = append_and_die
ledger.reserve(dataset="adult", **third)
os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
"""


@pytest.mark.parametrize(("moment", "spent"), [("before the commit", "1"), ("after the commit", "4/3")])
def test_a_charge_is_written_whole_or_not_at_all(path: Path, moment: str, spent: str) -> None:
    with Ledger.open(path) as ledger:
        reserve(ledger)
        ledger.grant("adult", Fraction(4, 3), "one more third")
    process = spawn(SUICIDE, path, moment)
    process.communicate(timeout=60)
    assert process.returncode != 0
    with Ledger.open(path) as ledger:
        assert account(ledger)["spent"] == spent
        assert ledger.verify() == (4 if spent == "1" else 5)


def test_a_ledger_sees_what_another_process_added_since(path: Path, ledger: Ledger) -> None:
    reserve(ledger)
    ledger.grant("adult", Fraction(4, 3), "one more third")
    assert race(path, processes=1, attempts=1) == ["charged"]
    with pytest.raises(BudgetError, match="has spent 4/3 of"):
        reserve(ledger, guarantee=pure("1/3"))


def test_a_locked_ledger_says_so_within_the_timeout(path: Path) -> None:
    with Ledger.open(path, busy_seconds=0.3) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        with pytest.raises(ScumbleError, match=r"locked by another process for more than 0\.3 seconds") as failure:
            reserve(ledger)
        assert 0.2 < time.monotonic() - start < 5
        assert failure.value.exit_code == 1
        assert ledger.datasets() == {"datasets": []}
        holder.execute("ROLLBACK")
        assert reserve(ledger).spent == 1


def test_opening_waits_for_a_process_that_is_still_making_the_ledger(path: Path) -> None:
    Ledger.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as maker:
        maker.execute("PRAGMA journal_mode = DELETE")
        maker.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.3, lambda: maker.execute("ROLLBACK"))
        release.start()
        with Ledger.open(path) as ledger:
            assert reserve(ledger).spent == 1
        release.join()


def test_a_charge_is_flushed_to_the_disk(ledger: Ledger) -> None:
    modes = [ledger._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert modes == ["wal", 2]


# ---------------------------------------------------------------------------------------------------------- tampering


def tamper(path: Path, *statements: str, parameters: tuple[object, ...] = ()) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for trigger in ("entries_follow", "entries_stay", "entries_remain"):
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement, parameters)


def refusal_of(path: Path) -> str:
    with pytest.raises(CheckError) as refusal:
        Ledger.open(path)
    return str(refusal.value)


def test_an_honest_ledger_verifies(full: Path) -> None:
    with Ledger.open(full) as ledger:
        assert ledger.verify() == 10
        assert ledger.verify() == 10


@pytest.mark.parametrize("column", COLUMNS)
def test_an_edit_of_any_field_of_any_entry_is_found(full: Path, tmp_path: Path, column: str) -> None:
    edit = {"sequence": "-sequence", "body": "replace(body, '}', ' }')"}.get(column, f"{column} || 'x'")
    for sequence in range(1, 11):
        copy = tmp_path / f"{sequence}.db"
        shutil.copy(full, copy)
        shutil.copy(f"{full}.key", f"{copy}.key")
        tamper(copy, f"UPDATE entries SET {column} = {edit} WHERE sequence = {sequence}")
        assert f"Entry {sequence} of the ledger is not valid" in refusal_of(copy)


@pytest.mark.parametrize("value", [b"\xff\xfe", b"not text", 5, 1.5])
@pytest.mark.parametrize("column", ["time", "body", "hash"])
def test_a_field_of_another_type_is_found(full: Path, column: str, value: object) -> None:
    tamper(full, f"UPDATE entries SET {column} = ? WHERE sequence = 4", parameters=(value,))
    assert "Entry 4 of the ledger is not valid" in refusal_of(full)


def test_bytes_that_are_no_text_are_found(full: Path) -> None:
    tamper(full, "UPDATE entries SET dataset = CAST(x'ff' AS TEXT) WHERE sequence = 4")
    assert "Entry 4 of the ledger is not valid" in refusal_of(full)


@pytest.mark.parametrize(
    ("statement", "first_bad"),
    [
        ("DELETE FROM entries WHERE sequence = 1", 1),
        ("DELETE FROM entries WHERE sequence = 6", 6),
        ("DELETE FROM entries WHERE sequence = 10", 10),
        ("DELETE FROM entries WHERE sequence > 3", 4),
        ("DELETE FROM entries", 1),
        (
            "INSERT INTO entries SELECT 11, time, kind, dataset, body, previous, hash FROM entries WHERE sequence = 10",
            11,
        ),
        (
            "INSERT INTO entries SELECT -1, time, kind, dataset, body, previous, hash FROM entries WHERE sequence = 10",
            11,
        ),
    ],
)
def test_entries_missing_or_added_are_found(full: Path, statement: str, first_bad: int) -> None:
    tamper(full, statement)
    assert f"Entry {first_bad} of the ledger is not valid" in refusal_of(full)


def test_a_ledger_that_was_tampered_with_takes_no_charge(full: Path) -> None:
    change = "UPDATE entries SET body = replace(body, '\"1\"', '\"0\"') WHERE kind = 'reserve'"
    with Ledger.open(full) as ledger:
        tamper(full, change)
        ledger._chain = EntryChain(ledger.key)
        steps: list[Callable[[], object]] = [
            lambda: reserve(ledger, "new"),
            lambda: ledger.grant("adult", Fraction(9), "more"),
            ledger.datasets,
        ]
        for step in steps:
            with pytest.raises(CheckError, match="Entry 3 of the ledger"):
                step()
    assert "Entry 3 of the ledger" in refusal_of(full)
    with closing(sqlite3.connect(full)) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (10,)


def test_an_edit_under_an_open_ledger_is_found_by_verify(full: Path) -> None:
    with Ledger.open(full) as ledger:
        assert ledger.verify() == 10
        tamper(full, "UPDATE entries SET time = '2001' WHERE sequence = 5")
        with pytest.raises(CheckError, match="Entry 5"):
            ledger.verify()


def key_of(path: Path) -> bytes:
    return bytes.fromhex(Path(f"{path}.key").read_text().split()[1])


def forge(path: Path, kind: str, dataset: str, body: object, **changes: Any) -> None:
    """Append an entry with a good hash, as somebody with the code and the key could, whatever it says."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS entries_follow")
        key = key_of(path)
        sequence, previous = connection.execute("SELECT max(sequence), hash FROM entries").fetchone()
        text = body if isinstance(body, str) else canonical(body)
        fields = {"sequence": sequence + 1, "time": "now", "kind": kind, "dataset": dataset, "body": text}
        blank = Entry(**{**fields, "previous": previous, "hash": "", **changes})
        entry = asdict(replace(blank, hash=entry_hash(blank, key)))
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", [entry[name] for name in COLUMNS])


def charged(amount: str, epsilon: str, unit: str = "add-remove") -> dict[str, Any]:
    guarantee = {"kind": "PureDP", "epsilon": epsilon, "unit": unit}
    return {"method": "diffgen", "charged": amount, "guarantee": guarantee, "spends": []}


def test_a_forged_entry_that_keeps_every_law_passes(full: Path) -> None:
    """So that the refusals below are those of the laws, not of a clumsy forger."""
    forge(full, "reserve", "adult", charged("1.5", "1.5"))
    with Ledger.open(full) as ledger:
        assert ledger.verify() == 11
        assert account(ledger)["spent"] == "3"


@pytest.mark.parametrize(
    ("kind", "dataset", "body", "reason"),
    [
        ("reserve", "adult", charged("1.6", "1.6"), "more than the ceiling"),
        ("reserve", "adult", charged("0.1", "1.5"), "does not charge what its guarantee costs"),
        ("reserve", "adult", charged("-1", "1"), "does not charge what its guarantee costs"),
        ("reserve", "adult", charged("1", "1", "replace"), "kept under add-remove"),
        ("reserve", "adult", charged("1", "1", "week"), "is not a guarantee"),
        ("reserve", "adult", {"charged": "0", "guarantee": {"kind": "IntervalPrivacy", "intervals": 3}}, "be read"),
        ("reserve", "new", charged("1", "1"), "opened exactly once"),
        ("reserve", "adult", {"charged": "1"}, "cannot be read"),
        ("reserve", "adult", {**charged("1", "1"), "charged": "1/0"}, "cannot be read"),
        ("reserve", "adult", [], "cannot be read"),
        ("reserve", "adult", "{", "Expecting property name"),
        ("open", "adult", {"unit": "add-remove", "ceiling": "9"}, "opened exactly once"),
        ("open", "new", {"unit": "week", "ceiling": "9"}, "'week' is not a valid Unit"),
        ("grant", "adult", {"ceiling": "1.4", "reason": "less"}, "below what was already spent"),
        ("settle", "adult", {"reserve": "ff" * 32, "release": RELEASE}, "refers to a reservation that"),
        ("rows", "adult", {"reserve": "ff" * 32, "fingerprint": "aa"}, "refers to a reservation that"),
        ("refund", "adult", {"amount": "1"}, "'refund' is not a kind of entry"),
    ],
)
def test_an_entry_that_breaks_a_law_is_found_though_the_chain_holds(
    full: Path, kind: str, dataset: str, body: object, reason: str
) -> None:
    forge(full, kind, dataset, body)
    message = refusal_of(full)
    assert "Entry 11 of the ledger is not valid" in message
    assert reason in message


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"previous": START}, "does not contain the hash of the entry before it"),
        ({"sequence": 13}, "its sequence number is 13"),
    ],
)
def test_an_entry_with_a_good_hash_that_does_not_follow_is_found(
    full: Path, changes: dict[str, Any], reason: str
) -> None:
    forge(full, "reserve", "adult", charged("1", "1"), **changes)
    message = refusal_of(full)
    assert "Entry 11 of the ledger is not valid" in message
    assert reason in message


@pytest.mark.parametrize(
    ("kind", "dataset", "reserve_sequence", "field", "reason"),
    [
        ("settle", "adult", 3, {"release": RELEASE}, "for the second time"),
        ("settle", "adult", 9, {"release": RELEASE}, "refers to a reservation that its dataset does not have"),
        ("settle", "adult", 4, {"release": RELEASE}, "refers to a reservation that its dataset does not have"),
        ("rows", "adult", 3, {"fingerprint": "aa"}, "already spent on a table"),
        ("rows", "census", 9, {"fingerprint": b"rows of adult".hex()}, "are charged to another dataset"),
    ],
)
def test_an_entry_that_misuses_a_reservation_is_found_though_the_chain_holds(
    full: Path, kind: str, dataset: str, reserve_sequence: int, field: dict[str, str], reason: str
) -> None:
    with closing(sqlite3.connect(full)) as connection:
        (target,) = connection.execute("SELECT hash FROM entries WHERE sequence = ?", (reserve_sequence,)).fetchone()
    forge(full, kind, dataset, {"reserve": target, **field})
    message = refusal_of(full)
    assert "Entry 11 of the ledger is not valid" in message
    assert reason in message


def test_rows_after_the_settlement_are_found_though_the_chain_holds(path: Path) -> None:
    with Ledger.open(path) as ledger:
        receipt = reserve(ledger)
        ledger.settle(receipt, RELEASE)
    forge(path, "rows", "adult", {"reserve": receipt.entry, "fingerprint": "aa"})
    assert "Entry 5 of the ledger is not valid: its reservation was already spent" in refusal_of(path)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE entries SET body = '{}' WHERE sequence = 3", "entries are never changed"),
        ("DELETE FROM entries WHERE sequence = 10", "entries are never deleted"),
        ("DELETE FROM entries", "entries are never deleted"),
        ("INSERT OR REPLACE INTO entries VALUES (2, '', '', '', '', '', '')", "entries are added at the end only"),
        ("INSERT INTO entries VALUES (12, '', '', '', '', '', '')", "entries are added at the end only"),
    ],
)
def test_the_file_itself_refuses_to_change_what_stands(full: Path, statement: str, message: str) -> None:
    with closing(sqlite3.connect(full)) as connection, pytest.raises(sqlite3.IntegrityError, match=message):
        connection.execute(statement)
    with Ledger.open(full) as ledger:
        assert ledger.verify() == 10


# -------------------------------------------------------------------------------------------------------------- files


def test_the_environment_names_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a" / "b" / "spent.db"
    monkeypatch.setenv("SCUMBLE_LEDGER", str(place))
    with Ledger.open() as ledger:
        assert ledger.path == place
        reserve(ledger)
    with Ledger.open(place) as ledger:
        assert account(ledger)["spent"] == "1"


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.local/share/scumble/ledger.db"),
        ("linux", {"XDG_DATA_HOME": "{root}/xdg"}, "xdg/scumble/ledger.db"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "home/.local/share/scumble/ledger.db"),
        ("linux", {"SCUMBLE_LEDGER": ""}, "home/.local/share/scumble/ledger.db"),
        ("darwin", {"XDG_DATA_HOME": "{root}/xdg"}, "home/Library/Application Support/scumble/ledger.db"),
        ("win32", {"LOCALAPPDATA": "{root}/local"}, "local/scumble/ledger.db"),
        ("win32", {}, "home/AppData/Local/scumble/ledger.db"),
    ],
)
def test_the_default_place_is_the_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str
) -> None:
    for name in ("SCUMBLE_LEDGER", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(root=tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert default_path() == tmp_path / expected


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the rights of a file elsewhere")
def test_only_the_owner_can_read_the_files(path: Path) -> None:
    before = os.umask(0)
    try:
        with Ledger.open(path) as ledger:
            reserve(ledger)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db.key"], 0o600)


def test_an_empty_file_becomes_a_ledger(path: Path) -> None:
    path.touch(0o600)
    with Ledger.open(path) as ledger:
        assert reserve(ledger).spent == 1


@pytest.mark.parametrize("content", [b"sequence,time,kind\n" * 100, b"x", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a ledger of scumble"):
        Ledger.open(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (address TEXT)")
    content = path.read_bytes()
    with pytest.raises(InputError, match="another program's database"):
        Ledger.open(path)
    assert path.read_bytes() == content


def test_a_damaged_ledger_is_refused(full: Path) -> None:
    size = full.stat().st_size
    with full.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(InputError, match="or is damaged"):
        Ledger.open(full)


def test_a_ledger_without_its_identity_is_refused(full: Path) -> None:
    with closing(sqlite3.connect(full, isolation_level=None)) as connection:
        connection.execute("DELETE FROM meta")
    with pytest.raises(InputError, match="identity is missing"):
        Ledger.open(full)


def test_a_ledger_of_a_future_format_is_refused(full: Path) -> None:
    with closing(sqlite3.connect(full)) as connection:
        connection.execute("PRAGMA user_version = 3")
    with pytest.raises(InputError, match="has format 3; this version of scumble reads formats 1 and 2"):
        Ledger.open(full)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file"):
        Ledger.open(tmp_path)


@pytest.mark.parametrize("below", ["ledger.db", "folder/ledger.db"])
def test_a_place_below_a_file_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ScumbleError, match=re.escape(str(tmp_path / "file")) + ".*SCUMBLE_LEDGER"):
        Ledger.open(tmp_path / "file" / below)


def test_opening_a_ledger_twice_in_one_process_is_fine(path: Path) -> None:
    with Ledger.open(path) as one, Ledger.open(path) as other:
        reserve(one)
        with pytest.raises(BudgetError):
            reserve(other)
    assert other.path == path
