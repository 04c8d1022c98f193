"""The tables of a release folder with the type and meaning of every column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scumble.files.kinds import kind_of
from scumble.files.kinds.kind import TEXT, TableColumn
from scumble.model.release import Release

MEANINGS = {
    "counts.csv": "Noisy counts of every cell; measured is unbiased, variance is that of its noise.",
    "groups.csv": "Generalized values with the exact number of their records.",
    "table.csv": "One line for each published record.",
    "fine.csv": "Rows with the finest public values, drawn from noisy tables.",
}


@dataclass(frozen=True, kw_only=True)
class DescribedTable:
    """A CSV file: its name, SHA-256, columns and meaning."""

    file: str
    sha256: str
    columns: Sequence[TableColumn]

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return self.file.removesuffix(".csv")

    @property
    def meaning(self) -> str:
        """What a line of the file is."""
        return MEANINGS.get(self.file, "A table of the release.")

    @property
    def numbers(self) -> list[str]:
        """The columns that hold numbers."""
        return [column.name for column in self.columns if column.type != TEXT]


def described_tables(release: Release, hashes: Mapping[str, str]) -> list[DescribedTable]:
    """The tables that the folder has, in the order of their names."""
    columns = kind_of(release).table_columns(release)
    return [
        DescribedTable(file=name, sha256=hashes[name], columns=columns[name])
        for name in sorted(hashes)
        if name in columns
    ]
