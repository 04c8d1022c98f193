"""noise.json: a noise model comes back whole, schema included; older files are read; damaged ones are refused."""

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import schemas

from scumble.errors import InputError
from scumble.files.noise_file import noise_data, noise_from, read_noise, write_noise
from scumble.files.schema_file import schema_data, schema_from
from scumble.flows.mine import true_blocks
from scumble.model.grid import Grid
from scumble.model.local.noise_model import NoiseModel, for_epsilon, for_privacy
from scumble.model.local.randomizers import (
    Discretized,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Randomizer,
    Retained,
    Truthful,
    Uniform,
    Withheld,
)
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

FRACTIONS = st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=100)
PROBABILITIES = st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=100)


@st.composite
def noise_models(draw: st.DrawFn) -> NoiseModel:
    """Random schemas with a random randomizer for each attribute that allows it."""
    schema = draw(schemas())
    chosen = {attribute.name: draw(randomizers_of(attribute)) for attribute in schema.attributes}
    try:
        return NoiseModel(schema=schema, randomizers=chosen, confidence=draw(PROBABILITIES))
    except InputError:
        assume(False)
        raise


@st.composite
def randomizers_of(draw: st.DrawFn, attribute: Attribute) -> Randomizer:
    domain = attribute.domain
    choices: list[st.SearchStrategy[Randomizer]] = [st.builds(Truthful), st.builds(Withheld)]
    if domain.size > 1:
        choices.append(st.builds(RandomizedResponse, epsilon=FRACTIONS))
    if isinstance(domain, Grid):
        choices.append(st.just(Discretized(edges=(domain.edges[0], domain.edges[-1]))))
        if domain.step is not None:
            steps = st.integers(1, 5).map(lambda n: n * Fraction(domain.step or 1))
            choices += [
                st.builds(Uniform, half_width=steps.map(lambda width: width / 2)),
                st.builds(Gaussian, sigma=steps),
            ]
            choices += [] if domain.missing is not None else [st.builds(Laplace, epsilon=FRACTIONS)]
    elif domain.size > 1:
        choices.append(st.builds(Retained, probability=PROBABILITIES))
    return draw(st.one_of(choices))


@given(schema=schemas())
def test_a_schema_comes_back_from_json(schema: Schema) -> None:
    assert schema_from(json.loads(json.dumps(schema_data(schema)))) == schema


@given(noise=noise_models())
def test_a_noise_model_comes_back_from_json(noise: NoiseModel) -> None:
    read = noise_from(json.loads(json.dumps(noise_data(noise))))
    assert read == noise
    assert read.guarantee == noise.guarantee
    assert read.published == noise.published


def number(name: str, low: int, high: int, step: str = "1", missing: str | None = None) -> Attribute:
    grid = Grid.regular(low=Decimal(low), high=Decimal(high), step=Decimal(step), missing=missing)
    return Attribute(name=name, domain=grid, outside=Outside.CLAMP, missing=missing)


def category(name: str, *labels: str, outside: Outside = Outside.DROP) -> Attribute:
    return Attribute(name=name, domain=Tree.flat(labels), outside=outside)


SCHEMA = Schema(
    attributes=(
        number("age", 20, 80),
        number("level", 0, 5),
        category("ward", *"abcdefghij"),
        category("ill", "n", "y"),
    ),
    target="ill",
)
MODELS = [
    for_privacy(SCHEMA, privacy="50%", noise="uniform"),
    for_privacy(SCHEMA, privacy="25%", noise="discretized", confidence="0.5", withheld=["ward"]),
    for_privacy(SCHEMA, privacy="1.5", truthful=["ward"]),
    for_epsilon(SCHEMA, epsilon="1/3", withheld=["age"]),
    for_privacy(Schema(attributes=(number("x", 0, 10, "0.25", missing="?"),)), privacy="100%"),
    NoiseModel(
        schema=Schema(
            attributes=(
                Attribute(name="x", domain=Grid(edges=tuple(map(Decimal, (0, 1, 5, 9)))), outside=Outside.CLAMP),
            )
        ),
        randomizers={"x": Discretized(edges=(Decimal(0), Decimal(5), Decimal(9)))},
    ),
]


@pytest.mark.parametrize("noise", MODELS)
def test_a_noise_model_comes_back_from_its_file(noise: NoiseModel, tmp_path: Path) -> None:
    write_noise(noise, tmp_path / "noise.json")
    assert read_noise(tmp_path / "noise.json") == noise


OLDER = """{
  "scumble": "noise/1",
  "confidence": "0.95",
  "target": "ill",
  "attributes": {
    "age": {
      "domain": {"low": "20", "high": "80", "step": "0.5", "missing": "-999"},
      "blur": {"kind": "uniform", "half_width": "14.25", "refine": 1}
    },
    "visits": {
      "domain": {"edges": ["0", "1", "5", "9"]},
      "blur": {"kind": "discretized", "edges": ["0", "5", "9"]}
    },
    "ward": {
      "domain": {"taxonomy": {"Any": {"North": {"a": null, "b": null}, "?": null}}, "missing": "?"},
      "blur": {"kind": "retained", "probability": "0.7"}
    },
    "ill": {"domain": {"taxonomy": {"Any": {"n": null, "y": null}}}, "blur": {"kind": "truthful"}}
  }
}"""


def test_a_file_of_the_older_format_is_read() -> None:
    read = noise_from(json.loads(OLDER))
    ward = Tree.nested({"Any": {"North": {"a": None, "b": None}, "?": None}})
    visits = Grid(edges=tuple(map(Decimal, (0, 1, 5, 9))))
    assert read.schema == Schema(
        attributes=(
            number("age", 20, 80, "0.5", missing="-999"),
            Attribute(name="visits", domain=visits, outside=Outside.CLAMP),
            Attribute(name="ward", domain=ward, outside=Outside.DROP, missing="?"),
            category("ill", "n", "y"),
        ),
        target="ill",
    )
    assert read.randomizers == {
        "age": Uniform(half_width=Fraction(57, 4), refine=1),
        "visits": Discretized(edges=(Decimal(0), Decimal(5), Decimal(9))),
        "ward": Retained(probability=Fraction(7, 10)),
        "ill": Truthful(),
    }
    assert noise_from(noise_data(read)) == read


Damage = Callable[[dict[str, Any]], object]
BOTH: list[Damage] = [
    lambda data: data.pop("attributes"),
    lambda data: data.update(scumble="noise/9"),
    lambda data: data.pop("scumble"),
    lambda data: data["attributes"]["age"]["blur"].update(kind="magic"),
    lambda data: data["attributes"]["age"]["blur"].update(half_width="0"),
    lambda data: data["attributes"]["age"]["blur"].update(half_width=None),
    lambda data: data["attributes"].update(age=3),
    lambda data: data["attributes"].pop("ill"),
    lambda data: data.update(confidence="2"),
]
NEWER: list[Damage] = [
    lambda data: data["attributes"]["age"]["blur"].update(half_width="7"),
    lambda data: data.pop("schema"),
    lambda data: data.update(schema=[]),
    lambda data: data["schema"]["attributes"]["age"]["numeric"].update(high="x"),
    lambda data: data["schema"]["attributes"].pop("age"),
]
OLD: list[Damage] = [
    lambda data: data["attributes"]["age"]["domain"].update(high="x"),
    lambda data: data["attributes"]["ward"]["domain"].update(taxonomy=["a"]),
    lambda data: data["attributes"]["age"].pop("domain"),
]


@pytest.mark.parametrize(
    ("text", "damage"),
    [
        *((json.dumps(noise_data(MODELS[0])), damage) for damage in BOTH + NEWER),
        *((OLDER, damage) for damage in BOTH + OLD),
    ],
)
def test_a_damaged_noise_model_is_refused(text: str, damage: Damage) -> None:
    data = json.loads(text)
    assert noise_from(data)
    damage(data)
    with pytest.raises(InputError):
        noise_from(data)


@pytest.mark.parametrize("data", [None, [], 3, "noise/2", {}])
def test_what_is_not_a_noise_model_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match="not a noise model"):
        noise_from(data)


def test_the_rule_for_unknown_categories_survives(tmp_path: Path) -> None:
    """A receiver compares with the rows that were perturbed: `outside: clamp` keeps them all."""
    schema = Schema(attributes=(number("age", 20, 80), category("ward", "a", "b", outside=Outside.CLAMP)))
    write_noise(for_privacy(schema, privacy="50%"), tmp_path / "noise.json")
    (tmp_path / "people.csv").write_text("age,ward\n30,a\n40,unknown\n50,b\n")
    (block,) = true_blocks(tmp_path / "people.csv", read_noise(tmp_path / "noise.json"))
    assert block["ward"].tolist() == [0, 0, 1]
