"""Warnings after a release, computed from its published numbers only.

They are post-processing of the release: anyone who has its folder can compute the same sentences.
"""

from typing import NamedTuple

from scumble.model.guarantee import Unit, persons_of
from scumble.model.release import Release

DEVIATIONS = 4
"""The noise is given this many standard errors before a count is called too low."""
LEAST_OF_RECORDS = 0.5
"""The least share of the stated number of records that is not worth a warning."""
LEAST_OF_BOUND = 0.1
"""The same for `rows_at_most`, which is an upper bound and may be generous."""
NEAR_BOUND = 0.9
"""From this share of the bound of a joint agreement on, counts may have been clipped."""


class _Expected(NamedTuple):
    records: int
    least: float
    words: str


def count_warnings(release: Release, *, rows_at_most: int | None = None) -> tuple[str, ...]:
    """A sentence where far fewer records were counted than the schema or the parameters let expect, or where a joint
    release counted about as many as its agreement allows; else nothing.

    `rows_at_most` is `Agreement.records_at_most` of a joint release. It is also used where neither the parameters
    nor the schema state a number of records.
    """
    return (*_too_few(release, rows_at_most), *_near_bound(release, rows_at_most))


def _near_bound(release: Release, rows_at_most: int | None) -> tuple[str, ...]:
    counted = release.counted_records
    if rows_at_most is None or counted is None or counted[0] < NEAR_BOUND * rows_at_most:
        return ()
    warning = (
        f"About {round(counted[0]):,} records were counted (noisy), close to {rows_at_most:,}, the sum of the owners' "
        "bounds in the agreement, or above it. If an owner has more rows than its bound, its counts were clipped: the "
        "release is as private as stated, but less accurate. State larger bounds in the next agreement."
    )
    return (warning,)


def _too_few(release: Release, rows_at_most: int | None) -> tuple[str, ...]:
    expected, counted = _expected(release, rows_at_most), release.counted_records
    if expected is None or counted is None or release.plan.unit is Unit.REPLACE:
        return ()
    records, error = counted
    if records + DEVIATIONS * error >= expected.least * expected.records:
        return ()
    persons = persons_of(release.plan.guarantee)
    causes = [
        f", or `rows_each_at_most: {persons.rows_each_at_most}` leaves out many rows" if persons else "",
        ", or an owner has more rows than its bound, so that its counts were clipped" if rows_at_most else "",
    ]
    warning = (
        f"About {max(round(records), 0):,} records were counted (noisy), while {expected.words} were expected: values "
        f"of the table may not match the schema{''.join(causes)}. Check with `scumble schema check SCHEMA DATA --rows`."
    )
    return (warning,)


def _expected(release: Release, agreed: int | None) -> _Expected | None:
    stated = release.parameters.get("records")
    bound = agreed if release.schema.rows_at_most is None else release.schema.rows_at_most
    if isinstance(stated, int):
        return _Expected(stated, LEAST_OF_RECORDS, f"about {stated:,}")
    return None if bound is None else _Expected(bound, LEAST_OF_BOUND, f"at most {bound:,}")
