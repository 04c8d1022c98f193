"""DiffGen's parameters, and the defaults that follow from public facts."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from scumble.methods.diffgen.scores import Score
from scumble.methods.method import Exact, Params

AUTO = Literal["auto"]


class SelectionMode(StrEnum):
    """How a round chooses."""

    TOGETHER = "together"
    """One private choice a round among all (value, split) pairs; one budget for both."""
    PUBLISHED = "published"
    """Algorithm 1 of the paper: split values first, then candidates, each at its own price."""


class DiffGenParams(Params):
    """Parameters of `--method diffgen`."""

    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]
    selection: Annotated[
        SelectionMode, Field(description="`together` (one choice a round) or `published` (the paper's Algorithm 1).")
    ] = SelectionMode.TOGETHER
    score: Annotated[
        Score | AUTO,
        Field(description="What a good split is: accuracy, gini or max; max or infogain in published mode."),
    ] = "auto"
    rounds: Annotated[
        Annotated[int, Field(ge=1, le=1000)] | AUTO, Field(description="How many specializations; the paper's h.")
    ] = "auto"
    selection_share: Annotated[
        Exact | AUTO, Field(description="The part of epsilon spent on choosing, the rest going to the counts.")
    ] = "auto"
    leaves: Annotated[
        bool, Field(description="No choices: publish the full contingency table at the finest level.")
    ] = False
    max_cells: Annotated[
        Annotated[int, Field(ge=1, le=100_000_000)] | AUTO,
        Field(description="Specializations that would make more cells than this are not offered."),
    ] = "auto"

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        published = self.selection is SelectionMode.PUBLISHED
        if self.leaves and (
            published or self.score != "auto" or self.rounds != "auto" or self.selection_share != "auto"
        ):
            raise ValueError("leaves makes no choices: leave out selection, score, rounds and selection_share")
        if published and self.score not in (Score.MAX, Score.INFOGAIN, "auto"):
            raise ValueError(f"published mode has the scores max and infogain, not {self.score}")
        if not published and self.score is Score.INFOGAIN:
            raise ValueError("infogain is for published mode only; use gini, its better relative")
        if published and self.selection_share != "auto":
            raise ValueError("published mode divides epsilon as the paper does; leave out selection_share")
        if self.selection_share != "auto" and self.selection_share >= 1:
            raise ValueError("selection_share must be below 1: the counts need a part of epsilon, too")
        return self


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters with every `auto` settled."""

    score: Score
    rounds: int
    selection_share: Fraction
    max_cells: int


def settle(parameters: DiffGenParams) -> Settings:
    """Defaults from epsilon alone: little budget buys few splits, chosen carefully by the smoother score.

    Where epsilon is small, counts of single cells are noisy whatever is done, and three quarters of it go to choosing
    with `gini`, which sees progress where no majority flips. From 3/8 on, choices are safe enough for the monotone
    `accuracy` at half the budget and for more rounds.
    """
    if parameters.selection is SelectionMode.PUBLISHED or parameters.leaves:
        defaults = Settings(score=Score.MAX, rounds=10, selection_share=Fraction(1, 2), max_cells=1_000_000)
    elif parameters.score == Score.GINI or (parameters.score == "auto" and parameters.epsilon < Fraction(3, 8)):
        rounds = 5 if parameters.epsilon < Fraction(3, 8) else 6 if parameters.epsilon < Fraction(3, 4) else 7
        defaults = Settings(score=Score.GINI, rounds=rounds, selection_share=Fraction(3, 4), max_cells=10_000)
    else:
        rounds = 7 if parameters.epsilon < Fraction(3, 4) else 8
        defaults = Settings(score=Score.ACCURACY, rounds=rounds, selection_share=Fraction(1, 2), max_cells=10_000)
    return Settings(
        score=defaults.score if parameters.score == "auto" else Score(parameters.score),
        rounds=defaults.rounds if parameters.rounds == "auto" else parameters.rounds,
        selection_share=(
            defaults.selection_share if parameters.selection_share == "auto" else parameters.selection_share
        ),
        max_cells=defaults.max_cells if parameters.max_cells == "auto" else parameters.max_cells,
    )
