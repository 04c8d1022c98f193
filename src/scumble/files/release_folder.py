"""The release folder: what is handed to a stranger. Written whole or not at all, and read back.

Everything in it is public, or was paid for by the plan. There is no file name of the owner's, no exact number of rows,
no duration and no seed in it.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from scumble.errors import BudgetError, CheckError, InputError
from scumble.files.report import miners_page, report_page
from scumble.files.schema_file import read_schema, write_schema
from scumble.model.counts import Integers
from scumble.model.guarantee import PureDP, from_json, to_json
from scumble.model.plan import Plan, Spend
from scumble.model.release import Release
from scumble.model.rounding import Rounding
from scumble.model.schema import PUBLISHED_COLUMNS, Schema

FORMAT = "release/1"
CHUNK = 1 << 18

Progress = Callable[[int, int | None], None]


def write_release(
    release: Release, folder: Path, receipt: Mapping[str, str], *, table: bool, progress: Progress | None = None
) -> str:
    """Write all files into an existing empty folder and return the SHA-256 of release.json, which covers the others."""
    write_schema(release.schema, folder / "schema.yaml", heading="The published, generalized domain.")
    write_counts(release, folder / "counts.csv")
    if table:
        write_table(release, folder / "table.csv", progress)
    recommended = "table.csv" if table else "counts.csv"
    (folder / "report.html").write_text(report_page(release, receipt), encoding="utf-8")
    (folder / "README.md").write_text(miners_page(release, recommended), encoding="utf-8")
    names = sorted(path.name for path in folder.iterdir())
    manifest = {
        "guarantee": {"sentence": release.plan.guarantee.sentence, **to_json(release.plan.guarantee)},
        "scumble": FORMAT,
        "method": release.method,
        "parameters": dict(release.parameters),
        "spends": [spend.to_json() for spend in release.plan.spends],
        "cells_at_most": release.plan.cells_at_most,
        "notes": list(release.plan.notes),
        "cells": len(release.count),
        "classes": list(release.schema.classes),
        "resolution": release.resolution,
        "rounding": release.rounding.value,
        "variance": release.variance,
        "story": list(release.story),
        "recommended": recommended,
        "receipt": dict(receipt),
        "files": {name: file_hash(folder / name) for name in names},
    }
    text = manifest_text({**manifest, "seal": seal(manifest)})
    (folder / "release.json").write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """release.json, byte for byte."""
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def seal(manifest: Mapping[str, Any]) -> str:
    """The SHA-256 of release.json without its last entry, the seal itself: it shows damage, not forgery."""
    unsealed = {name: value for name, value in manifest.items() if name != "seal"}
    return hashlib.sha256(manifest_text(unsealed).encode()).hexdigest()


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def column_names(schema: Schema) -> list[str]:
    """The attributes as they stand in counts.csv and table.csv: predictors in order, then the target."""
    return [attribute.name for attribute in schema.predictors] + ([] if schema.target is None else [schema.target])


def _entry_columns(schema: Schema, entries: Integers) -> list[pa.Array]:
    """The attribute columns of given (cell, class) entries, as text."""
    labels = [attribute.domain.labels for attribute in schema.predictors]
    if schema.target is not None:
        labels.append(schema.classes)
    digits = np.unravel_index(entries, [len(each) for each in labels])
    return [
        pa.DictionaryArray.from_arrays(pa.array(digit.astype(np.int32)), pa.array(each, pa.string())).cast(pa.string())
        for digit, each in zip(digits, labels, strict=True)
    ]


def _write_csv(path: Path, names: list[str], chunks: Iterator[list[pa.Array]]) -> None:
    kinds = pa.schema([(name, pa.string()) for name in names])
    with path.open("wb") as file:
        first = True
        for columns in chunks:
            kinds = pa.schema([(name, column.type) for name, column in zip(names, columns, strict=True)])
            options = pacsv.WriteOptions(include_header=first, quoting_style="needed")
            pacsv.write_csv(pa.table(columns, schema=kinds), file, options)
            first = False
        if first:
            pacsv.write_csv(kinds.empty_table(), file)


def write_counts(release: Release, path: Path) -> None:
    """counts.csv: every cell and class, the empty ones too, with published count, measured value and variance."""
    count, measured = release.count.ravel(), release.measured.ravel()

    def chunks() -> Iterator[list[pa.Array]]:
        for start in range(0, len(count), CHUNK):
            part = slice(start, min(start + CHUNK, len(count)))
            signed = measured[part] if release.resolution == 1 else measured[part] / release.resolution
            entries = np.arange(part.start, part.stop)
            variance = np.full(len(entries), release.variance)
            yield [*_entry_columns(release.schema, entries), *map(pa.array, (count[part], signed, variance))]

    _write_csv(path, [*column_names(release.schema), *PUBLISHED_COLUMNS], chunks())


def write_table(release: Release, path: Path, progress: Progress | None = None) -> None:
    """table.csv: the published counts as rows, streamed."""
    count = release.count.ravel()
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0

    def chunks() -> Iterator[list[pa.Array]]:
        for start in range(0, total, CHUNK):
            stop = min(start + CHUNK, total)
            yield _entry_columns(release.schema, np.searchsorted(ends, np.arange(start, stop), side="right"))
            if progress is not None:
                progress(stop, total)

    _write_csv(path, column_names(release.schema), chunks())


def read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} holds no release.json. Give the folder that `scumble release` wrote.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / 'release.json'} cannot be read: {error}. Ask for the release again.") from error
    if not isinstance(manifest, dict) or manifest.get("scumble") != FORMAT:
        raise InputError(f"{folder / 'release.json'} is not of the format {FORMAT}. Was it written by another version?")
    return manifest


def read_release(folder: Path) -> Release:
    """The release as it was published."""
    manifest = read_manifest(folder)
    schema = read_schema(folder / "schema.yaml")
    try:
        guarantee = from_json(manifest["guarantee"])
        if not isinstance(guarantee, PureDP):
            raise InputError(f"A {type(guarantee).__name__} release is not read by this version.")
        plan = Plan(
            guarantee=guarantee,
            spends=tuple(Spend.from_json(spend) for spend in manifest["spends"]),
            cells_at_most=manifest["cells_at_most"],
            notes=tuple(manifest["notes"]),
        )
        resolution, variance = manifest["resolution"], float(manifest["variance"])
        if not isinstance(resolution, int) or resolution < 1:
            raise ValueError("the resolution")
        count, measured = _read_counts(folder / "counts.csv", schema, resolution, variance)
        return Release(
            method=manifest["method"],
            parameters=manifest["parameters"],
            plan=plan,
            schema=schema,
            measured=measured,
            resolution=resolution,
            variance=variance,
            rounding=Rounding(manifest["rounding"]),
            count=count,
            story=tuple(manifest["story"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, BudgetError) as error:
        raise InputError(f"{folder / 'release.json'} lacks or misstates {error}. Ask for the release again.") from error


def _read_counts(path: Path, schema: Schema, resolution: int, variance: float) -> tuple[Integers, Integers]:
    """The columns `count` and `measured` of counts.csv, after checking that its entries are all there and in order."""
    names = column_names(schema)
    kinds = zip(PUBLISHED_COLUMNS, (pa.int64(), pa.float64(), pa.float64()), strict=True)
    types = {**dict.fromkeys(names, pa.string()), **dict(kinds)}
    try:
        options = pacsv.ConvertOptions(column_types=types, strings_can_be_null=False)
        table = pacsv.read_csv(path, convert_options=options, parse_options=pacsv.ParseOptions(newlines_in_values=True))
    except (pa.ArrowInvalid, OSError) as error:
        raise CheckError(f"{path} cannot be read as counts: {error}. Ask for the release again.") from error
    entries = math.prod(attribute.domain.size for attribute in schema.predictors) * len(schema.classes)
    if table.column_names != [*names, *PUBLISHED_COLUMNS] or len(table) != entries:
        raise CheckError(f"{path} does not list all cells of schema.yaml. Ask for the release again.")
    for name, expected in zip(names, _entry_columns(schema, np.arange(entries)), strict=True):
        if not table.column(name).combine_chunks().equals(expected):
            raise CheckError(f"{path}: the column {name!r} does not follow schema.yaml. Ask for the release again.")
    if any(table.column(name).null_count for name in PUBLISHED_COLUMNS):
        raise CheckError(f"{path} has empty counts. Ask for the release again.")
    count, signed, variances = (table.column(name).to_numpy() for name in PUBLISHED_COLUMNS)
    if not (variances == variance).all():
        raise CheckError(f"{path}: the column 'variance' is not as release.json says. Ask for the release again.")
    if not (np.abs(signed) < 2**62 / resolution).all():
        raise CheckError(f"{path}: the column 'measured' is not finite. Ask for the release again.")
    measured = np.rint(signed * resolution).astype(np.int64)
    if not np.array_equal(measured / resolution, signed):
        raise CheckError(f"{path}: the column 'measured' is not in units of 1/{resolution}. Ask for the release again.")
    shape = (-1, len(schema.classes))
    return count.reshape(shape), measured.reshape(shape)
