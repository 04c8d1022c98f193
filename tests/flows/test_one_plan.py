"""A release makes one plan: the ledger reserves it, the holder spends it and the folder publishes it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from planted_bugs import Wrapped

from scumble import BudgetError, CheckError, load_release, release, verify
from scumble.auditing.laws.cases import parameters_for, served_schema, settings_of
from scumble.auditing.mechanisms import WholeRelease
from scumble.auditing.neighbours import candidate_pairs
from scumble.files.release_folder import manifest_hash, manifest_text
from scumble.files.schema_file import parse_schema
from scumble.methods import METHODS, DiffGen, Method, Params
from scumble.privacy.ledger import Ledger

SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 8, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
  ill: {classes: ["no", "yes"]}
"""
)


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Records the name of a method each time it makes a plan."""
    made: list[str] = []
    for kind in {type(method) for method in METHODS}:
        planning = kind.plan

        def plan(self: Any, *arguments: Any, planning: Any = planning) -> Any:
            made.append(self.name)
            return planning(self, *arguments)

        monkeypatch.setattr(kind, "plan", plan)
    return made


@pytest.fixture
def table(tmp_path: Path) -> Path:
    lines = ["age,sex,ill", *(f"{row % 8},{'fm'[row % 2]},{('no', 'yes')[row % 3 == 0]}" for row in range(200))]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def reserved(ledger: Path) -> list[dict[str, Any]]:
    with Ledger.open(ledger) as opened:
        (account,) = opened.datasets()["datasets"]
    return next(entry["spends"] for entry in account["entries"] if "spends" in entry)


@pytest.mark.parametrize(
    "parameters", [{}, {"detail": "no"}, {"selection": "published", "rounds": 2}, {"leaves": True}]
)
def test_a_release_plans_once_and_publishes_what_it_reserved(
    table: Path, tmp_path: Path, plans: list[str], parameters: dict[str, Any]
) -> None:
    ledger = tmp_path / "ledger.db"
    made = release(table, schema=SCHEMA, out=tmp_path / "out", ledger=ledger, epsilon="1", **parameters)
    assert plans == ["diffgen"]
    manifest = json.loads((made.folder / "release.json").read_text("utf-8"))
    divided = not parameters
    assert ("reserved" in manifest) is divided
    assert manifest.get("reserved", manifest["spends"]) == reserved(ledger)
    plan = load_release(made.folder).plan
    assert (plan.spends, plan.reserved) == (made.release.plan.spends, made.release.plan.reserved)
    assert ("the parts of 'all else' add up to what was reserved for it" in verify(made.folder)) is divided


def test_every_method_runs_by_the_plan_of_its_holder(plans: list[str]) -> None:
    """An audit makes one plan for its subject, not one for each run."""
    for method in METHODS:
        parameters = parameters_for(method, 1, settings_of(method)[0])
        schema = served_schema(method, parameters)
        pair = candidate_pairs(method, schema, parameters)[0]
        plans.clear()
        mechanism = WholeRelease(method=method, schema=schema, parameters=parameters)
        for rows in (pair.first, pair.second):
            mechanism.draw(pair, rows, 3)
        assert plans == [method.name]


def test_a_folder_whose_parts_do_not_add_up_is_not_trusted(table: Path, tmp_path: Path) -> None:
    made = release(table, schema=SCHEMA, out=tmp_path / "out", ledger=tmp_path / "ledger.db", epsilon="1")
    path = made.folder / "release.json"
    manifest = json.loads(path.read_text("utf-8"))
    for change in ("reserved", "divisions", "older"):
        changed = json.loads(json.dumps(manifest))
        if change == "reserved":
            changed["reserved"][1]["epsilon"] = "0.5"
        elif change == "divisions":
            changed["divisions"][0]["parts"][0]["epsilon"] = "0.001"
        else:
            del changed["reserved"], changed["divisions"]
            changed["pages"] = "0" * 64
        changed.pop("seal")
        path.write_text(manifest_text({**changed, "seal": manifest_hash(changed)}), encoding="utf-8")
        if change == "older":
            # A folder of an earlier version says nothing of what was reserved.
            assert "not checked: the plan, which another version of scumble made" in verify(made.folder)
        else:
            with pytest.raises(CheckError, match="complete release"):
                verify(made.folder)


class ForgetsItsPlan(Wrapped):
    """A method that requests an answer outside the plan of its holder."""

    def run(self, schema: Any, parameters: Any, holder: Any) -> Any:
        return super().run(schema, parameters.model_copy(update={"rounds": 9}), holder)


def test_a_method_cannot_spend_what_was_not_reserved(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(method: str, values: dict[str, Any]) -> tuple[Method, Params]:
        return ForgetsItsPlan(), DiffGen(**values)

    monkeypatch.setattr("scumble.flows.release.method_and_parameters", forgetful)
    with pytest.raises(BudgetError, match="used up"):
        release(table, schema=SCHEMA, out=tmp_path / "out", ledger=tmp_path / "ledger.db", epsilon="1", rounds=1)
    assert not (tmp_path / "out").exists()
