"""A central holder that reports every query it answers, to be recorded or repeated on another table by an audit."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from scumble.model.counts import Integers
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Selection
from scumble.privacy.price import Price
from scumble.privacy.query import Choice, Measurement, Query, RowChoice, RowMeasurement, RowQuery

Repeat = Callable[[CentralHolder], Any]
"""Makes another holder answer the same query at the same epsilon, without charging it again."""


class RecordingHolder(CentralHolder):
    """The shipped holder, which also calls `record` after each answer. Charges, noise and answers are unchanged."""

    @abstractmethod
    def record(self, query: Query | RowQuery, draws: int, repeat: Repeat) -> None:
        """Called after a query was answered with the last `draws` draws of the noise source."""

    def _select(self, query: Choice, price: Price, selection: Selection, log_weights: Sequence[float] | None) -> int:
        chosen = super()._select(query, price, selection, log_weights)
        self.record(query, 1, lambda other: CentralHolder._select(other, query, price, selection, log_weights))
        return chosen

    def _select_in_parts(self, query: RowChoice, price: Price, selection: Selection) -> list[int]:
        chosen = super()._select_in_parts(query, price, selection)
        self.record(query, len(chosen), lambda other: CentralHolder._select_in_parts(other, query, price, selection))
        return chosen

    def _measure(self, query: Measurement | RowMeasurement, price: Price) -> Integers:
        noisy = super()._measure(query, price)
        self.record(query, 1, lambda other: CentralHolder._measure(other, query, price))
        return noisy
