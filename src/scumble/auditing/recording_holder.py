"""The shipped holder with somebody listening: every question it answered is known afterwards, and can be put again."""

from collections.abc import Callable, Sequence
from typing import Any

from scumble.model.counts import Integers
from scumble.privacy.holder import Holder
from scumble.privacy.noise import Selection
from scumble.privacy.query import Choice, Measurement, Query, RowChoice, RowMeasurement, RowQuery

Again = Callable[[Holder], Any]
"""The same question to another holder."""


class Overheard(Holder):
    """A holder that answers as shipped and then calls `heard`."""

    def heard(self, queries: Sequence[Query | RowQuery], draws: int, again: Again) -> None:
        """For whoever listens; `draws` is how often the source of noise was asked for it."""

    def choose_apart(
        self,
        queries: Sequence[Choice],
        *,
        spend: str,
        selection: Selection = Selection.PERMUTE_AND_FLIP,
        log_weights: Sequence[float] | None = None,
    ) -> list[int]:
        chosen = super().choose_apart(queries, spend=spend, selection=selection, log_weights=log_weights)
        self.heard(
            queries,
            len(chosen),
            lambda other: other.choose_apart(queries, spend=spend, selection=selection, log_weights=log_weights),
        )
        return chosen

    def choose_in_parts(
        self, query: RowChoice, *, spend: str, selection: Selection = Selection.PERMUTE_AND_FLIP
    ) -> list[int]:
        chosen = super().choose_in_parts(query, spend=spend, selection=selection)
        self.heard([query], len(chosen), lambda other: other.choose_in_parts(query, spend=spend, selection=selection))
        return chosen

    def measure(self, query: Measurement | RowMeasurement, *, spend: str) -> Integers:
        told = super().measure(query, spend=spend)
        self.heard([query], 1, lambda other: other.measure(query, spend=spend))
        return told
