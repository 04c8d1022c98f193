"""Compares what a page shows of a command's output with what the command prints: as strictly as its noise allows.

| in the page | what has to be the same |
|---|---|
| nothing | every line, character by character |
| `noise=numbers` | every line, in order and number; numbers, times and hashes may differ |
| `noise=choices` | the same, but what stands in parentheses may differ too: the tables that a release chose privately |
| `noise=lines` | most lines (`SIMILAR`), in any order, without their numbers; few may be missing and few may be new |
| `noise=all` | nothing: the output consists of random values |
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff

SIMILAR = 0.6
"""Of the shown lines this share must be printed again, and of the printed lines this share must be shown."""
CUT = "..."
"""A line that stands for lines that are not shown."""
HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b")
CHOICE = re.compile(r"\([^()]*\)")
NUMBER = re.compile(r"[-+±]?\d[\d.,:TZ+-]*(?: ?%)?")


def differences(shown: Sequence[str], printed: Sequence[str], noise: str) -> list[str]:
    """The lines in which the output differs from what the page shows, each after `-` or `+`; none if they agree.

    >>> differences(["8 files"], ["13 files"], "none")
    ['-8 files', '+13 files']
    >>> differences(["8 files"], ["13 files"], "numbers")
    []
    """
    return COMPARISONS[noise](shown, printed)


def shape(line: str) -> str:
    """A line with `#` for every number, time and hash, and one space for several, which align columns.

    >>> shape("4.  0.02 of epsilon") == shape("12. 0.5 of  epsilon")
    True
    >>> shape("Referral   40.13 %  -    rows")
    'Referral # - rows'
    """
    return " ".join(NUMBER.sub("#", HASH.sub("#", line)).split())


def _exact(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    found = unified_diff(list(shown), list(printed), lineterm="", n=0)
    return [line for line in found if not line.startswith(("---", "+++", "@@"))]


def _without_numbers(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    return _exact(list(map(shape, shown)), list(map(shape, printed)))


def _without_choices(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    return _exact(*([CHOICE.sub("(#)", shape(line)) for line in lines] for lines in (shown, printed)))


def _most_lines(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    before, after = Counter(map(shape, shown)), Counter(map(shape, printed))
    gone, new = before - after, after - before
    few = gone.total() <= (1 - SIMILAR) * before.total() and new.total() <= (1 - SIMILAR) * after.total()
    return [] if few else [*(f"-{line}" for line in gone), *(f"+{line}" for line in new)]


def _nothing(_shown: Sequence[str], _printed: Sequence[str]) -> list[str]:
    return []


COMPARISONS: Mapping[str, Callable[[Sequence[str], Sequence[str]], list[str]]] = {
    "none": _exact,
    "numbers": _without_numbers,
    "choices": _without_choices,
    "lines": _most_lines,
    "all": _nothing,
}
