"""The joint holder under an unchanged method: the same answers for all, the twin's laws, nothing unplanned, no second
draw."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from chi_square import ALPHA
from joint_threads import ALL_SEATS, SUBMITTING, THREE, WITH_AGGREGATOR, EarMesh, Noiseless, keys_from, str_of_seats
from joint_threads import together as parties
from scipy.stats import chi2_contingency, ks_2samp

from scumble.auditing.laws.queries import engine_of
from scumble.errors import BudgetError, InputError, ScumbleError
from scumble.files.schema_file import parse_schema
from scumble.joint.holder import JointHolder, RecordInMemory, SecretHolder, joint_plan
from scumble.joint.protocol.geometric_noise import DELTA_EACH
from scumble.joint.protocol.roles import Seats
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.joint.protocol.sharing import Sharing
from scumble.joint.simulated import twin_holder
from scumble.methods.diffgen.method import CHOOSE, COUNT, DiffGen
from scumble.methods.diffgen.parameters import DiffGenParams
from scumble.methods.diffgen.scores import Candidate, PartitionScores, Score, ValueScores
from scumble.methods.histograms.method import Histograms, HistogramsParams
from scumble.methods.mdav.method import MDAV, GroupParams
from scumble.model.counts import Integers
from scumble.model.cut import Cut
from scumble.model.guarantee import JointDP, Unit
from scumble.model.plan import Plan
from scumble.model.release import CellRelease
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, Selection, simulation
from scumble.privacy.query import CellCounts

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


def everyone(seats: Seats) -> list[tuple[int, ...]]:
    return [row for owner in seats.owners for row in TABLES[owner]]


def planned(seats: Seats, parameters: DiffGenParams) -> Plan:
    return joint_plan(DiffGen().plan(SCHEMA, parameters), seats, SCHEMA)


def run_jointly(
    seats: Seats,
    parameters: DiffGenParams,
    *,
    keys: Sequence[SessionKeys],
    records: Sequence[RecordInMemory] | None = None,
    tables: dict[int, list[tuple[int, ...]]] = TABLES,
    answered: Callable[[str], None] | None = None,
) -> tuple[list[CellRelease], list[EarMesh]]:
    plan = planned(seats, parameters)

    def act(mesh: EarMesh) -> CellRelease:
        holder = JointHolder(
            seats=seats,
            mesh=mesh,
            keys=keys[mesh.seat],
            nonce=b"run",
            engine=engine_of(SCHEMA, tables[mesh.seat]) if mesh.seat in seats.owners else None,
            plan=plan,
            rows_at_most=ROWS_AT_MOST,
            record=records[mesh.seat] if records else RecordInMemory(),
            answered=answered,
        )
        return DiffGen().run(SCHEMA, parameters, holder)

    return parties(seats.parties, act)


def same(releases: Sequence[CellRelease]) -> bool:
    first = releases[0]
    return all(r.story == first.story and r.measured.tolist() == first.measured.tolist() for r in releases)


@pytest.mark.parametrize("seats", ALL_SEATS, ids=str_of_seats)
@pytest.mark.parametrize("score", ["accuracy", "max"])
def test_unchanged_diffgen_gives_all_parties_the_same_release(seats: Seats, score: str) -> None:
    parameters = DiffGenParams(epsilon="200", rounds=3, score=score)
    releases, _ = run_jointly(seats, parameters, keys=keys_from("run", seats))
    assert same(releases)
    # At so large an epsilon the counts carry no noise.
    assert len(releases[0].story) == 3
    assert releases[0].measured.sum() == len(everyone(seats))
    assert releases[0].measured.min() >= 0


class Following:
    """Central noise that is none, and ties like those of another choice: for comparing choices without noise."""

    def __init__(self, chosen: list[int]) -> None:
        self.chosen = chosen
        self.ranks: list[int] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return values

    def select(self, scores: Integers, **rest: Any) -> int:
        choice = self.chosen[len(self.ranks)]
        self.ranks.append(int((scores > scores[choice]).sum()))
        return choice


@pytest.mark.parametrize("seats", ALL_SEATS, ids=str_of_seats)
@pytest.mark.parametrize("score", ["accuracy", "max"])
def test_without_noise_the_joint_answers_are_the_central_ones(seats: Seats, score: str) -> None:
    """Every choice is one of the best of the central scores, weights included, and every count is exact."""
    parameters = DiffGenParams(epsilon="3", rounds=4, score=score)
    plan, keys = planned(seats, parameters), keys_from("exact", seats)

    def act(mesh: EarMesh) -> tuple[CellRelease, list[int]]:
        record = RecordInMemory()
        sharing = Sharing(seats=seats, mesh=mesh, keys=keys[mesh.seat], nonce=b"")
        holder = SecretHolder(
            arithmetic=Noiseless(sharing),
            engine=engine_of(SCHEMA, TABLES[mesh.seat]) if mesh.seat in seats.owners else None,
            plan=plan,
            rows_at_most=ROWS_AT_MOST,
            record=record,
        )
        release = DiffGen().run(SCHEMA, parameters, holder)
        return release, [int.from_bytes(record.answers[step], "little") for step in range(4)]

    results, _ = parties(seats.parties, act)
    noise = Following(results[0][1])
    central = CentralHolder(
        engine=engine_of(SCHEMA, everyone(seats)), noise=noise, plan=DiffGen().plan(SCHEMA, parameters)
    )
    expected = DiffGen().run(SCHEMA, parameters, central)
    assert same([expected, *(release for release, _ in results)])
    # The joint grid of weights is coarser, by 1/512 of a scale at most; no two central scores here are that close.
    assert noise.ranks == [0, 0, 0, 0]


def test_answers_are_kept_before_they_are_used_and_recalled_instead_of_drawn() -> None:
    parameters, keys = (
        DiffGenParams(epsilon="1", rounds=2, score="accuracy"),
        keys_from("once", WITH_AGGREGATOR),
    )
    records = [RecordInMemory() for _ in range(3)]
    releases, _ = run_jointly(WITH_AGGREGATOR, parameters, keys=keys, records=records)
    assert [sorted(record.answers) for record in records] == [[0, 1, 2]] * 3
    again, ears = run_jointly(WITH_AGGREGATOR, parameters, keys=keys, records=records)
    assert same([*releases, *again])
    assert all(mesh.sent == [] for mesh in ears), "what is recalled costs no message"


@pytest.mark.parametrize("seats", [THREE, SUBMITTING], ids=str_of_seats)
@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_run_taken_up_again_ends_as_it_would_have_ended(seats: Seats, kept: int) -> None:
    parameters, keys = DiffGenParams(epsilon="1/10", rounds=2, score="max"), keys_from("crash", seats)
    whole, ears = run_jointly(seats, parameters, keys=keys)
    records = [RecordInMemory() for _ in range(seats.parties)]
    first = [RecordInMemory() for _ in range(seats.parties)]
    run_jointly(seats, parameters, keys=keys, records=first)
    for record, full in zip(records, first, strict=True):
        record.answers = {step: full.answers[step] for step in range(kept)}
    again, heard = run_jointly(seats, parameters, keys=keys, records=records)
    assert same([*whole, *again])
    for one, other in zip(ears, heard, strict=True):
        assert one.sent[len(one.sent) - len(other.sent) :] == other.sent, "and in the same words"


def test_a_record_that_cannot_be_kept_gives_no_answer() -> None:
    class Full(RecordInMemory):
        def keep(self, step: int, label: str, answer: bytes) -> None:
            raise ScumbleError("no space left")

    told: list[str] = []
    with pytest.raises(ScumbleError, match="no space left"):
        run_jointly(
            THREE,
            DiffGenParams(epsilon="1", rounds=1, score="max"),
            keys=keys_from("full", THREE),
            records=[Full() for _ in range(3)],
            answered=told.append,
        )
    assert told == []


def test_the_guarantee_names_delta_and_coalition() -> None:
    parameters = DiffGenParams(epsilon="1", rounds=3, score="accuracy")
    plan = planned(SUBMITTING, parameters)
    assert isinstance(plan.guarantee, JointDP)
    assert (plan.guarantee.epsilon, plan.guarantee.coalition, plan.guarantee.unit) == (1, 1, Unit.ADD_REMOVE)
    # Three choices and the counts, each with at most 3 classes in every cell.
    assert plan.guarantee.delta == 4 * 3 * plan.cells_at_most * DELTA_EACH
    assert plan.guarantee.delta < Fraction(1, 2**60)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"score": "gini"}, "gini.*divides"),
        ({"selection": "published", "score": "infogain"}, "infogain.*divides"),
        ({"selection": "published", "score": "max"}, "exponential mechanism"),
    ],
)
def test_what_cannot_be_shared_is_refused_when_planning(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        planned(THREE, DiffGenParams(epsilon="1", rounds=2, **parameters))  # type: ignore[arg-type]


def test_methods_that_see_rows_are_refused_when_planning() -> None:
    schema = parse_schema(
        "scumble: schema/1\nunit: replace\nrows: 8\nattributes:\n  age: {numeric: {low: 0, high: 8, step: 1}}"
    )
    plan = MDAV().plan(schema, GroupParams(k=2))
    with pytest.raises(InputError, match="differentially private"):
        joint_plan(plan, THREE, schema)


def twin(parameters: DiffGenParams, seed: int | None = 0, seats: Seats = THREE) -> SecretHolder:
    return twin_holder(
        engine=engine_of(SCHEMA, everyone(seats)),
        plan=planned(seats, parameters),
        rows_at_most=ROWS_AT_MOST,
        draw=simulation(seed),
    )


def test_another_method_whose_answers_add_up() -> None:
    """Histograms: nothing is chosen, and every party draws the same rows from the same noisy tables."""
    method, parameters = Histograms(), HistogramsParams(epsilon="1")
    plan, keys = joint_plan(method.plan(SCHEMA, parameters), THREE, SCHEMA), keys_from("tables", THREE)

    def act(mesh: EarMesh) -> dict[str, list[Any]]:
        holder = JointHolder(
            seats=THREE,
            mesh=mesh,
            keys=keys[mesh.seat],
            nonce=b"",
            engine=engine_of(SCHEMA, TABLES[mesh.seat]),
            plan=plan,
            rows_at_most=ROWS_AT_MOST,
            record=RecordInMemory(),
        )
        return {name: list(column) for name, column in method.run(SCHEMA, parameters, holder).columns.items()}

    first, *others = parties(3, act)[0]
    assert all(other == first for other in others)
    assert abs(len(first["class"]) - len(everyone(THREE))) < 60


def test_nothing_unplanned_can_be_had() -> None:
    holder = twin(DiffGenParams(epsilon="1", rounds=1, score="max"))
    counts = CellCounts(cut=Cut.top(SCHEMA))
    sex = Candidate(attribute="sex", node=SCHEMA["sex"].domain.root)
    job = Candidate(attribute="job", node=SCHEMA["job"].domain.root)
    best = ValueScores(schema=SCHEMA, candidates=(sex, job), score=Score.MAX)
    with pytest.raises(BudgetError, match="No spend 'other'"):
        holder.measure(counts, spend="other")
    with pytest.raises(BudgetError, match="more than comparisons"):
        holder.choose(PartitionScores(cut=Cut.top(SCHEMA), candidates=(sex, job), score=Score.GINI), spend=CHOOSE)
    with pytest.raises(BudgetError, match="permute-and-flip"):
        holder.choose(best, spend=CHOOSE, selection=Selection.EXPONENTIAL)
    with pytest.raises(BudgetError, match="no exact answer"):
        holder.disclose(None)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="whole rows"):
        holder.choose_in_parts(None, spend=CHOOSE)  # type: ignore[arg-type]
    holder.choose(best, spend=CHOOSE)
    with pytest.raises(BudgetError, match="used up"):
        holder.choose(best, spend=CHOOSE)
    assert len(holder.measure(counts, spend=COUNT)) == 3
    with pytest.raises(BudgetError, match="used up"):
        holder.measure(counts, spend=COUNT)


def test_more_noise_than_planned_is_refused() -> None:
    holder = twin(DiffGenParams(epsilon="1", rounds=1, score="max"))
    with pytest.raises(BudgetError, match="more noise values"):
        holder.measure(CellCounts(cut=Cut.leaves(SCHEMA)), spend=COUNT)


def test_a_plan_for_one_owner_is_not_a_joint_plan() -> None:
    parameters = DiffGenParams(epsilon="1", rounds=1, score="max")
    with pytest.raises(BudgetError, match="joint plan"):
        twin_holder(
            engine=engine_of(SCHEMA, []), plan=DiffGen().plan(SCHEMA, parameters), rows_at_most=9, draw=simulation()
        )


def test_an_owner_needs_rows_and_an_aggregator_has_none() -> None:
    parameters = DiffGenParams(epsilon="1", rounds=1, score="max")
    with pytest.raises(InputError, match="must have rows"):
        parties(
            3,
            lambda mesh: JointHolder(
                seats=WITH_AGGREGATOR,
                mesh=mesh,
                keys=keys_from("x", WITH_AGGREGATOR)[mesh.seat],
                nonce=b"",
                engine=None,
                plan=planned(WITH_AGGREGATOR, parameters),
                rows_at_most=9,
                record=RecordInMemory(),
            ),
        )


def test_two_tables_with_the_same_answers_make_messages_of_the_same_form() -> None:
    """The rows change hands between the owners: other tables, the same sums and so the same opened values."""
    parameters = DiffGenParams(epsilon="3", rounds=3, score="accuracy")
    plan, keys = planned(THREE, parameters), keys_from("form", THREE)

    def heard(tables: list[list[tuple[int, ...]]]) -> tuple[list[CellRelease], list[EarMesh]]:
        def act(mesh: EarMesh) -> CellRelease:
            holder = SecretHolder(
                arithmetic=Noiseless(Sharing(seats=THREE, mesh=mesh, keys=keys[mesh.seat], nonce=b"")),
                engine=engine_of(SCHEMA, tables[mesh.seat]),
                plan=plan,
                rows_at_most=ROWS_AT_MOST,
                record=RecordInMemory(),
            )
            return DiffGen().run(SCHEMA, parameters, holder)

        return parties(3, act)

    rows = everyone(THREE)
    one, first = heard([rows, [], []])
    other, second = heard([[], rows[:7], rows[7:]])
    assert same([*one, *other])
    for before, after in zip(first, second, strict=True):
        assert [(peer, len(m)) for peer, m in before.heard] == [(peer, len(m)) for peer, m in after.heard]


def test_the_positions_of_a_coarser_grid() -> None:
    for positions, offered in ((1, {4}), (3, {2, 4, 6}), ("all", set(range(1, 8)))):
        parameters = DiffGenParams(epsilon="1/1000", rounds=1, score="accuracy", positions=positions)
        splits = set()
        for seed in range(300):
            story = DiffGen().run(SCHEMA, parameters, twin(parameters, seed)).story[0]
            if story.startswith("age"):
                splits.add(int(story.split("[0,")[2].split(")")[0]))
        assert splits == offered


def stories(releases: list[CellRelease]) -> Counter[tuple[str, ...]]:
    return Counter(release.story for release in releases)


def laws_differ(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> bool:
    """Two samples of outcomes against each other; rare outcomes are put together."""
    common = [story for story in one | other if one[story] + other[story] >= 20]
    table = [
        [each[story] for story in common] + [sum(c for s, c in each.items() if s not in common)]
        for each in (one, other)
    ]
    filled = [column for column in zip(*table, strict=True) if sum(column)]
    return bool(chi2_contingency(np.array(filled).T).pvalue < ALPHA)


def compare_with_the_twin(seats: Seats, parameters: DiffGenParams, runs: int, twin_runs: int) -> None:
    joint = [run_jointly(seats, parameters, keys=keys_from(f"run {n}", seats))[0][0] for n in range(runs)]
    alike = [DiffGen().run(SCHEMA, parameters, twin(parameters, seed, seats)) for seed in range(twin_runs)]
    assert not laws_differ(stories(joint), stories(alike))
    totals = [[int(release.measured.sum()) for release in releases] for releases in (joint, alike)]
    assert ks_2samp(*totals).pvalue > ALPHA
    stronger = DiffGenParams(**{**parameters.model_dump(), "epsilon": parameters.epsilon * 3})
    planted = [DiffGen().run(SCHEMA, stronger, twin(stronger, seed, seats)) for seed in range(twin_runs)]
    assert laws_differ(stories(joint), stories(planted)), "the test sees noise of a third of the size"


def test_choices_and_counts_have_the_twins_law() -> None:
    compare_with_the_twin(THREE, DiffGenParams(epsilon="3/5", rounds=1, score="max"), 160, 800)


@pytest.mark.joint
@pytest.mark.parametrize(("seats", "score"), [(THREE, "accuracy"), (WITH_AGGREGATOR, "max"), (SUBMITTING, "accuracy")])
def test_choices_and_counts_have_the_twins_law_over_rounds(seats: Seats, score: str) -> None:
    compare_with_the_twin(seats, DiffGenParams(epsilon="1", rounds=2, score=score, positions=3), 500, 3_000)


def test_the_twins_choices_have_the_central_law() -> None:
    """Joint and central differ in the grid of weights alone, which moves odds by less than a percent."""
    parameters = DiffGenParams(epsilon="2", rounds=1, score="accuracy")
    alike = [DiffGen().run(SCHEMA, parameters, twin(parameters, seed)) for seed in range(1_000)]
    plan, engine = DiffGen().plan(SCHEMA, parameters), engine_of(SCHEMA, everyone(THREE))
    central = [
        DiffGen().run(SCHEMA, parameters, CentralHolder(engine=engine, noise=PaidNoise(), plan=plan))
        for _ in range(1_000)
    ]
    assert not laws_differ(stories(alike), stories(central))
