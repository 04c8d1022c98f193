"""Joint releases: no transcript of the joint holder has a larger loss than its price, under the ideal noise."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from chi_square import chi_square_rejects
from selection_laws import permute_and_flip_law

from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.neighbours import candidate_pairs
from scumble.auditing.transcripts.check import TranscriptCheck
from scumble.auditing.transcripts.finding import TranscriptFinding
from scumble.auditing.transcripts.joint_execution import JointExecution
from scumble.auditing.transcripts.tables import random_pairs
from scumble.joint.protocol.geometric_noise import geometric_law
from scumble.joint.simulated import PlainArithmetic
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.histograms.method import HistogramsMethod
from scumble.methods.method import Method
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation

ADDED, REPLACED = small_schemas()[:2]
PERSONS = replace(ADDED, person="patient-id", rows_each_at_most=3)
MODES = [
    (HistogramsMethod(), {}),
    (DiffGenMethod(), {"leaves": True}),
    (DiffGenMethod(), {"rounds": 2, "score": "accuracy"}),
    (DiffGenMethod(), {"rounds": 2, "score": "max"}),
    (DiffGenMethod(), {"detail": "yes", "score": "accuracy"}),
    (DiffGenMethod(), {"detail": "yes", "score": "accuracy", "records": 40_000}),
]


def checked(method: Method, settings: dict[str, Any], schema: Schema, random: int = 5) -> TranscriptFinding:
    parameters = method.parameters(epsilon=1, **settings)
    execution = JointExecution(method=method, schema=schema, parameters=parameters)
    pairs = [*candidate_pairs(method, schema, parameters), *islice(random_pairs(schema, simulation()), random)]
    finding = TranscriptCheck(execution).check(pairs, transcripts=4)
    print(f"\n{method.name} {settings}, joint, {schema.unit.value}: {finding.sentence}")  # noqa: T201
    return finding


@pytest.mark.audit
@pytest.mark.parametrize("schema", [ADDED, REPLACED, PERSONS], ids=["add-remove", "replace", "persons"])
@pytest.mark.parametrize(("method", "settings"), MODES)
def test_the_loss_of_joint_transcripts_is_within_epsilon(
    method: Method, settings: dict[str, Any], schema: Schema
) -> None:
    finding = checked(method, settings, schema)
    assert finding.violation == ""
    assert finding.largest > Fraction(1, 2)


def test_half_the_noise_of_a_joint_release_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from scumble.joint import holder

    monkeypatch.setattr(holder, "geometric_law", lambda rate, shift: geometric_law(2 * rate, shift))
    for method, settings in MODES[1:3]:
        assert "privacy loss" in checked(method, settings, ADDED).violation


def test_the_largest_score_with_geometric_noise_is_permute_and_flip() -> None:
    """The identity that the check relies on, sampled: score plus geometric noise, ties broken at random."""
    scores, rate, runs = np.array([[3, 3, 2, 0]]), Fraction(1, 2), 20_000
    arithmetic = PlainArithmetic(simulation())
    law = geometric_law(rate, 1)
    seen = Counter(arithmetic.noisy_argmax(scores, law=law, bits=20) for _ in range(runs))
    expected = dict(enumerate(permute_and_flip_law(scores[0].tolist(), float(1 / rate))))
    assert not chi_square_rejects(seen, expected)
    assert chi_square_rejects(seen, dict(enumerate(permute_and_flip_law(scores[0].tolist(), 0.6 * float(1 / rate)))))
