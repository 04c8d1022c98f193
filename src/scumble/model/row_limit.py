"""How many rows a table of counts is written as. Post-processing of paid counts.

With a small epsilon, the noise of the counts can be billions of rows, whatever the table. Such rows would say nothing,
and they would fill the disk of the data owner after the charge. So a total that is mostly noise is written in the same
proportions, but as a limited number of rows. A total that is far above its noise is written as it is.
"""

import numpy as np

from scumble.model.counts import Integers

MOST_UNCERTAIN_ROWS = 1_000_000
"""The approximate limit of rows if the number of records is not known well."""
CERTAIN = 10
"""The number of records is known well if it is so many times its standard error."""


def row_counts(count: Integers, *, counted: float, error: float) -> Integers:
    """The number of rows for each count. `counted` is the measured number of records and `error` its standard error.

    >>> count = np.array([3_000_000_000, 1_000_000_000])
    >>> [row_counts(count, counted=4e9, error=error).tolist() for error in (1e8, 1e9)]
    [[3000000000, 1000000000], [750000, 250000]]
    """
    certain = counted >= CERTAIN * error
    return count if certain or int(count.sum()) <= MOST_UNCERTAIN_ROWS else scaled(count, most=MOST_UNCERTAIN_ROWS)


def scaled(count: Integers, *, most: int, each: int = 1) -> Integers:
    """Rows in the proportions of counts: `each` times the count, or about `most` in all where that is fewer.

    >>> scaled(np.array([[30, 10], [0, 60]]), most=10).tolist()
    [[3, 1], [0, 6]]
    """
    return np.rint(count * min(each, most / max(int(count.sum()), 1))).astype(np.int64)


def row_limit_story(count: Integers, rows: Integers) -> tuple[str, ...]:
    """What a release says about `row_counts`: nothing if there is a row for each counted record."""
    if rows is count:
        return ()
    limited, counted = int(rows.sum()), int(count.sum())
    return (f"rows of the table: {limited:,}, in the proportions of counts that add up to {counted:,}, mostly noise",)
