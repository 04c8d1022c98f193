"""The core alone, and the calls of the system that Windows lacks: releases, checks and errors without either."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import bare_machine
import pytest
from command_line import Ended

import scumble
from scumble import portable
from scumble.cli.verbs import VERBS
from scumble.errors import BudgetError
from scumble.installation import missing_sentence


def bare(lacks: str, *commands: Sequence[object]) -> list[Ended]:
    """The results of commands in one process that lacks things."""
    done = subprocess.run(
        [sys.executable, bare_machine.__file__, lacks],
        input=json.dumps([list(map(str, words)) for words in commands]),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Ended(**each) for each in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo and a release, made without any extra and without the calls that Windows lacks."""
    place = tmp_path_factory.mktemp("bare")
    demo = place / "demo"
    words = ("release", demo / "patients.csv", "--schema", demo / "schema.yaml", "--epsilon", 1)
    ledger = ("--ledger", place / "ledger.db", "--witness", place / "witness.db")
    shown, released, verified, kept = bare(
        "extras,posix",
        ("demo", "--out", demo),
        (*words, *ledger, "--out", place / "out"),
        ("verify", place / "out"),
        ("ledger", "verify", *ledger),
    )
    assert [each.code for each in (shown, released, verified, kept)] == [0, 0, 0, 0], (shown, released, verified, kept)
    (place / "demo.txt").write_text(shown.out)
    return place


def test_release_and_verify_need_no_extra_and_no_posix_call(folder: Path) -> None:
    assert scumble.verify(folder / "out")  # what was written there is read here, and refused a second time
    with pytest.raises(BudgetError):
        scumble.release(
            folder / "demo" / "patients.csv",
            schema=folder / "demo" / "schema.yaml",
            epsilon="1",
            ledger=folder / "ledger.db",
            witness=folder / "witness.db",
            out=folder / "again",
        )
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_the_demo_judges_its_release_without_an_extra(folder: Path) -> None:
    said = (folder / "demo.txt").read_text()
    assert "C4.5 on the release" in said
    assert "refused, exit code 3" in said


NEEDING = {
    ("evaluate", "{demo}/release", "--test", "{demo}/test.csv"): "evaluate",
    ("query", "{demo}/release", "age < 40", "--out", "{here}/answer.svg"): "charts",
    ("release", "{demo}/patients.csv", "--engine", "duckdb", "{options}"): "duckdb",
    ("release", "{here}/book.xlsx", "{options}"): "excel",
    ("release", "{here}/table.dta", "{options}"): "statistics",
    ("release", "{here}/base.duckdb::t", "{options}"): "duckdb",
    ("join", "rehearse"): "joint",
}


def test_what_needs_an_extra_names_its_install_line_and_charges_nothing(folder: Path, tmp_path: Path) -> None:
    for name in ("book.xlsx", "table.dta", "base.duckdb"):
        (tmp_path / name).write_bytes(b"")
    demo = folder / "demo"
    options = f"--schema {demo}/schema.yaml --epsilon 1 --out {tmp_path}/out --ledger {tmp_path}/ledger.db"
    commands = []
    for words in NEEDING:
        filled = [word.format(demo=demo, here=tmp_path, options=options) for word in words]
        commands.append([part for word in filled for part in (word.split() if word == options else [word])])
    for extra, ended in zip(NEEDING.values(), bare("extras", *commands), strict=True):
        assert ended.code == 2, ended.err
        assert missing_sentence(extra) in ended.error
    assert not (tmp_path / "ledger.db").exists()
    assert not (tmp_path / "answer.svg").exists()


def test_every_verb_explains_itself_without_extras() -> None:
    program = (
        "import bare_machine as b, io, contextlib, json; b.hide(b.EXTRA_MODULES); b.remove_posix()\n"
        "from scumble.cli.verbs import VERBS\n"
        "print(json.dumps([name for name in VERBS if VERBS[name].load(name)]))"
    )
    path = os.pathsep.join([str(Path(bare_machine.__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == list(VERBS)


def test_a_folder_is_kept_by_one_process_in_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with portable.exclusive(tmp_path), pytest.raises(BlockingIOError), portable.exclusive(tmp_path):
        pass

    class Windows:
        LK_NBLCK = 2

        def __init__(self) -> None:
            self.locked: set[int] = set()

        def locking(self, descriptor: int, mode: int, count: int) -> None:
            assert (mode, count) == (self.LK_NBLCK, 1)
            place = os.fstat(descriptor).st_ino
            if place in self.locked:
                raise PermissionError(13, "Permission denied")
            self.locked.add(place)

    windows = Windows()
    monkeypatch.setattr(portable, "fcntl", None)
    monkeypatch.setattr(portable, "_module", lambda name: windows)
    with portable.exclusive(tmp_path), pytest.raises(BlockingIOError), portable.exclusive(tmp_path):
        pass
    assert (tmp_path / portable.LOCK_FILE).exists()


def test_a_folder_of_a_killed_run_is_abandoned_only_where_locks_can_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with portable.abandoned(tmp_path) as free:
        assert free
        with pytest.raises(BlockingIOError), portable.abandoned(tmp_path):
            pass
    monkeypatch.setattr(portable, "fcntl", None)
    with portable.abandoned(tmp_path) as free:
        assert not free
