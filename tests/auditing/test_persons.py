"""Releases of persons with several rows under the audits: a person costs at most epsilon, with any number of rows."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from planted_transcript_bugs import use_all_rows_of_a_person

import scumble
from scumble.auditing.laws.cases import parameters_for
from scumble.auditing.neighbours import candidate_pairs
from scumble.auditing.persons import pair_engine
from scumble.auditing.transcripts.check import CentralExecution, TranscriptCheck
from scumble.auditing.transcripts.finding import TranscriptFinding
from scumble.engines import contributions
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.methods import method_named
from scumble.methods.persons import without_persons

SCHEMA = parse_schema(
    """
scumble: schema/1
person: patient-id
rows_each_at_most: 3
rows_at_most: 100
target: ill
attributes:
  age: {numeric: {low: 0, high: 4, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
  ill: {classes: ["no", "yes"]}
"""
)
MODES: list[tuple[str, dict[str, Any]]] = [
    ("histograms", {}),
    ("diffgen", {"leaves": True}),
    ("diffgen", {"rounds": 2, "score": "accuracy"}),
]


def checked(method: str, settings: dict[str, Any]) -> TranscriptFinding:
    chosen = method_named(method)
    parameters = parameters_for(chosen, 1, settings)
    execution = CentralExecution(method=chosen, schema=SCHEMA, parameters=parameters)
    pairs = candidate_pairs(chosen, SCHEMA, parameters)
    pairs = [*pairs[:6], pairs[-1]]
    return TranscriptCheck(execution).check(pairs, transcripts=2)


@pytest.mark.parametrize(("method", "settings"), MODES)
def test_a_person_costs_epsilon_and_no_more(method: str, settings: dict[str, Any]) -> None:
    """The audited person has twice as many rows as are used. The bound is reached, so no budget is wasted either."""
    finding = checked(method, settings)
    assert finding.violation == "", finding.sentence
    assert finding.epsilon == 1
    assert finding.largest > (0.99 if method == "histograms" or "leaves" in settings else 0.3)


def test_without_the_bound_the_check_finds_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = MemoryEngine.open

    def unbounded(batches: Any, schema: Any, *, key: bytes = contributions.NO_KEY) -> MemoryEngine:
        return opened(batches, without_persons(schema), key=key)

    monkeypatch.setattr(MemoryEngine, "open", unbounded)
    assert "privacy loss of 2" in checked("histograms", {}).violation


def test_pairs_of_persons_differ_in_the_bound() -> None:
    method = method_named("histograms")
    for pair in candidate_pairs(method, SCHEMA, method.parameters(epsilon="1")):
        assert len(pair.second) == len(pair.first) + 6
        first, second = (pair_engine(SCHEMA, pair, rows) for rows in (pair.first, pair.second))
        copies = Counter(pair.first)
        used = sum(min(3, sum(number > person for number in copies.values())) for person in range(len(pair.first)))
        assert (first.rows, second.rows) == (used, used + 3)
        assert used == len(pair.first) or "more rows than are used" in pair.why
        alone = replace(SCHEMA, person=None, rows_each_at_most=None)
        assert pair_engine(alone, pair, pair.second).rows == len(pair.second)


@pytest.mark.audit
def test_the_sampling_audit_of_a_release_of_persons() -> None:
    found = scumble.audit("histograms", schema=SCHEMA, epsilon="1", runs=1000, variations=0)
    assert found.declared == 1
    assert not found.refuted
    assert found.found > 0.3


@pytest.mark.audit
def test_the_sampling_audit_finds_that_rows_are_not_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The true loss is 2. By the frequencies of one audit, a bound of 1 or less is rarer than one in a million."""
    use_all_rows_of_a_person(monkeypatch)
    method = method_named("histograms")
    pairs = candidate_pairs(method, SCHEMA, method.parameters(epsilon="1"))[:1]
    found = scumble.audit("histograms", schema=SCHEMA, epsilon="1", runs=2000, variations=0, workers=1, pairs=pairs)
    assert found.refuted, found.sentence
