"""C4.5's pruning by pessimistic errors: a subtree becomes a leaf (replacement) or its largest branch (raising).

A leaf that misclassifies E of N training cases is expected to misclassify N x U(E, N) unseen ones, where U is an upper
confidence limit of the error probability at `confidence` (25 %). For E = 0 it is exact: 1 - confidence^(1/N). For
E >= 1 it is the normal approximation with continuity correction, where the normal quantile is interpolated in a table
of nine values, as in Quinlan's program: at 25 % it is 0.6925, not 0.6745. Between 0 and 1, U is interpolated.

From the bottom up, a node is compared as a leaf, as its largest branch with all its cases, and as it is. The leaf wins
unless one of the others has an expected error smaller by more than 0.1, then the branch under the same condition. A
node that became its largest branch is pruned again, with all its cases.
"""

from bisect import bisect_left
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.mining.c45.division import branch_starts, count_classes, divide, known_shares
from scumble.mining.c45.tree import Cases, CaseTable, Nodes, Rules, become_leaf
from scumble.model.counts import Floats, Integers

TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
QUANTILES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
MARGIN = 0.1
NO_ROOM = -1.0


class Placed(NamedTuple):
    """For each node: where its cases begin and end, its expected errors as pruned, and how many of its branches are
    pruned."""

    begin: Integers
    end: Integers
    expected: Floats
    done: npt.NDArray[np.int32]

    @classmethod
    def space(cls, nodes: int) -> "Placed":
        begin, end = (np.zeros(nodes, dtype=np.int64) for _ in range(2))
        return cls(begin, end, np.zeros(nodes), np.zeros(nodes, np.int32))


def prune(nodes: Nodes, table: CaseTable, cases: Cases, rules: Rules) -> float:
    """Prune the tree in place for these cases; returns its expected error."""
    size = len(nodes.feature)
    placed = Placed.space(size)
    placed.end[0] = len(cases.rows)
    left, space = cases.copied(), cases.copied()
    path, routed = np.zeros((size, 2), dtype=np.int64), np.zeros((size, 4), dtype=np.int64)
    path[0, 1] = len(cases.rows)
    confidence = float(rules.confidence)
    settings = confidence, normal_quantile(confidence) ** 2, bool(rules.raising)
    state = np.array([1])
    while _prune(table, nodes, placed, left, space, path, routed, state, *settings):
        left, space = left.enlarged(), space.enlarged()
    return float(placed.expected[0])


@compiled
def _prune(  # type: ignore[no-untyped-def]
    table, nodes, placed, cases, space, path, routed, state, confidence, square, raising
):
    """Prune from the bottom up. Returns whether more room for cases is needed; then call it again.

    `path` has the nodes from the root to the current one, and where the cases ended before its own were divided;
    `routed` is room for the path of `_errors_of`.
    """
    depth = state[0]
    while depth:
        node, top = path[depth - 1]
        begin, end, branches = placed.begin[node], placed.end[node], nodes.branches[node]
        first, done = nodes.first[node], placed.done[node]
        counts = nodes.counts[node]
        if done == 0:
            count_classes(table.labels, cases, begin, end, counts)
        if done < branches:
            if done == 0:
                shares = nodes.share[first : first + branches]
                into, starts = _divided(table, nodes, node, cases, begin, end, top, shares, space)
                if into < 0:
                    break
                for branch in range(branches):
                    placed.begin[first + branch] = into + starts[branch]
                    placed.end[first + branch] = into + starts[branch + 1]
                    placed.done[first + branch] = 0
            path[depth, 0], path[depth, 1] = first + done, max(top, placed.end[first + branches - 1])
            placed.done[node] += 1
            depth += 1
            continue
        size = counts.sum()
        as_leaf = _expected(size, size - counts.max(), confidence, square)
        placed.expected[node] = as_leaf
        if branches:
            as_tree = 0.0
            largest = first
            for branch in range(first, first + branches):
                as_tree += placed.expected[branch]
                if nodes.counts[branch].sum() > nodes.counts[largest].sum():
                    largest = branch
            as_branch = np.inf
            if raising:
                as_branch = _errors_of(table, nodes, largest, cases, begin, end, top, space, routed, confidence, square)
                if as_branch == NO_ROOM:
                    break
            if as_leaf <= as_branch + MARGIN and as_leaf <= as_tree + MARGIN:
                become_leaf(nodes, node)
            elif as_branch <= as_tree + MARGIN:
                nodes.feature[node], nodes.cut[node] = nodes.feature[largest], nodes.cut[largest]
                nodes.first[node], nodes.branches[node] = nodes.first[largest], nodes.branches[largest]
                placed.done[node] = 0
                continue
            else:
                placed.expected[node] = as_tree
        depth -= 1
    state[0] = depth
    return depth > 0


@compiled
def _divided(table, nodes, node, cases, begin, end, top, shares, space):  # type: ignore[no-untyped-def]
    """Divide the cases of a node: in place, or behind all others if some are repeated because their value is unknown.

    Returns where the cases of the branches begin, or -1 if there is no room, and where those of each branch start.
    """
    column, cut = table.codes[nodes.feature[node]], nodes.cut[node]
    unknown = known_shares(column, cases, begin, end, cut, shares)
    starts = branch_starts(column, cases, begin, end, cut, shares, unknown)
    into = top if unknown else begin
    if into + starts[-1] > len(cases.rows):
        return -1, starts
    divide(column, cases, begin, end, cut, shares, starts, space, into)
    return into, starts


@compiled
def _errors_of(  # type: ignore[no-untyped-def]
    table, nodes, root, cases, begin, end, top, space, routed, confidence, square
):
    """The expected error of a subtree if all these cases went through it; `NO_ROOM` without room for repeated cases."""
    found = 0.0
    counts = np.empty(table.classes)
    routed[0, 0], routed[0, 1], routed[0, 2], routed[0, 3] = root, begin, end, top
    used = 1
    while used:
        used -= 1
        node, begin, end, top = routed[used]
        branches, first = nodes.branches[node], nodes.first[node]
        if branches == 0:
            count_classes(table.labels, cases, begin, end, counts)
            size = counts.sum()
            found += _expected(size, size - counts.max(), confidence, square)
            continue
        shares = nodes.share[first : first + branches].copy()
        into, starts = _divided(table, nodes, node, cases, begin, end, top, shares, space)
        if into < 0:
            return NO_ROOM
        for branch in range(branches):
            if starts[branch + 1] > starts[branch]:
                last = into + starts[branch + 1]
                routed[used, 0], routed[used, 1] = first + branch, into + starts[branch]
                routed[used, 2], routed[used, 3] = last, max(top, last)
                used += 1
    return found


def expected_errors(cases: float, errors: float, confidence: float) -> float:
    """N x U(E, N): the upper limit of the number of errors among `cases` unseen cases.

    >>> [round(expected_errors(n, 0, 0.25), 3) for n in (6, 9, 1)]
    [1.238, 1.285, 0.75]
    >>> round(expected_errors(16, 1, 0.25) / 16, 3)
    0.157
    """
    return float(_expected(float(cases), float(errors), float(confidence), normal_quantile(confidence) ** 2))


@compiled
def _expected(cases, errors, confidence, square):  # type: ignore[no-untyped-def]
    """`expected_errors`, with the square of the normal quantile."""
    if cases <= 0.0:
        return 0.0
    none = cases * (1 - np.exp(np.log(confidence) / cases))
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (_of_one_or_more(cases, 1.0, square) - none)
    return _of_one_or_more(cases, errors, square)


@compiled
def _of_one_or_more(cases, errors, square):  # type: ignore[no-untyped-def]
    corrected = errors + 0.5
    if corrected >= cases:
        return errors + 0.67 * (cases - errors)
    root = np.sqrt(square * (corrected * (1 - corrected / cases) + square / 4))
    return cases * (corrected + square / 2 + root) / (cases + square)


def normal_quantile(tail: float) -> float:
    """The normal quantile of an upper tail, interpolated between nine values.

    >>> round(normal_quantile(0.25), 4)
    0.6925
    """
    place = max(bisect_left(TAILS, tail), 1)
    low, high = TAILS[place - 1], TAILS[place]
    share = (tail - low) / (high - low)
    return QUANTILES[place - 1] + share * (QUANTILES[place] - QUANTILES[place - 1])
