"""What a noise model promises and what it publishes."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from scumble.errors import InputError
from scumble.model.grid import Grid
from scumble.model.guarantee import IntervalPrivacy, LocalDP
from scumble.model.guarantee_json import from_json, to_json
from scumble.model.local.channel import AdditiveChannel
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
    parse_confidence,
    parse_share,
)
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree


def number(name: str, low: int, high: int, step: str = "1", missing: str | None = None) -> Attribute:
    grid = Grid.regular(low=Decimal(low), high=Decimal(high), step=Decimal(step), missing=missing)
    return Attribute(name=name, domain=grid, outside=Outside.CLAMP, missing=missing)


def category(name: str, *labels: str) -> Attribute:
    return Attribute(name=name, domain=Tree.flat(labels), outside=Outside.DROP)


SCHEMA = Schema(
    attributes=(
        number("age", 20, 80),
        number("level", 0, 5),
        category("ward", *"abcdefghij"),
        category("ill", "no", "yes"),
    ),
    target="ill",
)
SHARES = st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=100)
CONFIDENCES = st.fractions(min_value=Fraction(1, 10), max_value=Fraction(999, 1000), max_denominator=1000)


@given(width=SHARES, confidence=CONFIDENCES, step=st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(5)]))
def test_noise_hides_in_at_least_the_requested_width_and_hardly_more(
    width: Fraction, confidence: Fraction, step: Fraction
) -> None:
    wanted = 60 * width
    for randomizer in (Uniform.hiding(wanted, confidence, step), Gaussian.hiding(wanted, confidence, step)):
        assert wanted <= randomizer.width(confidence) <= wanted * Fraction(103, 100)


def test_table_1_of_the_paper_and_its_misprint() -> None:
    confidences = [Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)]
    gaussian = [float(Gaussian(sigma=Fraction(1)).width(c)) for c in confidences]
    assert gaussian == pytest.approx([2 * norm.ppf((1 + float(c)) / 2) for c in confidences], abs=1e-9)
    assert [f"{width:.3f}" for width in gaussian] == ["1.349", "3.920", "6.581"]
    assert [Uniform(half_width=Fraction(3)).width(c) for c in confidences] == [6 * c for c in confidences]
    edges = (Decimal(0), Decimal(10), Decimal(60))
    assert [Discretized(edges=edges).width(c) for c in confidences] == [10 * c for c in confidences]


@given(share=st.fractions(Fraction(1, 100), Fraction(9, 10)), size=st.integers(2, 40))
def test_retaining_leaves_the_requested_number_of_categories_possible(share: Fraction, size: int) -> None:
    confidence = Fraction(95, 100)
    randomizer = Retained.hiding(share, confidence, size)
    assert randomizer.width(confidence, size) >= min(share * size, 1)
    if share * size > 1:
        assert randomizer.width(confidence, size) == share * size
        assert randomizer.probability >= Fraction(1, size)


def test_the_sentence_of_a_category_states_the_probability_of_a_true_report() -> None:
    model = for_privacy(SCHEMA, privacy="50%", truthful=["level"])
    assert isinstance(model.guarantee, IntervalPrivacy)
    assert model.guarantee.categories["ward"][0] == 10
    probability = float(model.guarantee.categories["ward"][1])
    told = f"a report states the true category of ward with probability {probability:g}, and otherwise another one."
    assert model.guarantee.sentence.endswith(told)
    assert "which leaves 5 of 10 categories possible at 95 % confidence" in model.guarantee.earlier_sentences[0]
    assert from_json(to_json(model.guarantee)) == model.guarantee


def test_categories_with_one_probability_share_a_clause() -> None:
    level = Fraction(95, 100)
    guarantee = IntervalPrivacy(
        intervals={"sex": (level, Fraction(11, 6)), "age": (level, Fraction(80)), "ward": (level, Fraction(6))},
        categories={"sex": (2, Fraction(7, 10)), "ward": (7, Fraction(7, 10))},
    )
    assert guarantee.sentence.endswith(
        "age lies in an interval of width 80 at 95 % confidence; a report states the true category of sex, ward with "
        "probability 0.7 each, and otherwise another one."
    )


def test_full_privacy_of_a_category_is_refused() -> None:
    with pytest.raises(InputError, match=r"'ward'.*--retain ward="):
        for_privacy(SCHEMA, privacy="100%")


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_the_widened_domain_holds_all_blurred_values_and_no_more(noise: str) -> None:
    model = for_privacy(SCHEMA, privacy="100%", noise=noise, truthful=["ward"])
    for name in ("age", "level"):
        randomized, grid = model[name], model.published[name].domain
        channel = randomized.channel
        assert isinstance(grid, Grid)
        assert grid.cells == channel.outputs
        true = SCHEMA[name].domain
        assert isinstance(true, Grid)
        assert isinstance(channel, AdditiveChannel)
        least = channel.apply(np.array([0]), np.array([0]))
        assert least[0] == 0, "the least word at the least value reaches the least cell"
        assert grid.edge_floats[channel.margin] == true.edge_floats[0]
    assert model.published.target == "ill"
    assert isinstance(model.guarantee, IntervalPrivacy)
    assert set(model.guarantee.intervals) == {"age", "level"}
    assert model.guarantee.intervals["age"][1] >= 60


def test_local_budgets_add_up_over_a_person_and_cover_the_class() -> None:
    model = for_epsilon(SCHEMA, epsilon="2", truthful=["level"])
    assert model.guarantee == LocalDP(epsilon=Fraction(2), covers=("age", "ward", "ill"))
    assert model.randomizers["age"] == Laplace(epsilon=Fraction(2, 3))
    assert model.randomizers["ill"] == RandomizedResponse(epsilon=Fraction(2, 3))
    assert model.published["age"].domain == SCHEMA["age"].domain, "clamped noise stays in the range"
    assert "ill" not in for_epsilon(SCHEMA, epsilon="2", truthful=["ill"]).guarantee.covers  # type: ignore[union-attr]


def test_one_attribute_without_local_privacy_makes_it_intervals() -> None:
    randomizers: dict[str, Randomizer] = {
        "age": Laplace(epsilon=Fraction(1)),
        "level": Uniform.hiding(Fraction(5), Fraction(95, 100), Fraction(1)),
        "ward": Retained(probability=Fraction(1, 2)),
        "ill": Truthful(),
    }
    mixed = NoiseModel(schema=SCHEMA, randomizers=randomizers)
    assert isinstance(mixed.guarantee, IntervalPrivacy)
    assert set(mixed.guarantee.intervals) == {"level", "ward"}
    local = NoiseModel(schema=SCHEMA, randomizers={**randomizers, "level": Withheld()})
    assert isinstance(local.guarantee, LocalDP)
    assert local.guarantee.covers == ("age", "ward")
    assert float(local.guarantee.epsilon) == pytest.approx(1 + 2.1972246, abs=2e-6)
    assert [attribute.name for attribute in local.published.attributes] == ["age", "ward", "ill"]


@pytest.mark.parametrize(
    ("randomizers", "words"),
    [
        ({"age": Laplace(epsilon=Fraction(1))}, "differ"),
        ({"age": Truthful(), "level": Withheld(), "ward": Truthful(), "ill": Truthful()}, "perturbs no attribute"),
        (
            {"age": Retained(probability=Fraction(1, 2)), "level": Truthful(), "ward": Truthful(), "ill": Truthful()},
            "number",
        ),
        ({"age": Truthful(), "level": Truthful(), "ward": Laplace(epsilon=Fraction(1)), "ill": Truthful()}, "regular"),
        (
            {
                "age": Discretized(edges=(Decimal(20), Decimal(50))),
                "level": Truthful(),
                "ward": Truthful(),
                "ill": Truthful(),
            },
            "cover",
        ),
    ],
)
def test_randomizers_that_do_not_fit_are_refused_before_any_row(randomizers: dict[str, Randomizer], words: str) -> None:
    with pytest.raises(InputError, match=words):
        NoiseModel(schema=SCHEMA, randomizers=randomizers)


def test_laplace_noise_refuses_an_attribute_that_can_be_missing() -> None:
    schema = Schema(attributes=(number("x", 0, 10, missing="?"),))
    with pytest.raises(InputError, match="missing"):
        NoiseModel(schema=schema, randomizers={"x": Laplace(epsilon=Fraction(1))})
    assert isinstance(for_epsilon(schema, epsilon=1).randomizers["x"], RandomizedResponse)


def test_shares_and_confidences_are_read_exactly_or_refused() -> None:
    assert parse_share("12.5%", name="privacy") == Fraction(1, 8)
    for wrong in ("", "x", "-5%", "0", "1/0"):
        with pytest.raises(InputError):
            parse_share(wrong, name="privacy")
    for wrong in ("100%", "2"):
        with pytest.raises(InputError):
            parse_confidence(wrong)


def test_a_table_without_a_described_column_is_refused() -> None:
    model = for_privacy(SCHEMA, privacy="50%", noise="uniform")
    model.check_columns(["age", "level", "ward", "ill", "more"])
    with pytest.raises(InputError, match="'ward'"):
        model.check_columns(["age", "level", "ill"])
