"""How many numbers noise is added to, however the counted records divide the budget.

The noise of several owners has a largest value, which costs a delta for each number (`scumble.joint`). So a joint plan
needs a bound on all numbers of all answers: candidates of choices, and counts. The bounds here follow from the schema
and are generous, because each number costs very little.
"""

from math import comb

from scumble.methods.diffgen.detail.binning import BRANCHES
from scumble.methods.diffgen.detail.candidates import (
    BINS_ALONE,
    LARGEST_COMBINATION,
    LARGEST_MEASURED,
    MOST_IN_PAIRS,
    MOST_IN_TRIPLES,
)
from scumble.methods.diffgen.detail.candidates import MOST_BINS as BINS_TO_COMBINE
from scumble.methods.diffgen.detail.measure import CALIBRATION_GROUPS
from scumble.methods.diffgen.detail.spends import MOST_COMBINATIONS
from scumble.model.schema import Schema


def numbers_of_cells(schema: Schema, *, rounds: int, cells: int) -> int:
    """The splits to choose from in every round, and the counts of all cells by class."""
    return rounds * _splits(schema) + cells * len(schema.classes)


def numbers_of_detail(schema: Schema) -> int:
    """The numbers of the detail, and the number of records."""
    attributes, classes = len(schema.predictors), len(schema.classes)
    values = sum(attribute.domain.size for attribute in schema.predictors)
    groups = 2 * classes  # two groups of each kind, by log-odds
    candidates = (1 + MOST_COMBINATIONS) * attributes + comb(MOST_IN_PAIRS, 2) + comb(MOST_IN_TRIPLES, 3) + 1
    largest = max(LARGEST_COMBINATION, LARGEST_MEASURED, _merged(BINS_ALONE), _merged(BINS_TO_COMBINE) ** 3)
    terms = attributes + MOST_COMBINATIONS + classes - 1
    return sum(
        (
            1,
            values + BRANCHES * attributes,
            attributes**2,  # each of at most `attributes` choices of a table has at most so many candidates
            values * groups * classes,
            2 * max(CALIBRATION_GROUPS, groups) * classes,
            MOST_COMBINATIONS * (candidates + largest * classes),
            terms + terms * (terms + 1) // 2,
        )
    )


def _splits(schema: Schema) -> int:
    """A node of a taxonomy with several children is one split, as is a position between two neighbouring codes."""
    return sum(attribute.domain.size - 1 for attribute in schema.predictors)


def _merged(most: int) -> int:
    """The most bins that `binning.merged` makes: it divides by records, around large values and before missing ones."""
    return 3 * most + 2
