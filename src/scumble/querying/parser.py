"""Reads a condition such as `age < 40 and workclass in ('Private', 'Self-employed')`: a recursive descent parser.

    expression  = conjunction { "or" conjunction }
    conjunction = factor { "and" factor }
    factor      = "not" factor | "(" expression ")" | condition
    condition   = name ( comparison value | ["not"] "in" "(" value { "," value } ")"
                       | ["not"] "between" value "and" value | "is" ["not"] "missing" )

Names are bare words, or quoted by backticks or double quotes. Values are numbers, texts in single quotes, bare words or
dates. A quote inside quotes is written twice. Keywords are read in any case. Every wrong text raises `ExpressionError`,
which points at the place.
"""

import re
from dataclasses import dataclass

from scumble.errors import InputError
from scumble.querying.expressions import (
    COMPARISONS,
    EVERYTHING,
    KEYWORDS,
    NUMBER,
    WORD,
    Between,
    Both,
    Compared,
    Condition,
    Either,
    Expression,
    Literal,
    Membership,
    Missing,
    Not,
    Span,
)

DEEPEST = 100
"""Conditions may be nested this deep."""
LONGEST = 100_000
SHOWN = 100
"""An error shows at most so many characters of a long line."""
DATE = re.compile(r"[0-9]{4}-(?:[0-9]{2}-[0-9]{2}(?:T[0-9:.]+)?|[0-9]{2}|Q[1-4])(?![\w-])", re.ASCII)
_QUOTED = re.compile("'((?:[^']|'')*)'|`((?:[^`]|``)*)`|\"((?:[^\"]|\"\")*)\"", re.DOTALL)
_SPACE = re.compile(r"\s+")


class ExpressionError(InputError):
    """A condition that cannot be read or interpreted. `span` is the place in `text`; `problem` says what is wrong."""

    def __init__(self, problem: str, text: str, span: Span) -> None:
        self.problem, self.text, self.span = problem, text, span
        super().__init__(f"{problem}\n{pointed(text, span)}")


def pointed(text: str, span: Span) -> str:
    """The line of the text in which a place lies, and carets below the place.

    >>> print(pointed("agee < 40", Span(start=0, end=4)))
      agee < 40
      ^^^^
    """
    start = text.rfind("\n", 0, span.start) + 1
    line = text[start:].split("\n", 1)[0]
    first = max(span.start - start - SHOWN // 2, 0)
    shown = "".join(each if each.isprintable() else " " for each in line[first : first + SHOWN])
    before = span.start - start - first
    width = max(min(span.end - span.start, len(shown) - before), 1)
    return f"  {shown}\n  {' ' * before}{'^' * width}"


@dataclass(frozen=True, kw_only=True)
class _Token:
    kind: str
    """word, number, text (in single quotes), name (in other quotes), sign, or end."""
    text: str
    span: Span

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text)

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.lower() in words

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs


def parse(text: str) -> Expression:
    """The condition that a text describes. An empty text is the condition that every record satisfies.

    >>> parse("age >= 40 or not sex = 'Male'").parts[1]
    Not(part=Compared(attribute='sex', operator='=', value=Literal(text='Male', number=False)))
    """
    if len(text) > LONGEST:
        raise InputError(f"The condition has {len(text):,} characters, more than {LONGEST:,}. Ask a shorter question.")
    if not text.strip():
        return EVERYTHING
    return _Parser(text).whole()


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    while place < len(text):
        space = _SPACE.match(text, place)
        if space is not None:
            place = space.end()
            continue
        token = _token(text, place)
        found.append(token)
        place = token.span.end
    return [*found, _Token(kind="end", text="", span=Span(start=len(text), end=len(text) + 1))]


def _token(text: str, place: int) -> _Token:
    quoted = _QUOTED.match(text, place)
    if quoted is not None:
        quote = text[place]
        inner = quoted.group()[1:-1].replace(quote * 2, quote)
        return _Token(kind="text" if quote == "'" else "name", text=inner, span=_span(quoted))
    if text[place] in "'`\"":
        raise ExpressionError(
            f"The quote {text[place]} is not closed. Add another one.", text, Span(start=place, end=place + 1)
        )
    for kind, pattern in (("word", DATE), ("number", NUMBER), ("word", WORD)):
        match = pattern.match(text, place)
        if match is not None:
            return _Token(kind=kind, text=match.group(), span=_span(match))
    for sign in (*COMPARISONS, "(", ")", ","):
        if text.startswith(sign, place):
            return _Token(kind="sign", text=sign, span=Span(start=place, end=place + len(sign)))
    raise ExpressionError(
        f"{text[place]!r} cannot stand here. Put names with such characters in backticks and values in single quotes.",
        text,
        Span(start=place, end=place + 1),
    )


def _span(match: re.Match[str]) -> Span:
    return Span(start=match.start(), end=match.end())


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.place = 0
        self.depth = 0

    def whole(self) -> Expression:
        found = self.expression()
        if self.here.kind != "end":
            raise self.error(f"{self.here.shown} cannot follow a complete condition. Join conditions by `and` or `or`.")
        return found

    def expression(self) -> Expression:
        parts = [self.conjunction()]
        while self.here.is_word("or"):
            self.next()
            parts.append(self.conjunction())
        return parts[0] if len(parts) == 1 else Either(parts=tuple(parts))

    def conjunction(self) -> Expression:
        parts = [self.factor()]
        while self.here.is_word("and"):
            self.next()
            parts.append(self.factor())
        return parts[0] if len(parts) == 1 else Both(parts=tuple(parts))

    def factor(self) -> Expression:
        if self.depth >= DEEPEST:
            raise self.error(f"Conditions are nested deeper than {DEEPEST}. Ask a simpler question.")
        self.depth += 1
        try:
            if self.here.is_word("not"):
                self.next()
                return Not(part=self.factor())
            if not self.here.is_sign("("):
                return self.condition()
            self.next()
            found = self.expression()
            self.sign(")")
            return found
        finally:
            self.depth -= 1

    def condition(self) -> Expression:
        name = self.name()
        if self.here.is_sign(*COMPARISONS):
            operator = self.next().text
            value = self.value()
            same = "!=" if operator == "<>" else operator
            return Compared(attribute=name.text, operator=same, value=value, span=name.span)
        if self.here.is_word("is"):
            self.next()
            negated = self.negated()
            self.word("missing")
            return _negated(Missing(attribute=name.text, span=name.span), negated)
        negated = self.negated()
        if self.here.is_word("in"):
            self.next()
            return _negated(Membership(attribute=name.text, values=self.values(), span=name.span), negated)
        if self.here.is_word("between"):
            self.next()
            low = self.value()
            self.word("and")
            return _negated(Between(attribute=name.text, low=low, high=self.value(), span=name.span), negated)
        raise self.error(
            f"After the name {name.text!r} comes a comparison (= != < <= > >=), `in (...)`, `between ... and ...` or "
            f"`is missing`, not {self.here.shown}. Names with spaces are quoted by backticks."
        )

    def negated(self) -> bool:
        found = self.here.is_word("not")
        if found:
            self.next()
        return found

    def values(self) -> tuple[Literal, ...]:
        self.sign("(")
        found = [self.value()]
        while self.here.is_sign(","):
            self.next()
            found.append(self.value())
        self.sign(")")
        return tuple(found)

    def name(self) -> _Token:
        if self.here.kind == "name" or (self.here.kind == "word" and not self.here.is_word(*KEYWORDS)):
            return self.next()
        if self.here.kind == "text":
            raise self.error(
                f"{self.here.shown} is a value. A condition begins with a name; quote names by backticks or double "
                "quotes."
            )
        raise self.error(f"A condition begins with the name of an attribute, not with {self.here.shown}.")

    def value(self) -> Literal:
        if self.here.kind in ("text", "number") or (self.here.kind == "word" and not self.here.is_word(*KEYWORDS)):
            token = self.next()
            return Literal(text=token.text, number=token.kind == "number", span=token.span)
        if self.here.kind == "name":
            raise self.error(f"{self.here.shown} is a name. Put values in single quotes.")
        raise self.error(f"A value is missing here, before {self.here.shown}. Put texts in single quotes.")

    def word(self, word: str) -> None:
        if not self.here.is_word(word):
            raise self.error(f"Write `{word}` here, instead of {self.here.shown}.")
        self.next()

    def sign(self, sign: str) -> None:
        if not self.here.is_sign(sign):
            raise self.error(f"Write `{sign}` here, before {self.here.shown}.")
        self.next()

    @property
    def here(self) -> _Token:
        return self.tokens[self.place]

    def next(self) -> _Token:
        token = self.here
        self.place += 1
        return token

    def error(self, problem: str) -> ExpressionError:
        return ExpressionError(problem, self.text, self.here.span)


def _negated(condition: Condition, negated: bool) -> Expression:
    return Not(part=condition) if negated else condition
