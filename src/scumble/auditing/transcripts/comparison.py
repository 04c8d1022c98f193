"""Compares the transcripts of two tables with the same outcomes: the privacy loss of every answer and of all."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from scumble.auditing.transcripts.noise_laws import Loss
from scumble.auditing.transcripts.transcript import RunTranscript, TranscribedAnswer


@dataclass(frozen=True, kw_only=True)
class AnswerLoss:
    """The loss of one answer, and the part of epsilon or rho that the plan counts for it.

    Where prices are rhos, the loss is that of `NoiseLaw.concentrated_loss`, which does not depend on the outcome.
    """

    label: str
    price: Fraction
    loss: Loss


@dataclass(frozen=True, kw_only=True)
class TranscriptLoss:
    """The privacy loss of a transcript: of each answer, and of all together."""

    answers: tuple[AnswerLoss, ...] = ()
    fault: str = ""
    """How the two runs differ although all outcomes are the same: they reveal the table without noise."""

    @property
    def total(self) -> Loss:
        return sum((answer.loss for answer in self.answers), Loss())

    def violation(self, limit: Fraction, name: str = "epsilon") -> str:
        """What is wrong, in a sentence; empty if every loss is within its price and their sum within the limit, an
        epsilon or, if so named, a rho."""
        if self.fault:
            return f"With the same outcomes of all noise, {self.fault}. Its privacy loss is infinite."
        for answer in self.answers:
            if answer.loss.exceeds(answer.price):
                return (
                    f"The answer {answer.label!r} has a privacy loss of {float(answer.loss.size):.6g}, and the plan "
                    f"counts {float(answer.price):.6g} for it."
                )
        if self.total.exceeds(limit):
            return f"All answers have a privacy loss of {float(self.total.size):.6g}, and {name} is {float(limit):g}."
        return ""


def compare(first: RunTranscript, second: RunTranscript) -> TranscriptLoss:
    """The privacy loss of the first table against the second. Both transcripts must have the same outcomes."""
    losses = []
    for number, (here, there) in enumerate(zip(first.answers, second.answers, strict=False), start=1):
        fault = _difference(here, there)
        if fault:
            return TranscriptLoss(fault=f"answer {number}, {here.label!r}, differs between the tables: {fault}")
        losses.append(AnswerLoss(label=here.label, price=here.price, loss=_loss(here, there)))
    if len(first.answers) != len(second.answers):
        return TranscriptLoss(fault="the number of answers differs between the tables")
    for name, value in first.release.items():
        if second.release.get(name) != value:
            return TranscriptLoss(fault=f"the releases of the two tables differ in {name!r}")
    return TranscriptLoss(answers=tuple(losses))


def _difference(here: TranscribedAnswer, there: TranscribedAnswer) -> str:
    """How two answers differ although their draws had the same outcomes; empty if they do not differ."""
    if (here.label, here.price) != (there.label, there.price):
        return "another spend pays for it"
    if [draw.law for draw in here.draws] != [draw.law for draw in there.draws]:
        return "it is drawn from another distribution"
    if [draw.values.shape for draw in here.draws] != [draw.values.shape for draw in there.draws]:
        return "it has another number of values or candidates"
    if not np.array_equal(here.released, there.released):
        return "it is not a function of the noisy outcomes"
    return ""


def _loss(here: TranscribedAnswer, there: TranscribedAnswer) -> Loss:
    width = here.numbers_per_line
    total = Loss()
    for one, other in zip(here.draws, there.draws, strict=True):
        if here.concentrated:
            values = (one.values, other.values)
            rho = (
                one.law.concentrated_loss_of_lines(*(each.reshape(-1, width) for each in values))
                if width
                else one.law.concentrated_loss(*values)
            )
            total += Loss(least=rho, most=rho)
        elif width:
            lines = (each.reshape(-1, width) for each in (one.values, other.values, np.asarray(one.outcome)))
            total += one.law.loss_of_lines(*lines)
        else:
            total += one.law.loss(one.values, other.values, one.outcome)
    return total
