"""Observes every call to OpenDP: the mechanism, the noise scale that it was given, the exact values and the outcome.

The shipped code above OpenDP runs unchanged. The check trusts none of it: neither queries and sensitivities nor prices,
the holder's arithmetic and the choice of the noise scale. An outcome can be prescribed, so that the same transcript
can be repeated on another table.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import numpy as np
from opendp.measurements import make_gaussian, make_laplace, make_noisy_max
from opendp.measures import max_divergence

from scumble.auditing.transcripts.noise_laws import NoiseLaw, NoiseMechanism
from scumble.model.counts import Integers
from scumble.privacy import measurements

DrawOutcome = Integers | int
"""What a mechanism releases: a noisy vector, or the index of the selected candidate."""
SampleOutcome = Callable[[], DrawOutcome]
"""Draws an outcome from the shipped noise source."""
DrawObserver = Callable[[NoiseLaw, Integers, SampleOutcome], DrawOutcome]
"""Called for every draw with its distribution and exact values. Returns the outcome that the caller gets."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """One draw of noise: its distribution, the exact values of a table, and the outcome."""

    law: NoiseLaw
    values: Integers
    outcome: DrawOutcome


class DrawTap:
    """Where observed draws are reported. Without an observer they are made as usual."""

    def __init__(self) -> None:
        self.observer: DrawObserver | None = None

    def draw(self, law: NoiseLaw, values: Any, sample: Callable[[], Any]) -> DrawOutcome:
        exact = np.array(values, dtype=np.int64)

        def outcome() -> DrawOutcome:
            drawn = sample()
            return np.array(drawn, dtype=np.int64) if law.mechanism.measures else int(drawn)

        return outcome() if self.observer is None else self.observer(law, exact, outcome)


class ObservedMeasurement:
    """A measurement of OpenDP that reports its draws to a tap."""

    def __init__(self, measurement: Any, law: NoiseLaw, tap: DrawTap) -> None:
        self._measurement, self._law, self._tap = measurement, law, tap
        self.map = measurement.map

    def __call__(self, values: Any) -> DrawOutcome:
        return self._tap.draw(self._law, values, lambda: self._measurement(values))


@contextmanager
def observed_opendp() -> Iterator[DrawTap]:
    """Within this context, all measurements that this process makes with OpenDP report to the returned tap.

    For audits of synthetic tables, in a process that releases nothing at the same time.
    """
    tap = DrawTap()

    def observed_laplace(domain: Any, metric: Any, *, scale: float) -> ObservedMeasurement:
        law = NoiseLaw(mechanism=NoiseMechanism.LAPLACE, scale=Fraction(scale))
        return ObservedMeasurement(make_laplace(domain, metric, scale=scale), law, tap)

    def observed_gaussian(domain: Any, metric: Any, *, scale: float) -> ObservedMeasurement:
        law = NoiseLaw(mechanism=NoiseMechanism.GAUSSIAN, scale=Fraction(scale))
        return ObservedMeasurement(make_gaussian(domain, metric, scale=scale), law, tap)

    def observed_noisy_max(domain: Any, metric: Any, measure: Any, *, scale: float) -> ObservedMeasurement:
        # OpenDP adds exponential noise for pure privacy, which is permute-and-flip, and Gumbel noise for concentrated
        # privacy, which is the exponential mechanism.
        pure = measure == max_divergence()
        mechanism = NoiseMechanism.PERMUTE_AND_FLIP if pure else NoiseMechanism.EXPONENTIAL
        law = NoiseLaw(mechanism=mechanism, scale=Fraction(scale))
        return ObservedMeasurement(make_noisy_max(domain, metric, measure, scale=scale), law, tap)

    with patch.multiple(
        measurements,
        make_laplace=observed_laplace,
        make_gaussian=observed_gaussian,
        make_noisy_max=observed_noisy_max,
        # New caches, so that no observed measurement stays in use after this context.
        laplace=lru_cache(maxsize=64)(measurements.laplace.__wrapped__),
        gaussian=lru_cache(maxsize=64)(measurements.gaussian.__wrapped__),
        selection=lru_cache(maxsize=64)(measurements.selection.__wrapped__),
    ):
        yield tap
