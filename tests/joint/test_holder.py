"""The joint holder under unchanged methods: all parties get the same answers, distributed as in the simulation; nothing
outside the plan is answered, and no noise is drawn twice."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from chi_square import ALPHA
from joint_threads import (
    ALL_ROLES,
    SUBMITTING,
    THREE,
    WITH_AGGREGATOR,
    Noiseless,
    RecordingMesh,
    keys_from,
    owner_or_none,
    roles_id,
    run_parties,
    same_bound,
)
from scipy.stats import chi2_contingency, ks_2samp

from scumble.auditing.laws.queries import engine_of
from scumble.errors import BudgetError, InputError, ScumbleError
from scumble.files.schema_file import parse_schema
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import JointHolder, SecretHolder
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.geometric_noise import DELTA_EACH
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.joint.protocol.sharing import Sharing
from scumble.joint.simulated import simulated_holder
from scumble.methods.diffgen.method import COUNT, DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.scores import Candidate, PartitionScores, Score, ValueScores
from scumble.methods.diffgen.together import CHOOSE
from scumble.methods.histograms.method import Histograms, HistogramsMethod
from scumble.methods.mdav.method import MDAV, MDAVMethod
from scumble.model.counts import Block, Integers
from scumble.model.cut import Cut
from scumble.model.guarantee import JointDP, Unit
from scumble.model.plan import Plan
from scumble.model.release import CellRelease
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, Selection, simulation
from scumble.privacy.query import CellCounts, RowChoice, Sensitivity

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 8, step: 1}}
  job: {taxonomy: {Any: {w: {a: , b: }, n: {c: , d: , e: }}}}
  sex: {taxonomy: {Any: {f: , m: }}}
  class: {classes: [x, y, z]}
"""
)
ROWS_AT_MOST = 500


def rows_of(owner: int, size: int = 40) -> list[tuple[int, ...]]:
    draw = np.random.default_rng(owner)
    return [
        (int(age), int(draw.integers(5)), int(draw.integers(2)), int((age > 4) + (draw.random() < 0.3)))
        for age in draw.integers(0, 8, size)
    ]


TABLES = {owner: rows_of(owner) for owner in range(5)}


def all_rows(roles: Roles) -> list[tuple[int, ...]]:
    return [row for owner in roles.owners for row in TABLES[owner]]


def planned(roles: Roles, parameters: DiffGen) -> Plan:
    return joint_plan(DiffGenMethod().plan(SCHEMA, parameters), roles, SCHEMA)


def run_jointly(
    roles: Roles,
    parameters: DiffGen,
    *,
    keys: Sequence[SessionKeys],
    logs: Sequence[MemoryAnswerLog] | None = None,
    tables: dict[int, list[tuple[int, ...]]] = TABLES,
    answered: Callable[[str], None] | None = None,
) -> tuple[list[CellRelease], list[RecordingMesh]]:
    plan = planned(roles, parameters)

    def act(mesh: RecordingMesh) -> CellRelease:
        holder = JointHolder(
            roles=roles,
            mesh=mesh,
            keys=keys[mesh.party],
            nonce=b"run",
            engine=engine_of(SCHEMA, tables[mesh.party]) if mesh.party in roles.owners else None,
            plan=plan,
            rows_at_most=same_bound(roles, ROWS_AT_MOST),
            log=logs[mesh.party] if logs else MemoryAnswerLog(),
            answered=answered,
        )
        return DiffGenMethod().run(SCHEMA, parameters, holder)

    return run_parties(roles.parties, act)


def same(releases: Sequence[CellRelease]) -> bool:
    first = releases[0]
    return all(r.story == first.story and r.measured.tolist() == first.measured.tolist() for r in releases)


@pytest.mark.parametrize("roles", ALL_ROLES, ids=roles_id)
@pytest.mark.parametrize("score", ["accuracy", "max"])
def test_unchanged_diffgen_gives_all_parties_the_same_release(roles: Roles, score: str) -> None:
    parameters = DiffGen(epsilon="200", rounds=3, score=score)
    releases, _ = run_jointly(roles, parameters, keys=keys_from("run", roles))
    assert same(releases)
    # With so large an epsilon the noise is zero.
    assert len(releases[0].story) == 3
    assert releases[0].measured.sum() == len(all_rows(roles))
    assert releases[0].measured.min() >= 0


class Following:
    """A noise source without noise that repeats given selections and records their ranks among the central scores."""

    def __init__(self, chosen: list[int]) -> None:
        self.chosen = chosen
        self.ranks: list[int] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return values

    def select(self, scores: Integers, **rest: Any) -> int:
        choice = self.chosen[len(self.ranks)]
        self.ranks.append(int((scores > scores[choice]).sum()))
        return choice


@pytest.mark.parametrize("roles", ALL_ROLES, ids=roles_id)
@pytest.mark.parametrize("score", ["accuracy", "max"])
def test_without_noise_the_joint_answers_are_the_central_ones(roles: Roles, score: str) -> None:
    """Every selected candidate has the largest central score, weights included, and every count is exact."""
    parameters = DiffGen(epsilon="3", rounds=4, score=score)
    plan, keys = planned(roles, parameters), keys_from("exact", roles)

    def act(mesh: RecordingMesh) -> tuple[CellRelease, list[int]]:
        log = MemoryAnswerLog()
        sharing = Sharing(roles=roles, mesh=mesh, keys=keys[mesh.party], nonce=b"")
        holder = SecretHolder(
            arithmetic=Noiseless(sharing),
            engine=engine_of(SCHEMA, TABLES[mesh.party]) if mesh.party in roles.owners else None,
            plan=plan,
            rows_at_most=same_bound(roles, ROWS_AT_MOST),
            owner=owner_or_none(roles, mesh.party),
            log=log,
        )
        release = DiffGenMethod().run(SCHEMA, parameters, holder)
        return release, [int.from_bytes(log.answers[step], "little") for step in range(4)]

    results, _ = run_parties(roles.parties, act)
    noise = Following(results[0][1])
    central = CentralHolder(
        engine=engine_of(SCHEMA, all_rows(roles)), noise=noise, plan=DiffGenMethod().plan(SCHEMA, parameters)
    )
    expected = DiffGenMethod().run(SCHEMA, parameters, central)
    assert same([expected, *(release for release, _ in results)])
    # The joint protocol rounds weights, by at most 1/512 of the noise scale; no two central scores here are that close.
    assert noise.ranks == [0, 0, 0, 0]


def test_answers_are_stored_before_use_and_recalled_instead_of_computed_again() -> None:
    parameters, keys = (
        DiffGen(epsilon="1", rounds=2, score="accuracy"),
        keys_from("once", WITH_AGGREGATOR),
    )
    logs = [MemoryAnswerLog() for _ in range(3)]
    releases, _ = run_jointly(WITH_AGGREGATOR, parameters, keys=keys, logs=logs)
    assert [sorted(log.answers) for log in logs] == [[0, 1, 2]] * 3
    again, meshes = run_jointly(WITH_AGGREGATOR, parameters, keys=keys, logs=logs)
    assert same([*releases, *again])
    assert all(mesh.sent == [] for mesh in meshes), "what is recalled costs no message"


@pytest.mark.parametrize("roles", [THREE, SUBMITTING], ids=roles_id)
@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_resumed_run_ends_as_the_uninterrupted_one(roles: Roles, kept: int) -> None:
    parameters, keys = DiffGen(epsilon="1/10", rounds=2, score="max"), keys_from("crash", roles)
    whole, meshes = run_jointly(roles, parameters, keys=keys)
    logs = [MemoryAnswerLog() for _ in range(roles.parties)]
    first = [MemoryAnswerLog() for _ in range(roles.parties)]
    run_jointly(roles, parameters, keys=keys, logs=first)
    for log, full in zip(logs, first, strict=True):
        log.answers = {step: full.answers[step] for step in range(kept)}
    again, repeated = run_jointly(roles, parameters, keys=keys, logs=logs)
    assert same([*whole, *again])
    for one, other in zip(meshes, repeated, strict=True):
        assert one.sent[len(one.sent) - len(other.sent) :] == other.sent, "the same messages"


def test_an_answer_that_cannot_be_stored_is_not_used() -> None:
    class Full(MemoryAnswerLog):
        def keep(self, step: int, label: str, answer: bytes) -> None:
            raise ScumbleError("no space left")

    labels: list[str] = []
    with pytest.raises(ScumbleError, match="no space left"):
        run_jointly(
            THREE,
            DiffGen(epsilon="1", rounds=1, score="max"),
            keys=keys_from("full", THREE),
            logs=[Full() for _ in range(3)],
            answered=labels.append,
        )
    assert labels == []


def test_the_guarantee_names_delta_and_coalition() -> None:
    parameters = DiffGen(epsilon="1", rounds=3, score="accuracy")
    plan = planned(SUBMITTING, parameters)
    assert isinstance(plan.guarantee, JointDP)
    assert (plan.guarantee.epsilon, plan.guarantee.coalition, plan.guarantee.unit) == (1, 1, Unit.ADD_REMOVE)
    # Three choices and the counts, each with at most 3 classes in every cell.
    assert plan.guarantee.delta == 4 * 3 * plan.cells_at_most * DELTA_EACH
    assert plan.guarantee.delta < Fraction(1, 2**60)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"score": "gini"}, "gini.*needs division"),
        ({"selection": "published", "score": "infogain"}, "infogain.*needs division"),
        ({"selection": "published", "score": "max"}, "exponential mechanism"),
    ],
)
def test_scores_that_cannot_be_computed_on_shares_are_refused_when_planning(
    parameters: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        planned(THREE, DiffGen(epsilon="1", rounds=2, **parameters))  # type: ignore[arg-type]


def test_methods_that_need_rows_are_refused_when_planning() -> None:
    schema = parse_schema(
        "scumble: schema/1\nunit: replace\nrows: 8\nattributes:\n  age: {numeric: {low: 0, high: 8, step: 1}}"
    )
    plan = MDAVMethod().plan(schema, MDAV(k=2))
    with pytest.raises(InputError, match="differentially private"):
        joint_plan(plan, THREE, schema)


def simulation_of(parameters: DiffGen, seed: int | None = 0, roles: Roles = THREE) -> SecretHolder:
    return simulated_holder(
        engine=engine_of(SCHEMA, all_rows(roles)),
        plan=planned(roles, parameters),
        rows_at_most=ROWS_AT_MOST,
        draw=simulation(seed),
    )


def test_another_method_with_additive_answers() -> None:
    """Histograms: no selection, and every party draws the same rows from the same noisy tables."""
    method, parameters = HistogramsMethod(), Histograms(epsilon="1")
    plan, keys = joint_plan(method.plan(SCHEMA, parameters), THREE, SCHEMA), keys_from("tables", THREE)

    def act(mesh: RecordingMesh) -> dict[str, list[Any]]:
        holder = JointHolder(
            roles=THREE,
            mesh=mesh,
            keys=keys[mesh.party],
            nonce=b"",
            engine=engine_of(SCHEMA, TABLES[mesh.party]),
            plan=plan,
            rows_at_most=same_bound(THREE, ROWS_AT_MOST),
            log=MemoryAnswerLog(),
        )
        return {name: list(column) for name, column in method.run(SCHEMA, parameters, holder).columns.items()}

    first, *others = run_parties(3, act)[0]
    assert all(other == first for other in others)
    assert abs(len(first["class"]) - len(all_rows(THREE))) < 60


class WholeRows(RowChoice):
    """A choice that no sum of the owners' counts answers."""

    def answer(self, blocks: Iterable[Block]) -> Integers:
        raise AssertionError("asked for rows")

    def sensitivity(self, unit: Unit) -> Sensitivity:
        return Sensitivity(bound=1)


def test_queries_outside_the_plan_are_refused() -> None:
    holder = simulation_of(DiffGen(epsilon="1", rounds=1, score="max"))
    counts = CellCounts(cut=Cut.top(SCHEMA))
    sex = Candidate(attribute="sex", node=SCHEMA["sex"].domain.root)
    job = Candidate(attribute="job", node=SCHEMA["job"].domain.root)
    best = ValueScores(schema=SCHEMA, candidates=(sex, job), score=Score.MAX)
    with pytest.raises(BudgetError, match="No spend 'other'"):
        holder.measure(counts, spend="other")
    with pytest.raises(BudgetError, match="needs division"):
        holder.choose(PartitionScores(cut=Cut.top(SCHEMA), candidates=(sex, job), score=Score.GINI), spend=CHOOSE)
    with pytest.raises(BudgetError, match="exponential mechanism"):
        holder.choose(best, spend=CHOOSE, selection=Selection.EXPONENTIAL)
    with pytest.raises(BudgetError, match="no exact answer"):
        holder.disclose(None)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="whole rows"):
        holder.choose_in_parts(WholeRows(), spend=CHOOSE)
    holder.choose(best, spend=CHOOSE)
    with pytest.raises(BudgetError, match="used up"):
        holder.choose(best, spend=CHOOSE)
    assert len(holder.measure(counts, spend=COUNT)) == 3
    with pytest.raises(BudgetError, match="used up"):
        holder.measure(counts, spend=COUNT)


def test_more_noise_than_planned_is_refused() -> None:
    holder = simulation_of(DiffGen(epsilon="1", rounds=1, score="max"))
    with pytest.raises(BudgetError, match="more noise values"):
        holder.measure(CellCounts(cut=Cut.leaves(SCHEMA)), spend=COUNT)


def test_owners_cannot_make_an_approximate_release() -> None:
    plan = HistogramsMethod().plan(SCHEMA, Histograms(epsilon="1", delta="1e-9"))
    with pytest.raises(InputError, match="pure epsilon only, so leave out --delta"):
        joint_plan(plan, THREE, SCHEMA)


def test_a_plan_for_one_owner_is_not_a_joint_plan() -> None:
    parameters = DiffGen(epsilon="1", rounds=1, score="max")
    with pytest.raises(BudgetError, match="joint plan"):
        simulated_holder(
            engine=engine_of(SCHEMA, []),
            plan=DiffGenMethod().plan(SCHEMA, parameters),
            rows_at_most=9,
            draw=simulation(),
        )


def test_an_owner_needs_rows_and_an_aggregator_has_none() -> None:
    parameters = DiffGen(epsilon="1", rounds=1, score="max")
    with pytest.raises(InputError, match="must have rows"):
        run_parties(
            3,
            lambda mesh: JointHolder(
                roles=WITH_AGGREGATOR,
                mesh=mesh,
                keys=keys_from("x", WITH_AGGREGATOR)[mesh.party],
                nonce=b"",
                engine=None,
                plan=planned(WITH_AGGREGATOR, parameters),
                rows_at_most=same_bound(WITH_AGGREGATOR, 9),
                log=MemoryAnswerLog(),
            ),
        )


def test_two_tables_with_the_same_answers_make_messages_of_the_same_form() -> None:
    """The rows are distributed differently among the owners: other tables, the same sums, the same opened values."""
    parameters = DiffGen(epsilon="3", rounds=3, score="accuracy")
    plan, keys = planned(THREE, parameters), keys_from("form", THREE)

    def run(tables: list[list[tuple[int, ...]]]) -> tuple[list[CellRelease], list[RecordingMesh]]:
        def act(mesh: RecordingMesh) -> CellRelease:
            holder = SecretHolder(
                arithmetic=Noiseless(Sharing(roles=THREE, mesh=mesh, keys=keys[mesh.party], nonce=b"")),
                engine=engine_of(SCHEMA, tables[mesh.party]),
                plan=plan,
                rows_at_most=same_bound(THREE, ROWS_AT_MOST),
                owner=mesh.party,
                log=MemoryAnswerLog(),
            )
            return DiffGenMethod().run(SCHEMA, parameters, holder)

        return run_parties(3, act)

    rows = all_rows(THREE)
    one, first = run([rows, [], []])
    other, second = run([[], rows[:7], rows[7:]])
    assert same([*one, *other])
    for before, after in zip(first, second, strict=True):
        assert [(peer, len(m)) for peer, m in before.received] == [(peer, len(m)) for peer, m in after.received]


def test_the_positions_of_a_coarser_grid() -> None:
    for positions, offered in ((1, {4}), (3, {2, 4, 6}), ("all", set(range(1, 8)))):
        parameters = DiffGen(epsilon="1/1000", rounds=1, score="accuracy", positions=positions)
        splits = set()
        for seed in range(300):
            story = DiffGenMethod().run(SCHEMA, parameters, simulation_of(parameters, seed)).story[0]
            if story.startswith("age"):
                splits.add(int(story.split("[0,")[2].split(")")[0]))
        assert splits == offered


def stories(releases: list[CellRelease]) -> Counter[tuple[str, ...]]:
    return Counter(release.story for release in releases)


def laws_differ(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> bool:
    """Whether a chi-square test rejects that two samples have the same law; rare outcomes are pooled."""
    common = [story for story in one | other if one[story] + other[story] >= 20]
    table = [
        [each[story] for story in common] + [sum(c for s, c in each.items() if s not in common)]
        for each in (one, other)
    ]
    filled = [column for column in zip(*table, strict=True) if sum(column)]
    return bool(chi2_contingency(np.array(filled).T).pvalue < ALPHA)


def compare_with_the_simulation(roles: Roles, parameters: DiffGen, runs: int, simulated_runs: int) -> None:
    joint = [run_jointly(roles, parameters, keys=keys_from(f"run {n}", roles))[0][0] for n in range(runs)]
    alike = [
        DiffGenMethod().run(SCHEMA, parameters, simulation_of(parameters, seed, roles))
        for seed in range(simulated_runs)
    ]
    assert not laws_differ(stories(joint), stories(alike))
    totals = [[int(release.measured.sum()) for release in releases] for releases in (joint, alike)]
    assert ks_2samp(*totals).pvalue > ALPHA
    stronger = DiffGen(**{**parameters.model_dump(), "epsilon": parameters.epsilon * 3})
    planted = [
        DiffGenMethod().run(SCHEMA, stronger, simulation_of(stronger, seed, roles)) for seed in range(simulated_runs)
    ]
    assert laws_differ(stories(joint), stories(planted)), "the test must reject noise of a third of the size"


def test_selections_and_counts_have_the_simulations_law() -> None:
    compare_with_the_simulation(THREE, DiffGen(epsilon="3/5", rounds=1, score="max"), 160, 800)


@pytest.mark.joint
@pytest.mark.parametrize(("roles", "score"), [(THREE, "accuracy"), (WITH_AGGREGATOR, "max"), (SUBMITTING, "accuracy")])
def test_selections_and_counts_have_the_simulations_law_over_rounds(roles: Roles, score: str) -> None:
    compare_with_the_simulation(roles, DiffGen(epsilon="1", rounds=2, score=score, positions=3), 500, 3_000)


def test_the_simulations_selections_have_the_central_law() -> None:
    """Joint and central selection differ only in the rounding of weights, which changes odds by less than a percent."""
    parameters = DiffGen(epsilon="2", rounds=1, score="accuracy")
    alike = [DiffGenMethod().run(SCHEMA, parameters, simulation_of(parameters, seed)) for seed in range(1_000)]
    plan, engine = DiffGenMethod().plan(SCHEMA, parameters), engine_of(SCHEMA, all_rows(THREE))
    central = [
        DiffGenMethod().run(SCHEMA, parameters, CentralHolder(engine=engine, noise=PaidNoise(), plan=plan))
        for _ in range(1_000)
    ]
    assert not laws_differ(stories(alike), stories(central))
