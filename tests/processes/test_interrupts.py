"""Ctrl-C, SIGTERM and SIGHUP end a release, even if a library swallows them; its exit code is 5 once it was charged."""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pytest
import swallowing
from command_line import SCHEMA, accounts, leftovers, people, release_words

from scumble.engines.duckdb import DuckDBEngine
from scumble.files.schema_file import parse_schema

pytestmark = pytest.mark.faults

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(300))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


@pytest.mark.parametrize(
    ("place", "number", "way", "code"),
    [
        ("check_columns", signal.SIGINT, "callback", 1),
        ("charged_rows", signal.SIGINT, "destructor", 5),
        ("run_release", signal.SIGTERM, "callback", 5),
        ("write_release", signal.SIGHUP, "callback", 5),
        ("check_columns", signal.SIGINT, "conversion", 1),
        ("charged_rows", signal.SIGHUP, "conversion", 5),
    ],
)
def test_a_swallowed_signal_ends_the_run_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, number: int, way: str, code: int
) -> None:
    monkeypatch.setenv("TMPDIR", str(folder / "scratch"))
    (folder / "scratch").mkdir()
    command = [
        sys.executable,
        swallowing.__file__,
        place,
        str(int(number)),
        way,
        *map(str, release_words(engine="duckdb")),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == code, ended.stderr
    said = "Interrupted. Nothing was charged.\n" if code == 1 else "Cause: an interruption.\n"
    assert ended.stderr.endswith(said)
    assert ("No answer was drawn from the rows." in ended.stderr) is (place == "charged_rows")
    assert not (folder / "out").exists()
    assert leftovers(folder) == list((folder / "scratch").iterdir()) == []
    assert bool(accounts(folder / "ledger.db")) is (code == 5)


def test_a_signal_at_any_moment(folder: Path) -> None:
    """Real processes from their start: a run ends with 0 and its release, or it is not published without saying so."""
    words = [sys.executable, "-m", "scumble", *map(str, release_words())]
    began = time.monotonic()
    assert subprocess.run(words, capture_output=True, timeout=120, check=False).returncode == 0
    life = time.monotonic() - began
    for turn in range(6):
        ledger, out, number = folder / f"{turn}.db", folder / f"out{turn}", SIGNALS[turn % 3]
        own = [*words[:3], *map(str, release_words(ledger=ledger, out=out))]
        process = subprocess.Popen(own, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        time.sleep(random.uniform(0.3, 1) * life)
        process.send_signal(number)
        _, printed = process.communicate(timeout=120)
        error = re.sub("^notice: The ledger .*\n?", "", printed, flags=re.MULTILINE)
        charged = ledger.exists() and bool(accounts(ledger))
        said = f"turn {turn}, {number!r}: {process.returncode} {error}"
        if process.returncode < 0:  # while Python itself starts or ends
            assert process.returncode == -number and (not charged or out.exists()), said
        elif charged:
            assert process.returncode == 5 or (process.returncode == 0 and out.exists()), said
        else:
            assert process.returncode in (1, 5), said
        assert process.returncode == 5 or not error or "Interrupted." in error or "warning" in error, said
        assert "Traceback" not in error, said
    assert leftovers(folder) == []


KILLED = """
import os, signal, sys
import pyarrow as pa
from scumble.engines.duckdb import DuckDBEngine
from scumble.files.schema_file import parse_schema

schema = parse_schema(
    "scumble: schema/1\\nperson: id\\nrows_each_at_most: 2\\nattributes: {x: {numeric: {low: 0, high: 60000, step: 1}}}"
)
numbers = range(400_000)
rows = pa.table({"x": [n * 7919 % 60000 for n in numbers], "id": [f"person {n % 99_999}" for n in numbers]})
engine = DuckDBEngine.open(rows.to_batches(max_chunksize=1 << 16), schema)
assert engine.rows > 190_000
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_engine_leaves_no_rows_and_the_next_one_removes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    (left,) = tmp_path.iterdir()
    os.utime(left, (0, 0))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    schema = parse_schema("scumble: schema/1\nattributes: {x: {classes: [a]}}")
    DuckDBEngine.open(pa.table({"x": ["a"]}).to_batches(), schema).close()
    assert list(tmp_path.iterdir()) == []
