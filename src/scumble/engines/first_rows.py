"""Bounds the reports of each person in a table of perturbed records: the first rows of each person are kept.

A release of counts chooses rows by a hash of their values (`scumble.engines.contributions`). Perturbed records may not
be chosen that way: each report is published in its place and with its attributes reported without noise, so a choice
by values would reveal values. The choice here depends on ids and on the order of the rows only. Proof:
`scumble/privacy/PROOF.md`, section 6.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class FirstRows:
    """Keeps the first `most` rows of each person, over all blocks of a table. Rows with an empty id are one person.

    Memory grows with the number of persons.

    >>> first = FirstRows(2)
    >>> first.keep(["a", "b", "a", "a"]).tolist(), first.keep(["a", "b", "b"]).tolist()
    ([True, True, True, False], [False, True, False])
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: dict[str, int] = {}

    def keep(self, persons: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which rows of the next block are kept."""
        kept = np.zeros(len(persons), dtype=np.bool_)
        for place, person in enumerate(persons):
            rows = self._rows.get(person, 0)
            if rows < self._most:
                self._rows[person] = rows + 1
                kept[place] = True
        return kept
