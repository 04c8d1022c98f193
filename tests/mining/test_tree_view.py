"""Trees as text and as drawings: sets follow the path, nothing is cut off without a word, and pages have a width."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from scumble.mining.tree_model import LEAF, Feature, TreeModel
from scumble.mining.tree_view import draw_tree, layout, tree_text

JOBS = ("dancer", "writer", "engineer", "lawyer", "mover")


def model(
    feature: list[int], threshold: list[float], left: list[int], right: list[int], *, jobs: tuple[str, ...] = JOBS
) -> TreeModel:
    nodes = len(feature)
    shares: npt.NDArray[np.float64] = np.tile([0.75, 0.25], (nodes, 1))
    return TreeModel(
        features=(Feature(name="job", values=jobs), Feature(name="age")),
        classes=("no", "yes"),
        feature=np.array(feature),
        threshold=np.array(threshold),
        left=np.array(left),
        right=np.array(right),
        missing_left=np.zeros(nodes, dtype=np.bool_),
        shares=shares,
    )


def complete(depth: int) -> TreeModel:
    """A complete tree of tests of the age."""
    inner, nodes = 2**depth - 1, 2 ** (depth + 1) - 1
    numbers = np.arange(nodes)
    children = np.where(numbers < inner, 2 * numbers + 1, LEAF)
    return model(
        np.where(numbers < inner, 1, LEAF).tolist(),
        numbers.astype(float).tolist(),
        children.tolist(),
        np.where(numbers < inner, children + 1, LEAF).tolist(),
    )


def test_a_set_has_only_the_categories_that_the_path_has_left() -> None:
    """A second test of the job, below the first: the movers and lawyers went the other way."""
    twice = model([0, 0, LEAF, LEAF, LEAF], [3, 1, 0, 0, 0], [1, 3, LEAF, LEAF, LEAF], [2, 4, LEAF, LEAF, LEAF])
    assert tree_text(twice).splitlines() == [
        "|-- job not in {lawyer, mover}",
        "|   |-- job in {dancer}: no (75%)",
        "|   |-- job not in {dancer}: no (75%)",
        "|-- job in {lawyer, mover}: no (75%)",
    ]


def test_of_two_sets_the_shorter_one_is_written() -> None:
    jobs = tuple(f"job-{number:02}" for number in range(40))
    once = model([0, LEAF, LEAF], [1, 0, 0], [1, LEAF, LEAF], [2, LEAF, LEAF], jobs=jobs)
    assert tree_text(once).splitlines() == ["|-- job in {job-00}: no (75%)", "|-- job not in {job-00}: no (75%)"]


def test_a_tree_of_one_leaf_is_its_class(tmp_path: Path) -> None:
    leaf = model([LEAF], [0], [LEAF], [LEAF])
    assert tree_text(leaf) == "no (75%)"
    draw_tree(leaf, tmp_path / "leaf.svg")
    assert "no (75%)" in (tmp_path / "leaf.svg").read_text("utf-8")


@pytest.mark.parametrize(("depth", "below"), [(3, 0), (4, 0), (6, 64)])
def test_every_leaf_is_drawn_or_counted(depth: int, below: int) -> None:
    boxes = [layout(complete(depth))]
    drawn = hidden = 0
    for box in boxes:
        boxes += box.children
        drawn += not box.children and not box.below
        hidden += box.below
        assert not box.below or f"{box.below} leaves below" in box.text
    assert (drawn, hidden) == (2**depth - below if below else 2**depth, below)


def test_a_drawing_fits_a_page_and_names_its_edges(tmp_path: Path) -> None:
    """The old drawing of a tree of this depth was 2,200 points wide."""
    draw_tree(complete(7), tmp_path / "tree.svg")
    drawn = (tmp_path / "tree.svg").read_text("utf-8")
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', drawn)
    assert size is not None and float(size[1]) <= 842 and float(size[2]) <= 842
    assert drawn.count(">yes<") == drawn.count(">no<") == 15
    assert drawn.count("8 leaves below") == 16


def test_names_are_no_formulas(tmp_path: Path) -> None:
    odd = model([0, LEAF, LEAF], [1, 0, 0], [1, LEAF, LEAF], [2, LEAF, LEAF], jobs=("$1", "$2", "<b>"))
    draw_tree(odd, tmp_path / "tree.svg")
    assert "$1" in (tmp_path / "tree.svg").read_text("utf-8")


def test_a_drawing_says_what_it_predicts_and_how_to_read_it(tmp_path: Path) -> None:
    large = replace(complete(7), target="readmitted")
    draw_tree(large, tmp_path / "tree.svg")
    drawn = (tmp_path / "tree.svg").read_text("utf-8")
    assert "A tree that predicts readmitted: 128 leaves" in drawn
    assert "A dashed box stands for leaves" in drawn
    draw_tree(complete(0), tmp_path / "leaf.svg")
    small = (tmp_path / "leaf.svg").read_text("utf-8")
    assert "A tree: 1 leaf" in small and "dashed" not in small
