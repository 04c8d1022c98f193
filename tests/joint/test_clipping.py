"""No table makes a number overflow: owners clip every count at a public bound, and every width holds the clipped sums.
Clipping keeps the declared sensitivity and monotonicity."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_threads import SUBMITTING, THREE, Noiseless, RecordingMesh, keys_from, roles_id, run_parties

from scumble.auditing.laws.queries import engine_of
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import SecretHolder
from scumble.joint.offsets import score_offsets
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.arithmetic import ReplicatedArithmetic, _padded
from scumble.joint.protocol.circuits import add_planes, noise_digits, summands, words_from_planes
from scumble.joint.protocol.geometric_noise import GeometricLaw
from scumble.joint.protocol.lockstep import run
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.joint.scoring import SharedScores
from scumble.methods.diffgen.method import COUNT, DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.scores import Candidate, PartitionScores, Score, ValueScores
from scumble.methods.diffgen.together import CHOOSE
from scumble.model.counts import Block, Counts, Integers, Tabulation, fine_shape
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.privacy.noise import selection_scale
from scumble.privacy.price import Price
from scumble.privacy.query import CellCounts, Choice, GroupChoice, RowChoice

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 4, step: 1}}
  job: {taxonomy: {Any: {w: {a: , b: }, n: {c: , d: , e: }}}}
  class: {classes: [x, y]}
"""
)
JOB = SCHEMA["job"].domain.root
CUT = Cut.top(SCHEMA)
CANDIDATES = (
    *(Candidate(attribute="age", node=SCHEMA["age"].domain.root, position=position) for position in (1, 2, 3)),
    Candidate(attribute="job", node=JOB),
)
ACCURACY = PartitionScores(cut=CUT, candidates=CANDIDATES, score=Score.ACCURACY)
SPLIT = CUT.specialize(CANDIDATES[3].step(SCHEMA)).specialize(CANDIDATES[1].step(SCHEMA))
FINER = PartitionScores(
    cut=SPLIT,
    candidates=tuple(Candidate(attribute="job", node=node) for node in SPLIT.nodes["job"]),
    score=Score.ACCURACY,
)
MAXIMUM = ValueScores(schema=SCHEMA, candidates=CANDIDATES, score=Score.MAX)


class Crowd:
    """An engine that counts the same number of rows everywhere, or a drawn number."""

    def __init__(self, count: Callable[[tuple[int, ...]], Integers]) -> None:
        self._count = count

    def tabulate(self, request: Tabulation) -> Counts:
        fine = {name: self._count(fine_shape(request.cut, name)) for name in request.fine}
        return Counts(cells=self._count((request.cut.cells, len(request.cut.schema.classes))), fine=fine)

    def blocks(self) -> Iterable[Block]:
        raise NotImplementedError

    def add_up(self, work: Callable[[Iterable[Block]], Any]) -> Any:
        raise NotImplementedError


def crowd(size: int) -> Crowd:
    return Crowd(lambda shape: np.full(shape, size, dtype=np.int64))


def clipped_scores(query: GroupChoice, tables: Sequence[Any], bounds: Sequence[int], *, common: bool) -> Integers:
    """The readable twin: every owner clips its class counts of every group, then the scores of the sums."""
    counts = [table.tabulate(query.tabulation) for table in tables]
    scores = []
    for runs in zip(*(query.runs(each) for each in counts), strict=True):
        groups = [
            sum(group.clip(0, bound) for group, bound in zip(same, bounds, strict=True))
            for same in zip(*(run.groups for run in runs), strict=True)
        ]
        scores.append(runs[0].valued(map(query.worth.of, groups)).scores())
    total = np.concatenate(scores)
    if common:
        shared = sum(query.common(each).clip(0, bound) for each, bound in zip(counts, bounds, strict=True))
        total = total + query.worth.of(shared).sum()
    return total


class Edge(ReplicatedArithmetic):
    """Draws the largest noise and opens everything."""

    def __init__(self, sharing: Sharing) -> None:
        super().__init__(sharing)
        self.noisy: list[int] = []

    def noisy_argmax(self, scores: Shares, *, law: GeometricLaw, bits: int) -> int:
        sharing, size = self._sharing, scores.shape[1]
        noise = _padded(run(sharing, noise_digits(sharing, _largest(law), size)), bits)
        planes = add_planes(sharing, [*summands(sharing, scores, bits), noise])
        self.noisy = words_from_planes(sharing.open(planes), size).tolist()
        self.largest_noise = (1 << law.digits) - 1
        return super().noisy_argmax(scores, law=_largest(law), bits=bits)


class EdgeUpwards(Edge):
    """For counts: the largest noise that is added, and none that is subtracted."""

    def noisy_open(self, values: Shares, *, law: GeometricLaw, bits: int) -> Integers:
        self.largest_noise = (1 << law.digits) - 1
        half = 8 * -(-values.shape[1] // 8)
        sharing = self._sharing
        more = _padded(run(sharing, noise_digits(sharing, _largest(law), half)), bits)
        total = add_planes(sharing, [*summands(sharing, values, bits), more])
        opened = words_from_planes(sharing.open(total), values.shape[1]).astype(np.int64)
        return opened - ((opened >> (bits - 1)) << bits)


def _largest(law: GeometricLaw) -> GeometricLaw:
    """Every digit is 1, except with probability 2^-64."""
    return replace(law, thresholds=((1 << law.bits_per_digit) - 1,) * law.digits)


class Asked(SecretHolder):
    def _open_choice(
        self, query: Choice | RowChoice, price: Price, scored: SharedScores, weights: Sequence[float] | None
    ) -> Integers:
        self.scale = selection_scale(sensitivity=1, monotone=True, epsilon=price.epsilon)
        return super()._open_choice(query, price, scored, weights)


def run_with(
    roles: Roles,
    tables: dict[int, Any],
    bounds: dict[int, int],
    ask: Callable[[Asked], Any],
    arithmetic: type[ReplicatedArithmetic],
) -> list[tuple[Any, Any, Any]]:
    plan = joint_plan(DiffGenMethod().plan(SCHEMA, DiffGen(epsilon="1", rounds=1, score="accuracy")), roles, SCHEMA)
    keys = keys_from("edge", roles)

    def act(mesh: RecordingMesh) -> tuple[Any, Any, Any]:
        owner = mesh.party if mesh.party in roles.owners else None
        numbers = arithmetic(Sharing(roles=roles, mesh=mesh, keys=keys[mesh.party], nonce=b""))
        engine = None if owner is None else tables[owner]
        holder = Asked(
            arithmetic=numbers, engine=engine, plan=plan, rows_at_most=bounds, owner=owner, log=MemoryAnswerLog()
        )
        return ask(holder), numbers, holder

    return run_parties(roles.parties, act)[0]


@pytest.mark.parametrize("roles", [THREE, SUBMITTING], ids=roles_id)
@pytest.mark.parametrize("query", [ACCURACY, FINER, MAXIMUM], ids=["accuracy", "finer", "max"])
@pytest.mark.parametrize(("bound", "weights"), [(1, None), (2**10 - 1, (0.0, -3.5, 0.0, -2.0)), (2**17, None)])
def test_scores_at_the_edge_of_their_width_do_not_wrap(
    roles: Roles, query: Any, bound: int, weights: tuple[float, ...] | None
) -> None:
    """Every owner has more rows than its bound in every group, and every noise value is the largest."""
    bounds = {owner: bound + owner for owner in roles.owners}
    tables = dict.fromkeys(roles.owners, crowd(10**6))
    given_weights = None if weights is None else weights[: len(query.candidates)]
    expected = clipped_scores(query, list(tables.values()), list(bounds.values()), common=False)
    ended = run_with(
        roles, tables, bounds, lambda holder: holder.choose(query, spend=CHOOSE, log_weights=given_weights), Edge
    )
    finer, offsets = score_offsets(given_weights, ended[0][2].scale, len(expected))
    best = (expected << finer) + offsets
    for chosen, numbers, _ in ended:
        if numbers._sharing.compute_index is not None:
            assert numbers.noisy == (best + numbers.largest_noise).tolist()
        assert best[chosen] == best.max()


@pytest.mark.parametrize("bound", [1, 3, 2**20 - 1, 2**40])
def test_counts_at_the_edge_of_their_width_do_not_wrap(bound: int) -> None:
    bounds = dict.fromkeys(THREE.owners, bound)
    tables = dict.fromkeys(THREE.owners, crowd(2**50))
    ended = run_with(
        THREE, tables, bounds, lambda holder: holder.measure(CellCounts(cut=CUT), spend=COUNT), EdgeUpwards
    )
    for opened, numbers, _ in ended:
        assert opened.tolist() == [3 * bound + numbers.largest_noise] * 2


def test_two_owners_with_more_rows_together_than_one_bound() -> None:
    """In an earlier version the class counts (2054, 6) were worth 6 under a bound of 2,000 rows for both owners."""

    def lopsided(shape: tuple[int, ...]) -> Integers:
        counts = np.zeros(shape, dtype=np.int64)
        counts.reshape(-1, 2)[0] = 1_500, 3
        return counts

    tables = {0: Crowd(lopsided), 1: Crowd(lopsided), 2: crowd(0)}
    bounds = dict.fromkeys(THREE.owners, 2_000)
    twin = clipped_scores(MAXIMUM, list(tables.values()), [2_000] * 3, common=False)
    assert twin.max() == 3_000
    ended = run_with(THREE, tables, bounds, lambda holder: holder.choose(MAXIMUM, spend=CHOOSE), Edge)
    assert ended[0][1].noisy == (twin + ended[0][1].largest_noise).tolist()


def test_random_counts_are_scored_as_by_the_twin() -> None:
    draw = np.random.default_rng(5)
    tables = {owner: Crowd(lambda shape: draw.integers(0, 60, shape)) for owner in THREE.owners}
    frozen = {owner: _Frozen(table) for owner, table in tables.items()}
    bounds = {0: 10, 1: 35, 2: 100}
    for query in (ACCURACY, FINER, MAXIMUM):
        twin = clipped_scores(query, list(frozen.values()), list(bounds.values()), common=False)
        ended = run_with(THREE, frozen, bounds, lambda holder, query=query: holder.choose(query, spend=CHOOSE), Edge)
        assert ended[0][1].noisy == (twin + ended[0][1].largest_noise).tolist()


class _Frozen:
    """Repeats the counts of a request, so that the twin and the protocol see the same ones."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._known: list[tuple[Tabulation, Counts]] = []

    def tabulate(self, request: Tabulation) -> Counts:
        for known, counts in self._known:
            if known == request:
                return counts
        self._known.append((request, self._engine.tabulate(request)))
        return self._known[-1][1]


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 1)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    tables=st.tuples(ROWS, ROWS),
    bounds=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    record=st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 1)),
)
def test_clipping_keeps_sensitivity_and_monotonicity(
    tables: tuple[list[Any], list[Any]], bounds: tuple[int, int], record: tuple[int, ...]
) -> None:
    before = [engine_of(SCHEMA, rows) for rows in tables]
    after = [engine_of(SCHEMA, [*tables[0], record]), before[1]]
    for query in (ACCURACY, FINER, MAXIMUM):
        declared = query.sensitivity(Unit.ADD_REMOVE)
        change = clipped_scores(query, after, bounds, common=True) - clipped_scores(query, before, bounds, common=True)
        assert change.min() >= 0 and change.max() <= declared.bound
        assert clipped_scores(query, after, bounds, common=False).min() >= 0, "a shared score is never negative"
    counts = CellCounts(cut=SPLIT)
    noiseless = [
        sum(
            counts.answer(table.tabulate(counts.tabulation)).clip(-bound, bound)
            for table, bound in zip(each, bounds, strict=True)
        )
        for each in (before, after)
    ]
    assert np.abs(noiseless[1] - noiseless[0]).sum() <= counts.sensitivity(Unit.ADD_REMOVE).bound


def test_a_table_within_its_bound_is_counted_exactly() -> None:
    bounds = dict.fromkeys(THREE.owners, 7)
    tables = dict.fromkeys(THREE.owners, crowd(7))
    ended = run_with(THREE, tables, bounds, lambda holder: holder.measure(CellCounts(cut=CUT), spend=COUNT), Noiseless)
    assert ended[0][0].tolist() == [21, 21]


@pytest.mark.parametrize("bound", [0, -1, 2**40 + 1])
def test_a_bound_is_positive_and_not_too_large(bound: int) -> None:
    with pytest.raises(InputError, match="rows_at_most"):
        run_with(THREE, dict.fromkeys(THREE.owners), {0: bound, 1: 1, 2: 1}, lambda holder: None, Noiseless)
