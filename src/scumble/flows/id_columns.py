"""Recognizes columns of ids by their names, for a draft that the data owner edits."""

import json
import re

from scumble.flows.column_guesses import FEWEST_KEYS, ColumnTexts, Guess

WORDS = re.compile(r"[^\W\d_]+")
CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
ID_WORDS = frozenset({"id", "ids", "uid", "uuid", "guid", "key", "identifier", "kennung"})
NUMBER_WORD = r"(id|key|code|nr|no|num|number|nummer)"
PERSON_WORD = (
    r"(patient|person|people|client|customer|case|member|user|subject|participant|employee|student|pupil|household|"
    r"account|insured|insurance|fall|kunde|mitglied|nutzer|proband|mitarbeiter|schüler|haushalt|konto|versichert)"
)
NUMBERED_PERSON = re.compile(rf"\b{PERSON_WORD}[a-zäöüß]{{0,5}} ?{NUMBER_WORD}\b")


def names_ids(name: str) -> bool:
    """Whether a column is named as one of ids.

    >>> [name for name in ("Patienten-ID", "caseNo", "Kundennummer", "idea", "house number") if names_ids(name)]
    ['Patienten-ID', 'caseNo', 'Kundennummer']
    """
    words = WORDS.findall(CAPITAL.sub(" ", name).lower())
    return not ID_WORDS.isdisjoint(words) or NUMBERED_PERSON.search(" ".join(words)) is not None


def as_ids(name: str, column: ColumnTexts, guess: Guess) -> Guess:
    """The guess for a column that is named as one of ids. If they repeat, the comment says how to name persons.

    Many ids are left out, whatever their shape. A few may be categories, such as the ids of five shops.
    """
    if column.texts.total() == len(column.texts):
        return guess
    quoted = name if re.fullmatch(r"[^\W\d_][\w-]*", name) else json.dumps(name, ensure_ascii=False)
    advice = (
        f"The same ids occur in several rows. If they identify persons, write `person: {quoted}` and "
        "`rows_each_at_most:` above."
    )
    if guess.entry is None or len(column.texts) < FEWEST_KEYS:
        return Guess(guess.entry, f"{guess.comment} {advice}")
    return Guess(None, f"Left out: by its name, a column of ids. {advice}")
