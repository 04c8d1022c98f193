"""DiffGen's settings: the value of every parameter that is left at `auto`, and how epsilon is divided.

Settings depend only on public facts and, where the number of records is not public, on the noisy count of records.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from scumble.methods.diffgen.division import CELLS, best_bins, best_division
from scumble.methods.diffgen.parameters import MOST_CLASSES, DiffGen, SelectionMode
from scumble.methods.diffgen.scores import Score
from scumble.model.schema import Schema

RECORDS_SHARE = Fraction(1, 50)
"""The share of epsilon for counting the records, if their number is not public. The count decides how the rest is
divided. Its standard error is 71 / epsilon records."""


@dataclass(frozen=True, kw_only=True)
class DetailSettings:
    """How much detail is measured. Shares are fractions of the epsilon that cells and detail get together."""

    tables: int
    """The number of class tables; one for each attribute unless they are chosen."""
    bins: int
    """An attribute with more values than this is counted in about so many bins."""
    information: float
    """The information in each class table."""
    values_share: Fraction
    """Zero if no value has to be counted by itself."""
    choice_share: Fraction
    """Zero if every attribute has a table, so that none has to be chosen."""
    table_share: Fraction
    calibration_share: Fraction
    combination_share: Fraction
    fit_share: Fraction
    """For counting the chosen combinations and for the weights; zero if there are neither."""

    @property
    def share(self) -> Fraction:
        return (
            self.values_share
            + self.choice_share
            + self.table_share
            + self.calibration_share
            + self.combination_share
            + self.fit_share
        )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters with a value for every `auto`."""

    score: Score
    rounds: int
    selection_share: Fraction
    max_cells: int
    positions: int | None = None
    """The most split positions of an interval; None for all."""
    detail: DetailSettings | None = None

    @property
    def cell_share(self) -> Fraction:
        """The share of epsilon for the cells: choices and counts."""
        return 1 - (self.detail.share if self.detail else Fraction(0))


def public_records(schema: Schema, parameters: DiffGen) -> int | None:
    """The number of records, if it is public."""
    return schema.rows or (None if parameters.records == "auto" else parameters.records)


def in_detail(schema: Schema, parameters: DiffGen) -> bool:
    """Whether detail is measured: it is requested, and there are predictors and two to a hundred classes."""
    return parameters.in_detail and bool(schema.predictors) and 1 < len(schema.classes) <= MOST_CLASSES


def information(schema: Schema, epsilon: Fraction, records: int) -> float:
    """The information in a table: it grows with epsilon and records and shrinks with the number of classes."""
    return float(2 * epsilon * max(records, 0) / len(schema.classes))


def detail_settings(schema: Schema, epsilon: Fraction, records: int) -> DetailSettings:
    """How detail is measured, by the division of epsilon with the least expected error."""
    from scumble.methods.diffgen.detail.binning import is_binned

    known = information(schema, epsilon, records)
    values = tuple(attribute.domain.size for attribute in schema.predictors)
    shares = best_division(max(known, 1.0), values, len(schema.classes))
    bins = best_bins(known, shares)
    chosen = shares.tables < len(schema.predictors)
    counted = chosen or any(is_binned(attribute.domain, bins) for attribute in schema.predictors)
    settings = DetailSettings(
        tables=shares.tables,
        bins=bins,
        information=known * shares.rest / max(shares.tables, 1),
        values_share=_percent(shares.values) if counted else Fraction(0),
        choice_share=_percent(shares.choice) if chosen and shares.tables else Fraction(0),
        table_share=Fraction(0),
        calibration_share=_percent(shares.calibration) if shares.tables else Fraction(0),
        combination_share=_percent(shares.combination),
        fit_share=_percent(shares.fit),
    )
    return replace(settings, table_share=1 - _percent(CELLS) - settings.share) if shares.tables else settings


def _percent(share: float) -> Fraction:
    return Fraction(round(1000 * share), 1000)


ROUNDS = ((300, 0), (1_500, 1), (5_000, 2), (24_000, 3))
"""The number of splits of the cells in a release with detail, by the information below a bound; four above all. The
cells get a small part of epsilon: with more splits, choices and counts would drown in noise."""


def rounds_with_detail(known: float) -> int:
    return next((rounds for bound, rounds in ROUNDS if known < bound), 4)


def cells_that_stand_out(schema: Schema, epsilon: Fraction, records: int) -> int:
    """The largest useful number of cells for a price: on average a cell must contain, for each class, eight times as
    many records as the noise scale. With more cells, counts and the rows drawn from them are mostly noise; three splits
    of attributes with a dozen branches each would make 1,728 cells. Eight cells, three binary splits, are always
    allowed.
    """
    return max(int(epsilon * records / len(schema.classes) / 8), 8)


def diffgen_settings(schema: Schema, parameters: DiffGen, records: int | None = None) -> Settings:
    """The value of every `auto`: from epsilon and the number of records if detail is measured, else from epsilon.

    For cells alone: if epsilon is small, counts of single cells are noisy with any division. So there are few splits,
    and choosing them gets three quarters of epsilon, with the score `gini`, which rewards splits that do not yet change
    the majority class. From 3/8 on, choices are reliable enough for the monotone score `accuracy`, half of the budget
    and more rounds.
    """
    if parameters.selection is SelectionMode.PUBLISHED or parameters.leaves:
        defaults = Settings(score=Score.MAX, rounds=10, selection_share=Fraction(1, 2), max_cells=1_000_000)
    elif parameters.score == Score.GINI or (parameters.score == "auto" and parameters.epsilon < Fraction(3, 8)):
        rounds = 5 if parameters.epsilon < Fraction(3, 8) else 6 if parameters.epsilon < Fraction(3, 4) else 7
        defaults = Settings(score=Score.GINI, rounds=rounds, selection_share=Fraction(3, 4), max_cells=10_000)
    else:
        rounds = 7 if parameters.epsilon < Fraction(3, 4) else 8
        defaults = Settings(score=Score.ACCURACY, rounds=rounds, selection_share=Fraction(1, 2), max_cells=10_000)
    detailed = records is not None and in_detail(schema, parameters)
    if records is not None and detailed:
        defaults = Settings(
            score=Score.GINI,
            rounds=rounds_with_detail(information(schema, parameters.epsilon, records)),
            selection_share=Fraction(1, 2),
            max_cells=10_000,
            detail=detail_settings(schema, parameters.epsilon, records),
        )
    settings = Settings(
        score=defaults.score if parameters.score == "auto" else Score(parameters.score),
        rounds=defaults.rounds if parameters.rounds == "auto" else parameters.rounds,
        selection_share=(
            defaults.selection_share if parameters.selection_share == "auto" else parameters.selection_share
        ),
        max_cells=defaults.max_cells if parameters.max_cells == "auto" else parameters.max_cells,
        positions=None if parameters.positions == "all" else parameters.positions,
        detail=defaults.detail,
    )
    if not detailed or records is None or parameters.max_cells != "auto":
        return settings
    counting = parameters.epsilon * settings.cell_share * (1 - settings.selection_share)
    return replace(settings, max_cells=min(settings.max_cells, cells_that_stand_out(schema, counting, records)))
