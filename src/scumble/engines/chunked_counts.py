"""Tables that together would not fit into memory are counted in turns, each when somebody looks at it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod

from scumble.model.counts import Counts, Integers, Tabulation, fine_shape

MOST_BYTES = 1 << 28
"""Fine tables of a request that are held at the same time, in bytes. A single table may be longer."""


def count_in_turns(request: Tabulation, count: Callable[[Tabulation], Counts]) -> Counts:
    """What `count` would answer; where that is too long for memory, in several passes over the rows."""
    turns = _turns(request)
    if len(turns) < 2:
        return count(request)
    return Counts(cells=count(replace(request, fine=())).cells, fine=_InTurns(request, turns, count))


class _InTurns(Mapping[str, Integers]):
    """Looks like all tables of a request and holds those of one turn. To be walked through in the request's order."""

    def __init__(
        self, request: Tabulation, turns: list[tuple[str, ...]], count: Callable[[Tabulation], Counts]
    ) -> None:
        self._request, self._turns, self._count = request, turns, count
        self._held: Mapping[str, Integers] = {}

    def __getitem__(self, name: str) -> Integers:
        if name not in self._held:
            turn = next((turn for turn in self._turns if name in turn), None)
            if turn is None:
                raise KeyError(name)
            self._held = {}
            self._held = self._count(replace(self._request, fine=turn)).fine
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._request.fine)

    def __len__(self) -> int:
        return len(self._request.fine)


def _turns(request: Tabulation) -> list[tuple[str, ...]]:
    """The attributes of a request in groups whose tables are no longer than MOST_BYTES, or alone."""
    turns: list[tuple[str, ...]] = []
    left = 0
    for name in request.fine:
        length = 8 * prod(fine_shape(request.cut, name))
        if turns and length <= left:
            turns[-1] = (*turns[-1], name)
            left -= length
        else:
            turns.append((name,))
            left = MOST_BYTES - length
    return turns
