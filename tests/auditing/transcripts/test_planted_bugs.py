"""The transcript check finds every planted bug, and nothing in the correct methods on the same tables.

The check is deterministic given the tables and the outcomes. Tables and outcomes are random beside the chosen ones, but
a correct method passes on all of them: there are no false alarms.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pytest
from planted_bugs import (
    ATenthLessGaussianNoise,
    Averaged,
    BestOfSeveral,
    ChargedOnce,
    GiniClaimedMonotone,
    HalfTheNoise,
    NeverAboveTheLargest,
    NoNoiseFromThreeToNine,
    OnlyNonEmpty,
    RangeFromData,
    ReplacedOneTooSmall,
    Seeded,
)
from planted_transcript_bugs import (
    HistogramsOneTooFew,
    PeeksAtTheSize,
    PublishesTheSize,
    SkipsThePurse,
    Toy,
    ask_for_a_sum,
    ask_high_scores,
    ask_two_regions,
    count_shared_spends_once,
    leave_lines_in_order,
    leave_scores_unclipped,
    plan_persons_as_records,
    plan_persons_in_rho_as_in_epsilon,
    use_all_rows_of_a_person,
    use_the_first_rows_of_a_person,
    use_the_first_rows_of_the_table,
)

from scumble.auditing.laws.cases import parameters_for, small_schemas
from scumble.auditing.neighbours import candidate_pairs
from scumble.auditing.transcripts.cases import OF_PERSONS
from scumble.auditing.transcripts.check import CentralExecution, TranscriptCheck
from scumble.auditing.transcripts.finding import TranscriptFinding
from scumble.auditing.transcripts.tables import random_pairs
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.histograms.method import HistogramsMethod
from scumble.methods.mdav.method import PLAIN
from scumble.methods.method import Method
from scumble.methods.microaggregate.method import MicroaggregateMethod
from scumble.model.schema import Schema
from scumble.privacy.noise import Noise, PaidNoise, simulation

ADDED, REPLACED, _, NUMBERS, *_ = small_schemas()
PERSONS = replace(ADDED, **OF_PERSONS)
RANDOM_PAIRS = 25


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A bug, the correct method that has it, and what the check says."""

    correct: Method | None = None
    wrong: Method | None = None
    noise: type[Noise] = PaidNoise
    patch: Callable[[pytest.MonkeyPatch], None] | None = None
    schema: Schema = ADDED
    settings: dict[str, Any]
    says: str

    def check(self, method: Method, noise: type[Noise]) -> TranscriptFinding:
        parameters = parameters_for(method, 1, self.settings)
        execution = CentralExecution(method=method, schema=self.schema, parameters=parameters, noise=noise)
        random = islice(random_pairs(self.schema, simulation()), RANDOM_PAIRS)
        pairs = [*candidate_pairs(method, self.schema, parameters), *random]
        return TranscriptCheck(execution).check(pairs, transcripts=3)


LEAVES = {"leaves": True}
DELTA = {"delta": "1e-9"}
DIFFGEN = DiffGenMethod()
PLANTED = {
    "half the noise": Planted(correct=DIFFGEN, noise=HalfTheNoise, settings=LEAVES, says="privacy loss of 2"),
    "half the noise on choices' counts": Planted(
        correct=DIFFGEN, noise=HalfTheNoise, settings={"rounds": 2, "score": "max"}, says="counts 0.5"
    ),
    "a sensitivity one too small": Planted(
        correct=HistogramsMethod(), wrong=HistogramsOneTooFew(), settings={}, says="privacy loss of 2"
    ),
    "a sensitivity one too small under replace": Planted(
        correct=DIFFGEN, wrong=ReplacedOneTooSmall(), schema=REPLACED, settings=LEAVES, says="privacy loss of 2"
    ),
    "a tenth less Gaussian noise": Planted(
        correct=HistogramsMethod(), noise=ATenthLessGaussianNoise, settings=DELTA, says="and the plan counts 0.014973"
    ),
    "an L2 sensitivity one too small": Planted(
        correct=HistogramsMethod(), wrong=HistogramsOneTooFew(), settings=DELTA, says="privacy loss of 0.0299461"
    ),
    "the rho of persons counted like an epsilon": Planted(
        correct=HistogramsMethod(),
        patch=plan_persons_in_rho_as_in_epsilon,
        schema=PERSONS,
        settings=DELTA,
        says="privacy loss of 0.044919",
    ),
    "two uses charged once": Planted(correct=DIFFGEN, wrong=ChargedOnce(), settings=LEAVES, says="All answers"),
    "two uses charged once, averaged": Planted(correct=DIFFGEN, wrong=Averaged(), settings=LEAVES, says="All answers"),
    "an answer that depends on an unpaid count": Planted(
        correct=DIFFGEN, wrong=PeeksAtTheSize(), settings=LEAVES, says="infinite"
    ),
    "a release that contains an unpaid count": Planted(
        correct=DIFFGEN, wrong=PublishesTheSize(), settings=LEAVES, says="differ in 'story'"
    ),
    "a noisy answer that is not paid for": Planted(
        correct=DIFFGEN, wrong=SkipsThePurse(), settings=LEAVES, says="outside of every answer"
    ),
    "rounds chosen by looking at the rows": Planted(
        correct=DIFFGEN, wrong=BestOfSeveral(), settings={"rounds": 2}, says="outside of every answer"
    ),
    "a region that is not what it says": Planted(
        wrong=Toy(ask=ask_two_regions, shared=True), settings={}, says="the plan counts 1 for it"
    ),
    "a sum of values that are not clipped": Planted(
        wrong=Toy(ask=ask_for_a_sum), settings={}, says="the plan counts 1"
    ),
    "scores that are not clipped": Planted(
        correct=Toy(ask=ask_high_scores), patch=leave_scores_unclipped, settings={}, says="the plan counts 1"
    ),
    "shared spends not doubled under replace": Planted(
        correct=MicroaggregateMethod(),
        patch=count_shared_spends_once,
        schema=NUMBERS,
        settings={"depth": 2},
        says="the plan counts",
    ),
    "records in the order of the rows": Planted(
        correct=PLAIN, patch=leave_lines_in_order, schema=NUMBERS, settings={}, says="the plan counts 1"
    ),
    "monotone scores declared, but not true": Planted(
        correct=DIFFGEN,
        wrong=GiniClaimedMonotone(),
        settings={"rounds": 1, "score": "gini"},
        says="'choose a split' has",
    ),
    "rows of persons that are not bounded": Planted(
        correct=HistogramsMethod(),
        patch=use_all_rows_of_a_person,
        schema=PERSONS,
        settings={},
        says="privacy loss of 2",
    ),
    "rows of persons chosen by the order of the table": Planted(
        correct=DIFFGEN, patch=use_the_first_rows_of_a_person, schema=PERSONS, settings=LEAVES, says="counts 1 for it"
    ),
    "rows of persons that displace those of others": Planted(
        correct=DIFFGEN, patch=use_the_first_rows_of_the_table, schema=PERSONS, settings=LEAVES, says="counts 1 for it"
    ),
    "epsilon of persons not divided among their rows": Planted(
        correct=DIFFGEN, patch=plan_persons_as_records, schema=PERSONS, settings=LEAVES, says="privacy loss of 3"
    ),
    "noise only on non-empty cells": Planted(correct=DIFFGEN, noise=OnlyNonEmpty, settings=LEAVES, says="infinite"),
    "no noise on counts from three to nine": Planted(
        correct=DIFFGEN, noise=NoNoiseFromThreeToNine, settings=LEAVES, says="infinite"
    ),
    "a seeded generator": Planted(correct=DIFFGEN, noise=Seeded, settings=LEAVES, says="infinite"),
    "range taken from the data": Planted(
        correct=DIFFGEN, wrong=RangeFromData(), settings={"rounds": 1}, says="differ in 'schema'"
    ),
    "no split above the largest value": Planted(
        correct=DIFFGEN, wrong=NeverAboveTheLargest(), settings={"rounds": 1}, says="infinite|next draw differs"
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = PLANTED[name]
    if planted.patch is not None:
        planted.patch(monkeypatch)
    method = planted.wrong or planted.correct
    assert method is not None
    finding = planted.check(method, planted.noise)
    print(f"\n{name}: {finding.transcripts} transcripts. {finding.violation}")  # noqa: T201 - for docs/audit.md
    assert any(words in finding.violation for words in planted.says.split("|"))


@pytest.mark.audit
@pytest.mark.parametrize("name", [name for name, planted in PLANTED.items() if planted.correct is not None])
def test_the_correct_method_passes_on_the_same_tables(name: str) -> None:
    planted = PLANTED[name]
    assert planted.correct is not None
    finding = planted.check(planted.correct, PaidNoise)
    assert finding.violation == ""
    assert finding.transcripts > 3 * RANDOM_PAIRS
