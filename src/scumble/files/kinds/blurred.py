"""Releases of records that were perturbed one by one: table.csv and the noise model in noise.json.

The table may be larger than memory. `scumble.flows.perturb` writes it into the folder before the release is written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scumble.errors import CheckError
from scumble.files.kinds.kind import ReleaseKind
from scumble.files.noise_file import check_noise, read_noise, write_noise
from scumble.files.perturbed_table import published_blocks
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

    def noise_model(self, release: BlurredRelease) -> NoiseModel:
        return release.noise

    def size(self, release: BlurredRelease) -> dict[str, int]:
        return {"records": release.records}


BLURRED = BlurredKind()
