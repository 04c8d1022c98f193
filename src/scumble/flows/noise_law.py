"""Checks that the variances which a release publishes are those of the noise that its spends pay for.

One law for all kinds of release: a spend pays for a vector of integers. Its price and the largest change that a record
makes in the vector determine the variance of the noise, the same for every number of the vector. The tables of one
vector therefore publish one variance, in units of the vector. A price explains a variance if there is a whole number of
changes for which the law of the price gives that variance; the tables of this variance must be changed as often by a
record as the uses of such prices allow.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scumble.errors import CheckError
from scumble.files.kinds import kind_of
from scumble.files.page_check import NOT_CHECKED
from scumble.methods.microaggregate.parameters import SUMS
from scumble.methods.microaggregate.queries import RESOLUTION
from scumble.model.guarantee import ApproxDP, JointDP, PureDP, Unit
from scumble.model.measured_tables import MeasuredTable
from scumble.model.plan import Plan, Spend
from scumble.model.release import Release
from scumble.model.transforms.transform import sensitivity_of, squared_of
from scumble.model.transforms.walsh import Walsh
from scumble.privacy.price import Price
from scumble.privacy.query import Sensitivity

SAME = 1e-9
"""Relative difference of two variances that are computed in another order."""
SAME_TEXT = 1.01e-2
"""The same for the square of a deviation that a sentence states with three digits."""
DEVIATION = re.compile(r"standard deviation ([0-9.e+-]+[0-9])")
DO_NOT_TRUST = "Do not trust this folder."


@dataclass(frozen=True, kw_only=True)
class Vector:
    """What a table is part of: the variance of each number, and how much one record changes the table's numbers."""

    variance: float
    """In units of the vector."""
    change: int
    """The sum of absolute changes by one record or, under rho, of their squares; zero if it is not stated."""


def check_noise(release: Release) -> Iterator[str]:
    """Compare all published variances with the prices. Yields what was checked, or that nothing could be."""
    plan = release.plan
    if not isinstance(plan.guarantee, PureDP | ApproxDP | JointDP):
        return
    tables = kind_of(release).measured_tables(release)
    vectors = [*_vectors(tables, plan), *_of_groups(release)]
    for alike in _alike(vectors):
        _check_explained(alike, plan)
    deviations = [float(found) for line in release.story for found in DEVIATION.findall(line)]
    for deviation in deviations:
        if not any(_changes(spend, plan, deviation**2, SAME_TEXT) for spend in plan.spends):
            raise CheckError(f"The story states a noise which no price pays for. {DO_NOT_TRUST}")
    if tables:
        counted = "the table" if len(tables) == 1 else f"{len(tables):,} measured tables"
        yield f"the variance of {counted} follows from the prices"
    elif vectors or deviations:
        yield "the stated noise follows from the prices"
    else:
        yield f"{NOT_CHECKED}the noise, of which the folder publishes no variance"


def _vectors(tables: Sequence[MeasuredTable], plan: Plan) -> Iterator[Vector]:
    """The part of a vector that each table is, or that all tables inferred from one vector are together."""
    concentrated = isinstance(plan.guarantee, ApproxDP)
    seen: set[str] = set()
    for table in tables:
        found = table.inferred
        if found is None:
            change = table.unit**2 if concentrated else table.unit
            yield Vector(variance=table.variance * table.unit**2, change=change)
        elif found.source not in seen:
            seen.add(found.source)
            if any(isinstance(each, Walsh) for each in found.transforms):
                change = found.length  # a record changes every coefficient by one
            else:
                change = squared_of(found.transforms) if concentrated else sensitivity_of(found.transforms)
            yield Vector(variance=table.variance, change=change)


def _of_groups(release: Release) -> Iterator[Vector]:
    """What groups.json states: one variance of all counts of values, or noisy sizes, whose sum has a standard error.

    Sizes that are measured with sums are in the units of these.
    """
    document: Any = getattr(release, "documents", {}).get("groups", {})
    error = float(getattr(release, "records_error", 0))
    if "variance" in document:
        yield Vector(variance=float(document["variance"]), change=0)
    elif error and "groups" in document:
        unit = RESOLUTION if any(spend.label == SUMS for spend in release.plan.spends) else 1
        yield Vector(variance=(error * unit) ** 2 / len(document["groups"]), change=0)


def _alike(vectors: Iterable[Vector]) -> Iterator[list[Vector]]:
    """The vectors by their variance."""
    found: list[Vector] = []
    for vector in sorted(vectors, key=lambda each: each.variance):
        if found and not math.isclose(vector.variance, found[0].variance, rel_tol=SAME):
            yield found
            found = []
        found.append(vector)
    if found:
        yield found


def _check_explained(alike: Sequence[Vector], plan: Plan) -> None:
    """Some uses of spends whose law gives the variance must allow for exactly the changes of all its tables."""
    variance, wanted = alike[0].variance, sum(each.change for each in alike)
    reached = {0}
    explained = False
    for spend in plan.spends:
        changes = _changes(spend, plan, variance, SAME)
        explained = explained or bool(changes)
        for _ in range(min(spend.times, wanted) if changes else 0):
            more = {total + each for total in reached for each in changes if total + each <= wanted}
            if more <= reached:
                break
            reached |= more
    if not explained or wanted not in reached:
        raise CheckError(f"The variance of the counts is not that of the noise which their price pays. {DO_NOT_TRUST}")


def _changes(spend: Spend, plan: Plan, variance: float, tolerance: float) -> set[int]:
    """How much a record changes a vector to which one use of a spend adds noise of this variance; empty if never.

    Replacing a record changes twice as much. Squared changes double if both records change different numbers, and
    quadruple if they change the same ones.
    """
    price = Price.of(spend, plan.unit)
    factors = {1} if price.unit is Unit.ADD_REMOVE else {2} if spend.rho is None else {2, 4}
    found = set()
    for factor in factors:
        about = max(round(_most_changes(spend, variance) / factor), 1)
        for change in {max(about - 1, 1), about, about + 1}:
            bound = Sensitivity(bound=change * factor, squared=change * factor)
            if math.isclose(price.variance(bound), variance, rel_tol=tolerance):
                found.add(change)
    return found


def _most_changes(spend: Spend, variance: float) -> float:
    """The sensitivity for which the price gives this variance: that of continuous Gaussian noise, or the inverse of
    the variance 1 / (2 sinh^2(x / 2)) of discrete Laplace noise of scale 1 / x."""
    if variance <= 0:
        return 1.0
    if spend.rho is not None:
        return 2 * float(spend.rho) * variance
    return float(spend.epsilon) / (2 * math.asinh(1 / math.sqrt(2 * variance)))
