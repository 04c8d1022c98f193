"""YAML that would take ruamel.yaml minutes is refused within seconds, and ordinary brackets are read."""

import time

import pytest

from scumble.errors import InputError
from scumble.foreign.plain_yaml import DEEPEST_BRACKETS, MOST_TOKENS
from scumble.foreign.yaml_text import parse_yaml

NOT_PLAIN = "first: |\n  text\n"
"""Makes ruamel.yaml read the whole text."""


def brackets(depth: int, lines: int) -> str:
    return "".join(f"k{line}: {'[' * depth}x{']' * depth}\n" for line in range(lines))


@pytest.mark.parametrize("head", ["", NOT_PLAIN])
@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_lines_of_many_nested_brackets_are_refused_at_once(head: str, pair: str) -> None:
    """700 KB of such lines took a minute."""
    text = head + brackets(170, 2000).replace("[", pair[0]).replace("]", pair[1])
    began = time.process_time()
    with pytest.raises(InputError, match="brackets inside each other"):
        parse_yaml(text, "schema.yaml")
    assert time.process_time() - began < 2


def test_brackets_below_the_bound_are_read() -> None:
    data = parse_yaml(brackets(DEEPEST_BRACKETS, 2), "schema.yaml")
    assert str(data["k1"]).count("[") == DEEPEST_BRACKETS


def test_the_words_of_all_lines_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scumble.foreign.plain_yaml.Tokens.__init__", lambda self: setattr(self, "left", 300))
    assert parse_yaml("a: {b: {c: 1}}\n", "schema.yaml") == {"a": {"b": {"c": "1"}}}
    with pytest.raises(InputError, match=f"more than {MOST_TOKENS:,} words and signs"):
        parse_yaml("".join(f"k{line}: {{b: {{c: 1}}}}\n" for line in range(100)), "schema.yaml")


@pytest.mark.parametrize("text", ["[[[a?]]]: b", "[[[title: How?]]]: a"])
def test_a_key_that_cannot_be_looked_up_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a key is a list or a mapping"):
        parse_yaml(text, "schema.yaml")
