"""Planted bugs for the transcript check: methods, queries and patches, each with one broken part of a guarantee."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from planted_bugs import Wrapped
from pydantic import Field

from scumble.engines import contributions, memory
from scumble.engines.coding import code_blocks
from scumble.methods import persons as persons_module
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.scores import Candidate, Score, ValueScores
from scumble.methods.histograms.method import ClassTables, Histograms, HistogramsMethod
from scumble.methods.method import Exact, Params
from scumble.methods.microaggregate import parameters as microaggregate_parameters
from scumble.model.counts import Block, Counts, Integers, Tabulation
from scumble.model.cut import Cut
from scumble.model.guarantee import PureDP, Unit
from scumble.model.persons import Persons
from scumble.model.plan import Plan, Spend
from scumble.model.release import CellRelease, RecordRelease
from scumble.model.schema import Schema
from scumble.model.zcdp import epsilon_within, rho_within
from scumble.privacy import holder as holder_module
from scumble.privacy.holder import CentralHolder
from scumble.privacy.query import Choice, Region, RowMeasurement, Sensitivity


@dataclass(frozen=True, kw_only=True)
class OneTableTooFew(ClassTables):
    """Declares that a record is counted in one table less than it is."""

    def sensitivity(self, unit: Unit) -> Sensitivity:
        return Sensitivity(bound=super().sensitivity(unit).bound - 1)


class HistogramsOneTooFew(HistogramsMethod):
    """Histograms with a sensitivity that is one too small."""

    def run(self, schema: Schema, parameters: Histograms, holder: CentralHolder) -> RecordRelease:
        measure = holder.measure
        holder.measure = lambda query, **options: measure(  # type: ignore[method-assign]
            OneTableTooFew(schema=query.schema), **options
        )
        return super().run(schema, parameters, holder)


class PeeksAtTheSize(Wrapped):
    """The unit of the counts depends on the exact number of rows, for which nothing was paid."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        measure, rows = holder.measure, sum(len(block[0]) for block in holder._engine.blocks())
        holder.measure = lambda query, **options: measure(  # type: ignore[method-assign]
            replace(query, resolution=2 + rows % 2), **options
        )
        return super().run(schema, parameters, holder)


class PublishesTheSize(Wrapped):
    """The release contains the exact number of rows. No answer does."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        rows = sum(len(block[0]) for block in holder._engine.blocks())
        return replace(super().run(schema, parameters, holder), story=(f"{rows} rows",))


class SkipsThePurse(Wrapped):
    """An answer that is drawn with noise and never paid for."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        exact = np.array([sum(len(block[0]) for block in holder._engine.blocks())])
        rows = holder._noise.laplace(exact, sensitivity=1, epsilon=Fraction(1, 100))
        return replace(super().run(schema, parameters, holder), story=(f"{rows} rows",))


@dataclass(frozen=True, kw_only=True)
class Published:
    """A release of toy methods: the answers."""

    answers: tuple[int, ...]


class ToyParams(Params):
    """Parameters of toy methods."""

    epsilon: Exact = Field(default=Fraction(1))


@dataclass(frozen=True, kw_only=True)
class Toy:
    """A method with one spend for one question."""

    ask: Callable[[Schema, CentralHolder], list[int]]
    shared: bool = False
    name: str = "toy"
    summary: str = "A toy."
    parameters: type[Params] = ToyParams

    def plan(self, schema: Schema, parameters: ToyParams) -> Plan:
        guarantee = PureDP(epsilon=parameters.epsilon, unit=schema.unit)
        spend = Spend(label="toy", epsilon=parameters.epsilon, shared=self.shared)
        return Plan(guarantee=guarantee, spends=(spend,), cells_at_most=1)

    def run(self, schema: Schema, parameters: ToyParams, holder: CentralHolder) -> Published:
        return Published(answers=tuple(self.ask(schema, holder)))


@dataclass(frozen=True, kw_only=True)
class Mislabelled(ValueScores):
    """Scores that depend on all records, and claim to depend on those of one region."""

    claimed: Region

    @property
    def region(self) -> Region | None:
        return self.claimed


def ask_two_regions(schema: Schema, holder: CentralHolder) -> list[int]:
    """One price for the same question twice, labelled as questions about disjoint records."""
    domain = schema["group"].domain
    candidates = tuple(Candidate(attribute=each.name, node=each.domain.root, position=2) for each in schema.predictors)
    queries = [
        Mislabelled(schema=schema, candidates=candidates, score=Score.MAX, claimed=("group", node))
        for node in domain.root.children
    ]
    return holder.choose_apart(queries, spend="toy")


@dataclass(frozen=True, kw_only=True)
class HighScores(Choice):
    """The number of records plus a constant so large that shifted scores exceed 64 bits, against the constant alone."""

    schema: Schema
    base: int = 2**47 - 2

    @property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=Cut.top(self.schema))

    def answer(self, counts: Counts) -> Integers:
        return np.array([self.base + counts.cells.sum(), self.base])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        return Sensitivity(bound=1, monotone=True)


def ask_high_scores(schema: Schema, holder: CentralHolder) -> list[int]:
    return [holder.choose(HighScores(schema=schema), spend="toy")]


@dataclass(frozen=True, kw_only=True)
class FirstColumn(RowMeasurement):
    """The sum of one column, which is said to be bounded by one and is not clipped."""

    def answer(self, blocks: Iterable[Block]) -> Integers:
        return np.array([sum(int(block[0].sum()) for block in blocks)])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        return Sensitivity(bound=1)


def ask_for_a_sum(schema: Schema, holder: CentralHolder) -> list[int]:
    return holder.measure(FirstColumn(), spend="toy").tolist()


def leave_scores_unclipped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(holder_module, "LARGEST_SCORE", 2**70)


def leave_lines_in_order(patch: pytest.MonkeyPatch) -> None:
    """Noisy records in the order of the rows, as before a table was a multiset."""
    patch.setattr(holder_module, "_in_ascending_order", lambda lines: lines)


def count_shared_spends_once(patch: pytest.MonkeyPatch) -> None:
    """Under `replace` a changed record leaves one part and enters another, which the plan counts as one change."""
    patch.setattr(Spend, "total", lambda spend, unit: spend.epsilon * spend.times)
    patch.setattr(microaggregate_parameters, "shared_factor", lambda schema: 1)


def use_all_rows_of_a_person(patch: pytest.MonkeyPatch) -> None:
    """The rows of persons are not bounded."""
    patch.setattr(memory, "bounded_blocks", lambda batches, schema, persons, key: code_blocks(batches, schema))


def use_the_first_rows_of_a_person(patch: pytest.MonkeyPatch) -> None:
    """Which rows of a person are used depends on the order of the table, as with a plain window."""

    def first(persons: Integers, hashes: object, most: int) -> npt.NDArray[np.bool_]:
        del hashes
        seen: Counter[int] = Counter()
        kept = []
        for person in persons.tolist():
            seen[person] += 1
            kept.append(seen[person] <= most)
        return np.array(kept)

    patch.setattr(contributions, "kept_rows", first)


def use_the_first_rows_of_the_table(patch: pytest.MonkeyPatch) -> None:
    """Also bounds the rows of all persons together: the rows of one person displace those of others."""
    shipped = contributions.kept_rows

    def few(persons: Integers, hashes: Integers, most: int) -> npt.NDArray[np.bool_]:
        kept = shipped(persons, hashes, most)
        return kept & (np.where(kept, hashes, hashes.max()).argsort().argsort() < 4 * most)

    patch.setattr(contributions, "kept_rows", few)


def plan_persons_in_rho_as_in_epsilon(patch: pytest.MonkeyPatch) -> None:
    """The rho of a row counts once for each row of a person, as an epsilon would, and not by the square."""

    def for_one_row(method: object, persons: Persons, parameters: Params) -> Params:
        del method
        rho = rho_within(parameters.epsilon, parameters.delta) / persons.rows_each_at_most
        return parameters.model_copy(update={"epsilon": epsilon_within(rho, parameters.delta)})

    patch.setattr(persons_module, "_for_one_row", for_one_row)
    patch.setattr(Plan, "for_persons", lambda plan, total: total * plan.rows_each_at_most)


def plan_persons_as_records(patch: pytest.MonkeyPatch) -> None:
    """Epsilon is not divided among the rows of a person, and the guarantee is still said to be that of a person."""
    patch.setattr(persons_module, "_for_one_row", lambda method, persons, parameters: parameters)
    patch.setattr(persons_module, "_for_persons", lambda guarantee, persons: replace(guarantee, protects=persons))
    patch.setattr(Plan, "rows_each_at_most", 1)
