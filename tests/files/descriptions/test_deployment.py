"""deployment.yaml has the fields and values that the registry of deployments documents, for every kind of guarantee."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from command_line import SCHEMA, people
from registry_fields import REQUIRED, faults, missing
from ruamel.yaml import YAML

import scumble
from scumble.files.descriptions.deployment import PRODUCTS, deployment
from scumble.files.kinds import KINDS
from scumble.files.release_folder import read_release
from scumble.model.guarantee import ApproxDP, Guarantee, JointDP, LocalDP, PureDP, Unit, Unproven, unit_of
from scumble.model.plan import Plan, Spend
from scumble.model.release import Release
from scumble.model.spend import budget_of

THIRD, DELTA, ADDED = Fraction(1, 3), Fraction(1, 10**9), Unit.ADD_REMOVE
GUARANTEES: dict[str, Guarantee] = {
    "pure": PureDP(epsilon=Fraction(1), unit=ADDED),
    "fraction": PureDP(epsilon=THIRD, unit=Unit.REPLACE),
    "approximate": ApproxDP(epsilon=Fraction(2), delta=DELTA, unit=ADDED),
    "joint": JointDP(epsilon=Fraction(1), delta=DELTA, coalition=1, unit=ADDED),
    "local": LocalDP(epsilon=Fraction(4), covers=("age",)),
    "unproven": Unproven(claim=PureDP(epsilon=Fraction(1), unit=ADDED), reason="because"),
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    place = tmp_path_factory.mktemp("made")
    (place / "people.csv").write_text(people(50))
    (place / "schema.yaml").write_text(SCHEMA)
    scumble.release(
        place / "people.csv", schema=place / "schema.yaml", out=place / "out", epsilon="1", ledger=place / "ledger.db"
    )
    return read_release(place / "out")


def entry_under(release: Release, guarantee: Guarantee) -> str:
    """The entry of this release under another guarantee, whose whole budget is one spend."""
    due = budget_of(guarantee)
    assert due is not None
    price = {"rho": due} if isinstance(guarantee, ApproxDP) else {"epsilon": due}
    spend = Spend(label="all", **price)
    plan = Plan(guarantee=guarantee, spends=(spend,), cells_at_most=4, schema_unit=unit_of(guarantee) or ADDED)
    return deployment(replace(release, plan=plan))


def loaded(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def filled(text: str) -> str:
    """The entry after the owner has removed the comment signs, and the first line, which explains."""
    lines = text.replace("YYYY-MM-DD", "2026-01-31").splitlines()[1:]
    return "\n".join(re.sub(r"^( *)# ", r"\1", line) for line in lines)


@pytest.mark.parametrize("name", GUARANTEES)
def test_an_entry_is_what_the_registry_accepts_once_the_owner_fills_it_in(release: Release, name: str) -> None:
    text = entry_under(release, GUARANTEES[name])
    assert faults(loaded(text)) == []
    whole = loaded(filled(text))
    assert faults(whole) == [] and missing(whole) == set()


def test_what_is_left_to_the_owner_is_what_no_release_knows(release: Release) -> None:
    left = {path.rpartition("/")[2] for path in missing(loaded(deployment(release)))}
    assert left == {
        *("url_slug", "name", "data_curators", "intended_use", "data_product_region", "publication_date"),
        "registry_authors",
    }


def test_a_stated_epsilon_never_promises_more_than_the_release(release: Release) -> None:
    text = entry_under(release, GUARANTEES["fraction"])
    loss = loaded(text)["deployment"]["privacy_loss"]
    assert THIRD <= Fraction(loss["privacy_parameters"]["epsilon"]) < THIRD + Fraction(1, 10**15)
    assert "exactly 1/3" in loss["privacy_parameters_details"]


def test_every_kind_of_release_has_the_registrys_word_for_it() -> None:
    assert PRODUCTS.keys() <= {kind.name for kind in KINDS}


def test_a_planted_fault_is_found(release: Release) -> None:
    entry = loaded(deployment(release))
    entry["deployment"]["basic"]["data_product_type"] = "Synthetic or aggregated table"
    entry["deployment"]["model"] = {}
    entry["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] = "1/3"
    entry["deployment"]["basic"]["publication_date"] = "1.1.2026"
    assert [fault.partition(":")[0] for fault in faults(entry)] == [
        "deployment/model",
        "deployment/basic/data_product_type",
        "deployment/basic/publication_date",
        "deployment/privacy_loss/privacy_parameters/epsilon",
    ]
    assert missing({}) == REQUIRED
