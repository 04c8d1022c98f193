"""Figure 3 of SIGMOD 2000: six applicants for a credit, and the tree of two tests that separates high from low risk.

The tests of the figure, age < 25 and salary < 50K, are boundaries of public intervals of 5 years and 10K. Without
intervals, the candidates are the middles between values that occur, and the tests are age < 27.5 and salary < 45K.
"""

from decimal import Decimal

import numpy as np

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.mining.perturbed.growth import GiniTree
from scumble.mining.perturbed.rows import PerturbedRows
from scumble.mining.perturbed.tree import Algorithm, train_tree
from scumble.mining.tree_model import LEAF
from scumble.model.counts import Integers
from scumble.model.grid import Grid
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import Truthful
from scumble.model.schema import Attribute, Outside
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.figures import Row, paper_claim

HIGH, LOW = "High", "Low"
APPLICANTS = ((23, 50, HIGH), (17, 30, HIGH), (43, 40, HIGH), (68, 50, LOW), (32, 70, LOW), (20, 20, HIGH))
"""Age, salary in thousands, and risk."""
GRIDS = {
    "age": Grid.regular(low=Decimal(15), high=Decimal(70), step=Decimal(5)),
    "salary": Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(10)),
}
PRINTED = ("age < 25: High", "salary < 50: High", "otherwise: Low")


def credit_tree(applicants: tuple[tuple[int, int, str], ...] = APPLICANTS) -> GiniTree:
    """The tree of all applicants, not pruned: six rows justify no test by their description length."""
    attributes = tuple(
        RandomizedAttribute(attribute=Attribute(name=name, domain=grid, outside=Outside.CLAMP), randomizer=Truthful())
        for name, grid in GRIDS.items()
    )
    columns = [_cells(grid, np.array([row[place] for row in applicants])) for place, grid in enumerate(GRIDS.values())]
    labels = np.array([(HIGH, LOW).index(risk) for _, _, risk in applicants])
    rows = PerturbedRows(attributes=attributes, codes=np.stack(columns, axis=1), labels=labels, classes=2)
    return train_tree(rows, Algorithm.UNCORRECTED, pruned=False)


def _cells(grid: Grid, values: Integers) -> Integers:
    return np.searchsorted(grid.edge_floats, values, side="right") - 1


def rules(tree: GiniTree) -> tuple[str, ...]:
    """The tree as a list of tests, if the left side of every test is a leaf."""
    found, node = [], 0
    while tree.feature[node] != LEAF:
        name = list(GRIDS)[int(tree.feature[node])]
        threshold = GRIDS[name].edge_floats[int(tree.cut[node])]
        left = int(tree.left[node])
        risk = _risk(tree, left) if tree.feature[left] == LEAF else "another test"
        found.append(f"{name} < {threshold:g}: {risk}")
        node = int(tree.right[node])
    return (*found, f"otherwise: {_risk(tree, node)}")


def _risk(tree: GiniTree, node: int) -> str:
    return (HIGH, LOW)[int(tree.counts[node].argmax())]


def credit_risk_figure(request: Request) -> Figure:
    """The applicants and the tree."""
    del request
    tree = credit_tree()
    found = rules(tree)
    rows: list[Row] = [{"age": age, "salary": salary, "risk": risk} for age, salary, risk in APPLICANTS]
    wrong = int(sum(tree.counts[node].min() for node in np.flatnonzero(tree.feature == LEAF)))
    claims: tuple[Claim, ...] = (
        paper_claim(text="the tests are age < 25 and salary < 50K", measured="; ".join(found), holds=found == PRINTED),
        paper_claim(text="the tree separates the six applicants", measured=f"{wrong} wrong", holds=wrong == 0),
    )
    series = tuple(
        Series(
            label=f"{risk} risk",
            points=tuple(Point(x=age, y=salary) for age, salary, each in APPLICANTS if each == risk),
            joined=False,
        )
        for risk in (HIGH, LOW)
    )
    panel = Panel(
        title="",
        x_label="age",
        y_label="salary in thousands",
        series=series,
        reference_lines=(ReferenceLine(label="salary = 50K, tested from age 25", y=50),),
        from_zero=True,
    )
    title = "SIGMOD 2000, Figure 3: credit risk"
    return Figure(title=title, rows=rows, claims=claims, chart=Chart(title=title, panels=(panel,)), notes=NOTES)


NOTES = ("Candidate tests are boundaries of intervals of 5 years and 10K; the paper does not name its candidates.",)
