"""Counts requests whose tables do not fit into memory together: in chunks, each when one of its tables is read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod

from scumble.model.counts import Counts, Integers, Tabulation, fine_shape

MOST_BYTES = 1 << 28
"""Limit, in bytes, of the fine tables that are in memory at the same time. A single larger table is allowed."""


def count_in_chunks(request: Tabulation, count: Callable[[Tabulation], Counts]) -> Counts:
    """The result of `count(request)`. If it is too large for memory, each chunk takes its own pass over the rows."""
    chunks = _chunks(request)
    if len(chunks) < 2:
        return count(request)
    return Counts(cells=count(replace(request, fine=())).cells, fine=_ChunkedTables(request, chunks, count))


class _ChunkedTables(Mapping[str, Integers]):
    """All tables of a request, of which only one chunk is in memory. Read them in the order of the request."""

    def __init__(
        self, request: Tabulation, chunks: list[tuple[str, ...]], count: Callable[[Tabulation], Counts]
    ) -> None:
        self._request, self._chunks, self._count = request, chunks, count
        self._loaded: Mapping[str, Integers] = {}

    def __getitem__(self, name: str) -> Integers:
        if name not in self._loaded:
            chunk = next((chunk for chunk in self._chunks if name in chunk), None)
            if chunk is None:
                raise KeyError(name)
            self._loaded = {}  # free the previous chunk before the next one is counted
            self._loaded = self._count(replace(self._request, fine=chunk)).fine
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._request.fine)

    def __len__(self) -> int:
        return len(self._request.fine)


def _chunks(request: Tabulation) -> list[tuple[str, ...]]:
    """The attributes of a request in groups whose tables take at most MOST_BYTES; a larger table is alone."""
    chunks: list[tuple[str, ...]] = []
    left = 0
    for name in request.fine:
        length = 8 * prod(fine_shape(request.cut, name))
        if chunks and length <= left:
            chunks[-1] = (*chunks[-1], name)
            left -= length
        else:
            chunks.append((name,))
            left = MOST_BYTES - length
    return chunks
