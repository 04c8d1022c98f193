"""The parameters of `diffgen`, and which of them go together."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from scumble.methods.diffgen.scores import Score
from scumble.methods.method import Exact, Params
from scumble.model.budget import Budget

AUTO = Literal["auto"]
MOST_CLASSES = 100
"""Detail is measured for at most so many classes. A million drawn rows with the log-odds of each class take a gigabyte,
and there is little to learn about so many classes."""


class SelectionMode(StrEnum):
    """How a round selects a specialization."""

    TOGETHER = "together"
    """One private selection a round among all pairs of a value and a split."""
    PUBLISHED = "published"
    """Algorithm 1 of the paper: split values first, then candidates, each paid for separately."""


class DiffGen(Params):
    """Parameters of `diffgen`: noisy counts of cells that were specialized step by step.

    `epsilon` is the privacy budget of the whole release. Everything else has a default that follows from the schema
    and epsilon; `scumble release --help` describes each parameter.
    A wrong parameter raises `InputError`.

    >>> DiffGen(epsilon="0.5", rounds=4)
    DiffGen(epsilon='0.5', rounds=4)
    """

    method_name = "diffgen"

    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]
    selection: Annotated[
        SelectionMode,
        Field(
            description="How splits are selected: `together` (once a round) or `published` (Algorithm 1 of the paper)."
        ),
    ] = SelectionMode.TOGETHER
    score: Annotated[
        Score | AUTO,
        Field(description="Score of a split: accuracy, gini or max; in published mode, max or infogain."),
    ] = "auto"
    rounds: Annotated[
        Annotated[int, Field(ge=1, le=1000)] | AUTO, Field(description="Number of specializations; h in the paper.")
    ] = "auto"
    selection_share: Annotated[
        Exact | AUTO,
        Field(description="Share of the cells' epsilon for selecting splits; the rest goes to their counts."),
    ] = "auto"
    leaves: Annotated[
        bool, Field(description="Select no splits: publish the full contingency table at the finest level.")
    ] = False
    max_cells: Annotated[
        Annotated[int, Field(ge=1, le=100_000_000)] | AUTO,
        Field(description="Largest number of cells; splits that would make more are not offered."),
    ] = "auto"
    positions: Annotated[
        Annotated[int, Field(ge=1)] | Literal["all"],
        Field(description="Largest number of split positions offered for an interval, evenly spaced."),
    ] = "all"

    detail: Annotated[
        Literal["auto", "yes", "no"],
        Field(
            description="Measure class tables as well as cells, and publish fine rows. `auto`: yes, unless score, "
            "rounds or selection_share is given."
        ),
    ] = "auto"
    records: Annotated[
        Annotated[int, Field(ge=1)] | AUTO,
        Field(
            description="Approximate number of records, if public. It decides how epsilon is divided. By default, "
            "the records are counted for a fiftieth of epsilon."
        ),
    ] = "auto"

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            epsilon: Budget,
            selection: SelectionMode | Literal["together", "published"] = ...,
            score: Score | Literal["accuracy", "gini", "max", "infogain"] | AUTO = ...,
            rounds: int | AUTO = ...,
            selection_share: Budget | AUTO = ...,
            leaves: bool = ...,
            max_cells: int | AUTO = ...,
            positions: int | Literal["all"] = ...,
            detail: Literal["auto", "yes", "no"] = ...,
            records: int | AUTO = ...,
        ) -> None: ...

    @classmethod
    def jointly(cls, given: Mapping[str, Any], classes: int = 2) -> dict[str, Any]:
        """The defaults of one owner, with `accuracy` in place of `gini`, which needs division."""
        if given.get("leaves") or "selection" in given:
            return dict(given)
        untouched = not {"detail", "score", "rounds", "selection_share"} & set(given)
        detail = {"detail": "yes"} if untouched and classes <= MOST_CLASSES else {}
        return {**detail, "score": Score.ACCURACY.value, **given}

    @property
    def joint_note(self) -> str:
        if self.score != Score.ACCURACY or not self.in_detail:
            return ""
        return (
            "The cells are split by the score `accuracy`. One owner would use `gini`, which needs division, and owners "
            "cannot divide jointly. Everything else is as for one owner."
        )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        published = self.selection is SelectionMode.PUBLISHED
        if self.leaves and (
            published or self.score != "auto" or self.rounds != "auto" or self.selection_share != "auto"
        ):
            raise ValueError("leaves selects no splits: remove selection, score, rounds and selection_share")
        if published and self.score not in (Score.MAX, Score.INFOGAIN, "auto"):
            raise ValueError(f"published mode supports the scores max and infogain, not {self.score}")
        if not published and self.score is Score.INFOGAIN:
            raise ValueError("infogain is only available in published mode; use gini, a similar score")
        if published and self.selection_share != "auto":
            raise ValueError("published mode divides epsilon as the paper does; remove selection_share")
        if (published or self.leaves) and self.positions != "all":
            raise ValueError("positions is not available in published mode or with leaves; remove it")
        if (published or self.leaves) and self.detail == "yes":
            raise ValueError("detail is not available in published mode or with leaves; remove it")
        if self.selection_share != "auto" and self.selection_share >= 1:
            raise ValueError("selection_share must be below 1, because the counts need a share of epsilon too")
        return self

    @property
    def in_detail(self) -> bool:
        """Whether detail is measured beside the cells."""
        if self.detail == "auto":
            untouched = self.score == self.rounds == self.selection_share == "auto"
            return untouched and self.selection is SelectionMode.TOGETHER and not self.leaves
        return self.detail == "yes"
