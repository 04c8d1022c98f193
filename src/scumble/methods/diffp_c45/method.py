"""DiffP-C4.5: a decision tree whose tests are chosen privately and whose leaves have noisy class counts.

Algorithm of A. Friedman and A. Schuster, *Data Mining with Differential Privacy* (KDD 2010). Each level of the tree
costs one noisy count of its nodes and one choice of a test for each node; nodes of a level are disjoint, so they share
one price (parallel composition). In the end the classes of all leaves are counted at once.

Differences from the paper: all levels but the last step use one price, and the leaves' sizes are not counted before
their classes, so there are (2 + numeric attributes) x depth + 1 answers instead of + 2. `--splits together`, the
default, chooses attribute and split value in a single answer, which leaves 2 x depth + 1 answers; `published` chooses a
split value of each numeric attribute first. Split values come from the schema's grids. Growth stops at a node that is
too small for the branches of its chosen test; `--stopping published` stops where it is too small for the attribute with
the most values. Scores that are monotone are charged as such. Pruning accounts for the noise (`pruning`).
"""

import math
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from scumble.methods.diffp_c45.branching import (
    EVERY_VALUE,
    MOST_BRANCHES,
    Branching,
    NodeTest,
    offered_positions,
    offered_sides,
)
from scumble.methods.diffp_c45.model import tree_document
from scumble.methods.diffp_c45.pruning import counts_by_node, kept_tests, shares_by_node
from scumble.methods.diffp_c45.queries import LeafClasses, LeafSizes, SplitScores
from scumble.methods.diffp_c45.worths import MOST_RECORDS, Operator
from scumble.methods.method import Characteristics, Exact, Params, require_target
from scumble.model.budget import Budget
from scumble.model.guarantee import PureDP
from scumble.model.plan import Plan
from scumble.model.release import ClassifierRelease
from scumble.model.schema import Schema
from scumble.model.spend import priced
from scumble.privacy.holder import Holder
from scumble.privacy.noise import Selection

COUNT = "count the records of each node"
SPLIT_VALUE = "split value of a numeric attribute"
TEST = "choose a test for each node"
CLASSES = "count the classes of each leaf"
MOST_NODES = 1024
"""The largest number of nodes of a level that are divided: those with the largest noisy counts."""


class SplitValues(StrEnum):
    """How the split value of a number is chosen: together with the attribute, or before it, as published."""

    TOGETHER = "together"
    PUBLISHED = "published"


class Stopping(StrEnum):
    """What a node must be large enough for: the branches of its chosen test, or those of any test, as published."""

    CHOSEN = "chosen"
    PUBLISHED = "published"


class DiffPC45(Params):
    """Parameters of `diffp-c45`: one classifier, learned under differential privacy; no table is published.

    A wrong parameter raises `InputError`.

    >>> DiffPC45(epsilon="1", depth=3)
    DiffPC45(epsilon='1', depth=3)
    """

    method_name = "diffp-c45"

    epsilon: Annotated[Exact, Field(description="The privacy budget of the classifier.")]
    depth: Annotated[int, Field(ge=1, le=12, description="The largest number of tests on a path.")] = 5
    operator: Annotated[Operator, Field(description="How tests are compared.")] = Operator.MAX
    splits: Annotated[
        SplitValues, Field(description="Choose split values together with the attribute, or before it, as published.")
    ] = SplitValues.TOGETHER
    stopping: Annotated[
        Stopping,
        Field(description="Divide a node if it is large enough for the chosen test, or for any, as published."),
    ] = Stopping.CHOSEN

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            epsilon: Budget,
            depth: int = 5,
            operator: Operator | Literal["max", "gini", "infogain"] = ...,
            splits: SplitValues | Literal["together", "published"] = ...,
            stopping: Stopping | Literal["chosen", "published"] = ...,
        ) -> None: ...


class DiffPC45Method:
    """The method `diffp-c45`."""

    name = "diffp-c45"
    summary = "One decision tree under differential privacy (Friedman & Schuster 2010); no table is published."
    parameters = DiffPC45
    characteristics = Characteristics(several_attributes=True, leaf_values=True, generalized_values=False)
    makes_table = False
    audited: ClassVar[tuple[dict[str, Any], ...]] = (
        {"depth": 2},
        {"depth": 1, "splits": "published", "stopping": "published", "operator": "gini"},
        {"depth": 1, "operator": "infogain"},
    )

    def plan(self, schema: Schema, parameters: DiffPC45) -> Plan:
        require_target(schema, self.name)
        numeric = len(_numeric(schema)) if parameters.splits is SplitValues.PUBLISHED else 0
        depth, guarantee = parameters.depth, PureDP(epsilon=parameters.epsilon, unit=schema.unit)
        answers = (2 + numeric) * depth + 1
        one = Fraction(1, answers)
        tests = "the exponential mechanism in every node of a level, in parallel"
        spends = [
            priced(guarantee, label=COUNT, share=depth * one, times=depth, purpose="Laplace noise on each level"),
            priced(guarantee, label=TEST, share=depth * one, times=depth, shared=True, purpose=tests),
            priced(guarantee, label=CLASSES, share=one, purpose="Laplace noise on the classes of all leaves"),
        ]
        if numeric:
            values = depth * numeric
            before = priced(guarantee, label=SPLIT_VALUE, share=values * one, times=values, shared=True, purpose=tests)
            spends.insert(1, before)
        left_out = [
            schema.attributes[side].name
            for side in range(len(schema.attributes))
            if side not in offered_sides(schema) and schema.attributes[side].name != schema.target
        ]
        notes = ["One classifier is published and no table: other questions about the data need another budget."]
        if left_out:
            notes.append(f"Not tested, with more than {MOST_BRANCHES} categories: {', '.join(left_out)}.")
        return Plan(guarantee=guarantee, spends=tuple(spends), cells_at_most=MOST_NODES * depth, notes=tuple(notes))

    def run(self, schema: Schema, parameters: DiffPC45, holder: Holder) -> ClassifierRelease:
        tree = Branching.whole(schema)
        open_nodes: tuple[int, ...] = (0,)
        story = []
        for level in range(parameters.depth):
            splits, counted = _level(schema, parameters, holder, tree, open_nodes)
            story.append(f"Level {level + 1}: {counted:,} nodes were counted, {len(splits):,} of them divided.")
            if not splits:
                break
            tree = tree.divided(splits)
            open_nodes = tuple(branch for node in splits for branch in tree.branches(node))
        query = LeafClasses(schema=schema, tree=tree, nodes=tree.leaves)
        deviation = math.sqrt(holder.variance(query, spend=CLASSES))
        measured = holder.measure(query, spend=CLASSES).reshape(-1, len(schema.classes))
        counts = counts_by_node(tree, measured)
        kept = kept_tests(tree, counts, deviation=deviation)
        document = tree_document(schema, tree, kept, shares_by_node(tree, counts, deviation=deviation))
        leaves = document["nodes"]["feature"].count(-1)
        noise = f"The noise of a leaf's counts has standard deviation {deviation:.3g}."
        story.append(f"The pruned tree has {leaves:,} leaves. {noise}")
        return ClassifierRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=schema,
            story=tuple(story),
            model=document,
        )


def _level(
    schema: Schema, parameters: DiffPC45, holder: Holder, tree: Branching, nodes: tuple[int, ...]
) -> tuple[dict[int, NodeTest], int]:
    """The tests of a level: the nodes are counted, tests are chosen for those with enough records."""
    sizes = holder.measure(LeafSizes(schema=schema, tree=tree, nodes=nodes), spend=COUNT)
    needed = _needed(schema, holder)
    by_size = sorted(zip(nodes, sizes.tolist(), strict=True), key=lambda each: -each[1])[:MOST_NODES]
    fewest = _most_branches if parameters.stopping is Stopping.PUBLISHED else _fewest_branches
    size = {node: count for node, count in by_size if count >= fewest(schema, tree, node) * needed}
    if not size:
        return {}, len(nodes)
    large = tuple(sorted(size))
    offers = {node: _offers(schema, tree, node) for node in large}
    if parameters.splits is SplitValues.PUBLISHED:
        for side in _numeric(schema):
            query = _scores(schema, parameters, tree, {node: offers[node][side] for node in large})
            chosen = holder.choose_in_parts(query, spend=SPLIT_VALUE, selection=Selection.EXPONENTIAL)
            for node, place in zip(large, chosen, strict=True):
                offers[node][side] = (offers[node][side][place],)
    every = {node: tuple(split for each in offers[node].values() for split in each) for node in large}
    query = _scores(schema, parameters, tree, every)
    chosen = holder.choose_in_parts(query, spend=TEST, selection=Selection.EXPONENTIAL)
    splits = {node: every[node][place] for node, place in zip(large, chosen, strict=True)}
    return {
        node: split
        for node, split in splits.items()
        if (branches := _branches(tree, node, split)) > 1 and size[node] >= branches * needed
    }, len(nodes)


def _scores(
    schema: Schema, parameters: DiffPC45, tree: Branching, offers: dict[int, tuple[NodeTest, ...]]
) -> SplitScores:
    return SplitScores(
        schema=schema,
        tree=tree,
        nodes=tuple(offers),
        offers=tuple(offers.values()),
        operator=parameters.operator,
        limit=min(schema.rows or schema.rows_at_most or MOST_RECORDS, MOST_RECORDS),
    )


def _needed(schema: Schema, holder: Holder) -> float:
    """The records that a branch needs: its mean count of a class is then at least the noise of the leaves' counts."""
    query = LeafClasses(schema=schema, tree=Branching.whole(schema), nodes=(0,))
    return len(schema.classes) * math.sqrt(holder.variance(query, spend=CLASSES))


def _numeric(schema: Schema) -> list[int]:
    return [side for side in offered_sides(schema) if schema.attributes[side].domain.splits_anywhere]


def _offers(schema: Schema, tree: Branching, node: int) -> dict[int, tuple[NodeTest, ...]]:
    """The splits of a node by attribute. An attribute with a single value left is offered too: as one group."""
    box = tree.boxes[node]
    offers = {}
    for side in offered_sides(schema):
        if schema.attributes[side].domain.splits_anywhere:
            places = offered_positions(schema, side, box)
            offers[side] = tuple(NodeTest(side=side, position=position) for position in places)
        else:
            offers[side] = (NodeTest(side=side, position=EVERY_VALUE),)
    return offers


def _branches(tree: Branching, node: int, split: NodeTest) -> int:
    """How many branches a split makes: one if it divides nothing."""
    low, high = tree.boxes[node][split.side]
    return high - low if split.position == EVERY_VALUE else 1 + (low < split.position < high)


def _fewest_branches(schema: Schema, tree: Branching, node: int) -> float:
    """Two branches, the fewest of any test; infinitely many if nothing divides the node."""
    return 2 if _most_branches(schema, tree, node) < math.inf else math.inf


def _most_branches(schema: Schema, tree: Branching, node: int) -> float:
    """The branches of the test with the most; infinitely many if nothing divides the node. Numbers divide in two."""
    widths = {side: tree.boxes[node][side][1] - tree.boxes[node][side][0] for side in offered_sides(schema)}
    branches = [
        2 if schema.attributes[side].domain.splits_anywhere else width for side, width in widths.items() if width > 1
    ]
    return max(branches, default=math.inf)
