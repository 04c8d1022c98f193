"""Shows that S-MDAV violates its claim: a distinguisher for two neighbouring tables, each released on its own.

Algorithm 1 of EDBT 2019 receives both neighbouring tables and derives the groups of one from those of the other. A
mechanism receives only one table. On a single table S-MDAV is MDAV: changing one record can change all groups, but the
noise is calibrated for a change of two records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import beta

from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.methods.mdav.mdav import mdav
from scumble.methods.mdav.method import S_MDAV, SMDAV
from scumble.methods.mdav.queries import GroupingRule, GroupSums
from scumble.methods.mdav.stable import group_averages, stable_pair
from scumble.model.counts import Floats, Integers
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise, simulation

Centres = Floats
SIDE = 1000


def grid_schema(rows: int, attributes: int) -> Schema:
    """A schema of numeric attributes from 0 to 1000."""
    lines = "".join(f"  a{side}: {{numeric: {{low: 0, high: {SIDE + 1}, step: 1}}}}\n" for side in range(attributes))
    return parse_schema(f"scumble: schema/1\nunit: replace\nrows: {rows}\nattributes:\n{lines}")


def square(k: int) -> tuple[Integers, Integers]:
    """Two neighbouring tables: 2k records on the corners of a square, one of them moved by one step.

    The moved record lies one step inside the last corner, along the first attribute in one table and along the second
    in the other. This decides which side of the square is longer in standard deviations, and so which corners are
    grouped together.
    """
    corners = np.array([(0, 0), (0, SIDE), (SIDE, 0), (SIDE, SIDE)])
    rows = np.repeat(corners, k // 2, axis=0)
    other = rows.copy()
    rows[-1], other[-1] = (SIDE - 1, SIDE), (SIDE, SIDE - 1)
    return rows, other


def exact_centres(rows: Integers, k: int) -> Centres:
    """The centroids to which S-MDAV adds noise, with ranges scaled to 1."""
    query = GroupSums(schema=grid_schema(len(rows), rows.shape[1]), grouping=GroupingRule.STABLE, k=k)
    return group_averages(rows, query.groups(rows)) / SIDE


def distance_apart(one: Centres, other: Centres) -> float:
    """The L1 distance of two sets of centroids under the best matching."""
    costs = np.abs(one[:, None, :] - other[None, :, :]).sum(axis=2)
    return float(costs[linear_sum_assignment(costs)].sum())


def claimed_distance(attributes: int, k: int) -> float:
    """The change the noise is calibrated for: two groups change by one record each, with ranges scaled to 1."""
    return 2 * attributes / k


def random_changes(*, rows: int, k: int, attributes: int, pairs: int, seed: int) -> list[float]:
    """How far the centroids of uniform tables move when one record is replaced, in units of the claimed distance."""
    draw = simulation(seed)
    found = []
    for _ in range(pairs):
        table = draw.integers(0, SIDE + 1, (rows, attributes))
        other = table.copy()
        other[draw.integers(rows)] = draw.integers(0, SIDE + 1, attributes)
        apart = distance_apart(exact_centres(table, k), exact_centres(other, k))
        found.append(apart / claimed_distance(attributes, k))
    return found


def pair_distance(rows: Integers, row: int, replacement: Integers, k: int) -> float:
    """The distance when Algorithm 1 receives both tables. The groups it returns satisfy the claim."""
    groups_x, groups_y = stable_pair(rows, row, replacement, lambda points: mdav(points, k))
    other = rows.copy()
    other[row] = replacement
    return float(np.abs(group_averages(rows, groups_x) - group_averages(other, groups_y)).sum()) / SIDE


def framework(
    rows: Integers, row: int, replacement: Integers, *, k: int, epsilon: Fraction, noise: Noise
) -> tuple[Centres, Centres]:
    """Figure 3: Algorithm 1 on the pair, then the mechanism K on each table. Returns X_eps and Y_eps, a row per group.

    The noise is the paper's, calibrated for a change of 2 Delta / k. This concerns the pair; it is not a mechanism
    that releases a single table.
    """
    query = GroupSums(schema=grid_schema(len(rows), rows.shape[1]), grouping=GroupingRule.STABLE, k=k)
    published = []
    for exact in pair_sums(query, rows, row, replacement):
        bound = query.sensitivity(Unit.REPLACE).bound
        noisy = noise.laplace(exact.ravel(), sensitivity=bound, epsilon=epsilon)
        published.append(query.centres(noisy, len(rows)))
    return published[0], published[1]


def pair_sums(query: GroupSums, rows: Integers, row: int, replacement: Integers) -> tuple[Integers, Integers]:
    """The exact sums of the groups that Algorithm 1 returns for a table and its neighbour."""
    groups = stable_pair(rows, row, replacement, lambda points: mdav(points, query.k))
    other = rows.copy()
    other[row] = replacement
    sums = [np.zeros((len(query.sizes(len(rows))), rows.shape[1]), dtype=np.int64) for _ in groups]
    for total, labels, table in zip(sums, groups, (rows, other), strict=True):
        np.add.at(total, labels, query.numbers(table) * query.weights)
    return sums[0], sums[1]


def along_the_first(centres: Centres) -> bool:
    """The distinguisher: do the two centres differ more in the first attribute than in the second?"""
    difference = np.abs(centres[0] - centres[1])
    return bool(difference[0] > difference[1])


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How often the distinguisher says yes on each table, and whether that refutes the claimed epsilon."""

    epsilon: Fraction
    runs: int
    yes: tuple[int, int]
    error: float

    @property
    def ratio(self) -> float:
        """A lower bound on the ratio of the probabilities of yes, wrong with probability at most `error`."""
        more, less = max(self.yes), min(self.yes)
        half = self.error / 2
        lower = float(beta.ppf(half, more, self.runs - more + 1)) if more else 0.0
        upper = float(beta.ppf(1 - half, less + 1, self.runs - less)) if less < self.runs else 1.0
        return lower / upper

    @property
    def violated(self) -> bool:
        """Whether the lower bound on the ratio exceeds e^epsilon."""
        return self.ratio > exp(self.epsilon)


def distinguish(
    one: Integers,
    other: Integers,
    *,
    k: int,
    epsilon: Fraction,
    runs: int,
    says_yes: Callable[[Centres], bool] = along_the_first,
    error: float = 1e-6,
) -> Verdict:
    """Release each of two neighbouring tables many times with scumble's S-MDAV and apply the distinguisher."""
    assert int((one != other).any(axis=1).sum()) == 1, "neighbouring tables differ in exactly one record"
    schema = grid_schema(len(one), one.shape[1])
    given = SMDAV(epsilon=epsilon, k=k)
    counted = []
    for rows in (one, other):
        engine = MemoryEngine([tuple(column.astype(np.uint16) for column in rows.T)], schema)
        yes = 0
        for _ in range(runs):
            holder = CentralHolder(engine=engine, noise=PaidNoise(), plan=S_MDAV.plan(schema, given))
            yes += says_yes(S_MDAV.groups(schema, given, holder).numbers)
        counted.append(yes)
    return Verdict(epsilon=epsilon, runs=runs, yes=(counted[0], counted[1]), error=error)
