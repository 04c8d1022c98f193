"""Table 1 and Examples 1 to 3 of the DiffGen paper (KDD 2011), with its eight records.

Example 1: the number of records with an age below 40 has sensitivity 1. Example 2: it is released with Laplace noise of
scale 1/eps; ours is discrete, as the count is. Tables 1(c) and 1(d) are the contingency tables of the leaves and of a
generalized cut.
"""

from fractions import Fraction
from itertools import product
from math import exp
from typing import Any

import numpy as np

from scumble.charts import Chart, Panel, Point, Series
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.model.counts import Tabulation
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import PaidNoise
from scumble.privacy.query import CellCounts
from scumble.reproductions.figure import Claim, Figure, Request

SCHEMA = """\
scumble: schema/1
target: class
attributes:
  job: {taxonomy: {Any_Job: {Professional: {Engineer: , Lawyer: }, Artist: {Dancer: , Writer: }}}}
  age: {numeric: {low: 18, high: 65, step: 1}}
  class: {classes: [Y, N]}
"""
RECORDS = (
    ("Engineer", 34, "Y"),
    ("Lawyer", 50, "N"),
    ("Engineer", 38, "N"),
    ("Lawyer", 33, "Y"),
    ("Dancer", 20, "Y"),
    ("Writer", 37, "N"),
    ("Writer", 32, "Y"),
    ("Dancer", 25, "N"),
)
"""Table 1(a)."""
TABLE_C = (2, 0, 1, 1, 2, 0, 2, 0)
TABLE_D = (3, 1, 4, 0)
DRAWS, QUICK_DRAWS = 100_000, 10_000


def example_schema() -> Schema:
    return parse_schema(SCHEMA)


def counts_at(schema: Schema, jobs: tuple[str, ...]) -> tuple[int, ...]:
    """The number of records for each of the jobs, generalized or not, and each half of the ages, split at 40."""
    cut = example_cut(schema, jobs)
    job, age = schema["job"].domain, schema["age"].domain
    codes = [(job.labels.index(name), years - 18, schema.classes.index(label)) for name, years, label in RECORDS]
    assert age.size == 65 - 18
    block = tuple(np.array(column, dtype=np.uint8) for column in zip(*codes, strict=True))
    found = MemoryEngine([block], schema).tabulate(Tabulation(cut=cut))
    return tuple(found.cells.sum(axis=1).tolist())


def example_cut(schema: Schema, jobs: tuple[str, ...]) -> Cut:
    ages = schema["age"].domain
    halves = tuple(ages.interval(low, high) for low, high in ((0, 22), (22, 47)))
    tree = schema["job"].domain
    assert isinstance(tree, Tree)
    return Cut(schema=schema, nodes={"job": tuple(tree.node(name) for name in jobs), "age": halves})


def examples_figure(request: Request) -> Figure:
    schema = example_schema()
    leaves = counts_at(schema, ("Engineer", "Lawyer", "Dancer", "Writer"))
    general = counts_at(schema, ("Professional", "Artist"))
    below_40 = sum(leaves[::2])
    sensitivity = CellCounts(cut=example_cut(schema, ("Any_Job",))).sensitivity(Unit.ADD_REMOVE).bound
    draws = request.size(DRAWS, QUICK_DRAWS)
    true = np.full(draws, below_40, dtype=np.int64)
    noisy = PaidNoise().laplace(true, sensitivity=sensitivity, epsilon=Fraction(1)) - below_40
    spread = float(np.abs(noisy).mean())
    expected = 2 * exp(-1) / (1 - exp(-2))
    claims = (
        Claim(
            text="Table 1(c): counts of the leaves", paper=_list(TABLE_C), ours=_list(leaves), holds=leaves == TABLE_C
        ),
        Claim(
            text="Table 1(d): generalized counts", paper=_list(TABLE_D), ours=_list(general), holds=general == TABLE_D
        ),
        Claim(
            text="Example 1: sensitivity of the number of records with Age < 40",
            paper="1",
            ours=f"{sensitivity} (the count is {below_40})",
            holds=sensitivity == 1,
        ),
        Claim(
            text="Example 2: the answer is the count plus Lap(1/eps); mean absolute noise at eps = 1",
            paper=f"1 (continuous), {expected:.3f} (discrete)",
            ours=f"{spread:.3f}",
            holds=abs(spread - expected) < 5 / draws**0.5,
        ),
    )
    values = range(-6, 7)
    law = [exp(-abs(value)) * (1 - exp(-1)) / (1 + exp(-1)) for value in values]
    shares = [float((noisy == value).mean()) for value in values]
    series = tuple(
        Series(label=label, points=tuple(Point(x=x, y=y) for x, y in zip(values, ys, strict=True)))
        for label, ys in (("drawn", shares), ("discrete Laplace, scale 1", law))
    )
    panel = Panel(title="", x_label="noise", y_label="share of draws", series=series, from_zero=True)
    title = "Examples 1 and 2: a count of 7 with Laplace noise"
    rows: list[dict[str, Any]] = [
        {"job": job, "age": age, "count": count}
        for (job, age), count in zip(
            product(("Engineer", "Lawyer", "Dancer", "Writer"), ("[18,40)", "[40,65)")), leaves, strict=True
        )
    ]
    return Figure(
        title=title,
        rows=rows,
        claims=claims,
        chart=Chart(title=title, panels=(panel,), note=f"{draws:,} draws"),
        notes=("The eight records are those of Table 1(a). The mean absolute value of Lap(1) is 1.",),
    )


def _same(text: str, paper: tuple[int, ...], ours: tuple[int, ...]) -> Claim:
    return Claim(text=text, paper=_list(paper), ours=_list(ours), holds=ours == paper)


def _list(counts: tuple[int, ...]) -> str:
    return ", ".join(map(str, counts))
