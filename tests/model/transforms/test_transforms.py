"""Transforms: against the definitions of the papers, and the laws that queries and intervals rely on."""

from fractions import Fraction
from math import isclose, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transform_twins import codes, nearest_consistent, nested, node_counts, walsh, weighted_haar, weighted_nominal

from scumble.model.taxonomy import Tree
from scumble.model.transforms.hierarchy import Hierarchy
from scumble.model.transforms.interval_tree import IntervalTree
from scumble.model.transforms.reading import read_transform
from scumble.model.transforms.transform import (
    Identity,
    Transform,
    coefficient_weights,
    largest_of,
    reconstructed,
    sensitivity_of,
    squared_of,
    transformed,
)
from scumble.model.transforms.walsh import Walsh
from scumble.model.transforms.wavelets import USUAL_SCALE, Haar, Nominal


@st.composite
def trees(draw: st.DrawFn, most: int = 12) -> IntervalTree:
    """Random trees, whose leaves may have any depths."""
    waiting, children, leaves = 1, [], 1
    while waiting:
        number = draw(st.sampled_from([0, 0, 2, 3, 5])) if leaves < most else 0
        children.append(number)
        leaves += max(number - 1, 0)
        waiting += number - 1
    return IntervalTree(children=tuple(children))


def transforms(most: int = 12) -> st.SearchStrategy[Transform]:
    sizes = st.integers(1, most)
    return st.one_of(
        sizes.map(lambda size: Identity(size=size)),
        sizes.map(lambda size: Haar(size=size)),
        sizes.map(lambda size: Walsh(size=size)),
        trees(most).map(lambda tree: Hierarchy(tree=tree)),
        trees(most).map(Nominal.of),
        trees(most).map(lambda tree: Nominal(tree=tree, scale=3)),
    )


def matrix(transform: Transform) -> Any:
    return transform.forward(np.eye(transform.values, dtype=np.int64))


@given(transform=transforms())
@settings(max_examples=150, deadline=None)
def test_laws_of_transforms(transform: Transform) -> None:
    """Estimates from exact coefficients are exact, the adjoint is the transpose, bounds are attained by some record."""
    forward = matrix(transform)
    back = transform.reconstruct(np.eye(transform.coefficients))
    assert forward.dtype == np.int64
    assert forward.shape == (transform.coefficients, transform.values)
    assert np.allclose(back @ forward, np.eye(transform.values))
    assert np.allclose(transform.adjoint(np.eye(transform.values)), back.T)
    assert np.abs(forward).sum(axis=0).max() == transform.sensitivity
    assert (forward**2).sum(axis=0).max() == transform.squared
    assert np.abs(forward).max() == transform.largest
    assert read_transform(transform.to_json(), transform.values) == transform


@given(parts=st.lists(transforms(5), min_size=1, max_size=3), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_laws_of_several_axes(parts: list[Transform], seed: int) -> None:
    draw = np.random.default_rng(seed)
    shape = [each.values for each in parts]
    table = draw.integers(0, 50, shape)
    assert np.allclose(reconstructed(transformed(table, parts).astype(float), parts), table)
    weights = draw.normal(size=shape)
    noise = draw.normal(size=[each.coefficients for each in parts])
    assert isclose(
        float((weights * reconstructed(noise, parts)).sum()),
        float((coefficient_weights(weights, parts) * noise).sum()),
        abs_tol=1e-6,
    )
    columns = []
    for place in np.ndindex(*shape):
        one = np.zeros(shape, dtype=np.int64)
        one[place] = 1
        columns.append(transformed(one, parts).ravel())
    changes = np.abs(np.array(columns))
    assert changes.sum(axis=1).max() == sensitivity_of(parts)
    assert (changes**2).sum(axis=1).max() == squared_of(parts)
    assert changes.max() == largest_of(parts)


@given(tree=trees(), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_hierarchy_is_that_of_the_twin(tree: IntervalTree, seed: int) -> None:
    draw = np.random.default_rng(seed)
    counts = draw.integers(0, 30, tree.size)
    hierarchy = Hierarchy(tree=tree)
    assert hierarchy.forward(counts).tolist() == node_counts(nested(tree), counts)
    measured = draw.normal(size=tree.nodes) * 10
    assert np.allclose(hierarchy.reconstruct(measured), nearest_consistent(nested(tree), measured))


def test_inference_by_the_formulas_of_the_paper() -> None:
    """Hay et al. 2010, theorem 3, for complete trees: z by levels from the leaves up, then h from the root down."""
    branching, levels = 3, 4
    tree = IntervalTree.balanced(branching ** (levels - 1), branching=branching)
    measured = np.random.default_rng(3).normal(size=tree.nodes) * 5
    upward = measured.copy()
    for node in reversed(range(tree.nodes)):
        if tree.children[node]:
            height = levels - int(tree.depths[node])
            own = Fraction(branching**height - branching ** (height - 1), branching**height - 1)
            below = upward[tree.first_children[node] : tree.first_children[node] + branching].sum()
            upward[node] = float(own) * measured[node] + float(1 - own) * below
    consistent = upward.copy()
    for node in range(1, tree.nodes):
        parent = int(tree.parents[node])
        family = slice(int(tree.first_children[parent]), int(tree.first_children[parent]) + branching)
        consistent[node] = upward[node] + (consistent[parent] - upward[family].sum()) / branching
    assert np.allclose(Hierarchy(tree=tree).reconstruct(measured), consistent[tree.leaves])


@pytest.mark.parametrize("size", [1, 2, 8, 16])
def test_haar_coefficients_are_those_of_the_paper_times_its_weights(size: int) -> None:
    counts = np.random.default_rng(size).integers(0, 90, size)
    assert np.allclose(Haar(size=size).forward(counts), weighted_haar(counts))


@given(tree=trees(), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_nominal_coefficients_are_those_of_the_paper_times_its_weights(tree: IntervalTree, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 90, tree.size)
    transform = Nominal.of(tree)
    assert transform.scale <= USUAL_SCALE  # families of 2, 3 and 5: the weights are exact
    assert np.allclose(transform.forward(counts), transform.scale * np.array(weighted_nominal(nested(tree), counts)))
    assert transform.sensitivity == transform.scale * tree.height


def test_large_families_get_nearly_the_weights_of_the_paper() -> None:
    tree = Tree.nested(
        {"Any": {f"{group}": {f"{group}-{leaf}": None for leaf in range(group)} for group in (7, 12, 30, 59)}}
    )
    transform = Nominal.of(IntervalTree.of_taxonomy(tree.root))
    assert transform.scale == USUAL_SCALE
    assert 0.9 * USUAL_SCALE * 3 < transform.sensitivity <= USUAL_SCALE * 3


@given(size=st.integers(1, 20), seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_walsh_coefficients_are_signed_counts(size: int, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 90, size)
    transform = Walsh(size=size)
    assert transform.forward(counts).tolist() == walsh(counts, transform.coefficients)


def test_every_range_of_haar_has_the_variance_that_the_paper_bounds() -> None:
    """Xiao et al. 2010, lemma 3: at most (2 + log2 m) / 2 times the variance of the noise of a weighted coefficient."""
    for size in (2, 16, 64, 100):
        transform = Haar(size=size)
        lows, highs = np.triu_indices(size + 1, 1)
        ranges = ((np.arange(size)[:, None] >= lows) & (np.arange(size)[:, None] < highs)).astype(float)
        variances = (transform.adjoint(ranges) ** 2).sum(axis=0)
        assert variances.max() <= (2 + np.ceil(log2(size))) / 2


@given(tree=trees())
@settings(max_examples=60, deadline=None)
def test_every_node_of_a_taxonomy_has_the_variance_that_the_paper_bounds(tree: IntervalTree) -> None:
    """Xiao et al. 2010, lemma 5: below 4 times the variance of the noise of a weighted coefficient."""
    transform = Nominal.of(tree)
    for node in range(tree.nodes):
        inside = np.zeros(tree.size)
        inside[tree.lows[node] : tree.highs[node]] = 1
        assert (transform.adjoint(inside) ** 2).sum() * transform.scale**2 < 4


def test_a_taxonomy_becomes_a_tree_without_single_children() -> None:
    job = Tree.nested({"Any": {"A": {"a": None, "b": None}, "B": {"C": {"c": None}}, "d": None}})
    tree = IntervalTree.of_taxonomy(job.root)
    assert tree.children == (3, 2, 0, 0, 0, 0)
    assert nested(tree) == [[0, 1], 2, 3]
    assert codes(nested(tree)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "children", [(), (1, 0), (2, 0), (2, 0, 0, 0), (0, 2, 0), (2, -1, 0), (2, True, 0), (2.0, 0, 0)]
)
def test_numbers_that_are_no_tree_are_refused(children: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="tree"):
        IntervalTree(children=children)


def test_documents_that_state_no_transform_are_refused() -> None:
    with pytest.raises(ValueError, match="not a transform"):
        read_transform({"kind": "fourier"}, 4)
    with pytest.raises(ValueError, match="2 values is stated for 3"):
        read_transform({"kind": "hierarchy", "children": [2, 0, 0]}, 3)
    with pytest.raises(ValueError, match="scale"):
        read_transform({"kind": "nominal", "children": [2, 0, 0], "scale": 0}, 2)
