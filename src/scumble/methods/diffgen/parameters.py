"""DiffGen's parameters."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

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


class DiffGen(Params):
    """Parameters of the method `diffgen`.

    >>> DiffGen(epsilon="0.5", rounds=4)
    DiffGen(epsilon='0.5', rounds=4)
    """

    method_name = "diffgen"

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
        Exact | AUTO, Field(description="The part of the cells' epsilon spent on choosing, the rest going to counts.")
    ] = "auto"
    leaves: Annotated[
        bool, Field(description="No choices: publish the full contingency table at the finest level.")
    ] = False
    max_cells: Annotated[
        Annotated[int, Field(ge=1, le=100_000_000)] | AUTO,
        Field(description="Specializations that would make more cells than this are not offered."),
    ] = "auto"
    positions: Annotated[
        Annotated[int, Field(ge=1)] | Literal["all"],
        Field(description="At most so many split positions of an interval are offered, evenly spaced."),
    ] = "all"

    detail: Annotated[
        Literal["auto", "yes", "no"],
        Field(
            description="Class tables beside the cells, and rows drawn finely inside them. `auto`: yes, unless score, "
            "rounds or selection_share are given."
        ),
    ] = "auto"
    records: Annotated[
        Annotated[int, Field(ge=1)] | AUTO,
        Field(
            description="About how many records there are, if that is public; else they are counted, for a hundredth "
            "of epsilon. It decides how to divide epsilon."
        ),
    ] = "auto"

    @classmethod
    def jointly(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Detail takes whole rows and `gini` division: owners who hide their counts from each other have neither."""
        choosing = {} if given.get("leaves") or "selection" in given else {"score": Score.ACCURACY.value}
        return {"detail": "no", **choosing, **given}

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
        if (published or self.leaves) and self.positions != "all":
            raise ValueError("positions is for one choice a round; leave it out in published mode and with leaves")
        if (published or self.leaves) and self.detail == "yes":
            raise ValueError("detail goes with one choice a round; leave it out in published mode and with leaves")
        if self.selection_share != "auto" and self.selection_share >= 1:
            raise ValueError("selection_share must be below 1: the counts need a part of epsilon, too")
        return self

    @property
    def in_detail(self) -> bool:
        """Whether detail is measured beside the cells."""
        if self.detail == "auto":
            untouched = self.score == self.rounds == self.selection_share == "auto"
            return untouched and self.selection is SelectionMode.TOGETHER and not self.leaves
        return self.detail == "yes"
