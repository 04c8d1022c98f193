"""Releases of generalized records: groups.csv with exact counts, and the same records one by one in table.csv."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.errors import CheckError
from scumble.files.csv_tables import CHUNK, column_names, read_rows, write_csv
from scumble.files.kinds.kind import INTEGER, ReleaseKind, TableColumn, label_columns
from scumble.model.counts import Integers
from scumble.model.diversity import ROUNDING, MoveCosts, distinct_values, effective_values
from scumble.model.generalized import label_of_range, range_of_label
from scumble.model.guarantee import KAnonymity, LDiversity, TCloseness
from scumble.model.release import GeneralizedRelease
from scumble.model.schema import Schema
from scumble.sources.source import RowProgress

SHOWN_GROUPS = 20


class GeneralizedKind(ReleaseKind[GeneralizedRelease]):
    """Generalized values, each line with the exact number of its records: k-anonymity without noise."""

    name = "generalized"
    release_class = GeneralizedRelease
    loader = "load_generalized"
    report_template = "generalized.html"
    readme_template = "generalized.md"
    error_of_rows = (
        "A question that cuts through a generalized value assumes that records are spread evenly inside it, which has "
        "an unknown error"
    )

    def write(
        self, release: GeneralizedRelease, folder: Path, *, table: bool, progress: RowProgress | None
    ) -> dict[str, Any]:
        lines, classes = np.nonzero(release.count)
        names = column_names(release.schema)
        columns = [*_texts(release, lines, classes), pa.array(release.count[lines, classes])]
        write_csv(folder / "groups.csv", [*names, "count"], iter([columns] if len(lines) else []))
        if table:
            write_csv(folder / "table.csv", names, _chunks(release, progress))
        return {"groups": len(release.group_sizes), "records": release.records, "quasi": list(release.quasi)}

    def read(self, folder: Path, manifest: Mapping[str, Any], common: Mapping[str, Any]) -> GeneralizedRelease:
        schema: Schema = common["schema"]
        types = {**dict.fromkeys(column_names(schema), pa.string()), "count": pa.int64()}
        rows = read_rows(folder / "groups.csv", types)
        boxes = np.zeros((len(rows["count"]), len(schema.predictors), 2), dtype=np.int64)
        for place, attribute in enumerate(schema.predictors):
            labels = rows[attribute.name].tolist()
            ranges = {label: range_of_label(attribute.domain, label) for label in dict.fromkeys(labels)}
            boxes[:, place] = np.array([ranges[label] for label in labels], dtype=np.int64).reshape(-1, 2)
        codes = {label: code for code, label in enumerate(schema.classes)}
        target = rows[schema.target].tolist() if schema.target is not None else [""] * len(boxes)
        classes = np.array([codes[label] for label in target], dtype=np.int64)
        flat, line = np.unique(boxes.reshape(len(boxes), 2 * boxes.shape[1]), axis=0, return_inverse=True)
        count = np.zeros((len(flat), len(schema.classes)), dtype=np.int64)
        np.add.at(count, (line.reshape(-1), classes), rows["count"].astype(np.int64))
        if (rows["count"].astype(np.int64) < 1).any():
            raise CheckError(f"{folder / 'groups.csv'} has counts below one. Ask for the release again.")
        quasi = tuple(schema[str(name)].name for name in manifest["quasi"])
        return GeneralizedRelease(boxes=flat.reshape(len(flat), boxes.shape[1], 2), count=count, quasi=quasi, **common)

    def table_columns(self, release: GeneralizedRelease) -> dict[str, list[TableColumn]]:
        """Values are generalized line by line, so they are not those of one cut of the schema."""
        columns = [replace(each, labels=None) for each in label_columns(release.schema)]
        count = TableColumn(name="count", type=INTEGER, meaning="The exact number of records.")
        return {"groups.csv": [*columns, count], "table.csv": columns}

    def verify(self, folder: Path, manifest: Mapping[str, Any], release: GeneralizedRelease) -> Iterator[str]:
        for fault in self.faults(release):
            raise CheckError(f"The folder contains {fault}. Do not trust it.")
        guarantee = release.plan.guarantee
        assert isinstance(guarantee, KAnonymity)
        yield f"every group of groups.csv has at least {guarantee.k} records, as the guarantee states"
        if isinstance(guarantee, LDiversity | TCloseness):
            yield f"{guarantee.sensitive!r} is as diverse in every group as the guarantee states"
        sizes = {"groups": len(release.group_sizes), "records": release.records}
        if any(manifest[name] != size for name, size in sizes.items()):
            raise CheckError("groups.csv does not have the groups of release.json. Do not trust this folder.")
        yield f"groups.csv has the stated {release.records:,} records in {len(release.group_sizes):,} groups"
        if (folder / "table.csv").exists():
            rows = read_rows(folder / "table.csv", dict.fromkeys(column_names(release.schema), pa.string()))
            expected = self.table(release, "table", counts=False)
            if not all(rows[name].tolist() == expected.column(name).to_pylist() for name in rows):
                raise CheckError("The rows of table.csv differ from groups.csv. Do not trust this folder.")
            yield f"table.csv has the {release.records:,} rows that groups.csv states"

    def faults(self, release: GeneralizedRelease) -> Iterator[str]:
        """Groups that break the guarantee."""
        guarantee = release.plan.guarantee
        if not isinstance(guarantee, KAnonymity) or guarantee.quasi not in (None, release.quasi):
            yield "generalized records (groups.csv) under another guarantee than k-anonymity by their quasi-identifier"
            return
        if len(release.group_sizes) and release.group_sizes.min() < guarantee.k:
            yield f"a group (groups.csv) of fewer than {guarantee.k} records"
        if isinstance(guarantee, LDiversity | TCloseness) and not _diverse(release, guarantee):
            yield f"a group (groups.csv) with less diversity of {guarantee.sensitive!r} than the guarantee states"

    def report_context(self, release: GeneralizedRelease) -> dict[str, Any]:
        sizes = release.group_sizes
        lines = np.flatnonzero(release.count.any(axis=1))[:SHOWN_GROUPS]
        shown = zip(
            *(column.to_pylist() for column in _texts(release, lines, np.zeros_like(lines), target=False)),
            release.count[lines].tolist(),
            strict=True,
        )
        return {
            "sizes": None if not len(sizes) else [int(sizes.min()), float(np.median(sizes)), int(sizes.max())],
            "groups": len(sizes),
            "lines": len(release.count),
            "shown": [(list(line[:-1]), line[-1]) for line in shown],
        }

    def readme_context(self, release: GeneralizedRelease, recommended: str) -> dict[str, Any]:
        return {"recommended": recommended, "rows": recommended == "table.csv"}

    def size(self, release: GeneralizedRelease) -> dict[str, int]:
        return {"groups": len(release.group_sizes), "records": release.records}

    def recommended_file(self, release: GeneralizedRelease, files: Collection[str]) -> str:
        return "table.csv" if "table.csv" in files else "groups.csv"

    def table(self, release: GeneralizedRelease, name: str, *, counts: bool) -> pa.Table:
        lines, classes = np.nonzero(release.count) if counts else release.row_entries
        columns = dict(zip(column_names(release.schema), _texts(release, lines, classes), strict=True))
        return pa.table(columns | ({"count": pa.array(release.count[lines, classes])} if counts else {}))


def sensitive_counts(release: GeneralizedRelease, sensitive: str) -> Integers:
    """The number of records of each group with each value of an attribute that is published exactly."""
    target = sensitive == release.schema.target
    size = len(release.schema.classes) if target else release.schema[sensitive].domain.size
    counts = np.zeros((len(release.group_sizes), size), dtype=np.int64)
    if target:
        np.add.at(counts, release.group_of_line, release.count)
        return counts
    place = [attribute.name for attribute in release.schema.predictors].index(sensitive)
    np.add.at(counts, (release.group_of_line, release.boxes[:, place, 0]), release.count.sum(axis=1))
    return counts


def _diverse(release: GeneralizedRelease, guarantee: LDiversity | TCloseness) -> bool:
    counts = sensitive_counts(release, guarantee.sensitive)
    if isinstance(guarantee, TCloseness):
        distances = MoveCosts.of(release.schema[guarantee.sensitive]).distances(counts)
        return bool((distances <= float(guarantee.t) + ROUNDING).all())
    found = effective_values(counts) if guarantee.entropy else distinct_values(counts)
    return bool((found >= float(guarantee.l) - ROUNDING).all())


def _texts(release: GeneralizedRelease, lines: Integers, classes: Integers, *, target: bool = True) -> list[pa.Array]:
    """The labels of the predictors, and of the target, of the given lines and classes."""
    columns = []
    for place, attribute in enumerate(release.schema.predictors):
        ranges, numbers = np.unique(release.boxes[:, place], axis=0, return_inverse=True)
        labels = pa.array([label_of_range(attribute.domain, *each) for each in ranges.tolist()], pa.string())
        columns.append(labels.take(pa.array(numbers.reshape(-1)[lines])))
    if target and release.schema.target is not None:
        columns.append(pa.array(release.schema.classes, pa.string()).take(pa.array(classes)))
    return columns


def _chunks(release: GeneralizedRelease, progress: RowProgress | None) -> Iterator[list[pa.Array]]:
    lines, classes = release.row_entries
    for start in range(0, len(lines), CHUNK):
        stop = min(start + CHUNK, len(lines))
        yield _texts(release, lines[start:stop], classes[start:stop])
        if progress is not None:
            progress(stop, len(lines))


GENERALIZED = GeneralizedKind()
