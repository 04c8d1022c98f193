"""Learns a C4.5 tree: grows it from the root, removes tests that classify no case better, and prunes it.

A tree has tens of thousands of nodes with a few cases each, so it is grown by one compiled loop over arrays.
"""

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.mining.c45.criteria import Candidates, chosen, evaluate, usable_features
from scumble.mining.c45.division import branch_starts, count_classes, divide, known_shares
from scumble.mining.c45.pruning import prune
from scumble.mining.c45.tree import C45Tree, Cases, CaseTable, FeatureFlags, Nodes, Rules, become_leaf, coded_table
from scumble.model.counts import Floats, Integers

TOLERANCE = 1e-3
"""The tolerance of comparisons in Quinlan's program."""


def learn(
    features: npt.ArrayLike,
    labels: Integers,
    weights: Floats,
    *,
    classes: int,
    categorical: FeatureFlags,
    rules: Rules | None = None,
) -> C45Tree:
    """A tree from weighted cases. `features` has one column per feature, with NaN for unknown values.

    A case of weight twelve is equivalent to twelve cases; cases of weight zero are ignored.
    """
    rules = Rules() if rules is None else rules
    here = np.flatnonzero(weights > 0)
    columns = np.asarray(features, dtype=np.float64)[here]
    table = coded_table(columns, labels[here], classes=classes, categorical=categorical)
    cases = Cases(np.arange(len(here), dtype=np.int32), weights[here].astype(np.float64))
    table = table._replace(usable=usable_features(table.sizes, categorical, float(cases.weights.sum())))
    nodes = grow(table, cases, rules)
    if rules.pruned:
        prune(nodes, table, cases, rules)
    values = tuple(table.values_of(feature) for feature in range(len(table.sizes)))
    return C45Tree(arrays=nodes.reachable(), values=values, categorical=categorical, classes=classes)


def grow(table: CaseTable, cases: Cases, rules: Rules) -> Nodes:
    """The unpruned tree, with nodes that are not below the root where tests were useless."""
    nodes = Nodes.space(16 + int(table.sizes[table.categorical].max(initial=2)), table.classes)
    count_classes(table.labels, cases, 0, len(cases.rows), nodes.counts[0])
    left, space = cases.copied(), cases.copied()
    waiting = np.zeros((len(nodes.feature), 2), dtype=np.int64)
    state = np.array([1, 1, len(cases.rows)])
    found = Candidates.space(len(table.sizes))
    limits = float(rules.minimum_cases), float(rules.threshold_cost)
    while True:
        full = _grow(table, nodes, left, space, waiting, state, found, *limits)
        if full == 0:
            break
        if full == 1:
            nodes = nodes.enlarged()
            waiting = np.concatenate([waiting, np.zeros_like(waiting)])
        else:
            left, space = left.enlarged(), space.enlarged()
    _drop_useless_tests(nodes, int(state[0]))
    return nodes


@compiled
def _grow(table, nodes, cases, space, waiting, state, found, minimum, cost):  # type: ignore[no-untyped-def]
    """Grow until no node waits. Returns 0 then, 1 where more nodes need room, 2 where more cases do.

    `waiting` is a stack of nodes and where their cases start in `cases`; those of the last node end where all end. The
    cases of its branches replace its own. `state` has the numbers of nodes, of waiting nodes, and of cases.
    """
    made, stacked, end = state
    usable = np.empty_like(table.usable)
    full = 0
    while stacked:
        node, begin = waiting[stacked - 1]
        feature = -1
        total, most = nodes.counts[node].sum(), nodes.counts[node].max()
        if total >= 2 * minimum and most < total:
            _untested(table, nodes, node, usable)
            evaluate(table, cases, begin, end, usable, minimum, cost, found)
            feature = chosen(found)
        if feature < 0:
            stacked, end = stacked - 1, begin
            continue
        cut, branches = -1, table.sizes[feature]
        if not table.categorical[feature]:
            cut, branches = _cut(table, feature, found.low[feature], found.high[feature]), 2
        if made + branches > len(nodes.feature):
            full = 1
            break
        column, shares = table.codes[feature], nodes.share[made : made + branches]
        unknown = known_shares(column, cases, begin, end, cut, shares)
        starts = branch_starts(column, cases, begin, end, cut, shares, unknown)
        if begin + starts[-1] > len(cases.rows):
            full = 2
            break
        divide(column, cases, begin, end, cut, shares, starts, space, begin)
        nodes.feature[node], nodes.cut[node] = feature, cut
        nodes.first[node], nodes.branches[node] = made, branches
        stacked -= 1
        for branch in range(branches):
            first, last = begin + starts[branch], begin + starts[branch + 1]
            count_classes(table.labels, cases, first, last, nodes.counts[made])
            nodes.parent[made] = node
            if last > first:
                waiting[stacked, 0], waiting[stacked, 1] = made, first
                stacked += 1
            made += 1
        end = begin + starts[-1]
    state[0], state[1], state[2] = made, stacked, end
    return full


@compiled
def _untested(table, nodes, node, usable):  # type: ignore[no-untyped-def]
    """Set the features that may be tested: categorical ones once on a path."""
    usable[:] = table.usable
    while node > 0:
        node = nodes.parent[node]
        if nodes.cut[node] < 0:
            usable[nodes.feature[node]] = False


@compiled
def _cut(table, feature, low, high):  # type: ignore[no-untyped-def]
    """The code of the threshold: the largest training value that is not above the middle of the two values."""
    values = table.values[table.starts[feature] : table.starts[feature + 1]]
    middle = values[low] / 2 + values[high] / 2
    cut = low
    while cut < high - 1 and values[cut + 1] <= middle:
        cut += 1
    return cut


def _drop_useless_tests(nodes: Nodes, made: int) -> None:
    """From the bottom up: make a node a leaf if its branches together misclassify as many cases as it would."""
    wrong = nodes.counts.sum(axis=1) - nodes.counts.max(axis=1)
    _drop(nodes, made, wrong)


@compiled
def _drop(nodes, made, wrong):  # type: ignore[no-untyped-def]
    """`wrong` has the misclassified cases of each node as a leaf, and gets those of its branches."""
    for node in range(made - 1, -1, -1):
        if nodes.branches[node] == 0:
            continue
        below = wrong[nodes.first[node] : nodes.first[node] + nodes.branches[node]].sum()
        if below >= wrong[node] - TOLERANCE:
            become_leaf(nodes, node)
        else:
            wrong[node] = below
