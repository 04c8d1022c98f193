"""The spends of `explore`: planned before any row is read, and divided when the number of records is known."""

from fractions import Fraction

from scumble.methods.explore.settings import CHOICES_SHARE, RECORDS_SHARE, TABLES_A_ROUND, ExploreSettings
from scumble.model.guarantee import ApproxDP, PureDP, Unit
from scumble.model.measured_tables import NoiseKind
from scumble.model.spend import Spend, priced

COUNT_RECORDS = "count the records"
REST = "values, choices and tables"
COUNT_VALUES = "count the values"
TABLES = "choices and tables"
COUNT_BINS = "count bins inside ranges"
CHOOSE_PAIRS = "choose pairs"
COUNT_PAIRS = "count the pairs"


def choose_label(number: int) -> str:
    """The label of the choices of a round: pairs in the first, further tables in the others."""
    return CHOOSE_PAIRS if number == 0 else f"choose tables, round {number}"


def count_label(number: int) -> str:
    """The label of the tables of a round."""
    return COUNT_PAIRS if number == 0 else f"count tables, round {number}"


def planned_spends(guarantee: PureDP | ApproxDP) -> tuple[Spend, ...]:
    """What is reserved: the number of records, unless it is public, and all else."""
    counted = RECORDS_SHARE if guarantee.unit is Unit.ADD_REMOVE else Fraction(0)
    rest = priced(
        guarantee,
        label=REST,
        share=1 - counted,
        purpose="counts of values, choices of tables and their counts; the number of records decides the division",
    )
    if not counted:
        return (rest,)
    noise = f"{NoiseKind.of(guarantee)} noise on the number of records"
    return priced(guarantee, label=COUNT_RECORDS, share=counted, purpose=noise), rest


def value_spends(rest: Spend, settings: ExploreSettings) -> tuple[Spend, ...]:
    """How `REST` is divided when the number of records is known."""
    return (
        rest.part(
            label=COUNT_VALUES,
            share=settings.values_share,
            purpose="noisy counts of every attribute, by value and by range of values",
        ),
        rest.part(
            label=TABLES,
            share=1 - settings.values_share,
            purpose="choices of tables and their counts; the counted values decide the division",
        ),
    )


def round_spends(tables: Spend, settings: ExploreSettings, finer: float) -> tuple[Spend, ...]:
    """How `TABLES` is divided when the values are counted: rounds of choices and tables, by the number of tables.

    A part of the attributes, `finer`, have bins inside ranges, which are counted first.
    """
    of_bins = settings.bins_share(finer)
    spends = []
    if of_bins:
        spends.append(
            tables.part(label=COUNT_BINS, share=of_bins, purpose="noisy counts of bins with parts of a range of values")
        )
    numbers = [settings.pairs] + [TABLES_A_ROUND] * settings.rounds
    for number, several in enumerate(numbers):
        left = (1 - of_bins) * Fraction(several, sum(numbers))
        what = "two attributes" if number == 0 else "two or three attributes"
        spends += [
            tables.part(
                label=choose_label(number),
                share=left * CHOICES_SHARE,
                times=several,
                purpose=f"a private selection of {what} whose table differs most from what is known, or of none",
            ),
            tables.part(
                label=count_label(number),
                share=left * (1 - CHOICES_SHARE),
                purpose="noisy counts of the chosen tables; of earlier ones or of the values again if none was chosen",
            ),
        ]
    return tuple(spends)
