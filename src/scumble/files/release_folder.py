"""The release folder: what is handed to a stranger. Written whole or not at all, and read back.

Everything in it is public, or was paid for by the plan. There is no file name of the owner's, no exact number of rows,
no duration and no seed in it.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scumble.errors import BudgetError, InputError
from scumble.files.report.pages import miners_page, report_page
from scumble.files.schema_file import read_schema, write_schema
from scumble.files.tables import (
    Progress,
    read_counts,
    read_fine,
    read_records,
    write_counts,
    write_rows,
    write_table,
)
from scumble.model.guarantee import (
    IntervalPrivacy,
    JointDP,
    KAnonymity,
    LocalDP,
    PureDP,
    Unit,
    Unproven,
    from_json,
    to_json,
)
from scumble.model.local.noise_model import NoiseModel
from scumble.model.plan import BlurPlan, Plan, Planned, PlanWithoutDP, Spend
from scumble.model.release import BlurredRelease, CellRelease, FineRows, RecordRelease, Release
from scumble.model.rounding import Rounding
from scumble.model.schema import Schema

FORMAT = "release/1"


def write_release(
    release: Release, folder: Path, receipt: Mapping[str, str], *, table: bool = True, progress: Progress | None = None
) -> str:
    """Write all files into an existing empty folder and return the SHA-256 of release.json, which covers the others.

    `table` says whether cells are also written out as rows; records always are. The table of blurred records, which
    may be larger than memory, already stands in the folder.
    """
    write_schema(release.schema, folder / "schema.yaml", heading="The published, generalized domain.")
    facts = _write_contents(release, folder, table=table, progress=progress)
    (folder / "report.html").write_text(report_page(release, receipt), encoding="utf-8")
    (folder / "README.md").write_text(miners_page(release, facts["recommended"]), encoding="utf-8")
    names = sorted(path.name for path in folder.iterdir())
    manifest = {
        "guarantee": {"sentence": release.plan.guarantee.sentence, **to_json(release.plan.guarantee)},
        "unit": release.plan.unit.value,
        "scumble": FORMAT,
        "method": release.method,
        "parameters": dict(release.parameters),
        "spends": [spend.to_json() for spend in release.plan.spends],
        "cells_at_most": release.plan.cells_at_most,
        "notes": list(release.plan.notes),
        "classes": list(release.schema.classes),
        **facts,
        "story": list(release.story),
        "receipt": dict(receipt),
        "files": {name: file_hash(folder / name) for name in names},
    }
    text = manifest_text({**manifest, "seal": seal(manifest)})
    (folder / "release.json").write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def _write_contents(release: Release, folder: Path, *, table: bool, progress: Progress | None) -> dict[str, Any]:
    """The tables of a release, and what release.json says of them."""
    if isinstance(release, CellRelease):
        return _write_cells(release, folder, table=table, progress=progress)
    if isinstance(release, BlurredRelease):
        write_noise(release.noise, folder / "noise.json")
        return {"kind": "blurred", "records": release.records, "recommended": "table.csv"}
    assert isinstance(release, RecordRelease)
    write_rows(release.columns, folder / "table.csv")
    _write_documents(release.documents, folder)
    return {
        "kind": "records",
        "records": release.records,
        "documents": sorted(release.documents),
        "recommended": "table.csv",
    }


def _write_cells(release: CellRelease, folder: Path, *, table: bool, progress: Progress | None) -> dict[str, Any]:
    """Without rows, counts.csv and the documents are enough, and the fine schema says what these speak of: rows can be
    drawn from them again."""
    write_counts(release, folder / "counts.csv")
    _write_documents(release.documents, folder)
    if table:
        write_table(release, folder / "table.csv", progress)
    if release.fine is not None:
        write_schema(release.fine.schema, folder / "fine.schema.yaml", heading="The finest public domain.")
        if table:
            write_rows(release.fine.columns, folder / "fine.csv", progress)
    return {
        "kind": "cells",
        "cells": len(release.count),
        "resolution": release.resolution,
        "rounding": release.rounding.value,
        "variance": release.variance,
        "documents": sorted(release.documents),
        "recommended": f"{release.recommended}.csv" if table else "counts.csv",
    }


def _write_documents(documents: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    for name, document in documents.items():
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def _read_documents(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    names = sorted(name.removesuffix(".json") for name in manifest["files"] if name.endswith(".json"))
    if manifest["documents"] != names:
        raise ValueError("the documents")
    found = {name: json.loads((folder / f"{name}.json").read_bytes(), parse_constant=_refuse) for name in names}
    for name, document in found.items():
        if not isinstance(document, dict):
            raise TypeError(f"the document {name!r}, which is no JSON object")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"a number: {constant} is none")


def write_noise(noise: NoiseModel, path: Path) -> None:
    path.write_text(json.dumps(noise.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_noise(path: Path) -> NoiseModel:
    """A noise model from its file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} holds no noise model: {error}. Give a folder that `scumble perturb` wrote."
        ) from error
    return NoiseModel.from_json(data)


def check_noise(noise: NoiseModel, schema: Schema) -> None:
    """Refuse a noise model that does not publish the domains of schema.yaml."""
    told = {attribute.name: attribute.domain for attribute in noise.published.attributes}
    stated = {attribute.name: attribute.domain for attribute in schema.attributes}
    if told != stated or noise.published.target != schema.target:
        raise InputError("noise.json and schema.yaml describe different tables. Take files that were written together.")


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
        if manifest["kind"] == "cells":
            return _read_cells(folder, manifest, schema)
        if manifest["kind"] == "blurred":
            noise = read_noise(folder / "noise.json")
            check_noise(noise, schema)
            return BlurredRelease(noise=noise, records=int(manifest["records"]), **_common(manifest, schema))
        columns = read_records(folder / "table.csv", schema)
        documents = _read_documents(folder, manifest)
        return RecordRelease(columns=columns, documents=documents, **_common(manifest, schema))
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, BudgetError) as error:
        raise InputError(f"{folder / 'release.json'} lacks or misstates {error}. Ask for the release again.") from error


def _read_cells(folder: Path, manifest: Mapping[str, Any], schema: Schema) -> CellRelease:
    resolution, variance = manifest["resolution"], float(manifest["variance"])
    if not isinstance(resolution, int) or resolution < 1:
        raise ValueError("the resolution")
    count, measured = read_counts(folder / "counts.csv", schema, resolution, variance)
    return CellRelease(
        measured=measured,
        resolution=resolution,
        variance=variance,
        rounding=Rounding(manifest["rounding"]),
        count=count,
        fine=_read_fine(folder) if "fine.csv" in manifest["files"] else None,
        documents=_read_documents(folder, manifest),
        **_common(manifest, schema),
    )


def _read_fine(folder: Path) -> FineRows:
    schema = read_schema(folder / "fine.schema.yaml")
    return FineRows(schema=schema, columns=read_fine(folder / "fine.csv", schema))


def _common(manifest: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """What every release has, whatever it holds."""
    return {
        "method": manifest["method"],
        "parameters": manifest["parameters"],
        "plan": _read_plan(manifest),
        "schema": schema,
        "story": tuple(manifest["story"]),
    }


def _read_plan(manifest: Mapping[str, Any]) -> Planned | BlurPlan:
    guarantee = from_json(manifest["guarantee"])
    fields: dict[str, Any] = {
        "spends": tuple(Spend.from_json(spend) for spend in manifest["spends"]),
        "cells_at_most": manifest["cells_at_most"],
        "notes": tuple(manifest["notes"]),
    }
    if isinstance(guarantee, PureDP | JointDP):
        return Plan(guarantee=guarantee, **fields)
    if isinstance(guarantee, KAnonymity | Unproven):
        return PlanWithoutDP(guarantee=guarantee, unit=Unit(manifest["unit"]), **fields)
    if isinstance(guarantee, LocalDP | IntervalPrivacy):
        return BlurPlan(guarantee=guarantee, unit=Unit(manifest["unit"]), **fields)
    raise ValueError(f"a guarantee that this version reads: {type(guarantee).__name__}")
