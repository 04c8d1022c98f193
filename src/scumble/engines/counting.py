"""Counts coded rows: all tables of a request in one pass over the blocks.

The *entry* of a row is the number of its cell of the cut and its class. Several attributes are counted together in one
*joint table*, indexed by the entry and the values of these attributes. At the end, the requested tables are computed as
marginals of the joint tables. This is fast because the cost of a pass is the number of counters that each row
increments. The size of a joint table is limited so that it fits into the processor's cache. An attribute that is too
large for any joint table is counted directly into the requested table.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, islice
from math import prod
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.engines import counting_kernels as kernels
from scumble.model.counts import Block, Counts, Integers, Tabulation, fine_shape
from scumble.model.schema import Schema

Places = npt.NDArray[np.unsignedinteger[Any]]
"""For each row, its index in a flat table. In the table of cells by class this is the entry: cell * classes + class."""

SHARED_TABLE = 1 << 15
"""Most counters of a joint table of several attributes: 128 kilobytes, which fit into the cache of one core."""
LONGEST_TABLE = 1 << 20
"""Most counters of a joint table of one attribute."""
PRIVATE_BYTES = 1 << 27
"""Each thread fills its own tables if all of them together take at most this; otherwise only one thread counts."""
FEW_ROWS = 1 << 14
"""Blocks with fewer rows are counted faster than another thread starts."""
MOST_ROWS = (1 << 32) - 1
"""The largest value of a counter in a joint table."""


def count_blocks(blocks: Iterable[Block], request: Tabulation, schema: Schema, *, threads: int | None = None) -> Counts:
    """The counts of a request. Each thread takes the next block as soon as it is free."""
    layout = _Layout.of(request, schema)
    waiting = iter(blocks)
    first = list(islice(waiting, 1))
    workers = threads or os.cpu_count() or 1
    if not first or len(first[0][0]) < FEW_ROWS or layout.bytes * workers > PRIVATE_BYTES:
        workers = 1
    fillers = [_Filler(layout) for _ in range(workers)]
    shared = _Shared(chain(first, waiting))
    if workers == 1:
        fillers[0].fill(shared)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda filler: filler.fill(shared), fillers))
    return layout.counts(fillers)


class _Shared:
    """An iterator that several threads may read from."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks, self._lock = blocks, Lock()

    def __iter__(self) -> Iterator[Block]:
        while True:
            with self._lock:
                block = next(self._blocks, None)
            if block is None:
                return
            yield block


@dataclass(frozen=True, kw_only=True)
class _Joint:
    """Attributes that share a joint table, in row-major order: the value of the last one varies fastest."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    entries: int = 1

    @cached_property
    def counters(self) -> int:
        return self.entries * prod(self.sizes)

    @cached_property
    def kind(self) -> type[np.unsignedinteger[Any]]:
        """The integer type of indices into the table."""
        return _place_type(self.counters)

    @cached_property
    def steps(self) -> tuple[tuple[int, Any], ...]:
        """Columns and sizes, these in the type of indices. A size too large for that type only multiplies zero."""
        return tuple(zip(self.columns, np.array(self.sizes, dtype=np.uint64).astype(self.kind), strict=True))


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """The tables that a pass fills, and how the requested tables follow from them."""

    request: Tabulation
    entries: int
    digits: tuple[tuple[_Joint, Places | None], ...]
    """Attributes that determine the entry, with what each combination of values adds to it; None if the combination
    is the entry itself."""
    joints: tuple[_Joint, ...]
    straight: tuple[tuple[str, int], ...]
    """Attributes that are counted directly into the requested tables, and their columns."""

    @classmethod
    def of(cls, request: Tabulation, schema: Schema) -> "_Layout":
        cut, classes = request.cut, len(schema.classes)
        columns = {attribute.name: place for place, attribute in enumerate(schema.attributes)}
        sizes = {attribute.name: attribute.domain.size for attribute in schema.attributes}
        entries = cut.cells * classes

        def joint(names: tuple[str, ...], before: int) -> _Joint:
            return _Joint(
                names=names,
                columns=tuple(columns[name] for name in names),
                sizes=tuple(sizes[name] for name in names),
                entries=before,
            )

        adds = {
            name: cut.digits(name) * cut.outer_inner(name)[1] * classes
            for name, nodes in cut.nodes.items()
            if len(nodes) > 1
        }
        if schema.target is not None:
            adds[schema.target] = np.arange(classes)
        groups, single = _groups({name: len(add) for name, add in adds.items()}, 1)
        of_entries = [joint(names, 1) for names in (*groups, *((name,) for name in single)) if names]
        groups, straight = _groups({name: sizes[name] for name in request.fine}, entries)
        return cls(
            request=request,
            entries=entries,
            digits=_digits(of_entries, adds, entries),
            joints=tuple(joint(names, entries) for names in groups),
            straight=tuple((name, columns[name]) for name in straight),
        )

    @property
    def bytes(self) -> int:
        """The memory that the tables of one thread take."""
        joints = sum(4 * joint.counters for joint in self.joints)
        return joints + sum(8 * prod(fine_shape(self.request.cut, name)) for name, _ in self.straight)

    def where(self, name: str) -> tuple[npt.NDArray[np.uint64], np.uint64]:
        """Start and stride: the table of an attribute counts (entry, code) at `start[entry] + stride * code`."""
        cut = self.request.cut
        _, size, inner, classes = fine_shape(cut, name)
        within = inner * classes
        entries = np.arange(self.entries, dtype=np.uint64)
        own = np.uint64(within * len(cut.nodes[name]))
        start = entries // own * np.uint64(size * within) + entries % np.uint64(within)
        return start, np.uint64(within)

    def counts(self, fillers: "list[_Filler]") -> Counts:
        """The requested tables, computed from those that the threads filled."""
        cut = self.request.cut
        cells = np.zeros(self.entries, dtype=np.int64)
        fine: dict[str, Integers] = {}
        for number, joint in enumerate(self.joints):
            table = reduce(np.add, (filler.joint(number) for filler in fillers)).reshape(self.entries, *joint.sizes)
            axes = range(1, table.ndim)
            if number == 0:
                cells = table.sum(axis=tuple(axes))
            for axis, name in zip(axes, joint.names, strict=True):
                others = tuple(other for other in axes if other != axis)
                fine[name] = self._folded(name, table.sum(axis=others) if others else table)
        for number, (name, _) in enumerate(self.straight):
            fine[name] = reduce(np.add, (filler.straight[number] for filler in fillers))
        return Counts(
            cells=cells.reshape(cut.cells, -1),
            fine={name: fine[name].reshape(fine_shape(cut, name)) for name in self.request.fine},
        )

    def _folded(self, name: str, table: Integers) -> Integers:
        """The requested table of an attribute, from its table by entry and value.

        The attribute's own node of the cut follows from its value, so this dimension is summed out.
        """
        outer, size, inner, classes = fine_shape(self.request.cut, name)
        apart = table.reshape(outer, -1, inner * classes, size)
        whole = apart[:, 0] if apart.shape[1] == 1 else apart.sum(axis=1)
        return np.ascontiguousarray(whole.swapaxes(1, 2))


class _Filler:
    """The tables that one thread fills."""

    def __init__(self, layout: _Layout) -> None:
        self._layout = layout
        self._small = [np.zeros(joint.counters, dtype=np.uint32) for joint in layout.joints]
        self._large: list[Integers | None] = [None for _ in layout.joints]
        self._rows = 0
        self._spare: dict[tuple[type[Any], str], Places] = {}
        self._where = [layout.where(name) for name, _ in layout.straight]
        self.straight = [np.zeros(prod(fine_shape(layout.request.cut, n)), np.int64) for n, _ in layout.straight]

    def fill(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if self._rows + len(block[0]) > MOST_ROWS:
                self._large = [self.joint(number) for number in range(len(self._small))]
                for small in self._small:
                    small[:] = 0
                self._rows = 0
            self._rows += len(block[0])
            entries = self._entries(block)
            for joint, counters in zip(self._layout.joints, self._small, strict=True):
                kernels.count(self._places(joint, block, entries), counters)
            for (_, column), where, table in zip(self._layout.straight, self._where, self.straight, strict=True):
                kernels.count_fine(block[column], entries, *where, table)

    def joint(self, number: int) -> Integers:
        """A joint table, with all rows counted so far."""
        small, large = self._small[number], self._large[number]
        return small.astype(np.int64) if large is None else small + large

    def _entries(self, block: Block) -> Places:
        digits = self._layout.digits
        if not digits:
            return np.zeros(len(block[0]), dtype=np.uint8)
        if len(digits) == 1 and digits[0][1] is None:
            places = self._places(digits[0][0], block, None)
            return places if len(digits[0][0].columns) == 1 else places.copy()
        entries = self._memory(_place_type(self._layout.entries), "entries", len(block[0]))
        for number, (joint, weights) in enumerate(digits):
            add = kernels.add_digit if number else kernels.set_digit
            add(self._places(joint, block, None), weights, entries)
        return entries

    def _places(self, joint: _Joint, block: Block, entries: Places | None) -> Places:
        """The index of every row in a joint table.

        To allocate memory for every block would take longer than to count it, and the kernels are fast only if they do
        not write where they read. Therefore two buffers alternate.
        """
        rows = len(block[0])
        wider, spare = self._memory(joint.kind, "places", rows), self._memory(joint.kind, "spare", rows)
        places = block[joint.columns[0]] if entries is None else entries
        steps = joint.steps[1:] if entries is None else joint.steps
        number = 0
        while number < len(steps):
            column, size = steps[number]
            if block[column].itemsize == 1 and number + 1 < len(steps) and block[steps[number + 1][0]].itemsize == 1:
                second, second_size = steps[number + 1]
                kernels.append_two(places, block[column], size, block[second], second_size, wider)
                number += 2
            else:
                kernels.append(places, block[column], size, wider)
                number += 1
            places, wider, spare = wider, spare, wider
        return places

    def _memory(self, kind: type[Any], use: str, rows: int) -> Places:
        found = self._spare.get((kind, use))
        if found is None or len(found) < rows:
            found = self._spare[kind, use] = np.empty(rows, dtype=kind)
        return found[:rows]


def _digits(
    joints: Sequence[_Joint], adds: Mapping[str, Integers], entries: int
) -> tuple[tuple[_Joint, Places | None], ...]:
    """What each combination of values adds to the entry; None if no lookup is needed because the combinations are the
    entries, in order."""
    sums = [reduce(np.add.outer, (adds[name] for name in joint.names)).ravel() for joint in joints]
    if len(joints) == 1 and np.array_equal(sums[0], np.arange(entries)):
        return ((joints[0], None),)
    return tuple((joint, each.astype(_place_type(entries))) for joint, each in zip(joints, sums, strict=True))


def _place_type(counters: int) -> type[np.unsignedinteger[Any]]:
    return np.uint16 if counters <= 2**16 else np.uint32 if counters <= 2**32 else np.uint64


def _groups(sizes: dict[str, int], entries: int) -> tuple[list[tuple[str, ...]], list[str]]:
    """Groups of attributes that share a joint table, largest first, and the attributes too large for any.

    >>> _groups({"a": 10, "b": 9000, "c": 300, "d": 2_000_000}, entries=2)
    ([('b',), ('c', 'a')], ['d'])
    """
    straight = [name for name, size in sizes.items() if size * entries > LONGEST_TABLE]
    shared: list[tuple[int, tuple[str, ...]]] = []
    for name in sorted(set(sizes) - set(straight), key=lambda name: (-sizes[name], name)):
        for place, (counters, names) in enumerate(shared):
            if counters * sizes[name] <= SHARED_TABLE:
                shared[place] = counters * sizes[name], (*names, name)
                break
        else:
            shared.append((entries * sizes[name], (name,)))
    return [names for _, names in shared] or [()], straight
