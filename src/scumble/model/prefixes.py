"""Codes with meaningful prefixes, such as postal codes and ICD-10: a taxonomy by the number of characters.

The leaves are the prefixes of a public list of codes, or of all strings of a pattern. The levels above them are shorter
prefixes, written with a star: `E11` lies below `E*`.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from math import prod
from typing import Any

from scumble.errors import InputError
from scumble.model.notation import Notation
from scumble.model.raw_value import ValueKind
from scumble.model.taxonomy import Tree

MOST_CODES = 100_000
STAR = "*"
_UNIT = re.compile(r"(?:\[([^\[\]]+)\]|([^\[\]{}*+?.()|^$\\]))(?:\{([1-9][0-9]?)\})?", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class PrefixNotation(Notation):
    """Codes, read by their first characters. `levels` are the lengths of prefixes; the last is the length of leaves.

    A longer value is read by its prefix. A shorter or an unknown one is an unknown category.

    >>> codes = PrefixNotation(levels=(1, 3), codes=("E10", "E11", "I10"), ignore=".")
    >>> [codes.place(ValueKind.TEXT, text) for text in ("E11.9", "E1", "I10", "X99")]
    [1, None, 2, None]
    """

    kind = "code"
    levels: tuple[int, ...]
    codes: tuple[str, ...] | None = None
    pattern: str | None = None
    ignore: str = ""

    def __post_init__(self) -> None:
        if not self.levels or self.levels[0] < 1 or any(left >= right for left, right in pairwise(self.levels)):
            raise InputError(f"levels {list(self.levels)} do not ascend from 1. Write lengths such as [1, 3].")
        if (self.codes is None) == (self.pattern is None):
            raise InputError("Give the public list of codes, or a pattern, and not both.")
        _ = self.tree

    @cached_property
    def tree(self) -> Tree:
        """The prefixes of every level, in the order in which the list or the pattern has them first."""
        codes = self._leaves_of_list() if self.pattern is None else self._leaves_of_pattern(self.pattern)
        nested: dict[str, Any] = {}
        for code in codes:
            above = nested
            for length in self.levels[:-1]:
                above = above.setdefault(code[:length] + STAR, {})
            above[code] = None
        return Tree.nested({STAR: nested})

    def _leaves_of_list(self) -> list[str]:
        length = self.levels[-1]
        codes = [self.plain(code) for code in self.codes or ()]
        short = [code for code in codes if len(code) < length]
        if short:
            raise InputError(
                f"The code {short[0]!r} is shorter than {length} characters, the last level. Lower that level, or pad "
                "the code in the list and in the table."
            )
        leaves = list(dict.fromkeys(code[:length] for code in codes))
        if not leaves:
            raise InputError("The list of codes is empty. List the public codes.")
        if len(leaves) > MOST_CODES:
            raise InputError(f"The list has {len(leaves):,} prefixes, more than {MOST_CODES:,}. Lower the last level.")
        if any(STAR in leaf for leaf in leaves):
            raise InputError(f"A code contains {STAR!r}, which marks groups of codes. Remove it from the list.")
        return leaves

    def _leaves_of_pattern(self, pattern: str) -> list[str]:
        kept = [self.plain(each) for each in characters(pattern)]
        choices = [each for each in kept if each][: self.levels[-1]]
        if len(choices) < self.levels[-1]:
            raise InputError(
                f"The pattern {pattern!r} describes {len(choices)} characters, and the last level has "
                f"{self.levels[-1]}. Lower that level, or lengthen the pattern."
            )
        size = prod(len(each) for each in choices)
        if size > MOST_CODES:
            raise InputError(
                f"The pattern {pattern!r} has {size:,} prefixes of {self.levels[-1]} characters, more than "
                f"{MOST_CODES:,}. Lower the last level, or list the codes."
            )
        return ["".join(each) for each in product(*choices)]

    def plain(self, text: str) -> str:
        """The text without the ignored characters."""
        return text.translate({ord(each): None for each in self.ignore}) if self.ignore else text

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self.tree.size

    def place(self, kind: ValueKind, text: str) -> int | None:
        """The leaf that a value begins with."""
        del kind
        return self.tree.codes.get(self.plain(text)[: self.levels[-1]])


def characters(pattern: str) -> list[str]:
    """The characters that each place of a pattern allows: a literal character or a class, with an optional number.

    >>> [len(each) for each in characters("[A-Z][0-9]{2}-[xy]")]
    [26, 10, 10, 1, 2]
    """
    choices: list[str] = []
    place = 0
    while place < len(pattern):
        found = _UNIT.match(pattern, place)
        if found is None:
            raise InputError(
                f"The pattern {pattern!r} cannot be read from {pattern[place:]!r} on. Write literal characters and "
                "classes such as [A-Z] or [0-9]{5}."
            )
        allowed = found[2] if found[1] is None else _class(found[1], pattern)
        choices += [allowed] * int(found[3] or 1)
        place = found.end()
    return choices


def _class(inside: str, pattern: str) -> str:
    """The characters of a class, which lists characters and ranges."""
    parts = re.findall(r"(.)-(.)|(.)", inside, re.DOTALL)
    found = [single or (first, last) for first, last, single in parts]
    if inside.startswith("^") or any(isinstance(each, tuple) and each[0] > each[1] for each in found):
        raise InputError(f"The class [{inside}] of the pattern {pattern!r} is not a list of characters and ranges.")
    spans = [each if isinstance(each, tuple) else (each, each) for each in found]
    letters = dict.fromkeys(chr(code) for first, last in spans for code in range(ord(first), ord(last) + 1))
    if STAR in letters:
        raise InputError(f"The pattern {pattern!r} allows {STAR!r}, which marks groups of codes. Remove it.")
    return "".join(letters)
