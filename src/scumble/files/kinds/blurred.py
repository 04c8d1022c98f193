"""Releases of records that were perturbed one by one: table.csv and the noise model in noise.json.

The table may be larger than memory. `scumble.flows.perturb` writes it into the folder before the release is written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.errors import CheckError
from scumble.files.csv_tables import column_names
from scumble.files.kinds.kind import ReleaseKind, TableColumn, label_columns
from scumble.files.noise_file import check_noise, read_noise, write_noise
from scumble.files.perturbed_table import published_blocks, value_array
from scumble.model.guarantee import IntervalPrivacy, LocalDP, persons_of
from scumble.model.guarantee_json import to_json
from scumble.model.local.noise_model import NoiseModel
from scumble.model.release import BlurredRelease
from scumble.sources.source import RowProgress


class BlurredKind(ReleaseKind[BlurredRelease]):
    """Perturbed records, with the noise model that describes them."""

    name = "blurred"
    release_class = BlurredRelease
    loader = "load_blurred"
    report_template = "blurred.html"
    readme_template = "blurred.md"

    def write(
        self, release: BlurredRelease, folder: Path, *, table: bool, progress: RowProgress | None
    ) -> dict[str, Any]:
        write_noise(release.noise, folder / "noise.json")
        return {"records": release.records}

    def read(self, folder: Path, manifest: Mapping[str, Any], common: Mapping[str, Any]) -> BlurredRelease:
        noise = read_noise(folder / "noise.json")
        check_noise(noise, common["schema"])
        return BlurredRelease(noise=noise, records=int(manifest["records"]), **common)

    def verify(self, folder: Path, manifest: Mapping[str, Any], release: BlurredRelease) -> Iterator[str]:
        follows = release.noise.guarantee
        if isinstance(follows, IntervalPrivacy) and "categories" not in manifest["guarantee"]:
            follows = replace(follows, categories={})  # as earlier versions stated it
        if to_json(follows) != to_json(release.plan.guarantee):
            raise CheckError("The noise model does not give the stated guarantee. Do not trust this folder.")
        yield "noise.json gives the stated guarantee, and publishes the domains of schema.yaml"
        found = sum(len(next(iter(block.values()))) for block in published_blocks(folder / "table.csv", release.noise))
        if manifest["records"] != found:
            raise CheckError("The number of records in table.csv differs from release.json. Do not trust this folder.")
        yield f"table.csv has the stated {found:,} records, all as noise.json publishes them"

    def report_context(self, release: BlurredRelease) -> dict[str, Any]:
        return {"local": isinstance(release.plan.guarantee, LocalDP)}

    def readme_context(self, release: BlurredRelease, recommended: str) -> dict[str, Any]:
        guarantee = release.plan.guarantee
        return {"local": isinstance(guarantee, LocalDP), "persons": persons_of(guarantee)}

    def table_columns(self, release: BlurredRelease) -> dict[str, list[TableColumn]]:
        """Numbers are the lower edges of cells, as text: a missing one may be written as a word."""
        return {"table.csv": [replace(each, labels=None) for each in label_columns(release.schema)]}

    def blocks(self, release: BlurredRelease, folder: Path, name: str) -> Iterator[pa.Table]:
        """Numbers on regular grids as numbers, as the file has them; all other values as labels."""
        schema = release.noise.published
        nothing = {each: np.zeros(0, dtype=np.int64) for each in schema.names}  # a table without rows has types, too
        for block in chain([nothing], published_blocks(folder / f"{name}.csv", release.noise)):
            columns = {each: value_array(schema[each].domain, block[each]) for each in column_names(schema)}
            yield pa.table(columns)

    def noise_model(self, release: BlurredRelease) -> NoiseModel:
        return release.noise

    def size(self, release: BlurredRelease) -> dict[str, int]:
        return {"records": release.records}


BLURRED = BlurredKind()
