"""Limits how often one sender may post, without keeping addresses.

An address is replaced by a keyed digest at once. The key is random, stays in memory and is discarded every minute with
all counts, so that afterwards nobody can find out who sent anything, not even with a list of all addresses.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable

from scumble.privacy.noise import secret_key

WINDOW = 60.0
"""Seconds after which counting begins anew."""


class RateLimit:
    """At most `most` posts of one sender in a window."""

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._renew()

    def allows(self, address: str) -> bool:
        """Count a post and say whether it is within the limit."""
        if self._clock() - self._began >= WINDOW:
            self._renew()
        sender = hashlib.blake2b(address.encode(), key=self._key, digest_size=16).digest()
        self._posts[sender] += 1
        return self._posts[sender] <= self._most

    def _renew(self) -> None:
        self._key = secret_key()
        self._posts: Counter[bytes] = Counter()
        self._began = self._clock()
