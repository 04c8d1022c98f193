"""Releases as processes: killed, interrupted, two at once, on a full disk. The charge is never lost, and a release is
there whole or not at all."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
import release_launcher
from command_line import (
    SCHEMA,
    accounts,
    kinds,
    leftovers,
    people,
    release,
    release_words,
    scumble,
)

from scumble.errors import InputError
from scumble.files.atomic_folder import staging
from scumble.locked_folders import GRACE_SECONDS
from scumble.privacy.ledger import Ledger

pytestmark = pytest.mark.faults

LIFE = ["open", "reserve", "rows", "settle"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(300))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


def launch(*jobs: dict[str, Any]) -> list[dict[str, Any]]:
    """Run jobs of `release_launcher` one after the other, each a process of its own."""
    command = [sys.executable, release_launcher.__file__]
    ended = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    results: list[dict[str, Any]] = json.loads(ended.stdout)
    return results


def job(number: int, **how: Any) -> dict[str, Any]:
    """A release with a ledger and a folder of its own."""
    words = release_words(ledger=f"ledger{number}.db", out=f"out{number}")
    return {"name": f"job{number}", "words": words, **how}


def spread(folder: Path, signal_number: int, *, at_calls: int, at_times: int) -> list[dict[str, Any]]:
    """Releases hit by a signal at moments all over their life, some by calls of functions, some by the clock."""
    first, second = launch(job(0), job(1, count=True))
    assert (first["code"], second["code"], second["calls"] > at_calls) == (0, 0, True)
    calls = [2 + second["calls"] * step // at_calls for step in range(at_calls)]
    times = [random.uniform(0, first["seconds"]) for _ in range(at_times)]
    jobs = [job(2 + place, at_call=call, signal=signal_number) for place, call in enumerate(calls)]
    jobs += [job(2 + at_calls + place, after=after, signal=signal_number) for place, after in enumerate(times)]
    return [{"number": 2 + place, **ended} for place, ended in enumerate(launch(*jobs))]


def life_of(folder: Path, number: int) -> list[str]:
    """How far the charge of a job came. Its ledger holds, and its folder is there whole or not at all."""
    found = accounts(folder / f"ledger{number}.db")
    life = kinds(found["people"]) if found else []
    assert life == LIFE[: len(life)]
    if found:
        assert found["people"]["spent"] == "1"
        assert len(life) != 1, "an account is opened together with its first charge"
    out = folder / f"out{number}"
    if out.exists():
        assert scumble("verify", out).code == 0
        assert life[:3] == LIFE[:3]
    else:
        assert life != LIFE
    return life


# --------------------------------------------------------------------------------------------------------------- kills


def test_a_release_killed_at_any_moment_keeps_its_charge_and_leaves_no_half_folder(folder: Path) -> None:
    killed = spread(folder, signal.SIGKILL, at_calls=24, at_times=12)
    assert sum(ended["code"] == -signal.SIGKILL for ended in killed) >= 20
    lives = [life_of(folder, ended["number"]) for ended in killed]
    assert [] in lives
    assert LIFE[:3] in lives
    for ended, life in zip(killed, lives, strict=True):
        assert life == LIFE or ended["code"] == -signal.SIGKILL

    left = leftovers(folder)
    assert left
    for unfinished in left:
        long_ago = time.time() - GRACE_SECONDS - 5
        os.utime(unfinished, (long_ago, long_ago))
    for ended, life in zip(killed, lives, strict=True):
        options = {"ledger": f"ledger{ended['number']}.db", "out": f"again{ended['number']}"}
        if life:
            assert release(**options).code == 3
            granted = scumble("ledger", "grant", "people", "2", "--reason", "killed", "--ledger", options["ledger"])
            assert granted.code == 0
        assert release(**options).code == 0
        assert leftovers(folder) == []


def test_an_unfinished_folder_is_left_alone_while_it_is_young_or_at_work(folder: Path) -> None:
    with staging(folder / "other") as stage:
        os.utime(stage.folder, (0, 0))
        assert release().code == 0
        assert leftovers(folder) == [stage.folder]
    assert leftovers(folder) == []
    with pytest.raises(InputError), staging(folder / "out"):
        pass
    young = folder / ".scumble-unfinished-young"
    young.mkdir()
    assert release(dataset="others", out="again").code == 3
    assert young.exists()


# ---------------------------------------------------------------------------------------------------------- interrupts


def test_an_interrupt_before_the_charge_charges_nothing(folder: Path) -> None:
    places = ["check_columns", "staging"]
    for number, ended in enumerate(launch(*(job(n, pause=p, signal=signal.SIGINT) for n, p in enumerate(places)))):
        assert (ended["code"], ended["out"], ended["err"]) == (1, "", "error: Interrupted. Nothing was charged.\n")
        assert life_of(folder, number) == []
    assert leftovers(folder) == []


def test_an_interrupt_after_the_charge_says_that_it_stands(folder: Path) -> None:
    places = {"row_sums": LIFE[:2], "run": LIFE[:3], "write_release": LIFE[:3], "settle": LIFE[:3]}
    jobs = [job(number, pause=place, signal=signal.SIGINT) for number, place in enumerate(places)]
    for number, (place, ended) in enumerate(zip(places, launch(*jobs), strict=True)):
        assert (ended["code"], ended["out"]) == (5, "")
        assert life_of(folder, number) == places[place]
        entry = accounts(folder / f"ledger{number}.db")["people"]["entries"][1]["hash"][:12]
        published = (folder / f"out{number}").exists()
        assert published is (place == "settle")
        folder_too = f"The release out{number} is complete." if published else "No release was made."
        folder_too += " No answer was drawn from the rows." if place == "row_sums" else ""
        stands = f"The charge stands: ledger entry {entry}. {folder_too} Cause: an interruption."
        assert ended["err"] == f"error: Interrupted. {stands}\n"
    assert leftovers(folder) == []


def test_an_interrupt_just_when_the_charge_was_written_does_not_deny_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve = Ledger.reserve

    def reserve_and_be_interrupted(self: Ledger, **what: Any) -> None:
        reserve(self, **what)
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "reserve", reserve_and_be_interrupted)
    ended = release()
    assert ended.code == 5
    assert "It may have been charged: see `scumble ledger show`" in ended.error


def test_an_interrupt_that_duckdb_calls_something_else_is_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
            self._connection = connection

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

        def execute(self, statement: str) -> None:
            if statement.startswith("INSERT"):
                raise RuntimeError("Query interrupted")
            self._connection.execute(statement)

    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *where, **how: Interrupted(connect(*where, **how)))
    ended = release(engine="duckdb")
    assert ended.code == 5
    assert "The charge stands" in ended.error


LOST = """
import os, signal, sys, time
from scumble import interrupts
from scumble.cli import _interrupt_again

class Freed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

sys.unraisablehook = _interrupt_again
try:
    with interrupts.handled():
        Freed()
        time.sleep(60)
except KeyboardInterrupt:
    print("it came")
"""


def test_an_interrupt_that_is_lost_in_a_destructor_comes_once_more() -> None:
    ended = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "it came\n", "")


def test_whenever_a_release_is_interrupted_its_last_words_are_true(folder: Path) -> None:
    interrupted = spread(folder, signal.SIGINT, at_calls=24, at_times=12)
    assert sum(ended["code"] == release_launcher.OUTSIDE for ended in interrupted) <= 12
    for ended in interrupted:
        life = life_of(folder, ended["number"])
        assert "Traceback" not in ended["err"]
        if ended["code"] == release_launcher.OUTSIDE:
            assert life in ([], LIFE)
        elif ended["code"] == 0:
            assert life == LIFE
        elif life == []:
            assert (ended["code"], ended["err"]) in [
                (1, "error: Interrupted. Nothing was charged.\n"),
                (1, "error: Interrupted.\n"),
                (5, "error: Interrupted. It may have been charged: see `scumble ledger show`.\n"),
            ]
        elif life == LIFE:
            assert ended["code"] in (1, 5)
            assert "Nothing was charged" not in ended["err"]
        else:
            assert ended["code"] == 5
            assert re.search("The charge stands: ledger entry|It may have been charged", ended["err"])


# --------------------------------------------------------------------------------------------------- at the same moment


def test_of_several_releases_at_once_the_ledger_lets_through_what_it_has_room_for(folder: Path) -> None:
    jobs = [{"name": f"job{number}", "words": release_words(out=f"out{number}")} for number in range(5)]
    ended = launch({"together": jobs})
    assert sorted(each["code"] for each in ended) == [0, 3, 3, 3, 3]
    for number, each in enumerate(ended):
        assert (folder / f"out{number}").exists() is (each["code"] == 0)
        assert each["code"] == 0 or "Nothing was charged" in each["err"]
    account = accounts(folder / "ledger.db")["people"]
    assert (account["spent"], kinds(account)) == ("1", LIFE)
    assert leftovers(folder) == []


def test_of_several_releases_into_one_folder_one_appears_and_all_charges_stand(folder: Path) -> None:
    jobs = [{"name": f"job{number}", "words": release_words(ledger=f"ledger{number}.db")} for number in range(3)]
    ended = launch({"together": jobs})
    assert sorted(each["code"] for each in ended) == [0, 2, 2]
    for number, each in enumerate(ended):
        found = accounts(folder / f"ledger{number}.db")
        if each["code"]:
            assert re.search("exists already|was created during the run", each["err"])
            assert ("The charge stands" in each["err"]) is bool(found)
    assert scumble("verify", "out").code == 0


def test_a_folder_that_appears_just_before_the_release_is_not_touched(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def rename_too_late(self: Path, target: Path) -> Path:
        if target.name == "out":
            target.mkdir()
            (target / "theirs").touch()
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", rename_too_late)
    ended = release()
    assert ended.code == 2
    assert "was created during the run, and is never overwritten" in ended.error
    assert "The charge stands" in ended.error
    assert [path.name for path in (folder / "out").iterdir()] == ["theirs"]
    assert leftovers(folder) == []


# ----------------------------------------------------------------------------------------------------------- full disk


@pytest.mark.parametrize(
    ("engine", "rows", "says"), [("memory", 30_000, "File too large"), ("duckdb", 400_000, "coded.duckdb")]
)
def test_a_disk_that_is_full_after_the_charge_keeps_the_charge_and_makes_no_folder(
    folder: Path, engine: str, rows: int, says: str
) -> None:
    (folder / "many.csv").write_text(people(rows))
    words = release_words("many.csv", dataset="people", engine=engine)
    (ended,) = launch({"name": "job", "words": words, "file_limit": 200_000})
    assert ended["code"] == 1
    assert says in ended["err"]
    entry = accounts(folder / "ledger.db")["people"]["entries"][1]["hash"][:12]
    assert f"The charge stands: ledger entry {entry}. No release was made." in ended["err"]
    assert "Traceback" not in ended["err"]
    assert ended["err"].startswith("error: The run failed: ")
    assert ended["err"].count("\n") == 1
    assert not (folder / "out").exists()
    assert leftovers(folder) == []
    assert kinds(accounts(folder / "ledger.db")["people"])[:2] == LIFE[:2]
