"""Published variances and the law of their prices: the true one passes, less noise and more noise do not."""

import copy
from dataclasses import replace
from typing import Any

import pytest
from command_line import SCHEMA, people

import scumble
from scumble.errors import CheckError
from scumble.flows.noise_law import check_noise
from scumble.model.release import CellRelease, Release

METHODS: dict[str, dict[str, Any]] = {
    "cells": {"method": "diffgen"},
    "explore": {"method": "explore"},
    "gaussian": {"method": "histograms", "delta": "1e-9"},
    "vectors": {"method": "hay"},
    "coefficients": {"method": "barak"},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Release]:
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(people(200), encoding="utf-8")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return {
        name: scumble.release(
            folder / "people.csv",
            schema=folder / "schema.yaml",
            out=folder / name,
            ledger=folder / f"{name}.db",
            epsilon=1,
            **options,
        ).release
        for name, options in METHODS.items()
    }


def scaled(release: Release, factor: float) -> Release:
    """The release with another variance of what it measured first."""
    if isinstance(release, CellRelease):
        return replace(release, variance=release.variance * factor)
    documents: Any = copy.deepcopy(release.documents)  # type: ignore[attr-defined]
    part = (documents["tables"]["tables"] or documents["tables"]["inferred"])[0]
    part["variance"] *= factor
    return replace(release, documents=documents)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", METHODS)
def test_the_true_variance_passes(made: dict[str, Release], name: str) -> None:
    (sentence,) = check_noise(made[name])
    assert "measured tables follows from the prices" in sentence


@pytest.mark.parametrize("factor", [0.001, 0.5, 0.999999, 1.000001, 2, 1000])
@pytest.mark.parametrize("name", METHODS)
def test_another_variance_is_refused(made: dict[str, Release], name: str, factor: float) -> None:
    with pytest.raises(CheckError, match="not that of the noise which their price pays"):
        list(check_noise(scaled(made[name], factor)))


def test_a_table_more_than_was_paid_for_is_refused(made: dict[str, Release]) -> None:
    """A second copy of a table would have needed more noise on both."""
    documents: Any = copy.deepcopy(made["gaussian"].documents)  # type: ignore[attr-defined]
    documents["tables"]["tables"].append(documents["tables"]["tables"][0])
    with pytest.raises(CheckError, match="not that of the noise"):
        list(check_noise(replace(made["gaussian"], documents=documents)))  # type: ignore[call-arg]


def test_a_story_may_not_state_another_noise(made: dict[str, Release]) -> None:
    story = ("The noise of a leaf's counts has standard deviation 0.001.",)
    with pytest.raises(CheckError, match="no price pays for"):
        list(check_noise(replace(made["cells"], story=story)))
