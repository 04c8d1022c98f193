"""The chosen folder and the projects in it. No path leads out of the folder, whatever a request or a run file says."""

import re
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import quote

from scumble.demo.patients import write_patients
from scumble.errors import InputError
from scumble.files.run_file import RunFile, beside, read_run, write_run
from scumble.files.schema_file import read_schema
from scumble.foreign.files import inside
from scumble.model.schema import Schema
from scumble.sources import Dialect, Source, open_source

RUN = "run.yaml"
TABLES = (".csv", ".tsv", ".csv.gz", ".parquet", ".pq", ".feather", ".arrow", ".orc", ".xlsx", ".ods", ".dta", ".sav")
"""How the names of tables end that the first page lists."""
MOST_LISTED = 200
DEEPEST_LISTED = 3


@dataclass(frozen=True, kw_only=True)
class Project:
    """A folder with a run file: a table, its schema, and what was chosen so far."""

    name: str
    folder: Path
    home: Path
    """The folder of the studio, which contains this one and all files that it names."""

    @property
    def address(self) -> str:
        """The address of its pages."""
        return f"/projects/{quote(self.name, safe='')}"

    @property
    def run_path(self) -> Path:
        """The run file."""
        return self.folder / RUN

    @property
    def run(self) -> RunFile:
        """What was chosen so far."""
        return read_run(self.run_path)

    def change(self, **values: object) -> RunFile:
        """Record a choice in the run file."""
        changed = self.run.changed(**values)
        write_run(changed, self.run_path)
        return changed

    @property
    def data(self) -> str:
        """The table, as the command line names it. Raises `InputError` if it is not inside the folder of the studio."""
        stated = self.run.data
        path = Path(beside(self.folder, stated)).resolve()
        if "://" in stated or not path.is_relative_to(self.home):
            raise InputError(f"The table {stated} is outside the folder {self.home}. Start the studio in its folder.")
        return str(path)

    def source(self) -> Source:
        """The table, of which only the header is read here."""
        run = self.run
        dialect = Dialect(delimiter=run.delimiter, encoding=run.encoding, multiline=run.multiline)
        return open_source(self.data, dialect=dialect, engine=run.engine)

    @property
    def schema_path(self) -> Path:
        """The schema file, inside the folder of the studio."""
        path = (self.folder / self.run.schema_path).resolve()
        if not path.is_relative_to(self.home):
            raise InputError(f"The schema {self.run.schema_path} is outside the folder {self.home}.")
        return path

    @property
    def schema(self) -> Schema | None:
        """The schema; None if there is none yet."""
        return read_schema(self.schema_path) if self.schema_path.exists() else None

    def schema_or_raise(self) -> Schema:
        """The schema. Raises `InputError` if there is none yet."""
        schema = self.schema
        if schema is None:
            raise InputError("This project has no schema yet. Describe the columns of the table first.")
        return schema

    @property
    def ledger(self) -> Path | None:
        """The ledger that the run file names; None for the user's own."""
        stated = self.run.ledger
        return None if stated is None else self.folder / stated

    @property
    def witness(self) -> Path | None:
        """The witness that the run file names; None for the user's own."""
        stated = self.run.witness
        return None if stated is None else self.folder / stated

    @property
    def releases(self) -> list[Path]:
        """The release folders of this project, the newest first."""
        found = [path.parent for path in self.folder.glob("*/release.json") if not path.parent.is_symlink()]
        return sorted(found, key=lambda path: (path / "release.json").stat().st_mtime, reverse=True)

    def release_folder(self, name: str) -> Path:
        """A release folder by its name. Raises `InputError` if there is none."""
        folder = inside(self.folder, name)
        if folder not in self.releases:
            raise InputError(f"There is no release {name!r} in this project.")
        return folder

    def free_name(self, name: str) -> str:
        """The name itself, or the first of name-2, name-3, ... that does not exist: nothing is overwritten."""
        return free_name(self.folder, name)


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """The folder that the studio was started in."""

    folder: Path

    @property
    def projects(self) -> list[Project]:
        """The folders in it that have a run file, by name."""
        return [
            self._project(path.parent) for path in sorted(self.folder.glob(f"*/{RUN}")) if self._is_own(path.parent)
        ]

    def project(self, name: str) -> Project:
        """A project by the name of its folder. Raises `InputError` if there is none."""
        folder = inside(self.folder, name)
        if not self._is_own(folder) or not (folder / RUN).is_file():
            raise InputError(f"There is no project {name!r} in {self.folder}.")
        return self._project(folder)

    @property
    def tables(self) -> list[str]:
        """Files that look like tables, by their path in the folder. Only names are read."""
        found = []
        for path in sorted(self.folder.rglob("*")):
            parts = path.relative_to(self.folder).parts
            hidden = any(part.startswith(".") for part in parts)
            published = (path.parent / "release.json").exists()
            if not hidden and not published and len(parts) <= DEEPEST_LISTED and path.name.lower().endswith(TABLES):
                found.append("/".join(parts))
            if len(found) == MOST_LISTED:
                break
        return found

    def create(self, data: str) -> Project:
        """A new project for a table, which stays where it is. Its header is read, no row."""
        if not data.strip():
            raise InputError("Name a table: the path of a file in this folder.")
        path = (self.folder / data.strip()).resolve()
        if not path.is_relative_to(self.folder):
            raise InputError(
                f"{data} is outside the folder {self.folder}. Start the studio in the folder of the table."
            )
        open_source(str(path)).columns()
        stem = re.sub(r"[^\w-]+", "-", path.name.partition(".")[0]).strip("-") or "table"
        folder = self.folder / free_name(self.folder, f"{stem}-project")
        folder.mkdir()
        stated = Path("..") / path.relative_to(self.folder)
        write_run(RunFile(data=str(stated)), folder / RUN)
        return self._project(folder)

    def create_demo(self, rows: int = 20_000) -> Project:
        """A new project with generated patients and a ledger of its own: nothing of it concerns real people."""
        folder = self.folder / free_name(self.folder, "demo")
        folder.mkdir()
        write_patients(folder, rows=rows)
        run = RunFile(data="patients.csv", method="diffgen", ledger="ledger.db", witness="witness.db")
        write_run(run.changed(parameters={"epsilon": "1"}), folder / RUN)
        return self._project(folder)

    def _project(self, folder: Path) -> Project:
        return Project(name=folder.name, folder=folder, home=self.folder)

    def _is_own(self, folder: Path) -> bool:
        return not folder.is_symlink() and folder.resolve().parent == self.folder


def free_name(folder: Path, name: str) -> str:
    """The name itself, or the first of name-2, name-3, ... that does not exist in a folder."""
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(each for each in names if not (folder / each).exists())
