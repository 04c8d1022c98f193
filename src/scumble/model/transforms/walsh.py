"""The Fourier basis of Barak et al. (2007) on binary codes: Walsh functions, as integers.

A value is written in bits. The coefficient of a set of bits is the number of records with an even number of ones among
them minus the number of records with an odd number. The contingency table of some attributes determines, and is
determined by, the coefficients of the sets of their bits, so tables with common attributes have common coefficients.
"""

from dataclasses import dataclass

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.transforms.interval_tree import NumberArray
from scumble.model.transforms.transform import Transform


@dataclass(frozen=True, kw_only=True)
class Walsh(Transform):
    """The Walsh coefficients of the binary codes 0 .. size - 1; the codes above them, up to a power of two, are empty.

    >>> Walsh(size=3).forward(np.array([5, 2, 1])).tolist()
    [8, 4, 6, 2]
    """

    kind = "walsh"
    size: int

    @property
    def values(self) -> int:
        return self.size

    @property
    def coefficients(self) -> int:
        return int(1 << (self.size - 1).bit_length())

    @property
    def sensitivity(self) -> int:
        """A record changes every coefficient by one, up or down."""
        return self.coefficients

    @property
    def squared(self) -> int:
        return self.coefficients

    def forward(self, table: Integers) -> Integers:
        return self._butterflies(self._filled(table))

    def reconstruct(self, measured: Floats) -> Floats:
        return np.asarray(self._butterflies(measured)[: self.size] / self.coefficients)

    def adjoint(self, weights: Floats) -> Floats:
        return np.asarray(self._butterflies(self._filled(weights)) / self.coefficients)

    def _filled(self, table: NumberArray) -> NumberArray:
        empty = np.zeros((self.coefficients - self.size, *table.shape[1:]), dtype=table.dtype)
        return np.concatenate([table, empty])

    def _butterflies(self, table: NumberArray) -> NumberArray:
        """The fast transform: sums and differences of codes that differ in one bit, bit after bit."""
        shape = table.shape
        bits = self.coefficients.bit_length() - 1
        table = table.reshape([2] * bits + [*shape[1:]])
        for axis in range(bits):
            zero, one = np.take(table, 0, axis=axis), np.take(table, 1, axis=axis)
            table = np.stack([zero + one, zero - one], axis=axis)
        return table.reshape(shape)
