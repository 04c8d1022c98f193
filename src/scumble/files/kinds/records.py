"""Releases of records: synthetic or averaged records in table.csv, with further documents."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.errors import CheckError
from scumble.files.csv_tables import arrow_table, column_names, read_rows, write_rows
from scumble.files.kinds.document_checks import check_documents
from scumble.files.kinds.documents import read_documents, write_documents
from scumble.files.kinds.kind import ReleaseKind, TableColumn, number_columns
from scumble.files.measured_tables import listed_tables
from scumble.model.grid import Grid
from scumble.model.guarantee import ApproxDP, JointDP, PureDP
from scumble.model.measured_tables import MeasuredTable
from scumble.model.release import RecordRelease
from scumble.model.schema import Attribute, Schema
from scumble.model.values import Column
from scumble.sources.source import RowProgress


class RecordsKind(ReleaseKind[RecordRelease]):
    """A column for each published attribute, numbers or labels."""

    name = "records"
    release_class = RecordRelease
    loader = "load_records"
    report_template = "records.html"
    readme_template = "records.md"
    numbers_start_cells = False  # averages, or drawn anywhere in their range

    def write(
        self, release: RecordRelease, folder: Path, *, table: bool, progress: RowProgress | None
    ) -> dict[str, Any]:
        write_rows(release.columns, folder / "table.csv")
        write_documents(release.documents, folder)
        error = {"records_error": release.records_error} if release.records_error else {}
        return {"records": release.records, **error, "documents": sorted(release.documents)}

    def read(self, folder: Path, manifest: Mapping[str, Any], common: Mapping[str, Any]) -> RecordRelease:
        columns = read_rows(folder / "table.csv", _types(common["schema"]))
        return RecordRelease(
            columns=columns,
            documents=read_documents(folder, manifest),
            records_error=float(manifest.get("records_error", 0)),
            **common,
        )

    def verify(self, folder: Path, manifest: Mapping[str, Any], release: RecordRelease) -> Iterator[str]:
        for attribute in release.schema.attributes:
            column = release.columns[attribute.name]
            if not _inside(attribute, column):
                raise CheckError(
                    f"table.csv: {attribute.name!r} has values outside schema.yaml. Do not trust this folder."
                )
        if manifest["records"] != release.records:
            raise CheckError("The number of records in table.csv differs from release.json. Do not trust this folder.")
        yield f"table.csv has the stated {release.records:,} records, all within schema.yaml"
        yield from check_documents(release.documents, release.schema, manifest)

    def report_context(self, release: RecordRelease) -> dict[str, Any]:
        """Mean and standard deviation of the published numbers that are not missing."""
        grids = [each.name for each in release.schema.attributes if isinstance(each.domain, Grid)]
        columns = {name: release.columns[name].astype(np.float64) for name in grids}
        known = {name: column[~np.isnan(column)] for name, column in columns.items()}
        return {
            "summaries": {name: (float(each.mean()), float(each.std())) for name, each in known.items() if len(each)}
        }

    def readme_context(self, release: RecordRelease, recommended: str) -> dict[str, Any]:
        return {"private": isinstance(release.plan.guarantee, PureDP | ApproxDP | JointDP)}

    def size(self, release: RecordRelease) -> dict[str, int]:
        return {"records": release.records}

    def table_columns(self, release: RecordRelease) -> dict[str, list[TableColumn]]:
        return {"table.csv": number_columns(release.schema)}

    def measured_tables(self, release: RecordRelease) -> tuple[MeasuredTable, ...]:
        return listed_tables(release.documents, release.schema)

    def table(self, release: RecordRelease, name: str, *, counts: bool) -> pa.Table:
        return super().table(release, name, counts=counts) if counts else arrow_table(release.columns)


def _types(schema: Schema) -> dict[str, pa.DataType]:
    """Numbers where the published schema has a grid, labels elsewhere."""
    return {
        name: pa.float64() if isinstance(schema[name].domain, Grid) else pa.string() for name in column_names(schema)
    }


def _inside(attribute: Attribute, column: Column) -> bool:
    """Whether all values are of the attribute's domain. Numbers need not lie in its range; they may be averages."""
    domain = attribute.domain
    if not isinstance(domain, Grid):
        return set(column.tolist()) <= set(domain.labels)
    numbers = column.astype(np.float64)
    missing = np.isnan(numbers) & (domain.missing is not None)
    return bool((np.isfinite(numbers) | missing).all())


RECORDS = RecordsKind()
