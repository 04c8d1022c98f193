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


class _Expected(NamedTuple):
    records: int
    least: float
    words: str


def count_warnings(release: Release, *, rows_at_most: int | None = None) -> tuple[str, ...]:
    """A sentence where far fewer records were counted than the schema or the parameters let expect, else nothing.

    `rows_at_most` is the bound of a joint agreement. It is used if neither the parameters nor the schema state one.
    """
    expected, counted = _expected(release, rows_at_most), release.counted_records
    if expected is None or counted is None or release.plan.unit is Unit.REPLACE:
        return ()
    records, error = counted
    if records + DEVIATIONS * error >= expected.least * expected.records:
        return ()
    persons = persons_of(release.plan.guarantee)
    bounded = "" if persons is None else f", or `rows_each_at_most: {persons.rows_each_at_most}` leaves out many rows"
    warning = (
        f"About {max(round(records), 0):,} records were counted (noisy), while {expected.words} were expected: values "
        f"of the table may not match the schema{bounded}. Check with `scumble schema check SCHEMA DATA --rows`."
    )
    return (warning,)


def _expected(release: Release, agreed: int | None) -> _Expected | None:
    stated = release.parameters.get("records")
    bound = agreed if release.schema.rows_at_most is None else release.schema.rows_at_most
    if isinstance(stated, int):
        return _Expected(stated, LEAST_OF_RECORDS, f"about {stated:,}")
    return None if bound is None else _Expected(bound, LEAST_OF_BOUND, f"at most {bound:,}")
