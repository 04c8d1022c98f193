"""The default release of several owners is that of one owner: the same queries, the same spends, the same rows."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_threads import (
    SUBMITTING,
    THREE,
    WITH_AGGREGATOR,
    EndingMesh,
    Noiseless,
    RecordingMesh,
    keys_from,
    owner_or_none,
    roles_id,
    run_parties,
    run_to_the_end,
    same_bound,
)

from scumble.auditing.laws.queries import engine_of
from scumble.errors import BudgetError
from scumble.files.schema_file import parse_schema
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import SecretHolder
from scumble.joint.planning import joint_plan, numbers_allowed
from scumble.joint.protocol.arithmetic import ReplicatedArithmetic
from scumble.joint.protocol.consistency import PartiesDiffer
from scumble.joint.protocol.geometric_noise import DELTA_EACH
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.sharing import Sharing
from scumble.joint.scoring import DistanceScores
from scumble.joint.session.content_digest import content_digest
from scumble.joint.simulated import PlainArithmetic, simulated_holder
from scumble.methods.diffgen.detail import measure
from scumble.methods.diffgen.detail.residuals import ResidualChoice
from scumble.methods.diffgen.detail.spends import CHOOSE_COMBINATION, CHOOSE_TABLE
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.guarantee import JointDP, Unit
from scumble.model.plan import Plan
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import simulation

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 40, step: 1}}
  job: {taxonomy: {Any: {w: {a: , b: }, n: {c: , d: , e: }}}}
  sex: {taxonomy: {Any: {f: , m: }}}
  class: {classes: [x, y]}
"""
)
WIDE = parse_schema(
    "scumble: schema/1\ntarget: k\nattributes:\n  a: {numeric: {low: 0, high: 900, step: 1}}\n"
    + "".join(f"  b{n}: {{classes: [u, v, w]}}\n" for n in range(12))
    + "  k: {classes: [v, w, x, y, z]}"
)
SCHEMAS = (
    SCHEMA,
    WIDE,
    parse_schema("scumble: schema/1\ntarget: k\nattributes:\n  a: {classes: [u]}\n  k: {classes: [x, y, z]}"),
)
FEW, MANY = {"records": 400}, {"records": 40_000}
"""Few records lead to chosen tables if attributes are many, and many records to combinations and weights."""
ROWS_AT_MOST = 300


def rows_of(owner: int, size: int = 60) -> list[tuple[int, ...]]:
    draw = np.random.default_rng(owner)
    sexes, jobs = draw.integers(0, 2, size), draw.integers(0, 5, size)
    return [
        (int(age), int(job), int(sex), int(((age > 20) ^ (sex > 0)) if draw.random() < 0.9 else draw.random() < 0.5))
        for age, job, sex in zip(draw.integers(0, 40, size), jobs, sexes, strict=True)
    ]


def random_rows(schema: Schema, seed: int, size: int = 50) -> list[tuple[int, ...]]:
    draw = np.random.default_rng(seed)
    sizes = [attribute.domain.size for attribute in schema.attributes]
    return [tuple(int(draw.integers(0, most)) for most in sizes) for _ in range(size)]


TABLES = {owner: rows_of(owner) for owner in range(5)}
WIDE_TABLES = {owner: random_rows(WIDE, owner) for owner in range(5)}


def parameters_of(epsilon: str = "1", **given: Any) -> DiffGen:
    return DiffGen(**DiffGen.jointly({"epsilon": epsilon, **given}))


def planned(roles: Roles, parameters: DiffGen, schema: Schema = SCHEMA) -> Plan:
    return joint_plan(DiffGenMethod().plan(schema, parameters), roles, schema)


def run_at(
    mesh: Any,
    roles: Roles,
    parameters: DiffGen,
    arithmetic: type[ReplicatedArithmetic] = ReplicatedArithmetic,
    log: MemoryAnswerLog | None = None,
    schema: Schema = SCHEMA,
) -> CellRelease:
    tables = TABLES if schema is SCHEMA else WIDE_TABLES
    sharing = Sharing(roles=roles, mesh=mesh, keys=keys_from("detail", roles)[mesh.party], nonce=b"")
    holder = SecretHolder(
        arithmetic=arithmetic(sharing),
        engine=engine_of(schema, tables[mesh.party]) if mesh.party in roles.owners else None,
        plan=planned(roles, parameters, schema),
        rows_at_most=same_bound(roles, ROWS_AT_MOST),
        owner=owner_or_none(roles, mesh.party),
        log=log or MemoryAnswerLog(),
    )
    return DiffGenMethod().run(schema, parameters, holder)


@pytest.mark.parametrize("given", [{}, FEW, MANY], ids=["counted", "few", "many"])
def test_the_joint_default_has_the_spends_of_one_owner(given: dict[str, int]) -> None:
    one = DiffGenMethod().plan(SCHEMA, DiffGen(epsilon="1", **given))  # type: ignore[arg-type]
    joint = planned(THREE, parameters_of(**given))
    assert [(s.label, s.epsilon, s.times) for s in joint.spends] == [(s.label, s.epsilon, s.times) for s in one.spends]
    assert isinstance(joint.guarantee, JointDP) and joint.guarantee.delta < Fraction(1, 2**60)


class Following:
    """A noise source without noise that repeats given selections, which must be among the best."""

    def __init__(self, chosen: list[int]) -> None:
        self.chosen = chosen

    def laplace(self, values: np.ndarray, *, sensitivity: int, epsilon: Fraction) -> np.ndarray:
        return values

    def select(self, scores: np.ndarray, *, sensitivity: int, **rest: Any) -> int:
        choice = self.chosen.pop(0)
        # Joint scores round public weights, by at most 1/512 of the noise scale; scores of residuals are exact.
        assert scores[choice] >= scores.max() - (sensitivity if sensitivity <= 1 << 16 else 0)
        return choice


@pytest.mark.parametrize("given", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("roles", [WITH_AGGREGATOR, SUBMITTING], ids=roles_id)
def test_without_noise_the_joint_release_is_the_central_one(roles: Roles, given: dict[str, int]) -> None:
    """Values, class tables in groups, choices, combinations, weights, calibration, cells and rows are all equal."""
    parameters, schema = parameters_of("1", **given), WIDE if given is FEW else SCHEMA
    logs = [MemoryAnswerLog() for _ in range(roles.parties)]
    releases, _ = run_parties(
        roles.parties, lambda mesh: run_at(mesh, roles, parameters, Noiseless, logs[mesh.party], schema)
    )
    answers = [np.frombuffer(logs[0].answers[step], dtype="<i8") for step in sorted(logs[0].answers)]
    labels: list[str] = []
    chosen: list[int] = []

    class Recording(CentralHolder):
        def choose_apart(self, *args: Any, **rest: Any) -> list[int]:
            chosen.append(int(answers[len(labels)][0]))
            return super().choose_apart(*args, **rest)

        def choose_in_parts(self, *args: Any, **rest: Any) -> list[int]:
            chosen.append(int(answers[len(labels)][0]))
            return super().choose_in_parts(*args, **rest)

    tables = WIDE_TABLES if given is FEW else TABLES
    rows = [row for owner in roles.owners for row in tables[owner]]
    central = Recording(
        engine=engine_of(schema, rows),
        noise=Following(chosen),  # type: ignore[arg-type]
        plan=DiffGenMethod().plan(schema, parameters),
        answered=labels.append,
    )
    expected = DiffGenMethod().run(schema, parameters, central)
    assert len(labels) == len(answers) and not chosen
    assert (CHOOSE_TABLE if given is FEW else CHOOSE_COMBINATION) in labels
    for release in releases:
        assert content_digest(replace(release, plan=expected.plan)) == content_digest(expected)


@pytest.mark.parametrize("given", [{}, MANY], ids=["counted", "many"])
def test_all_parties_make_the_same_release_of_noisy_answers(given: dict[str, int]) -> None:
    parameters = parameters_of("1", **given)
    releases, _ = run_parties(3, lambda mesh: run_at(mesh, WITH_AGGREGATOR, parameters))
    assert len({content_digest(release) for release in releases}) == 1
    release = releases[0]
    assert release.fine is not None and isinstance(release.plan.guarantee, JointDP)
    assert release.plan.divisions, "the counted records, or the chosen combinations, divide a spend"


def test_parties_that_derive_other_numbers_from_the_answers_share_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """One party's model differs by a single unit of log-odds: all end before the next count is shared."""
    real = measure.shifts_of_values
    names: dict[int, int] = {}

    def planted(*args: Any, **rest: Any) -> Any:
        found = real(*args, **rest)
        if names.get(threading.get_ident()) == 1:
            found = found.copy()
            found[0, 0] += 1
        return found

    monkeypatch.setattr(measure, "shifts_of_values", planted)

    def act(mesh: EndingMesh) -> CellRelease:
        names[threading.get_ident()] = mesh.party
        return run_at(mesh, THREE, parameters_of("1", **MANY))

    results, failures = run_to_the_end(3, act)
    assert not results
    assert all(isinstance(failure, PartiesDiffer) for failure in failures.values())
    assert {failure.parties for failure in failures.values()} == {(1,)}  # type: ignore[attr-defined]
    assert all("the query and its public values" in str(failure) for failure in failures.values())


@settings(max_examples=12, deadline=None)
@given(
    schema=st.sampled_from(SCHEMAS),
    epsilon=st.sampled_from(["1/10", "1", "20"]),
    records=st.sampled_from([None, 1, 200, 3_000, 10**6]),
    seed=st.integers(0, 2**32),
)
def test_no_division_needs_more_noise_than_the_delta_covers(
    schema: Any, epsilon: str, records: int | None, seed: int
) -> None:
    given = {} if records is None else {"records": records}
    parameters = DiffGen(**DiffGen.jointly({"epsilon": epsilon, **given}))
    plan = joint_plan(DiffGenMethod().plan(schema, parameters), THREE, schema)
    rows = random_rows(schema, seed)
    holder = simulated_holder(engine=engine_of(schema, rows), plan=plan, rows_at_most=100, draw=simulation(seed))
    DiffGenMethod().run(schema, parameters, holder)
    assert holder._values_left > 0


def test_more_numbers_than_planned_are_refused() -> None:
    parameters = parameters_of("1", **MANY)
    plan = replace(DiffGenMethod().plan(SCHEMA, parameters), numbers_at_most=40)
    plan = joint_plan(plan, THREE, SCHEMA)
    assert isinstance(plan.guarantee, JointDP)
    assert (plan.guarantee.delta, numbers_allowed(plan.guarantee)) == (40 * DELTA_EACH, 40)
    holder = simulated_holder(engine=engine_of(SCHEMA, []), plan=plan, rows_at_most=9, draw=simulation(1))
    with pytest.raises(BudgetError, match="more noise values"):
        DiffGenMethod().run(SCHEMA, parameters, holder)


def choice_of(sums: Sequence[Sequence[int]], handicaps: Sequence[int], *, optional: bool) -> Any:
    class Given:
        def __init__(self) -> None:
            self.handicaps, self.optional = tuple(handicaps), optional

        def differences(self, found: np.ndarray) -> list[np.ndarray]:
            return list(np.split(found, np.cumsum([len(part) for part in sums])[:-1]))

        def sensitivity(self, unit: Unit) -> Any:
            return ResidualChoice.sensitivity(None, unit)  # type: ignore[arg-type]

    return Given()


@settings(max_examples=40, deadline=None)
@given(
    sums=st.lists(st.lists(st.integers(-5_000, 5_000), min_size=1, max_size=4), min_size=1, max_size=4),
    handicaps=st.lists(st.integers(-100, 9_000), min_size=4, max_size=4),
    optional=st.booleans(),
)
def test_scores_by_distance_differ_from_the_central_ones_by_a_constant(
    sums: list[list[int]], handicaps: list[int], optional: bool
) -> None:
    query = choice_of(sums, handicaps[: len(sums)], optional=optional)
    flat = np.array([number for part in sums for number in part])
    central = [sum(map(abs, part)) - handicap for part, handicap in zip(sums, handicaps, strict=False)]
    central += [0] * optional
    scored = DistanceScores(query, flat)
    shares = scored.shares(PlainArithmetic(simulation(0)), limit=5_000, total=5_000, bits=40)
    found = shares[0] + scored.public
    assert found.min() >= 0 and scored.public.min() == 0
    assert len({int(one) - other for one, other in zip(found, central, strict=True)}) == 1
    assert found.max() <= scored.numbers * 5_000 + scored.public.max()


@pytest.mark.parametrize("bits", [17, 32, 33, 63])
def test_absolute_values_on_shares(bits: int) -> None:
    edge = 1 << (bits - 1)
    values = np.array([0, 1, -1, edge - 1, 1 - edge, 12345, -12345], dtype=np.int64)

    def act(mesh: RecordingMesh) -> np.ndarray:
        sharing = Sharing(roles=THREE, mesh=mesh, keys=keys_from("absolute", THREE)[mesh.party], nonce=b"")
        arithmetic = ReplicatedArithmetic(sharing)
        arithmetic.begin(0)
        own = values if mesh.party == 1 else np.zeros_like(values)
        return sharing.open(arithmetic.absolute(arithmetic.input(own, bits), bits))

    for opened in run_parties(3, act)[0]:
        assert opened.tolist() == np.abs(values).tolist()


def test_the_digest_of_a_query_depends_on_all_its_public_numbers() -> None:
    seen: list[bytes] = []

    class Watching(SecretHolder):
        def _agree(self, query: Any, price: Any, *facts: Any) -> None:
            seen.append(content_digest(query, without=Schema))
            super()._agree(query, price, *facts)

    def run() -> list[bytes]:
        seen.clear()
        parameters = parameters_of("1", **MANY)
        holder = Watching(
            arithmetic=PlainArithmetic(simulation(4)),
            engine=engine_of(SCHEMA, TABLES[0]),
            plan=planned(THREE, parameters),
            rows_at_most={0: ROWS_AT_MOST},
            owner=0,
            log=MemoryAnswerLog(),
        )
        DiffGenMethod().run(SCHEMA, parameters, holder)
        return list(seen)

    first = run()
    assert first == run() and len(set(first)) == len(first) > 8
