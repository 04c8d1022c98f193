"""Releases of cells: counts.csv, the same counts as rows in table.csv, and synthetic rows in fine.csv."""

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.errors import CheckError, MalformedEntry
from scumble.files.counts_file import check_table, counts_table, read_counts, rows_table, write_counts, write_table
from scumble.files.csv_tables import arrow_table, column_names, read_rows, write_rows
from scumble.files.kinds.document_checks import check_documents
from scumble.files.kinds.documents import read_documents, write_documents
from scumble.files.kinds.kind import INTEGER, NUMBER, ReleaseKind, TableColumn, label_columns, number_columns
from scumble.files.measured_tables import cells_table, detail_tables, listed_tables
from scumble.files.report.attributes import described_attributes
from scumble.files.report.cells import ROUNDINGS, cell_contents
from scumble.files.report.detail import measured_detail, uses_of
from scumble.files.report.marginals import marginals
from scumble.files.schema_file import read_published_schema, write_schema
from scumble.model.domain import Domain
from scumble.model.fine_rows import drawn_inside_cells, fine_counts, refines, rows_by_cell, strays
from scumble.model.grid import Grid
from scumble.model.measured_tables import LARGEST_UNIT, LARGEST_VARIANCE, MeasuredTable
from scumble.model.release import CellRelease, FineRows
from scumble.model.rounding import Rounding
from scumble.sources.source import RowProgress

FINE_SCHEMA = "fine.schema.yaml"
"""The file of the finest public schema, if rows are drawn at that level."""


class CellsKind(ReleaseKind[CellRelease]):
    """Noisy counts over the cells of a published schema."""

    name = "cells"
    release_class = CellRelease
    loader = "load_cells"
    report_template = "report.html"
    readme_template = "README.md"

    def write(self, release: CellRelease, folder: Path, *, table: bool, progress: RowProgress | None) -> dict[str, Any]:
        """Without `table`, the fine schema is still written: fine rows can be drawn from counts and documents."""
        write_counts(release, folder / "counts.csv")
        write_documents(release.documents, folder)
        if table:
            write_table(release, folder / "table.csv", progress)
        if release.fine is not None:
            write_schema(release.fine.schema, folder / FINE_SCHEMA, heading="The finest public domain.")
            if table:
                write_rows(release.fine.columns, folder / "fine.csv", progress)
        rows = release.row_counts
        fewer = {} if rows is release.count or not table else {"table_rows": int(rows.sum())}
        return {
            "cells": len(release.count),
            "resolution": release.resolution,
            "rounding": release.rounding.value,
            "variance": release.variance,
            **fewer,
            "documents": sorted(release.documents),
        }

    def read(self, folder: Path, manifest: Mapping[str, Any], common: Mapping[str, Any]) -> CellRelease:
        resolution, variance = manifest["resolution"], float(manifest["variance"])
        if type(resolution) is not int or not 1 <= resolution <= LARGEST_UNIT:
            raise MalformedEntry("`resolution`", "is not a whole number above zero")
        if not 0 <= variance <= LARGEST_VARIANCE:
            raise MalformedEntry("`variance`", "is not the variance of a noise")
        count, measured = read_counts(folder / "counts.csv", common["schema"], resolution, variance)
        return CellRelease(
            measured=measured,
            resolution=resolution,
            variance=variance,
            rounding=Rounding(manifest["rounding"]),
            count=count,
            fine=_read_fine(folder) if "fine.csv" in manifest["files"] else None,
            documents=read_documents(folder, manifest),
            **common,
        )

    def verify(self, folder: Path, manifest: Mapping[str, Any], release: CellRelease) -> Iterator[str]:
        for fault in self.faults(release):
            raise CheckError(f"The folder contains {fault}. Do not trust it.")
        yield "counts.csv lists every cell and class of schema.yaml"
        yield f"the published counts follow from the measured ones ({release.rounding.value})"
        if manifest["cells"] != len(release.count) or len(release.count) > release.plan.cells_at_most:
            raise CheckError(
                "The number of cells differs from the plan or from release.json. Do not trust this folder."
            )
        yield f"{len(release.count):,} cells, within the planned {release.plan.cells_at_most:,}"
        if (folder / "table.csv").exists():
            fewer = "table_rows" in manifest
            expected = release.row_counts if fewer else release.count
            check_table(folder / "table.csv", release, expected)
            stated = "in the proportions of counts.csv" if fewer else "that counts.csv states"
            yield f"table.csv has the {int(expected.sum()):,} rows {stated}"
        if release.fine is not None:
            proportions = ", in the proportions of counts.csv" if _inside_cells(release) else ""
            yield f"fine.csv has {release.fine.rows:,} rows within fine.schema.yaml{proportions}"
        finest = read_published_schema(folder / FINE_SCHEMA) if FINE_SCHEMA in manifest["files"] else release.schema
        yield from check_documents(release.documents, finest, manifest)

    def faults(self, release: CellRelease) -> Iterator[str]:
        """Fine rows must lie in their schema, which must refine the published one.

        Rows that earlier versions drew inside the cells are also counted by cell. Classes are not checked, because
        they depend on the finer tables.
        """
        if not np.array_equal(release.rounding.apply(release.measured, release.resolution), release.count):
            yield "counts (counts.csv) that do not follow from the measured ones"
        fine = release.fine
        if fine is None:
            return
        if not refines(fine.schema, release.schema):
            yield "fine rows whose schema (fine.schema.yaml) does not refine the published one (schema.yaml)"
        elif outside := strays(fine):
            yield f"fine rows (fine.csv) outside the domain of {outside[0]!r} in their schema (fine.schema.yaml)"
        elif _inside_cells(release) and not np.array_equal(
            rows_by_cell(fine, release.schema), fine_counts(release.count).sum(axis=1)
        ):
            yield "fine rows (fine.csv) that are not in the proportions of the counts (counts.csv)"

    def report_context(self, release: CellRelease) -> dict[str, Any]:
        return {**cell_contents(release), **_detail(release), "marginals": marginals(release)}

    def readme_context(self, release: CellRelease, recommended: str) -> dict[str, Any]:
        attributes = described_attributes(release.schema)
        predictors = attributes[: len(release.schema.predictors)]
        return {
            "recommended": recommended,
            "target": release.schema.target,
            "attributes": attributes,
            "shown": next((each for each in predictors if each.size > 1), predictors[0]),
            "trainable": release.schema.target is not None and bool(release.count.any()),
            "deviation": math.sqrt(release.variance),
            "rounding": ROUNDINGS[release.rounding],
            "rare": _rare_class(release),
            **_detail(release),
        }

    def size(self, release: CellRelease) -> dict[str, int]:
        return {"cells": len(release.count)}

    def recommended_file(self, release: CellRelease, files: Collection[str]) -> str:
        best = super().recommended_file(release, files)
        return best if best in files else "counts.csv"

    def has_all_rows(self, files: Collection[str]) -> bool:
        """Fine rows are described even if they were not written (`--no-table`)."""
        return "fine.csv" in files or FINE_SCHEMA not in files

    def uses(self, release: CellRelease, recommended: str) -> str:
        if recommended != "fine.csv":
            return ""
        uses = uses_of(release)
        return f"fine.csv is good for: {'; '.join(uses.good)}. Not for: {'; '.join(uses.bad)}."

    def warnings(self, release: CellRelease) -> Iterator[str]:
        """What can be learned, if no attribute can."""
        measured = measured_detail(release)
        if measured.unlearnable and measured.learned is not None:
            yield measured.learned

    def table_columns(self, release: CellRelease) -> dict[str, list[TableColumn]]:
        labels = label_columns(release.schema)
        counts = [
            TableColumn(name="count", type=INTEGER, meaning="The count as a non-negative whole number."),
            TableColumn(name="measured", type=NUMBER, meaning="The noisy count, signed and unbiased; use it for sums."),
            TableColumn(name="variance", type=NUMBER, meaning="The variance of the noise in measured."),
        ]
        columns = {"counts.csv": [*labels, *counts], "table.csv": labels}
        return columns if release.fine is None else {**columns, "fine.csv": number_columns(release.fine.schema)}

    def measured_tables(self, release: CellRelease) -> tuple[MeasuredTable, ...]:
        public = release.schema if release.fine is None else release.fine.schema
        detail = () if release.fine is None else detail_tables(release.documents, public)
        return (cells_table(release), *detail, *listed_tables(release.documents, public))

    def table(self, release: CellRelease, name: str, *, counts: bool) -> pa.Table:
        if counts:
            return counts_table(release)
        rows = release.rows_of(name)
        return rows_table(release) if rows is None else arrow_table(rows)


def _read_fine(folder: Path) -> FineRows:
    """Read fine.csv: labels, and lower edges of grid cells, as integers if all edges of the grid are integers."""
    schema = read_published_schema(folder / FINE_SCHEMA)
    types = {name: _type_of_values(schema[name].domain) for name in column_names(schema)}
    return FineRows(schema=schema, columns=read_rows(folder / "fine.csv", types))


def _type_of_values(domain: Domain) -> pa.DataType:
    if not isinstance(domain, Grid):
        return pa.string()
    lower = domain.edge_floats[:-1]
    whole = domain.missing is None and np.array_equal(lower, np.rint(lower)) and np.abs(lower).max() < 2**53
    return pa.int64() if whole else pa.float64()


def _detail(release: CellRelease) -> dict[str, object]:
    """The number of fine rows, what was measured in addition to the cells, and what the rows are good for."""
    return {
        "fine": None if release.fine is None else release.fine.rows,
        "inside_cells": _inside_cells(release),
        "measured": measured_detail(release),
        "uses": uses_of(release),
    }


def _inside_cells(release: CellRelease) -> bool:
    return drawn_inside_cells(release.documents.get("detail", {}))


def _rare_class(release: CellRelease) -> str | None:
    """The rarest class that has rows, if it has fewer than half as many as the classes have on average."""
    totals = release.count.sum(axis=0)
    present = np.flatnonzero(totals)
    if len(present) < 2:
        return None
    rarest = int(present[totals[present].argmin()])
    return release.schema.classes[rarest] if 2 * totals[rarest] < totals[present].mean() else None


CELLS = CellsKind()
