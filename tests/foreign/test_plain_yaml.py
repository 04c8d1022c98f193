"""The quick reader of plain YAML returns what ruamel.yaml returns, or nothing; and long schemas take linear work."""

import sys
from io import StringIO
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from scumble.files.schema_file import parse_schema
from scumble.foreign.plain_yaml import parse_plain_yaml
from scumble.foreign.yaml_text import parse_yaml

words = st.text("ab1- .:#'\"&*!|>%@`?,[]{}()+=_~é٣<\\/\t", max_size=8) | st.sampled_from(
    ["- ", "---", "...", "''", '""']
)
lines = st.builds(
    lambda indent, dash, key, colon, value: " " * indent + dash + key + colon + value,
    st.integers(0, 5),
    st.sampled_from(["", "", "- "]),
    words | st.sampled_from("abcdef"),
    st.sampled_from([": ", ":", "", ":  "]),
    words,
)
plain_lines = st.builds(
    lambda indent, line: " " * indent + line,
    st.integers(0, 3),
    st.sampled_from(
        [
            "- x",
            "- -5",
            "a:",
            "b:",
            "c:",
            "d e: f",
            "'g h': \"i'\"",
            "k: l, m",
            "# n",
            "",
            "- 'o  p'",
            "q: (r",
            "s: [t, u v]",
            "w: {x: [y], z: 1}",
            "e: [&f g, *f]",
            "h: []",
        ]
    ),
)
texts = st.lists(lines, max_size=6) | st.lists(plain_lines, max_size=10) | st.lists(lines | plain_lines, max_size=8)
trees = st.recursive(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6) | st.sampled_from(["no", "1", "", "a b"]),
    lambda inner: (
        st.dictionaries(st.text("ab1 é", min_size=1, max_size=4), inner, min_size=1, max_size=4)
        | st.lists(st.text("ab1 -", max_size=4), min_size=1, max_size=4)
    ),
    max_leaves=12,
)


def by_ruamel(text: str) -> Any:
    yaml = YAML(typ="base", pure=True)
    yaml.composer.warn_double_anchors = False
    return yaml.load(text)


@given(texts.map("\n".join))
@example("a: b\n  - c")
@example("a:\n- b\n  - c")
@example("a:\n- b\nc:\n- d")
@example("a:\n  - b\n - c")
@example("a:\n  b:\n  c:\nd:")
@example("a: b\na: c")
@example("a: {b: c}: {d: e}")
@example("a: {b: c} # }")
@example("a: [b]\n  c: d")
@example("a: [-, b]")
@example("a: [b\\, c]")
@example(f"{'k' * 1100}: b")
@example(" a: b\nc: d")
@example("a:\n  # b\n c: d\n  e: f")
def test_what_is_read_is_what_ruamel_reads(text: str) -> None:
    read = parse_plain_yaml(text)
    if read is not None:
        assert by_ruamel(text) == read


@given(st.dictionaries(st.text("ab1 é", min_size=1, max_size=4), trees, min_size=1, max_size=4))
def test_what_ruamel_writes_is_read_alike(document: dict[str, Any]) -> None:
    written = StringIO()
    YAML().dump(document, written)
    assert parse_yaml(written.getvalue(), "the file") == by_ruamel(written.getvalue())


@pytest.mark.parametrize(
    "text",
    [
        "a:\n  b:\n  c: d\ne:\n- f\n- 'g h'\n",
        "a:\n    - b\n    - c\nd: -5\n",
        '# a\n\nb: "c"\n  # d\ne: f',
        "a b: c - d, e",
    ],
)
def test_the_usual_forms_are_plain(text: str) -> None:
    assert parse_plain_yaml(text) == by_ruamel(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "- a",
        "a: [b",
        "a: {b: c}: {d: e}",
        "a: {b}}",
        "a: [*b]",
        "a: &b c",
        "a: |\n  b",
        "a: b # c",
        "a: b\r\n",
        "a:\tb",
        "a: 'b''c'",
    ],
)
def test_everything_else_is_left_to_ruamel(text: str) -> None:
    assert parse_plain_yaml(text) is None


def calls_of(text: str) -> int:
    """How many functions are called while a schema is read: a measure of work that does not depend on the machine."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        parse_schema(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    ("head", "entry"),
    [("  c:\n    classes:\n", "      - label {}\n"), ("  c:\n    taxonomy:\n      Any:\n", "        leaf {}:\n")],
)
def test_long_domains_are_read_with_a_few_calls_for_each_value(head: str, entry: str) -> None:
    def schema(size: int) -> str:
        kind = "target: c\n" if "classes" in head else ""
        other = "  a:\n    numeric:\n      low: 0\n      high: 2\n      step: 1\n" if kind else ""
        entries = "".join(entry.format(number) for number in range(size))
        return f"scumble: schema/1\n{kind}attributes:\n{other}{head}{entries}"

    calls_of(schema(3))  # what is imported or built once
    few, many = calls_of(schema(1000)), calls_of(schema(2000))
    assert many - few < 60 * 1000  # ruamel.yaml alone makes several hundred for each
