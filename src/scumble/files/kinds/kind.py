"""What a kind of release must provide so that its folders can be written, read, verified and described."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import pyarrow as pa

from scumble.errors import InputError
from scumble.files.csv_tables import column_names
from scumble.model.grid import Grid
from scumble.model.measured_tables import MeasuredTable
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.sources.source import RowProgress

if TYPE_CHECKING:
    from scumble.model.local.noise_model import NoiseModel

R = TypeVar("R", bound=Release)
TEXT, NUMBER, INTEGER = "text", "number", "integer"
MOST_LISTED = 1000
"""The largest number of values of a column that a description lists."""
COUNT_TABLES = ("counts", "groups")
"""The tables whose lines are counted, where the others have one line for each record."""


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """A column of a published table, for descriptions: its name, type, meaning and, if they are few, its values."""

    name: str
    type: str = TEXT
    meaning: str
    labels: tuple[str, ...] | None = None


class ReleaseKind(ABC, Generic[R]):
    """A kind of release. To add one, write a module with an instance and list it in `scumble.files.kinds`.

    `scumble.files.release_folder` and `scumble.files.verify` take care of what all kinds share: the manifest
    release.json, schema.yaml, the two pages, hashes, guarantee and plan.
    """

    name: ClassVar[str]
    """The value of `kind` in release.json."""
    release_class: type[R]
    loader: ClassVar[str]
    """The public function that reads folders of this kind."""
    report_template: ClassVar[str]
    readme_template: ClassVar[str]
    numbers_start_cells: ClassVar[bool] = True
    """Whether a published number is the start of a cell of its grid, and stands for the whole cell."""
    error_of_rows: ClassVar[str] = "Averaging and noise changed them by an unknown error"
    """Why an answer that is counted from the published rows differs from the truth."""

    @abstractmethod
    def write(self, release: R, folder: Path, *, table: bool, progress: RowProgress | None) -> dict[str, Any]:
        """Write the release's own files and return its entries of release.json.

        `table` says whether counts are also written out as rows.
        """

    @abstractmethod
    def read(self, folder: Path, manifest: Mapping[str, Any], common: Mapping[str, Any]) -> R:
        """Read the release back. `common` has the fields of `Release`."""

    @abstractmethod
    def verify(self, folder: Path, manifest: Mapping[str, Any], release: R) -> Iterator[str]:
        """Check the release's own files. Yield each check that passed; raise `CheckError` at the first that fails."""

    @abstractmethod
    def report_context(self, release: R) -> dict[str, Any]:
        """What `report_template` needs besides the fields that all reports share."""

    @abstractmethod
    def readme_context(self, release: R, recommended: str) -> dict[str, Any]:
        """What `readme_template` needs besides the release."""

    @abstractmethod
    def size(self, release: R) -> dict[str, int]:
        """The size of the release: the number of cells or of records."""

    def recommended_file(self, release: R, files: Collection[str]) -> str:
        """The file to train on, among the files of the folder."""
        return f"{release.recommended}.csv"

    def has_all_rows(self, files: Collection[str]) -> bool:
        """Whether a folder with these files has all rows that its pages describe."""
        return True

    def uses(self, release: R, recommended: str) -> str:
        """What the recommended file is good for and what not, as sentences; empty if there is nothing to say."""
        return ""

    def warnings(self, release: R) -> Iterator[str]:
        """What the data owner should know about the published data, as sentences."""
        yield from ()

    def table(self, release: R, name: str, *, counts: bool) -> pa.Table:
        """A table of the release or, with `counts`, its cells with their counts, as Arrow."""
        raise InputError(f"A release of {release.method} has no such table in memory. Read the files of its folder.")

    def blocks(self, release: R, folder: Path, name: str) -> Iterator[pa.Table]:
        """A table of the folder as Arrow, block by block; at least one block, all with the same types."""
        yield self.table(release, name, counts=name in COUNT_TABLES)

    def table_columns(self, release: R) -> dict[str, list[TableColumn]]:
        """The columns of every CSV table that a folder of this release can have, by the name of the file."""
        return {"table.csv": label_columns(release.schema)}

    def measured_tables(self, release: R) -> tuple[MeasuredTable, ...]:
        """The noisy contingency tables that the release publishes, with the law and variance of their noise."""
        return ()

    def noise_model(self, release: R) -> "NoiseModel | None":
        """The noise model of records that were perturbed one by one; None for other releases."""
        return None

    def faults(self, release: R) -> Iterator[str]:
        """Published data that contradict each other, as noun phrases. A correct method publishes none."""
        yield from ()


def label_columns(schema: Schema) -> list[TableColumn]:
    """Columns of published labels, which are listed if they are few."""
    domains = {name: schema[name].domain for name in column_names(schema)}
    return [
        TableColumn(
            name=name,
            meaning=_meaning(schema, name),
            labels=domain.labels if domain.size <= MOST_LISTED else None,
        )
        for name, domain in domains.items()
    ]


def number_columns(schema: Schema) -> list[TableColumn]:
    """Columns of numbers where the schema has a grid, and of labels elsewhere."""
    return [
        TableColumn(name=each.name, type=NUMBER, meaning=each.meaning)
        if isinstance(schema[each.name].domain, Grid)
        else each
        for each in label_columns(schema)
    ]


def _meaning(schema: Schema, name: str) -> str:
    return f"The class {name}." if name == schema.target else f"The attribute {name}."
