"""The paper's worked example: Table 1(a) gives 1(c) and 1(d) for the cuts of Figure 1, and Example 3 step by step."""

from fractions import Fraction

import pyarrow as pa
import pytest

from scumble.engines import ENGINES
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.algorithm_1 import choose_as_published
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.settings import diffgen_settings
from scumble.model.counts import Integers, Tabulation
from scumble.model.cut import Cut, Specialization
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Selection
from scumble.sources import open_source

SCHEMA = parse_schema(
    """
scumble: schema/1
target: Class
attributes:
  Job: {taxonomy: {Any_Job: {Professional: {Engineer: , Lawyer: }, Artist: {Dancer: , Writer: }}}}
  Age: {numeric: {low: 18, high: 65, step: 1}}
  Class: {classes: [Y, N]}
"""
)
TABLE_1A = pa.table(
    {
        "Job": ["Engineer", "Lawyer", "Engineer", "Lawyer", "Dancer", "Writer", "Writer", "Dancer"],
        "Age": [34, 50, 38, 33, 20, 37, 32, 25],
        "Class": ["Y", "N", "N", "Y", "Y", "N", "Y", "N"],
    }
)
LOCAL = [name for name in ENGINES if name != "spark"]  # Spark has the suite of all engines
AGE_40 = 40 - 18


def cells(engine: str, cut: Cut) -> dict[tuple[str, str], int]:
    """The cells of a cut with the number of records in each, over all classes."""
    opened = ENGINES[engine].open(open_source(TABLE_1A).batches(SCHEMA.columns), SCHEMA)
    counts = opened.tabulate(Tabulation(cut=cut)).cells.sum(axis=1)
    opened.close()
    labels = [(job.label, age.label) for job in cut.nodes["Job"] for age in cut.nodes["Age"]]
    return dict(zip(labels, counts.tolist(), strict=True))


def split_age(cut: Cut) -> Cut:
    (root,) = cut.nodes["Age"]
    children = SCHEMA["Age"].domain.split(root, AGE_40)
    return cut.specialize(Specialization(attribute="Age", node=root, children=children))


def split_job(cut: Cut, label: str) -> Cut:
    domain = SCHEMA["Job"].domain
    node = next(node for node in cut.nodes["Job"] if node.label == label)
    return cut.specialize(Specialization(attribute="Job", node=node, children=domain.split(node, 0)))


@pytest.mark.parametrize("engine", LOCAL)
def test_table_1c_is_the_contingency_table(engine: str) -> None:
    cut = split_age(split_job(split_job(split_job(Cut.top(SCHEMA), "Any_Job"), "Professional"), "Artist"))
    assert cells(engine, cut) == {
        ("Engineer", "[18,40)"): 2,
        ("Engineer", "[40,65)"): 0,
        ("Lawyer", "[18,40)"): 1,
        ("Lawyer", "[40,65)"): 1,
        ("Dancer", "[18,40)"): 2,
        ("Dancer", "[40,65)"): 0,
        ("Writer", "[18,40)"): 2,
        ("Writer", "[40,65)"): 0,
    }


@pytest.mark.parametrize("engine", LOCAL)
def test_table_1d_is_the_generalized_contingency_table(engine: str) -> None:
    assert cells(engine, split_age(split_job(Cut.top(SCHEMA), "Any_Job"))) == {
        ("Professional", "[18,40)"): 3,
        ("Professional", "[40,65)"): 1,
        ("Artist", "[18,40)"): 4,
        ("Artist", "[40,65)"): 0,
    }


class Scripted:
    """Adds no noise and makes scripted choices, to follow the worked example. For tests only."""

    def __init__(self, script: list[int]) -> None:
        self.script = script
        self.scores: list[list[int]] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return values

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        self.scores.append((scores // sensitivity).tolist())
        return self.script[len(self.scores) - 1]


def test_example_3_step_by_step() -> None:
    """First Any_Job into Professional and Artist, then [18,65) at 40; the leaves of Figure 2 with their counts."""
    # Split value of Age: position 22, the 22nd candidate. Then the candidates are Any_Job (0) and Age (1).
    # After Any_Job they are Professional (0), Artist (1), Age (2). Then both halves of Age get a split value.
    noise = Scripted([AGE_40 - 1, 0, 2, 0, 0])
    parameters = DiffGen(epsilon="1", selection="published", rounds=2)
    plan = DiffGenMethod().plan(SCHEMA, parameters)
    engine = ENGINES["memory"].open(open_source(TABLE_1A).batches(SCHEMA.columns), SCHEMA)
    steps: list[Specialization] = []
    holder = CentralHolder(engine=engine, noise=noise, plan=plan)
    cut = choose_as_published(SCHEMA, diffgen_settings(SCHEMA, parameters), holder, steps.append)

    assert [(step.node.label, [child.label for child in step.children]) for step in steps] == [
        ("Any_Job", ["Professional", "Artist"]),
        ("[18,65)", ["[18,40)", "[40,65)"]),
    ]
    # Max by hand. Any_Job: Professional has 2 Y and 2 N, Artist 2 and 2, so 2 + 2. Age at 40: 4 Y and 3 N below, 1 N
    # above, so 4 + 1. Professional: Engineer 1 and 1, Lawyer 1 and 1. Artist: Dancer 1 and 1, Writer 1 and 1.
    assert noise.scores[1] == [4, 5]
    assert noise.scores[2] == [2, 2, 5]
    assert cells("memory", cut) == {
        ("Professional", "[18,40)"): 3,
        ("Professional", "[40,65)"): 1,
        ("Artist", "[18,40)"): 4,
        ("Artist", "[40,65)"): 0,
    }
    measured = DiffGenMethod().run(
        SCHEMA, parameters, CentralHolder(engine=engine, noise=Scripted([AGE_40 - 1, 0, 2, 0, 0]), plan=plan)
    )
    assert measured.count.tolist() == [[2, 1], [0, 1], [2, 2], [0, 0]]
    assert [a.domain.labels for a in measured.schema.predictors] == [("Professional", "Artist"), ("[18,40)", "[40,65)")]
