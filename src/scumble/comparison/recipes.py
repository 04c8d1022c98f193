"""The recipes of the generated tables: a zoo of kinds of tables, on which a method must do well without being tuned.

They are written from knowledge of such tables, with fixed constants; none is fitted to a real table. The first six have
independent attributes. In the others attributes are correlated, as in real tables.

Half of the recipes *settle* defaults (`Recipe.settles`): a constant or a rule may be chosen by results on them. The
other half only *report*. The halves were named before any result on the new recipes was known, and each has tables of
each kind, so that a default that fits one half only is seen on the other:

- long grids with most records in few cells: shoppers settles, campaign reports;
- amounts of money: fraud and long-grids settle, credit reports;
- few records: study settles, applicants reports;
- rules and interactions: admissions and xor settle, three-together reports;
- many categories: diagnoses settles, many-categories and flat-categories report;
- rare classes: fraud and diagnoses settle, rare-class reports;
- more than two classes: ten-classes and admissions settle, five-classes reports;
- weak or irrelevant attributes: weak-signals and fifty-attributes settle, no-relation reports;
- one fact in several attributes: census settles, credit reports;
- missing values: study settles, questionnaire and campaign report.

The largest table, households, only reports: nobody should need it to choose a default.
"""

from collections.abc import Mapping

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes_basic import BASIC
from scumble.comparison.recipes_categories import CATEGORIES
from scumble.comparison.recipes_censuses import CENSUSES
from scumble.comparison.recipes_customers import CUSTOMERS
from scumble.comparison.recipes_money import MONEY
from scumble.comparison.recipes_people import PEOPLE
from scumble.comparison.recipes_rules import RULES
from scumble.errors import InputError

RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe for recipe in (*BASIC, *CUSTOMERS, *MONEY, *PEOPLE, *CENSUSES, *CATEGORIES, *RULES)
}


def recipe_named(name: str) -> Recipe:
    if name not in RECIPES:
        raise InputError(f"Unknown generated table {name!r}. Available: {', '.join(RECIPES)}.")
    return RECIPES[name]
