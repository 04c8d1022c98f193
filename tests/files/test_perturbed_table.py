"""Perturbed records as CSV: codes are read back as they were written; values that are never published are refused."""

import csv
from pathlib import Path

import numpy as np
import pytest
from fine_releases import PATIENTS

from scumble.errors import InputError
from scumble.files.perturbed_table import published_blocks, write_blurred
from scumble.model.local.noise_model import NoiseModel, for_epsilon

NOISE = for_epsilon(PATIENTS, epsilon=2)


def blocks(noise: NoiseModel, sizes: tuple[int, ...]) -> list[dict[str, np.ndarray]]:
    generator = np.random.default_rng(2)
    domains = {attribute.name: attribute.domain.size for attribute in noise.published.attributes}
    return [{name: generator.integers(0, size, rows) for name, size in domains.items()} for rows in sizes]


def test_codes_survive_the_table(tmp_path: Path) -> None:
    written = blocks(NOISE, (300, 1, 500))
    path = tmp_path / "table.csv"
    assert write_blurred(path, NOISE, written) == 801
    found = list(published_blocks(path, NOISE))
    for name in written[0]:
        wanted = np.concatenate([block[name] for block in written])
        assert np.array_equal(np.concatenate([block[name] for block in found]), wanted)


def test_a_value_that_is_never_published_is_refused_without_being_repeated(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_blurred(path, NOISE, blocks(NOISE, (3,)))
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    lines[1]["ward"] = "elsewhere"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    with pytest.raises(InputError, match="'ward'") as caught:
        list(published_blocks(path, NOISE))
    assert "elsewhere" not in str(caught.value)
