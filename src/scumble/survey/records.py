"""The reports that a survey has collected: one SQLite file, in a folder that only its owner can read.

- A record is stored when its transaction is on the disk (`synchronous=EXTRA`), so an acknowledged record survives a
  crash, and a record that was cut off leaves no trace.
- A record is stored under the SHA-256 of its token, in the order of these digests. The file has no times, no addresses
  and no order of arrival.
- A record that is replaced or withdrawn is overwritten (`secure_delete`), and no copy of it stays in a journal.
- The number of records is kept beside them, because SQLite would read all of them to count them.

Several processes may use the file: every operation opens it anew, and SQLite's locks keep them apart.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scumble.errors import InputError, ScumbleError
from scumble.foreign.documents import parse_json
from scumble.survey.definition import Survey
from scumble.survey.submission import Submission

SURVEY_FILE = "survey.json"
RECORDS_FILE = "records.db"
MOST_RECORDS = 10_000_000
PRAGMAS = ("journal_mode = DELETE", "synchronous = EXTRA", "secure_delete = ON")
TABLES = """
    CREATE TABLE records (token BLOB PRIMARY KEY, reports TEXT NOT NULL, truths TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE invitations (token BLOB PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE state (closed INTEGER NOT NULL, records INTEGER NOT NULL);
    INSERT INTO state VALUES (0, 0);
"""


class ClosedSurvey(InputError):
    """The survey is closed: it takes no records and forgets none."""

    def __init__(self) -> None:
        super().__init__("This survey is closed.")


class UnknownToken(InputError):
    """No invitation, or no record, has this token."""


@dataclass(frozen=True, kw_only=True)
class StoredRecord:
    """Codes of the reports in the order of the noise model, and of true answers by attribute."""

    reports: tuple[int, ...]
    truths: dict[str, int]


def collecting_folder(out: Path) -> Path:
    """Where reports are collected until the release `out` is written: a folder beside it."""
    return out.absolute().with_name(out.name + ".collected")


class CollectedRecords:
    """The collected records of one survey."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.survey = Survey.read(folder / SURVEY_FILE)
        self._names = self.survey.noise.reported

    @classmethod
    def create(cls, folder: Path, survey: Survey, invitations: Iterable[bytes] = ()) -> "CollectedRecords":
        """A new empty folder. Its survey.json is written last: without it, a folder is not a survey."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / RECORDS_FILE).unlink(missing_ok=True)  # of a creation that was interrupted
        with closing(sqlite3.connect(folder / RECORDS_FILE)) as file:
            file.executescript(TABLES)
            file.executemany("INSERT OR IGNORE INTO invitations VALUES (?)", ((each,) for each in invitations))
            file.commit()
        (folder / RECORDS_FILE).chmod(0o600)
        survey.write(folder / SURVEY_FILE)
        return cls(folder)

    def invite(self, tokens: Iterable[bytes]) -> None:
        """Add invitations to those that exist."""
        if not self.survey.invited:
            raise InputError("This survey began without invitations, and everybody may answer. Begin another one.")
        with self._transaction() as file:
            self._check_open(file)
            file.executemany("INSERT OR IGNORE INTO invitations VALUES (?)", ((each,) for each in tokens))

    def put(self, submission: Submission) -> bool:
        """Store a record durably. Returns whether it replaced one. Raises `ClosedSurvey` or `UnknownToken`."""
        reports = json.dumps([submission.reports[name] for name in self._names])
        with self._transaction() as file:
            self._check_open(file)
            if self.survey.invited and not _has(file, "invitations", submission.token):
                raise UnknownToken("No invitation has this token. Use the link of the invitation, as it was sent.")
            replaced = _has(file, "records", submission.token)
            if not replaced and _count(file) >= MOST_RECORDS:
                raise InputError("This survey has reached its largest number of records.")
            row = (submission.token, reports, json.dumps(dict(submission.truths)))
            file.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", row)
            if not replaced:
                file.execute("UPDATE state SET records = records + 1")
        return replaced

    def withdraw(self, token: bytes, *, by_owner: bool = False) -> None:
        """Delete a record durably. Raises `ClosedSurvey` or `UnknownToken`.

        The owner can still do so after the closing date, until `close` has been called.
        """
        with self._transaction() as file:
            self._check_open(file, late=by_owner)
            if not _has(file, "records", token):
                raise UnknownToken("There is no record with this token. It may have been withdrawn before.")
            file.execute("DELETE FROM records WHERE token = ?", (token,))
            file.execute("UPDATE state SET records = records - 1")

    def close(self) -> list[StoredRecord]:
        """Take no further records, for good, and return those that are there, in the order of their digests."""
        with self._transaction() as file:
            file.execute("UPDATE state SET closed = 1")
            rows = file.execute("SELECT reports, truths FROM records ORDER BY token").fetchall()
        return [StoredRecord(reports=tuple(parse_json(each)), truths=parse_json(truths)) for each, truths in rows]

    def forget(self) -> None:
        """Overwrite all records and invitations, after a release has them: nothing links a token to a record then."""
        with self._transaction() as file:
            file.execute("DELETE FROM records")
            file.execute("DELETE FROM invitations")
            file.execute("UPDATE state SET records = 0")

    @property
    def is_closed(self) -> bool:
        with self._transaction() as file:
            return _is_closed(file)

    def __len__(self) -> int:
        with self._transaction() as file:
            return _count(file)

    def _check_open(self, file: sqlite3.Connection, *, late: bool = False) -> None:
        if (self.survey.is_over() and not late) or _is_closed(file):
            raise ClosedSurvey

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        path = self.folder / RECORDS_FILE
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=30)) as file:
                file.isolation_level = None
                for setting in PRAGMAS:
                    file.execute(f"PRAGMA {setting}")
                file.execute("BEGIN IMMEDIATE")
                try:
                    yield file
                    file.execute("COMMIT")
                except BaseException:
                    file.rollback()
                    raise
        except sqlite3.Error as error:
            problem = f"The records {path} cannot be used: {error}. Check the disk and its free space."
            raise ScumbleError(problem) from error


def _has(file: sqlite3.Connection, table: str, token: bytes) -> bool:
    return file.execute(f"SELECT 1 FROM {table} WHERE token = ?", (token,)).fetchone() is not None


def _count(file: sqlite3.Connection) -> int:
    return int(file.execute("SELECT records FROM state").fetchone()[0])


def _is_closed(file: sqlite3.Connection) -> bool:
    return bool(file.execute("SELECT closed FROM state").fetchone()[0])
