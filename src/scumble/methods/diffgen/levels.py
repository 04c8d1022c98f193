"""DiffGen's settings: the value of every parameter that is left at `auto`, and how epsilon is divided.

Settings depend only on public facts and, where the number of records is not public, on the noisy count of records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from scumble.methods.diffgen.detail.groups import FEWEST_BINS, MOST_BINS
from scumble.methods.diffgen.parameters import DiffGen, SelectionMode
from scumble.methods.diffgen.scores import Score
from scumble.model.schema import Schema

RECORDS_SHARE = Fraction(1, 100)
"""The share of epsilon for counting the records, if their number is not public. The count decides how the rest is
divided. With two classes its error is about 200 / epsilon records. That is small compared with every bound of `LEVELS`
but the first, below which little can be learnt anyway."""


@dataclass(frozen=True, kw_only=True)
class DetailSettings:
    """How much detail is measured. Shares are fractions of the epsilon that cells and detail get together."""

    tables: int
    fewest_bins: int
    groups: int
    bins_in_groups: int
    """A table with more bins than this is counted in a single group, if its attribute is known in advance."""
    choice_share: Fraction
    """Zero if every attribute has a table, so that none has to be chosen."""
    table_share: Fraction
    calibration_share: Fraction
    rest_share: Fraction
    """For the marginals of attributes without a table; zero if there are none."""

    @property
    def share(self) -> Fraction:
        return self.choice_share + self.table_share + self.calibration_share + self.rest_share


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


@dataclass(frozen=True, kw_only=True)
class Level:
    """How epsilon is divided if 2 * epsilon * records / classes is below a bound.

    Choosing splits gets three quarters of the cells' epsilon, as with `gini` in cells alone.
    """

    below: float
    rounds: int
    cells: Fraction
    tables: int
    groups: int
    choice: Fraction
    calibration: Fraction
    fewest_bins: int
    bins_in_groups: int
    score: Score = Score.GINI


def _level(
    below: float,
    *,
    rounds: int,
    cells: int,
    tables: int,
    choice: int,
    calibration: int,
    fewest_bins: int = FEWEST_BINS,
    groups: int = 1,
    bins_in_groups: int = MOST_BINS + 1,
) -> Level:
    return Level(
        below=below,
        rounds=rounds,
        cells=Fraction(cells, 100),
        tables=tables,
        groups=groups,
        choice=Fraction(choice, 100),
        calibration=Fraction(calibration, 100),
        fewest_bins=fewest_bins,
        bins_in_groups=bins_in_groups,
    )


LEVELS = (
    _level(600, rounds=1, cells=20, tables=2, choice=25, calibration=10, fewest_bins=12),
    _level(1_500, rounds=2, cells=10, tables=4, choice=20, calibration=8, fewest_bins=12),
    _level(5_000, rounds=3, cells=10, tables=7, choice=13, calibration=6, fewest_bins=12),
    _level(12_000, rounds=4, cells=10, tables=10, choice=12, calibration=5),
    _level(24_000, rounds=4, cells=25, tables=10, choice=12, calibration=3, groups=2, bins_in_groups=16),
    _level(float("inf"), rounds=5, cells=20, tables=10, choice=10, calibration=2, groups=2),
)
"""The information in a table grows with epsilon times the number of records and shrinks with the number of classes.

If there is little, tables are few with few bins, and calibration gets more. If there is more, there are more splits,
because only splits find attributes that matter in combination, and more tables. Only the last levels count tables in
groups by log-odds, at first those with few bins, because probabilities in many groups soon drown in noise. Noise in the
tables costs most accuracy and noise in cells and calibration little, so tables get most of epsilon. The values were
chosen on Adult and on generated tables of 1,000 to 30,000 records (docs/detail.md)."""

REST = Fraction(5, 100)
"""The share for the marginals of attributes without a table, if there are any."""


def public_records(schema: Schema, parameters: DiffGen) -> int | None:
    """The number of records, if it is public."""
    return schema.rows or (None if parameters.records == "auto" else parameters.records)


def in_detail(schema: Schema, parameters: DiffGen) -> bool:
    """Whether detail is measured: it is requested, and there are predictors and at least two classes."""
    return parameters.in_detail and bool(schema.predictors) and len(schema.classes) > 1


def level_for(levels: Sequence[Level], schema: Schema, epsilon: Fraction, records: int) -> Level:
    """The first level whose bound is not reached."""
    return next(level for level in levels if 2 * epsilon * records / len(schema.classes) < level.below)


def detail_settings(schema: Schema, level: Level) -> DetailSettings:
    """How detail is measured. Tables are chosen privately if there are more than twice as many attributes as tables.

    Otherwise every attribute gets a table. Then nothing is spent on choices and on marginals, so that each of twice as
    many tables gets about two thirds of the epsilon of a chosen one, and no attribute is missed.
    """
    attributes = len(schema.predictors)
    chosen = attributes > 2 * level.tables
    tables = level.tables if chosen else attributes
    choice, rest = (level.choice, REST) if chosen else (Fraction(0), Fraction(0))
    return DetailSettings(
        tables=tables,
        fewest_bins=level.fewest_bins,
        groups=level.groups,
        bins_in_groups=level.bins_in_groups,
        choice_share=choice,
        table_share=1 - level.cells - choice - rest - level.calibration,
        calibration_share=level.calibration,
        rest_share=rest,
    )


def cells_that_stand_out(schema: Schema, epsilon: Fraction, records: int) -> int:
    """The largest useful number of cells for a price: on average a cell must contain, for each class, eight times as
    many records as the noise scale. With more cells, counts and the rows drawn from them are mostly noise; three splits
    of attributes with a dozen branches each would make 1,728 cells. Eight cells, three binary splits, are always
    allowed.
    """
    return max(int(epsilon * records / len(schema.classes) / 8), 8)


def diffgen_settings(
    schema: Schema, parameters: DiffGen, level: Level | None = None, records: int | None = None
) -> Settings:
    """The value of every `auto`: from the level and the number of records if detail is measured, else from epsilon.

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
    if level is not None:
        share = Fraction(3, 4) if level.score is Score.GINI else Fraction(1, 2)
        detail = detail_settings(schema, level)
        defaults = Settings(
            score=level.score, rounds=level.rounds, selection_share=share, max_cells=10_000, detail=detail
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
    if level is None or records is None or parameters.max_cells != "auto":
        return settings
    counting = parameters.epsilon * settings.cell_share * (1 - settings.selection_share)
    return replace(settings, max_cells=min(settings.max_cells, cells_that_stand_out(schema, counting, records)))
