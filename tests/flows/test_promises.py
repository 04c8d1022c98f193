"""Forged promises: hashes and seal fit, but guarantee, parameters, receipt or variance say different things."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA, people
from hostile_folders import reseal, stated

import scumble
from scumble.errors import CheckError
from scumble.flows.promises import check_promises
from scumble.foreign.numbers import parse_fraction
from scumble.model.budget import budget_text


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(people(200), encoding="utf-8")
    for unit in ("add-remove", "replace"):
        head = f"unit: {unit}\n" + ("rows: 200\n" if unit == "replace" else "")
        (folder / f"{unit}.yaml").write_text(SCHEMA.replace("target:", f"{head}target:"), encoding="utf-8")

    def release(name: str, unit: str = "add-remove", **options: Any) -> None:
        scumble.release(
            folder / "people.csv",
            schema=folder / f"{unit}.yaml",
            out=folder / name,
            ledger=folder / f"{name}.db",
            **options,
        )

    release("cells", epsilon=1)
    release("replace", "replace", epsilon=1, detail="no")
    release("published", epsilon=1, selection="published", rounds=2)
    release("records", epsilon=1, method="histograms")
    release("anonymous", "replace", method="mdav", k=5, accept=["k-anonymity"])
    scumble.perturb(folder / "people.csv", schema=folder / "add-remove.yaml", out=folder / "perturbed", epsilon=4)
    return folder


@pytest.mark.parametrize(
    ("name", "checks"),
    [("cells", 3), ("replace", 3), ("published", 3), ("records", 2), ("anonymous", 2), ("perturbed", 0)],
)
def test_an_honest_folder_passes(made: Path, name: str, checks: int) -> None:
    scumble.verify(made / name)
    assert len(check_promises(made / name)) == checks


def forged(made: Path, tmp_path: Path, name: str, *changes: Any) -> Path:
    folder = tmp_path / name
    shutil.copytree(made / name, folder)
    for change in changes:
        change(folder)
    reseal(folder)
    return folder


def smaller(data: Any) -> Any:
    """Plain data with a thousandth of every epsilon."""
    if isinstance(data, list):
        return [smaller(each) for each in data]
    if not isinstance(data, dict):
        return data
    less = {key: smaller(value) for key, value in data.items()}
    return {**less, "epsilon": budget_text(parse_fraction(data["epsilon"]) / 1000)} if "epsilon" in data else less


def weaker(folder: Path) -> None:
    """Epsilon 1 becomes 1/1000 in the guarantee, its sentence and every spend."""
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    for key in ("guarantee", "spends", "reserved", "divisions"):
        if key in manifest:
            manifest[key] = smaller(manifest[key])
    sentence = manifest["guarantee"]["sentence"]
    manifest["guarantee"]["sentence"] = sentence.replace("1-diff", "0.001-diff").replace("e^1 ", "e^0.001 ")
    (folder / "release.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def test_a_smaller_epsilon_is_found_by_parameters_receipt_and_variance(made: Path, tmp_path: Path) -> None:
    parameters = stated("parameters", "epsilon", value="0.001")
    receipt = stated("receipt", "charged", value="0.001")
    for number, (changes, words) in enumerate(
        [
            ((weaker,), "different values of epsilon"),
            ((weaker, parameters), "states a charge of 1, which is not what the guarantee costs"),
            ((weaker, parameters, receipt), "variance of the counts is not that of the noise"),
        ]
    ):
        folder = forged(made, tmp_path / str(number), "cells", *changes)
        with pytest.raises(CheckError, match=words):
            scumble.verify(folder)


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("cells", ("receipt", "charged"), "0.5", "not what the guarantee costs"),
        ("cells", ("receipt", "spent"), "0.5", "more was spent than its ceiling"),
        ("cells", ("receipt", "ceiling"), "0.5", "more was spent than its ceiling"),
        ("cells", ("receipt", "charged"), "1e999999999", "does not state what it promises"),
        ("cells", ("receipt", "charged"), [], "does not state what it promises"),
        ("records", ("parameters", "epsilon"), "2", "different values of epsilon"),
        ("anonymous", ("parameters", "k"), 50, "different values of k"),
    ],
)
def test_one_number_that_does_not_fit(
    made: Path, tmp_path: Path, name: str, place: tuple[str, str], value: Any, words: str
) -> None:
    folder = forged(made, tmp_path, name, stated(*place, value=value))
    with pytest.raises(CheckError, match=words):
        scumble.verify(folder)
