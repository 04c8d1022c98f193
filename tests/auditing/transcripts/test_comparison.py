"""Transcripts of two tables are compared answer by answer; what differs beside the exact values is an infinite loss."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from scumble.auditing.transcripts.comparison import TranscriptLoss, compare
from scumble.auditing.transcripts.noise_laws import NoiseLaw, NoiseMechanism
from scumble.auditing.transcripts.observed_draws import Draw
from scumble.auditing.transcripts.transcript import RunTranscript, TranscribedAnswer

LAW = NoiseLaw(mechanism=NoiseMechanism.LAPLACE, scale=Fraction(2))


def answer(values: list[int], outcome: list[int], price: str = "1/2", label: str = "count") -> TranscribedAnswer:
    draw = Draw(law=LAW, values=np.array(values), outcome=np.array(outcome))
    return TranscribedAnswer(label=label, price=Fraction(price), draws=(draw,), released=np.array(outcome))


DRAW = answer([3], [5]).draws[0]


def transcript(*answers: TranscribedAnswer, story: str = "") -> RunTranscript:
    return RunTranscript(answers=answers, release={"story": story})


def test_losses_of_answers_add_up() -> None:
    first = transcript(answer([3], [5]), answer([3], [4]))
    second = transcript(answer([2], [5]), answer([4], [4]))
    found = compare(first, second)
    assert [each.loss.most for each in found.answers] == [Fraction(1, 2), Fraction(-1, 2)]
    assert found.total.size == 0
    assert found.violation(Fraction(1)) == ""
    assert compare(second, first).answers[0].loss.most == -found.answers[0].loss.most


def test_an_answer_may_not_lose_more_than_its_price() -> None:
    found = compare(transcript(answer([3], [5], price="49/100")), transcript(answer([2], [5], price="49/100")))
    assert "'count' has a privacy loss of 0.5, and the plan counts 0.49" in found.violation(Fraction(1))


def test_all_answers_may_not_lose_more_than_epsilon() -> None:
    first, second = transcript(answer([3], [5]), answer([3], [5])), transcript(answer([2], [5]), answer([2], [5]))
    assert compare(first, second).violation(Fraction(1)) == ""
    assert "All answers have a privacy loss of 1, and epsilon is 0.99" in compare(first, second).violation(
        Fraction("0.99")
    )


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (transcript(), "the number of answers"),
        (transcript(answer([3], [5]), story="another"), "differ in 'story'"),
        (transcript(answer([3], [5], label="another")), "another spend"),
        (transcript(answer([3, 4], [5, 5])), "another number of values"),
        (transcript(replace(answer([3], [5]), released=np.array([6]))), "not a function of the noisy outcomes"),
        (
            transcript(
                replace(answer([3], [5]), draws=(replace(answer([3], [5]).draws[0], law=replace(LAW, scale=3)),))
            ),
            "another distribution",
        ),
    ],
)
def test_whatever_else_differs_is_an_infinite_loss(other: RunTranscript, words: str) -> None:
    first = transcript(answer([3], [5]))
    for found in (compare(first, other), compare(other, first)):
        assert words in found.fault
        assert "infinite" in found.violation(Fraction(1))


def test_lines_in_ascending_order_are_compared_as_a_multiset() -> None:
    def lines(values: list[int]) -> RunTranscript:
        return transcript(replace(answer(values, [1, 1, 9, 9]), numbers_per_line=2))

    assert compare(lines([0, 0, 8, 8]), lines([8, 8, 0, 0])).total.size == 0
    assert compare(lines([0, 0, 8, 8]), lines([8, 8, 0, 1])).total.size == Fraction(1, 2)


def test_a_fault_needs_no_answers() -> None:
    assert TranscriptLoss(fault="something differs").total.size == 0
