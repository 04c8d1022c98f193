"""The tree that knows the noise: its splits against a brute-force twin, its level under noise alone, its limits."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from planned_runs import run
from scipy.stats import binom, gamma
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import scumble
from scumble.comparison.generated import Recipe
from scumble.comparison.recipes import RECIPES
from scumble.engines.memory import MemoryEngine
from scumble.errors import InputError
from scumble.methods import method_named
from scumble.mining.noisy_cells.classifier import NoisyCellsClassifier
from scumble.mining.noisy_cells.growth import (
    Deviation,
    NoisyCells,
    best_noisy_split,
    cells_differ,
    grow_noisy_tree,
    noise_limit,
)
from scumble.mining.noisy_cells.pruning import Keep, gains_records, kept_splits, shrink_towards
from scumble.model.release import CellRelease
from scumble.privacy.noise import PaidNoise, simulation

RARELY = 1e-6
"""How often a statistical test here may fail by chance, at most."""


@parametrize_with_checks([NoisyCellsClassifier()], expected_failed_checks=lambda estimator: {})
def test_the_classifier_follows_scikit_learns_rules(estimator: Any, check: Callable[[Any], None]) -> None:
    """No check is expected to fail: negative weights are not refused, and no check asks for that."""
    check(estimator)


@st.composite
def noisy_cells(draw: st.DrawFn) -> NoisyCells:
    classes = draw(st.integers(2, 4))
    features = draw(st.integers(1, 3))
    codes = draw(st.sets(st.tuples(*[st.integers(0, 3)] * features), min_size=2, max_size=10))
    shape = (len(codes), classes)
    count = st.integers(-20, 200)
    counts = draw(st.lists(count, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    variance = draw(st.sampled_from([0.0, 3.0, 50.0]))
    return NoisyCells(
        codes=np.array(sorted(codes)),
        counts=np.array(counts, dtype=np.float64).reshape(shape),
        variance=np.full(shape, variance),
    )


class Twin(NamedTuple):
    gain: float
    significance: float
    """The squared difference of shares over its limit: significant above one."""


def twin(cells: NoisyCells, right: npt.NDArray[np.bool_], level: float) -> Twin | None:
    """A split by definition: impurity above less impurity below, and every entry's error followed through by itself.

    None where a side has no records beyond one standard error.
    """
    sides = [cells.part(~right), cells.part(right)]
    totals = [float(side.counts.sum()) for side in sides]
    if any(total <= np.sqrt(side.variance.sum()) for total, side in zip(totals, sides, strict=True)):
        return None

    def impurity(counts: Any) -> float:
        total = counts.sum()
        return float(total - (counts**2).sum() / total)

    lowered = impurity(cells.counts.sum(axis=0)) - sum(impurity(side.counts.sum(axis=0)) for side in sides)
    positive = np.maximum(cells.counts.sum(axis=0), 0)
    shares = positive / positive.sum()
    errors = []
    for side, total in zip(sides, totals, strict=True):
        for (_, label), variance in np.ndenumerate(side.variance):
            errors.append(np.sqrt(variance) / total * ((np.arange(len(shares)) == label) - shares))
    products = np.array(errors) @ np.array(errors).T
    mean = products.trace()
    weight = totals[0] * totals[1] / sum(totals)
    if mean == 0:
        return Twin(lowered, np.inf if lowered / weight > 1e-17 else 0.0)
    spread = 2 * (products**2).sum() + 3 * (products.diagonal() ** 2).sum()
    limit = gamma.isf(level, mean**2 / spread, scale=spread / mean)
    return Twin(lowered - weight * mean, lowered / weight / limit)


@given(noisy_cells(), st.sampled_from([1e-6, 0.01, 0.5]))
def test_the_best_split_is_the_one_that_brute_force_finds(cells: NoisyCells, level: float) -> None:
    cuts = [(feature, int(cut)) for feature, codes in enumerate(cells.codes.T) for cut in np.unique(codes)[1:]]

    def candidates(each: float) -> dict[tuple[int, int], Twin]:
        found = {place: twin(cells, cells.codes[:, place[0]] >= place[1], each) for place in cuts}
        return {place: split for place, split in found.items() if split is not None}

    possible = candidates(level / max(len(candidates(level)), 1))
    split = best_noisy_split(cells, level=level, standard_errors=1.0)
    if not possible:
        assert split is None
        return
    assume(all(abs(each.significance - 1) > 1e-6 for each in possible.values()))
    assume(cells.variance.any() or all(each.gain > 1e-6 for each in possible.values()))
    significant = [each.gain for each in possible.values() if each.significance > 1]
    assert split is not None
    assert split.significant == bool(significant)
    assert split.gain == pytest.approx(possible[split.feature, split.cut].gain, rel=1e-6, abs=1e-6)
    best = max(significant or [each.gain for each in possible.values()])
    assert split.gain == pytest.approx(best, rel=1e-6, abs=1e-6)


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=40),
    st.integers(0, 2**32),
    st.integers(2, 3),
)
def test_without_noise_it_is_the_plain_gini_tree(rows: list[list[int]], seed: int, classes: int) -> None:
    """Leaves are pure or cannot be split, so both trees predict the training rows alike; and as many leaves, unless
    equal gains were settled differently, or no split has any gain."""
    table = np.array(rows, dtype=np.float64)
    draw = simulation(seed)
    labels = draw.integers(0, classes, len(rows))
    weights = draw.integers(1, 5, len(rows))
    ours = NoisyCellsClassifier().fit(table, labels, sample_weight=weights)
    plain = DecisionTreeClassifier(random_state=0).fit(table, labels, sample_weight=weights)
    np.testing.assert_allclose(ours.predict_proba(table), plain.predict_proba(table), atol=1e-9)


def test_without_noise_every_threshold_is_the_plain_trees() -> None:
    """Where no two splits gain the same, which continuous numbers see to."""
    draw = simulation(5)
    table = draw.normal(size=(300, 4))
    labels = (table[:, 0] + table[:, 1] * table[:, 2] + draw.normal(size=300) > 0).astype(np.int64)
    ours = NoisyCellsClassifier().fit(table, labels).model_
    plain = DecisionTreeClassifier(random_state=0, max_depth=3).fit(table, labels).tree_

    def walk(mine: int, other: int) -> int:
        if plain.children_left[other] < 0:
            return 0
        assert ours.feature[mine] == plain.feature[other]
        assert ours.threshold[mine] == pytest.approx(plain.threshold[other], abs=1e-5)
        return (
            1
            + walk(int(ours.left[mine]), plain.children_left[other])
            + walk(int(ours.right[mine]), plain.children_right[other])
        )

    assert walk(0, 0) == (plain.feature >= 0).sum() > 4


def laplace(draw: Any, shape: tuple[int, ...], variance: float) -> Any:
    return draw.laplace(0.0, np.sqrt(variance / 2), shape)


def grid(*sizes: int) -> Any:
    return np.array(list(product(*map(range, sizes))))


@pytest.mark.parametrize(
    ("sizes", "shares", "records"),
    [
        ((2, 3, 4), (0.5, 0.5), 200.0),
        ((2, 2), (0.9, 0.1), 500.0),
        ((6, 5, 2), (0.4, 0.3, 0.2, 0.1), 100.0),
        ((30,), (0.5, 0.5), 60.0),
    ],
)
@pytest.mark.parametrize("level", [0.05, 0.5])
def test_noise_alone_gives_a_stump(
    sizes: tuple[int, ...], shares: tuple[float, ...], records: float, level: float
) -> None:
    """In so many tables with the same shares in every cell, no more have a split than the level allows."""
    tables = 300
    draw = simulation(len(sizes) * 1000 + len(shares))
    codes = grid(*sizes)
    split = 0
    for _ in range(tables):
        counts = records * np.array(shares) + laplace(draw, (len(codes), len(shares)), 100.0)
        cells = NoisyCells(codes=codes, counts=counts, variance=np.full(counts.shape, 100.0))
        split += len(grow_noisy_tree(cells, level=level, standard_errors=1.0).feature) > 1
    assert split <= binom.isf(RARELY, tables, level)


def test_the_level_has_teeth() -> None:
    """Noise that is understated fivefold in variance is mistaken for structure far more often than the level says."""
    draw = simulation(77)
    codes = grid(2, 3, 4)
    split = 0
    for _ in range(100):
        counts = 100.0 + laplace(draw, (len(codes), 2), 500.0)
        cells = NoisyCells(codes=codes, counts=counts, variance=np.full(counts.shape, 100.0))
        split += len(grow_noisy_tree(cells, level=0.25, standard_errors=1.0).feature) > 1
    assert split > binom.isf(RARELY, 100, 0.25)


def test_the_moments_of_squared_deviations_are_those_of_laplace_noise() -> None:
    """Mean and variance against a million draws: within 1 % and 5 %, over five standard errors."""
    shares = np.array([0.6, 0.3, 0.1])
    variance = np.array([4.0, 1.0, 9.0])
    noise = laplace(simulation(3), (1_000_000, 3), 1.0) * np.sqrt(variance)
    squares = ((noise - shares * noise.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    law = Deviation(shares)
    assert law.mean(variance) == pytest.approx(squares.mean(), rel=0.01)
    assert law.variance(variance, variance**2) == pytest.approx(squares.var(), rel=0.05)


def test_no_noise_has_no_limit() -> None:
    assert noise_limit(np.zeros(2), np.zeros(2), 0.1).tolist() == [0, 0]


def exclusive_or(variance: float, seed: int) -> NoisyCells:
    codes = grid(2, 2, 3)
    odd = codes[:, 0] ^ codes[:, 1]
    counts = np.stack([np.where(odd, 20.0, 180.0), np.where(odd, 180.0, 20.0)], axis=1)
    return NoisyCells(
        codes=codes,
        counts=counts + laplace(simulation(seed), counts.shape, variance),
        variance=np.full(counts.shape, variance),
    )


def test_attributes_that_matter_only_together_are_found() -> None:
    cells = exclusive_or(100.0, 1)
    assert cells_differ(cells, level=0.001)
    tree = NoisyCellsClassifier().fit(
        np.repeat(cells.codes, 2, axis=0),
        np.tile([0, 1], len(cells.codes)),
        sample_weight=cells.counts.ravel(),
        noise_variance=100.0,
    )
    assert (tree.predict(cells.codes) == cells.codes[:, 0] ^ cells.codes[:, 1]).all()


def two_sides(left: tuple[float, float], right: tuple[float, float], variance: float) -> NoisyCells:
    return NoisyCells(codes=np.array([[0], [1]]), counts=np.array([left, right]), variance=np.full((2, 2), variance))


@pytest.mark.parametrize(("standard_errors", "gains"), [(0.0, True), (0.9, True), (1.1, False), (3.0, False)])
def test_records_gained_are_held_against_their_own_noise(standard_errors: float, gains: bool) -> None:
    """The right side gains 20 records, the difference of two counts of variance 200: one standard error."""
    tree = grow_noisy_tree(two_sides((300.0, 100.0), (90.0, 110.0), 200.0), level=0.9, standard_errors=0.0)
    assert tree.feature.tolist() == [0, -1, -1]
    assert gains_records(tree, 0, [1, 2], standard_errors) is gains


def test_a_difference_of_shares_is_kept_for_ranking_and_not_for_records() -> None:
    tree = grow_noisy_tree(two_sides((300.0, 10.0), (300.0, 200.0), 4.0), level=0.05, standard_errors=1.0)
    assert tree.significant[0]
    assert kept_splits(tree, keep=Keep.SHARES, standard_errors=1.0)[0]
    assert not kept_splits(tree, keep=Keep.RECORDS, standard_errors=1.0)[0]


@given(noisy_cells(), st.floats(0, 1))
def test_shrunken_shares_are_shares_between_the_parents_and_their_own(cells: NoisyCells, first: float) -> None:
    classes = cells.counts.shape[1]
    parent = np.array([first, *[(1 - first) / (classes - 1)] * (classes - 1)])
    own = cells.total
    shares = shrink_towards(parent, own)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    if not own.variance.any() and own.counts.min() >= 0 and own.records > 0:
        np.testing.assert_allclose(shares, own.counts / own.records, atol=1e-9)
    drowned = NoisyCells(codes=cells.codes, counts=cells.counts, variance=np.full(cells.counts.shape, 1e12)).total
    assert (shrink_towards(parent, drowned) == parent).all()


def test_counts_without_anything_positive_give_even_shares() -> None:
    tree = NoisyCellsClassifier().fit([[0], [1]], ["a", "b"], sample_weight=[-5, -3], noise_variance=10.0)
    assert tree.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]


def released(recipe: Recipe, epsilon: str) -> CellRelease:
    table = recipe.table(rows=3000, seed=1)
    method = method_named("diffgen")
    parameters = method.parameters(epsilon=epsilon, detail="no")
    made = run(method, table.schema, parameters, MemoryEngine([table.columns], table.schema), PaidNoise())
    assert isinstance(made, CellRelease)
    return made


def test_a_release_is_learned_from_all_its_measured_cells() -> None:
    release = released(RECIPES["five-classes"], "1")
    tree = NoisyCellsClassifier().fit_release(release)
    assert sorted(release.schema.classes) == tree.classes_.tolist()
    root = tree.model_.shares[0]
    measured = np.maximum(release.measured.sum(axis=0), 0)[np.argsort(release.schema.classes)]
    np.testing.assert_allclose(root, measured / measured.sum())
    record = {each.name: each.domain.labels[0] for each in release.schema.predictors}
    first = tree.predict(np.zeros((1, len(release.schema.predictors))))
    assert tree.model_.predict([record]) == first.tolist(), "the model takes published words"
    assert tree.model_.target == release.schema.target
    assert isinstance(tree, scumble.NoisyCellsClassifier)
    assert tree.export_text()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"level": 0}, "level"),
        ({"level": 1.0}, "level"),
        ({"standard_errors": -1}, "standard_errors"),
        ({"keep": "all"}, "Unknown value of keep"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        NoisyCellsClassifier(**parameters).fit([[0], [1]], [0, 1])


def test_what_cannot_be_learned_from_is_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        NoisyCellsClassifier().fit([[0], [1]], [0, 1], noise_variance=[1, -1])
    with pytest.raises(ValueError, match="noise_variance has shape"):
        NoisyCellsClassifier().fit([[0], [1]], [0, 1], noise_variance=[1, 1, 1])
    with pytest.raises(ValueError, match="nothing to learn from"):
        NoisyCellsClassifier().fit([[0], [1]], [0, 1], sample_weight=[0, 0])


def test_the_benchmark_compares_both_trees_on_the_same_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
    from noisy_tree import lines

    (line,) = lines("xor", "1", 2, [(0.5, "shares")])
    values = [cell.strip() for cell in line.strip("|").split("|")]
    assert values[:4] == ["xor", "1", "0.5", "shares"]
    standard, knowing = float(values[4]), float(values[5])
    assert float(values[6].split()[0]) == pytest.approx(knowing - standard, abs=0.011)
    assert 0 < min(standard, knowing) <= max(standard, knowing) < 100
