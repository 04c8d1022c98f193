"""A central holder that reports every query it answers, so that an audit can keep it or put it to another table."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from scumble.model.counts import Integers
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Selection
from scumble.privacy.purse import Price
from scumble.privacy.query import Choice, Measurement, Query, RowChoice, RowMeasurement, RowQuery

Repeat = Callable[[CentralHolder], Any]
"""Answers the same query once more at the same price, by another holder. What was paid is not paid again."""


class RecordingHolder(CentralHolder):
    """The shipped holder, which calls `record` after each answer. Payment, noise and answers stay as they are."""

    @abstractmethod
    def record(self, query: Query | RowQuery, draws: int, repeat: Repeat) -> None:
        """A query was answered with the last so many `draws` from the source of noise."""

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
