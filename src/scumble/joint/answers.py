"""Where a party stores the opened answers, so that an interrupted run continues without drawing noise again."""

from typing import Protocol


class AnswerLog(Protocol):
    """Where a party stores the opened answers."""

    def recall(self, step: int) -> bytes | None:
        """The answer of a step, or None."""

    def keep(self, step: int, label: str, answer: bytes) -> None:
        """Store an answer. It must survive a crash once this returns."""


class MemoryAnswerLog:
    """A log in memory, for tests and simulations."""

    def __init__(self) -> None:
        self.answers: dict[int, bytes] = {}

    def recall(self, step: int) -> bytes | None:
        return self.answers.get(step)

    def keep(self, step: int, label: str, answer: bytes) -> None:
        del label
        self.answers[step] = answer
