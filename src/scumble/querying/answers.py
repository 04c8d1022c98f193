"""The answer to a question: estimates with intervals and sources, and how they are displayed and exported."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from scumble.errors import InputError
from scumble.model.display import Displayed, Listing, Summary, plural

FRAMES = ("pandas", "polars", "pyarrow", "dict")


class AnswerSource(StrEnum):
    """Where an estimate comes from."""

    MEASURED = "measured"
    """Signed noisy counts of the release; the interval covers their noise."""
    ROWS = "rows"
    """The published rows, which follow a model of the measured counts."""
    CELLS = "cells"
    """Noisy counts, with records spread evenly inside the cells that the question cuts through."""
    RECONSTRUCTED = "reconstructed"
    """Perturbed records, corrected by the known law of their noise."""
    PUBLIC = "public"
    """The schema: nothing is uncertain."""


NOTES = {
    AnswerSource.MEASURED: "measured: from signed noisy counts. The interval covers their noise with a probability of "
    "95 %.",
    AnswerSource.ROWS: "rows: from the drawn rows. Model error is not noise and is not included in any interval.",
    AnswerSource.CELLS: "cells: the question cuts through cells, inside which records are assumed to be spread evenly. "
    "The error of that is not noise and is not included in any interval.",
    AnswerSource.RECONSTRUCTED: "reconstructed: from perturbed records, corrected by the known law of their noise.",
}
"""What each source means for the reader of an answer."""
SHARES_OF_GROUPS = "share: of all records that satisfy the condition, in all groups together."
"""What a share means if the answer is divided."""
UNMEASURED_ROWS = "rows: from the published records. {error}, so there is no interval."
"""The same for rows of a release that publishes no measured table. Its kind says what is wrong with them."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One number of an answer (a label, for the quantile of dates or ordered categories)."""

    group: tuple[str, ...]
    """The values of the attributes that the answer is divided by."""
    measure: str
    value: float | str | None
    """None if the release cannot answer: no record may satisfy the condition."""
    low: float | str | None = None
    high: float | str | None = None
    source: AnswerSource
    tables: tuple[str, ...] = ()
    """The measured tables that were used."""

    @property
    def source_text(self) -> str:
        """The source, with the table that was used, or the number of tables."""
        if not self.tables:
            return self.source.value
        few = self.tables[0] if len(self.tables) == 1 else plural(len(self.tables), "table")
        return f"{self.source.value} ({few})"


@dataclass(frozen=True, kw_only=True, repr=False)
class QueryAnswer(Displayed):
    """The answer to a question about a release.

    `estimates` has one entry for each measure and group; `notes` says what the sources mean and how values were read.
    """

    question: str
    by: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> float | str | None:
        """The only number of an answer, or its first one: the count, the mean or the quantile."""
        return self.estimates[0].value

    @property
    def interval(self) -> tuple[float | str, float | str] | None:
        """The 95 % interval of `value`, None if there is none."""
        first = self.estimates[0]
        return None if first.low is None or first.high is None else (first.low, first.high)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the answer as a table."""
        return (*self.by, "measure", "answer", "low", "high", "source")

    @property
    def records(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the answer as a table."""
        for each in self.estimates:
            yield (*each.group, each.measure, each.value, each.low, each.high, each.source_text)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {
            "question": self.question,
            "by": list(self.by),
            "estimates": [
                {
                    "group": dict(zip(self.by, each.group, strict=True)),
                    "measure": each.measure,
                    "answer": each.value,
                    "low": each.low,
                    "high": each.high,
                    "source": each.source.value,
                    "tables": list(each.tables),
                }
                for each in self.estimates
            ],
            "notes": list(self.notes),
        }

    def to_frame(self, kind: str = "pandas") -> Any:
        """The answer as a table of a library: `pandas`, `polars` or `pyarrow`; or a `dict` of lists.

        A missing end of an interval is a missing value. Raises `InputError` if the kind of frame is unknown.
        """
        if kind not in FRAMES:
            raise InputError(f"Unknown kind of frame {kind!r}. Available: {', '.join(FRAMES)}.")
        rows = list(self.records)
        columns = {name: [row[place] for row in rows] for place, name in enumerate(self.columns)}
        if kind == "dict":
            return columns
        import pyarrow as pa

        table = pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})
        if kind == "pyarrow":
            return table
        if kind == "pandas":
            return table.to_pandas()
        from polars import from_arrow

        return from_arrow(table)

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The rows of the answer as text, with plain numbers."""
        return tuple(
            (*each.group, each.measure, *(plain(end, each.measure) for end in (each.value, each.low, each.high)), text)
            for each in self.estimates
            for text in (each.source_text,)
        )

    @property
    def summary(self) -> Summary:
        """The question, the estimates and the notes."""
        listing = Listing(columns=self.columns, rows=self.texts, unit="estimates")
        facts = tuple(("note", note) for note in self.notes)
        return Summary(kind="QueryAnswer", size=self.question, facts=facts, listings=(listing,))


def plain(value: float | str | None, measure: str) -> str:
    """A number as plain text: counts without decimals, shares in per cent.

    >>> plain(12345.6, "count"), plain(0.12345, "share"), plain(None, "mean of age"), plain(40.5, "mean of age")
    ('12,346', '12.35 %', '-', '40.5')
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if measure == "count":
        return f"{value:,.0f}"
    if measure == "share":
        return f"{100 * value:.2f} %"
    return f"{value:,.6g}"
