"""A ledger that was damaged, or made by someone who has its key, is refused in a sentence: no traceback and no hang."""

import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from hostile_folders import DEEP
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scumble.errors import ScumbleError
from scumble.model.guarantee import PureDP, Unit
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_entries import Entry, entry_hash

NUMBERS = ("1e999999999", "1e-999999999", "0e999999999", "9" * 5000, "1/0")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "ledger.db"
    with Ledger.open(path) as ledger:
        guarantee = PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE)
        ledger.reserve(dataset="a", unit=Unit.ADD_REMOVE, guarantee=guarantee, method="m", spends=[])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return path


@pytest.fixture
def path(small: Path, tmp_path: Path) -> Path:
    for name in ("ledger.db", "ledger.db.key"):
        shutil.copy(small.with_name(name), tmp_path)
    return tmp_path / "ledger.db"


def read(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.statement().to_json()
        ledger.verify()


def append(path: Path, kind: str, body: str) -> None:
    """Append an entry with a hash that fits, as whoever has the file and its key can."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        key = bytes.fromhex(Path(f"{path}.key").read_text().split()[1])
        *_, last = connection.execute("SELECT hash FROM entries ORDER BY sequence")
        fields = {"sequence": 4, "time": "2026", "kind": kind, "dataset": "a", "body": body, "previous": last[0]}
        entry = Entry(**fields, hash="")
        values = (*fields.values(), entry_hash(entry, key))
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", values)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("grant", DEEP),
        ("grant", "9" * 5000),
        ("grant", "[]"),
        *(("grant", f'{{"ceiling": "{number}", "reason": ""}}') for number in NUMBERS if not number.startswith("9")),
        *(("reserve", f'{{"charged": "{number}"}}') for number in NUMBERS),
        ("reserve", '{"charged": "1", "guarantee": {"kind": "JointDP", "epsilon": "1", "delta": "1e999999999"}}'),
    ],
)
def test_a_forged_entry_is_refused(path: Path, kind: str, body: str) -> None:
    append(path, kind, body)
    with pytest.raises(ScumbleError, match="is not valid"):
        read(path)


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"


@pytest.mark.parametrize(
    "statements",
    [
        ("DROP TABLE entries",),
        ("DROP TABLE entries", "CREATE TABLE entries (sequence INTEGER PRIMARY KEY AUTOINCREMENT, other TEXT)"),
        ("ALTER TABLE entries ADD COLUMN further TEXT",),
        ("ALTER TABLE entries RENAME COLUMN body TO text",),
        ("DROP TABLE entries", f"CREATE VIEW entries AS {ENDLESS} x AS sequence, '' AS body FROM n"),
        ("DROP TABLE meta", f"CREATE VIEW meta AS {ENDLESS} 'key' AS name, x AS value FROM n WHERE x < 0"),
        ("UPDATE meta SET value = 3",),
        ("UPDATE sqlite_sequence SET seq = 'x'",),
        ("DELETE FROM sqlite_sequence",),
    ],
)
def test_another_database_of_that_name_is_refused(path: Path, statements: tuple[str, ...]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    with pytest.raises(ScumbleError):
        read(path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8)), max_size=3),
    st.sampled_from([1 << 20, 1 << 20, 4096, 5000, 100]),
)
def test_damaged_bytes_never_raise_anything_else(
    small: Path, path: Path, changes: list[tuple[int, bytes]], length: int
) -> None:
    """Whatever bytes are changed: the ledger is refused, or what was changed is not read."""
    content = bytearray(small.read_bytes())
    for place, piece in changes:
        start = place % len(content)
        content[start : start + len(piece)] = piece
    path.write_bytes(bytes(content[:length]))
    for beside in ("-wal", "-shm", "-journal"):
        path.with_name(f"ledger.db{beside}").unlink(missing_ok=True)
    try:
        read(path)
    except ScumbleError:
        return
