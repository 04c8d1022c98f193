"""`run.yaml`: a release as it was chosen, to be repeated without a browser. Paths in it are relative to its folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from scumble.errors import InputError
from scumble.files.replaced_file import replace_file
from scumble.files.schema_file import yaml_text
from scumble.files.schema_kinds import EntryPart
from scumble.foreign.files import read_text
from scumble.foreign.yaml_text import parse_yaml
from scumble.model.validation import first_problem

RUN_FORMAT = "run/1"
HEADING = """\
What to release and how. `scumble run FILE` does it, with `--data OTHER.csv` for another table.
Paths are relative to this file. No value in it was read from the rows."""


class RunFile(EntryPart):
    """A recorded run: the table, the schema, the method with its parameters, the account, and the folder to create."""

    scumble: Literal["run/1"] = "run/1"
    data: str
    schema_path: Annotated[str, Field(alias="schema")] = "schema.yaml"
    out: str = "release"
    method: str | None = None
    parameters: dict[str, str] = Field(default_factory=dict)
    dataset: str | None = None
    ledger: str | None = None
    witness: str | None = None
    engine: str = "memory"
    table: bool = True
    accept: list[str] = Field(default_factory=list)
    delimiter: str | None = None
    encoding: str | None = None
    multiline: bool = False

    def changed(self, **values: Any) -> "RunFile":
        """The same run with other values, which are validated."""
        return RunFile.model_validate({**self.model_dump(by_alias=True), **values})

    def to_data(self) -> dict[str, Any]:
        """The entries of the file; defaults are left out, except paths, which a reader looks for."""
        data = self.model_dump(by_alias=True, exclude_defaults=True)
        return {"scumble": self.scumble, "data": self.data, "schema": self.schema_path, "out": self.out, **data}

    def text(self) -> str:
        """The file. `parse_run` reads it back."""
        return yaml_text(self.to_data(), heading=HEADING)


def read_run(path: Path) -> RunFile:
    """Read a run file. Raises `InputError`, which names the file and the wrong entry."""
    try:
        text = read_text(path, follow_links=True)
    except FileNotFoundError:
        raise InputError(f"The run file {path} does not exist. `scumble studio` writes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The run file {path} cannot be read: {error}. Give a UTF-8 text file.") from error
    return parse_run(text, name=str(path))


def parse_run(text: str, *, name: str = "the run file") -> RunFile:
    """Read a run from text."""
    data = parse_yaml(text, name)
    if not isinstance(data, Mapping):
        raise InputError(f"{name} is not a mapping. Start it with `scumble: {RUN_FORMAT}`.")
    entries = {key: {} if key == "parameters" and not value else value for key, value in data.items()}
    try:
        return RunFile.model_validate(entries)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error)}. See docs/studio.md.") from error


def write_run(run: RunFile, path: Path) -> None:
    """Write a run file in one step."""
    replace_file(path, run.text())


def beside(folder: Path, stated: str) -> str:
    """A path of a run file as seen from here. The address of a database stays as it is.

    >>> beside(Path("project"), "../patients.csv"), beside(Path("project"), "postgresql://host/db::people")
    ('project/../patients.csv', 'postgresql://host/db::people')
    """
    return stated if "://" in stated else str(folder / stated)
