"""Forged promises: hashes and seal fit, but guarantee, parameters, receipt or variance say different things."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA, people
from hostile_folders import in_document, reseal, stated, text

import scumble
from scumble.errors import CheckError
from scumble.files.page_check import rendered
from scumble.files.release_folder import read_manifest, read_release
from scumble.flows.promises import check_promises
from scumble.foreign.numbers import parse_fraction
from scumble.model.budget import budget_text
from scumble.model.guarantee_json import from_json

NUMBERS = """\
scumble: schema/1
rows_at_most: 400
attributes:
  age: {numeric: {low: 0, high: 100, step: 10}}
"""
PRIVATE = (
    *("cells", "replace", "published", "records", "persons", "smaller", "numbers", "means"),
    *("explore", "contingency", "barak", "hay", "privelet", "diffp-c45"),
    *("explore-delta", "histograms-delta", "barak-delta", "hay-delta", "privelet-delta"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    head, *lines = people(200).splitlines()
    rows = [f"{head},who", *(f"{line},{number // 3}" for number, line in enumerate(lines))]
    (folder / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for unit in ("add-remove", "replace"):
        head = f"unit: {unit}\n" + ("rows: 200\n" if unit == "replace" else "")
        (folder / f"{unit}.yaml").write_text(SCHEMA.replace("target:", f"{head}target:"), encoding="utf-8")

    bounded = SCHEMA.replace("target:", "rows_at_most: 400\ntarget:")
    (folder / "bounded.yaml").write_text(bounded, encoding="utf-8")
    (folder / "numbers.yaml").write_text(NUMBERS, encoding="utf-8")
    persons = SCHEMA.replace("target:", "person: who\nrows_each_at_most: 3\ntarget:")
    (folder / "persons.yaml").write_text(persons, encoding="utf-8")

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
    release("persons", "persons", epsilon=1, method="explore")
    release("smaller", "bounded", epsilon=1, method="microaggregate", depth=1)
    release("numbers", "numbers", epsilon=1, method="microaggregate", depth=1)
    release("means", "numbers", epsilon=1, method="microaggregate", depth=1, centre="mean")
    for method in ("explore", "contingency", "barak", "hay", "privelet", "diffp-c45"):
        release(method, epsilon=1, method=method)
    for method in ("explore", "histograms", "barak", "hay", "privelet"):
        release(f"{method}-delta", "replace", epsilon=1, delta="1e-9", method=method)
    release("anonymous", "replace", method="mdav", k=5, accept=["k-anonymity"])
    scumble.perturb(folder / "people.csv", schema=folder / "add-remove.yaml", out=folder / "perturbed", epsilon=4)
    return folder


@pytest.mark.parametrize("name", PRIVATE)
def test_an_honest_private_folder_passes(made: Path, name: str) -> None:
    passed = scumble.verify(made / name)
    assert "the spends and the guarantee are planned from the method, the parameters and the schema" in passed
    assert any("follows from the prices" in sentence for sentence in passed)
    assert not any(sentence.startswith("not checked") for sentence in passed)


def test_an_honest_folder_without_noise_passes(made: Path) -> None:
    assert len(check_promises(made / "anonymous")) == 3
    assert check_promises(made / "perturbed") == []


def forged(made: Path, tmp_path: Path, name: str, *changes: Any) -> Path:
    folder = tmp_path / name
    shutil.copytree(made / name, folder)
    for change in changes:
        change(folder)
    reseal(folder)
    return folder


def smaller(data: Any) -> Any:
    """Plain data with a thousandth of every epsilon, and a rho that such an epsilon allows."""
    if isinstance(data, list):
        return [smaller(each) for each in data]
    if not isinstance(data, dict):
        return data
    less = {key: smaller(value) for key, value in data.items()}
    return {
        **less,
        **{
            key: budget_text(parse_fraction(data[key]) / factor)
            for key, factor in {"epsilon": 1000, "rho": 10**7}.items()
            if key in data
        },
    }


def weaker(folder: Path) -> None:
    """Epsilon 1 becomes 1/1000 in the guarantee, its sentence and every spend; so does every rho."""
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    for key in ("guarantee", "spends", "reserved", "divisions"):
        if key in manifest:
            manifest[key] = smaller(manifest[key])
    manifest["guarantee"]["sentence"] = from_json(manifest["guarantee"]).sentence
    (folder / "release.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def rendered_again(folder: Path) -> None:
    """The pages and descriptions that follow from the changed numbers."""
    manifest = read_manifest(folder)
    for name, page in rendered(read_release(folder), manifest).items():
        (folder / name).write_text(page, encoding="utf-8", newline="")


@pytest.mark.parametrize("name", PRIVATE)
def test_a_consistently_smaller_epsilon_contradicts_the_published_noise(made: Path, tmp_path: Path, name: str) -> None:
    parameters = stated("parameters", "epsilon", value="0.001")
    receipt = stated("receipt", "charged", value="0.001")
    folder = forged(made, tmp_path, name, weaker, parameters, receipt, rendered_again)
    with pytest.raises(CheckError, match=r"which their price pays|no price pays for|not those which follow"):
        scumble.verify(folder)


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("cells", ("method",), "hay", "do not allow a plan"),
        ("records", ("method",), "hay", "not those which follow"),
        ("records", ("method",), "of my own", "Unknown method"),
        ("records", ("method",), [], "does not describe a complete release"),
        ("cells", ("parameters", "rounds"), 9, "not those which follow"),
        ("cells", ("parameters", "detail"), "no", "not those which follow"),
        ("cells", ("parameters", "selection"), "published", "not those which follow"),
        ("replace", ("parameters", "score"), "gini", "not those which follow"),
        ("replace", ("parameters", "rounds"), 3, "not those which follow"),
        ("published", ("parameters", "selection"), "together", "not those which follow"),
        ("cells", ("parameters", "magic"), 1, "do not allow a plan"),
        ("diffp-c45", ("parameters", "depth"), 2, "not those which follow"),
        ("anonymous", ("parameters", "k"), 2, "different values of k"),
        ("smaller", ("parameters", "depth"), 4, "not those which follow"),
        ("contingency", ("spends", 0, "purpose"), "no noise is needed", "not those which follow"),
    ],
)
def test_the_plan_follows_from_method_parameters_and_schema(
    made: Path, tmp_path: Path, name: str, place: tuple[str | int, ...], value: Any, words: str
) -> None:
    folder = forged(made, tmp_path, name, stated(*place, value=value))
    with pytest.raises(CheckError, match=words):
        scumble.verify(folder)


def other_version(folder: Path) -> None:
    stated("pages", value="0" * 64)(folder)


def test_a_plan_of_another_version_is_not_checked_where_its_rules_differ(made: Path, tmp_path: Path) -> None:
    same = forged(made, tmp_path, "cells", other_version)
    assert "the spends and the guarantee are planned from the method, the parameters and the schema" in scumble.verify(
        same
    )
    rules = forged(made, tmp_path / "rules", "cells", other_version, stated("parameters", "rounds", value=9))
    assert "not checked: the plan, which another version of scumble made" in scumble.verify(rules)
    older = forged(made, tmp_path / "older", "cells", other_version, stated("parameters", "removed", value=9))
    assert "not checked: the plan, whose method or parameters this version does not have" in scumble.verify(older)


@pytest.mark.parametrize(
    ("name", "document", "place", "value"),
    [
        ("records", "tables", ("tables", 0, "variance"), 1.0),
        ("records", "tables", ("tables", 0, "counts"), "junk"),
        ("records", "tables", ("format",), "tables/9"),
        ("explore", "tables", ("tables", 3, "variance"), 0.0001),
        ("explore", "model", ("cliques",), [["nobody"]]),
        ("explore", "model", ("bins", "age"), [0, 99]),
        ("explore", "model", ("bins",), "junk"),
        ("smaller", "groups", ("groups", 0, "size"), -1),
        ("smaller", "groups", ("groups",), {"junk": 1}),
        ("smaller", "groups", ("variance",), 0.001),
        ("numbers", "groups", ("groups", 0, "centre"), {"nobody": 1}),
        ("barak", "marginals", ("marginals", 0, "counts"), [1]),
        ("barak", "tables", ("inferred", 0, "variance"), 0.1),
        ("cells", "detail", ("measured", 0, "deviation"), 0.1),
        ("cells", "detail", ("measured",), 5),
    ],
)
def test_documents_are_read_and_their_noise_compared(
    made: Path, tmp_path: Path, name: str, document: str, place: tuple[str | int, ...], value: Any
) -> None:
    folder = forged(made, tmp_path, name, in_document(f"{document}.json", *place, value=value))
    with pytest.raises(CheckError, match=r"variance of the counts|json does not|json has|incomplete|complete release"):
        scumble.verify(folder)


def test_an_unknown_document_is_refused(made: Path, tmp_path: Path) -> None:
    changes = text("notes.json", '{"a": 1}'), stated("documents", value=["notes", "tables"])
    with pytest.raises(CheckError, match=r"notes\.json"):
        scumble.verify(forged(made, tmp_path, "records", *changes))


def test_a_smaller_epsilon_is_found_by_parameters_receipt_and_variance(made: Path, tmp_path: Path) -> None:
    parameters = stated("parameters", "epsilon", value="0.001")
    receipt = stated("receipt", "charged", value="0.001")
    for number, (changes, words) in enumerate(
        [
            ((weaker,), "different values of epsilon"),
            ((weaker, parameters), "states a charge of 1, which is not what the guarantee costs"),
            ((weaker, parameters, receipt), "not those which follow|variance of the counts is not that of the noise"),
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
