"""Words add up modulo their length, and bytes are eight bits under exclusive or."""

import numpy as np
import pytest

from scumble.joint.protocol.ring import BITS, WORDS, ring_of, total


@pytest.mark.parametrize(("kind", "ring"), [(np.uint8, BITS), (np.uint32, WORDS), (np.uint64, WORDS)])
def test_the_ring_of_a_data_type(kind: type, ring: object) -> None:
    assert ring_of(kind) is ring


def test_sums_wrap_around_and_bits_do_not_carry() -> None:
    words = [np.array([2**32 - 1, 5], dtype=np.uint32), np.array([2, 7], dtype=np.uint32)]
    assert total(WORDS, words).tolist() == [1, 12]
    octets = [np.array([0b1100], dtype=np.uint8), np.array([0b1010], dtype=np.uint8), np.array([1], dtype=np.uint8)]
    assert total(BITS, octets).tolist() == [0b0111]
    assert BITS.multiply(octets[0], octets[1]).tolist() == [0b1000]
