"""The spends of `explore`: planned before any row is read, and divided when the number of records is known."""

from fractions import Fraction

from scumble.methods.explore.settings import CHOICES_SHARE, TABLES_A_ROUND, ExploreSettings
from scumble.model.plan import Spend

COUNT_RECORDS = "count the records"
REST = "values, choices and tables"
COUNT_VALUES = "count the values"
CHOOSE_PAIRS = "choose pairs"
COUNT_PAIRS = "count the pairs"


def choose_label(number: int) -> str:
    """The label of the choices of a round: pairs in the first, further tables in the others."""
    return CHOOSE_PAIRS if number == 0 else f"choose tables, round {number}"


def count_label(number: int) -> str:
    """The label of the tables of a round."""
    return COUNT_PAIRS if number == 0 else f"count tables, round {number}"


def round_spends(epsilon: Fraction, settings: ExploreSettings) -> tuple[Spend, ...]:
    """How `REST` is divided: values first, then rounds of choices and tables, by the number of tables of each."""
    spends = [
        Spend(
            label=COUNT_VALUES,
            epsilon=epsilon * settings.values_share,
            purpose="discrete Laplace noise on the counts of every attribute, by value and by range of values",
        )
    ]
    numbers = [settings.pairs] + [TABLES_A_ROUND] * settings.rounds
    for number, tables in enumerate(numbers):
        left = epsilon * (1 - settings.values_share) * tables / sum(numbers)
        what = "two attributes" if number == 0 else "two or three attributes"
        spends += [
            Spend(
                label=choose_label(number),
                epsilon=left * CHOICES_SHARE / tables,
                times=tables,
                purpose=f"a private selection of {what} whose table differs most from what is known, or of none",
            ),
            Spend(
                label=count_label(number),
                epsilon=left * (1 - CHOICES_SHARE),
                purpose="discrete Laplace noise on the chosen tables; on the values again if none was chosen",
            ),
        ]
    return tuple(spends)
