"""Checking a release folder without the private data: hashes, arithmetic, totals, and that its tables agree."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from scumble.errors import CheckError, InputError
from scumble.files.kinds.blurred import published_blocks
from scumble.files.release_folder import file_hash, manifest_text, read_manifest, read_release, seal
from scumble.files.tables import column_names
from scumble.model.counts import Integers
from scumble.model.fine_rows import fine_counts, refines, rows_by_cell, strays
from scumble.model.guarantee import to_json
from scumble.model.release import BlurredRelease, CellRelease, FineRows, RecordRelease, Release
from scumble.model.schema import Schema
from scumble.model.taxonomy import Grid


def verify_folder(folder: Path) -> list[str]:
    """Every check that held, in words. Raises `CheckError` at the first that does not."""
    if not (folder / "release.json").is_file():
        raise InputError(f"{folder} holds no release.json. Give the folder that `scumble release` wrote.")
    try:
        manifest = read_manifest(folder)
        return [*_check_hashes(folder, manifest), *_check_contents(folder, manifest, read_release(folder))]
    except (InputError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckError(f"The folder does not hold a whole release: {error} Do not trust it.") from error


def _check_hashes(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    text = (folder / "release.json").read_bytes().decode("utf-8")
    if text != manifest_text(manifest) or manifest["seal"] != seal(manifest):
        raise CheckError("release.json was changed: its seal does not fit. Do not trust this folder.")
    yield "release.json has the SHA-256 that it states"
    stated = manifest["files"]
    present = {path.name for path in folder.iterdir()} - {"release.json"}
    if present != set(stated):
        odd = ", ".join(sorted(present ^ set(stated)))
        raise CheckError(f"Files and release.json do not agree: {odd}. Do not trust this folder.")
    for name, digest in stated.items():
        if file_hash(folder / name) != digest:
            raise CheckError(
                f"{name} was changed: its SHA-256 is not the one in release.json. Do not trust this folder."
            )
    yield f"{len(stated)} files have the stated SHA-256"


def _check_contents(folder: Path, manifest: Mapping[str, Any], release: Release) -> Iterator[str]:
    yield "the spends add up to the guarantee exactly"
    stated = manifest["guarantee"]["sentence"], manifest["unit"], release.schema.unit
    if stated != (release.plan.guarantee.sentence, release.plan.unit, release.plan.unit):
        raise CheckError("The guarantee's sentence, numbers and unit do not agree. Do not trust this folder.")
    yield "the guarantee's sentence says what its numbers say"
    best = f"{release.recommended}.csv"
    if manifest["recommended"] != (best if best in manifest["files"] else "counts.csv"):
        raise CheckError("release.json recommends another table than the best there is. Do not trust this folder.")
    if manifest["classes"] != list(release.schema.classes):
        raise CheckError("release.json names other classes than schema.yaml. Do not trust this folder.")
    if isinstance(release, CellRelease):
        yield from _check_cells(folder, manifest, release)
    elif isinstance(release, RecordRelease):
        yield _check_records(manifest, release)
    elif isinstance(release, BlurredRelease):
        yield from _check_blurred(folder, manifest, release)


def _check_cells(folder: Path, manifest: Mapping[str, Any], release: CellRelease) -> Iterator[str]:
    yield "counts.csv lists every cell and class of schema.yaml"
    expected = release.rounding.apply(release.measured, release.resolution)
    if not np.array_equal(expected, release.count):
        raise CheckError("The published counts do not follow from the measured ones. Do not trust this folder.")
    yield f"the published counts follow from the measured ones ({release.rounding.value})"
    if manifest["cells"] != len(release.count) or len(release.count) > release.plan.cells_at_most:
        raise CheckError("The number of cells is not as planned or stated. Do not trust this folder.")
    yield f"{len(release.count):,} cells, within the planned {release.plan.cells_at_most:,}"
    if (folder / "table.csv").exists():
        _check_table(folder / "table.csv", release)
        yield f"table.csv has the {int(release.count.sum()):,} rows that counts.csv says"
    if release.fine is not None:
        _check_fine(release, release.fine)
        yield f"fine.csv has {release.fine.rows:,} rows within fine.schema.yaml, in the proportions of counts.csv"
    for name in release.documents:
        yield f"{name}.json is a JSON object"


def _check_fine(release: CellRelease, fine: FineRows) -> None:
    """The cell of a fine row follows from its values. Its class is not compared: that follows the finer tables."""
    if not refines(fine.schema, release.schema):
        raise CheckError("fine.schema.yaml is not schema.yaml told more finely. Do not trust this folder.")
    odd = strays(fine)
    if odd:
        raise CheckError(f"fine.csv: {odd[0]!r} leaves the domain of fine.schema.yaml. Do not trust this folder.")
    if not np.array_equal(rows_by_cell(fine, release.schema), fine_counts(release.count).sum(axis=1)):
        raise CheckError("fine.csv and counts.csv do not agree. Do not trust this folder.")


def _check_records(manifest: Mapping[str, Any], release: RecordRelease) -> str:
    for attribute in release.schema.attributes:
        column = release.columns[attribute.name]
        if isinstance(attribute.domain, Grid):
            inside = bool(np.isfinite(column.astype(np.float64)).all())
        else:
            inside = set(column.tolist()) <= set(attribute.domain.labels)
        if not inside:
            raise CheckError(
                f"table.csv: {attribute.name!r} leaves the domain of schema.yaml. Do not trust this folder."
            )
    if manifest["records"] != release.records:
        raise CheckError("table.csv has not as many records as release.json says. Do not trust this folder.")
    return f"table.csv has the stated {release.records:,} records, all within schema.yaml"


def _check_blurred(folder: Path, manifest: Mapping[str, Any], release: BlurredRelease) -> Iterator[str]:
    if to_json(release.noise.guarantee) != to_json(release.plan.guarantee):
        raise CheckError("The noise model does not give the stated guarantee. Do not trust this folder.")
    yield "noise.json gives the stated guarantee, and publishes the domains of schema.yaml"
    found = sum(len(next(iter(block.values()))) for block in published_blocks(folder / "table.csv", release.noise))
    if manifest["records"] != found:
        raise CheckError("table.csv has not as many records as release.json says. Do not trust this folder.")
    yield f"table.csv has the stated {found:,} records, all as noise.json publishes them"


def _check_table(path: Path, release: CellRelease) -> None:
    schema = release.schema
    found = np.zeros(release.count.size, dtype=np.int64)
    types = dict.fromkeys(column_names(schema), pa.string())
    options = pacsv.ConvertOptions(column_types=types, strings_can_be_null=False)
    try:
        with pacsv.open_csv(
            path, convert_options=options, parse_options=pacsv.ParseOptions(newlines_in_values=True)
        ) as reader:
            if reader.schema.names != column_names(schema):
                raise CheckError("table.csv does not have the columns of schema.yaml. Do not trust this folder.")
            for batch in reader:
                found += np.bincount(_entries(batch, schema), minlength=len(found))
    except pa.ArrowInvalid as error:
        raise CheckError(f"table.csv cannot be read by schema.yaml: {error}. Do not trust this folder.") from error
    if not np.array_equal(found, release.count.ravel()):
        raise CheckError("table.csv and counts.csv do not agree. Do not trust this folder.")


def _entries(batch: pa.RecordBatch, schema: Schema) -> Integers:
    """The (cell, class) entry of every row."""
    labels = [attribute.domain.labels for attribute in schema.predictors]
    if schema.target is not None:
        labels.append(schema.classes)
    entry = np.zeros(len(batch), dtype=np.int64)
    for name, values in zip(column_names(schema), labels, strict=True):
        code = pc.index_in(batch.column(name), pa.array(values, pa.string()))
        if code.null_count:
            raise CheckError(
                f"table.csv: {name!r} has a value that schema.yaml does not list. Do not trust this folder."
            )
        entry = entry * len(values) + code.to_numpy()
    return entry
