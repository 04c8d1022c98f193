"""`schema.yaml`: names and decimals are read back exactly, and every mistake is reported with its place."""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.events import ScalarEvent
from strategies import ODD_LABELS, cuts, schemas

from scumble.demo.patients import PATIENTS_SCHEMA
from scumble.errors import InputError
from scumble.files.schema_file import json_schema, parse_schema, read_schema, schema_text, write_schema
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

HEAD = "scumble: schema/1\ntarget: income\n"
INCOME = "  income: {classes: [low, high]}\n"
AGE = "  age: {numeric: {low: 0, high: 100, step: 1}}\n"
GOOD = f"{HEAD}attributes:\n{AGE}{INCOME}"


def codes(schema: Schema) -> list[Mapping[str, int]]:
    """The content of a schema: labels of trees, edges of grids."""
    return [
        a.domain.codes if isinstance(a.domain, Tree) else dict(enumerate(a.domain.edge_floats))
        for a in schema.attributes
    ]


@given(schemas())
@settings(max_examples=80)
def test_a_schema_comes_back_from_its_text(schema: Schema) -> None:
    again = parse_schema(schema_text(schema, heading="A heading\nof two lines: with signs"))
    assert again == schema
    assert codes(again) == codes(schema)
    assert [a.missing_code for a in again.attributes] == [a.missing_code for a in schema.attributes]


@given(st.data())
@settings(max_examples=80)
def test_a_published_schema_comes_back_from_its_text(data: st.DataObject) -> None:
    published = data.draw(cuts(data.draw(schemas()))).published_schema()
    again = parse_schema(schema_text(published))
    assert again == published
    assert codes(again) == codes(published)
    assert [a.domain.labels for a in again.attributes] == [a.domain.labels for a in published.attributes]
    assert [a.missing_code for a in again.attributes] == [a.missing_code for a in published.attributes]


def test_odd_names_come_back() -> None:
    names = [name for name in ODD_LABELS if name]
    schema = Schema(
        attributes=tuple(
            Attribute(name=name, domain=Tree.flat([*ODD_LABELS, "\x00", "\x7f", "\r", "\u2029"]), outside=Outside.DROP)
            for name in names
        ),
        identifiers=("\x85 too",),
    )
    assert parse_schema(schema_text(schema)) == schema


YAML_1_1 = [
    r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|y|Y|n|N",
    r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?",
    r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    r"[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+",
    r"<<|~|null|Null|NULL||=",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}.*",
]
"""What PyYAML, a reader of YAML 1.1, takes for something else than text where it is not quoted."""
YAML_1_2 = [
    r"true|True|TRUE|false|False|FALSE|null|Null|NULL|~|",
    r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
]
NOT_TEXT = re.compile("|".join(f"(?:{pattern})" for pattern in YAML_1_1 + YAML_1_2))


def plain_scalars(text: str) -> set[str]:
    """The scalars without quotes."""
    return {
        event.value
        for event in YAML(typ="safe", pure=True).parse(text)
        if isinstance(event, ScalarEvent) and event.style is None
    }


AMBIGUOUS = (
    *(
        "no",
        "No",
        "YES",
        "on",
        "Off",
        "y",
        "n",
        "true",
        "NULL",
        "~",
        "",
        "010",
        "1:30",
        "0o17",
        "0b1",
        "1_000",
        "+.inf",
    ),
    *("2024-05-01", "2001-1-1 1:01:01", "1e3", ".5", "=", "<<", ".NaN", "-1", "0x1F", "-.Inf", "12e03", "1.", "+12"),
)


@given(
    st.lists(st.sampled_from(AMBIGUOUS) | st.from_regex(NOT_TEXT, fullmatch=True), unique=True, min_size=1, max_size=6)
)
def test_no_reader_of_yaml_takes_a_label_for_something_else(names: list[str]) -> None:
    tree = Tree.nested({"Any": dict.fromkeys(names)})
    columns = tuple(
        Attribute(name=f"{name} {place}", domain=tree, outside=Outside.DROP) for place, name in enumerate(names)
    )
    target = Attribute(name="no", domain=Tree.flat(names), outside=Outside.DROP, missing=names[0])
    schema = Schema(attributes=(*columns, target), target="no")
    text = schema_text(schema)
    assert parse_schema(text) == schema
    assert not {scalar for scalar in plain_scalars(text) if NOT_TEXT.fullmatch(scalar)} - {""}


def test_a_target_keeps_its_taxonomy() -> None:
    schema = parse_schema(f"{HEAD}attributes:\n{AGE}  income: {{taxonomy: {{All: {{few: {{a: , b: }}, c: }}}}}}\n")
    assert schema.classes == ("a", "b", "c")
    assert parse_schema(schema_text(schema)) == schema


def test_files_and_hierarchies_beside_them(tmp_path: Path) -> None:
    (tmp_path / "work.csv").write_text("Private;Any\nFederal;Gov;Any\n", encoding="utf-8")
    path = tmp_path / "schema.yaml"
    path.write_text(f"{HEAD}attributes:\n  work: {{taxonomy: {{csv: work.csv}}}}\n{INCOME}", encoding="utf-8")
    schema = read_schema(path)
    assert schema["work"].domain == Tree.nested({"Any": {"Private": None, "Gov": {"Federal": None}}})
    write_schema(schema, tmp_path / "again.yaml")
    assert read_schema(tmp_path / "again.yaml") == schema
    with pytest.raises(
        InputError,
        match=re.escape(f"attribute 'work': The hierarchy file {tmp_path / 'x' / 'work.csv'} does not exist"),
    ):
        parse_schema(path.read_text(encoding="utf-8"), folder=tmp_path / "x")


def test_a_root_called_csv_is_no_file() -> None:
    assert parse_schema("scumble: schema/1\nattributes: {x: {taxonomy: {csv: {a: , b: }}}}")["x"].domain.size == 2
    assert parse_schema("scumble: schema/1\nattributes: {x: {taxonomy: {csv: }}}")["x"].domain.labels == ("csv",)


@pytest.mark.parametrize(
    "number", ["0.1", "1e-7", "1E+3", "-0", "007", "12345678901234567890.123456789", "+1.50", "1_000"]
)
def test_decimals_are_exact(number: str) -> None:
    schema = parse_schema(f"scumble: schema/1\nattributes: {{x: {{numeric: {{edges: [-5, {number}, 1e30]}}}}}}")
    grid = schema["x"].domain
    assert isinstance(grid, Grid)
    assert grid.edges == (Decimal(-5), Decimal(number), Decimal("1e30"))
    assert parse_schema(schema_text(schema)) == schema


@pytest.mark.parametrize(
    "leaf", ["010", "null", "yes", "~", "1.0", "0x1F", "2020-01-01", "1_000", ".inf", "True", "NO"]
)
def test_names_are_text_as_written(leaf: str) -> None:
    schema = parse_schema(f"scumble: schema/1\nattributes: {{{leaf}: {{taxonomy: {{Any: {{{leaf}: , b: }}}}}}}}")
    assert schema[leaf].domain.labels == (leaf, "b")
    assert parse_schema(schema_text(schema)) == schema


def test_defaults() -> None:
    schema = parse_schema(
        f"{HEAD}attributes:\n{AGE}  job: {{taxonomy: {{Any: {{a: , b: }}}}}}\n{INCOME}  name: {{identifier: true}}\n"
    )
    assert schema.unit is Unit.ADD_REMOVE
    assert [a.outside for a in schema.attributes] == [Outside.CLAMP, Outside.DROP, Outside.DROP]
    assert not any(a.unconfirmed for a in schema.attributes)
    assert schema.identifiers == ("name",)
    replaced = parse_schema(f"unit: replace\nrows: 7\n{GOOD}")
    assert (replaced.unit, replaced.rows) == (Unit.REPLACE, 7)
    assert [a.outside for a in replaced.attributes] == [Outside.CLAMP, Outside.CLAMP]


def test_missing_values_get_a_leaf_or_a_code_of_their_own() -> None:
    schema = parse_schema(
        "scumble: schema/1\ntarget: y\nattributes:\n"
        "  n: {numeric: {low: 0, high: 3, step: 1}, missing: '?'}\n"
        "  new: {taxonomy: {Any: {a: , b: }}, missing: '?'}\n"
        "  old: {taxonomy: {Any: {a: , '?': , b: }}, missing: '?'}\n"
        "  y: {classes: [p, q], missing: '?'}\n"
    )
    assert [a.missing_code for a in schema.attributes] == [3, 2, 1, 2]
    assert schema["n"].domain.labels == ("[0,1)", "[1,2)", "[2,3)", "?")
    assert schema.classes == ("p", "q", "?")
    assert parse_schema(schema_text(schema)) == schema


def test_a_missing_label_outside_the_domain_is_refused_by_the_model() -> None:
    for domain in (Tree.flat(["a"]), Grid(edges=(Decimal(0), Decimal(1)))):
        with pytest.raises(InputError, match="lacks '\\?'"):
            Attribute(name="x", domain=domain, outside=Outside.CLAMP, missing="?")


def attribute(text: str) -> str:
    return f"{HEAD}attributes:\n  x: {text}\n{INCOME}"


MALFORMED = {
    "empty file": ("", "not a mapping"),
    "only a comment": ("# nothing\n", "not a mapping"),
    "a list": ("- scumble: schema/1\n", "not a mapping"),
    "a word": ("schema", "not a mapping"),
    "no version line": (GOOD.partition("\n")[2], "scumble: "),
    "wrong version line": (GOOD.replace("schema/1", "schema/2"), "scumble: "),
    "no attributes": (HEAD, "attributes: "),
    "empty attributes": (f"{HEAD}attributes:\n", "attributes: "),
    "unknown key": (f"epsilon: 1\n{GOOD}", "epsilon: "),
    "unknown key of an attribute": (attribute("{numerical: 1, classes: [a]}"), "attributes > x > numerical: "),
    "unknown key of a grid": (
        attribute("{numeric: {low: 0, high: 1, step: 1, width: 1}}"),
        "attributes > x > numeric > width: ",
    ),
    "unknown unit": (f"unit: person\n{GOOD}", "unit: "),
    "unknown outside": (attribute("{classes: [a], outside: keep}"), "attributes > x > outside: "),
    "rows not whole": (f"rows: 1.5\n{GOOD}", "rows: "),
    "rows negative": (f"rows: -1\n{GOOD}", "rows: "),
    "rows_at_most negative": (f"rows_at_most: -1\n{GOOD}", "rows_at_most: "),
    "rows missing under replace": (f"unit: replace\n{GOOD}", "Add `rows: N`"),
    "drop under replace": (
        f"unit: replace\nrows: 3\n{attribute('{classes: [a], outside: drop}')}",
        "'x' drops rows outside its domain",
    ),
    "duplicate keys": (f"{GOOD}{AGE}", "line 6 is not valid YAML: found duplicate key"),
    "duplicate keys at the top": (f"target: x\n{GOOD}", "not valid YAML: found duplicate key"),
    "not YAML": (f"{GOOD}  x: {{a", "line 6 is not valid YAML"),
    "tabs": (f"{GOOD}\tx: 1", "not valid YAML"),
    "two documents": (f"{GOOD}---\n{GOOD}", "not valid YAML"),
    "an attribute with nothing": (attribute(""), "attributes > x: "),
    "two kinds": (attribute("{classes: [a], identifier: true}"), "attributes > x: give exactly one of numeric"),
    "no kind": (attribute("{outside: clamp}"), "attributes > x: give exactly one of numeric"),
    "identifier false": (attribute("{identifier: false}"), "attributes > x: give exactly one of numeric"),
    "nothing to publish": (f"{HEAD}attributes:\n{INCOME}", "no attribute to publish"),
    "missing target": (f"{HEAD}attributes:\n{AGE}", "The target 'income' is not an attribute"),
    "target an identifier": (f"{HEAD}attributes:\n{AGE}  income: {{identifier: true}}\n", "The target 'income' is no"),
    "numeric target": (
        f"{HEAD}attributes:\n{AGE}  income: {{numeric: {{low: 0, high: 1, step: 1}}}}\n",
        "The target 'income' is numeric",
    ),
    "no classes": (attribute("{classes: []}"), "attribute 'x': `classes` is empty"),
    "repeated class": (attribute("{classes: [a, b, a]}"), "attribute 'x': 'a' is listed twice"),
    "repeated leaf": (
        attribute("{taxonomy: {Any: {p: {a: }, q: {a: }}}}"),
        "attribute 'x': The taxonomy names 'a' twice",
    ),
    "repeated leaf of one node": (
        attribute("{taxonomy: {Any: {a: , a: }}}"),
        "line 4 is not valid YAML: found duplicate",
    ),
    "leaf like the root": (attribute("{taxonomy: {Any: {Any: }}}"), "attribute 'x': The taxonomy names 'Any' twice"),
    "two roots": (
        attribute("{taxonomy: {Any: {a: }, Other: {b: }}}"),
        "attribute 'x': A taxonomy has one root, here: 'Any', 'Other'",
    ),
    "no root": (attribute("{taxonomy: {}}"), "attribute 'x': A taxonomy has one root, here: none"),
    "a list of leaves": (attribute("{taxonomy: {Any: [a, b]}}"), "attribute 'x': A taxonomy contains only mappings"),
    "a leaf with a value": (attribute("{taxonomy: {Any: {a: 1}}}"), "attribute 'x': A taxonomy contains only mappings"),
    "a bottomless taxonomy": (
        attribute("{taxonomy: " + "".join(f"{{n{n}: " for n in range(3000)) + "}" * 3001),
        "it has more than 30 brackets inside each other",
    ),
    "missing an inner node": (
        attribute("{taxonomy: {Any: {p: {a: , b: }, c: }}, missing: p}"),
        "attribute 'x': missing 'p' has values below it",
    ),
    "missing the root": (
        attribute("{taxonomy: {Any: {a: }}, missing: Any}"),
        "attribute 'x': The taxonomy names 'Any' twice",
    ),
    "missing beside a lone root": (
        attribute("{taxonomy: {a: }, missing: '?'}"),
        "attribute 'x': 'a' is both root and leaf",
    ),
    "missing like an interval": (
        attribute("{numeric: {edges: [0, 1]}, missing: '[0,1)'}"),
        "attribute 'x': The label of missing values, '[0,1)', looks",
    ),
    "missing that joins nothing": (
        attribute("{classes: [a], missing: {label: b, joins: last}}"),
        "attributes > x: joins is for numeric attributes",
    ),
    "cut without a taxonomy": (attribute("{classes: [a], cut: [a]}"), "attributes > x: a cut needs a taxonomy"),
    "cut of an unknown node": (
        attribute("{taxonomy: {Any: {a: }}, cut: [b]}"),
        "attribute 'x': The taxonomy has no node 'b'",
    ),
    "cut that covers too little": (
        attribute("{taxonomy: {Any: {a: , b: }}, cut: [b]}"),
        "attribute 'x': The cut has no node",
    ),
    "cut that covers twice": (
        attribute("{taxonomy: {Any: {p: {a: }, b: }}, cut: [p, a, b]}"),
        "attribute 'x': The cut lists a node below",
    ),
    "step does not divide": (
        attribute("{numeric: {low: 0, high: 1, step: 0.3}}"),
        "attribute 'x': step 0.3 does not divide",
    ),
    "step zero": (attribute("{numeric: {low: 0, high: 1, step: 0}}"), "attribute 'x': step 0 is not a positive"),
    "step missing": (
        attribute("{numeric: {low: 0, high: 1}}"),
        "attributes > x > numeric: give either low, high and step",
    ),
    "step and edges": (attribute("{numeric: {step: 1, edges: [0, 1]}}"), "attributes > x > numeric: give either low"),
    "no numbers": (attribute("{numeric: {}}"), "attributes > x > numeric: give either low"),
    "edges not ascending": (
        attribute("{numeric: {edges: [0, 2, 1]}}"),
        "attribute 'x': The edges [0, 2, 1] are not in ascending order",
    ),
    "low above high": (
        attribute("{numeric: {low: 2, high: 1, step: 1}}"),
        "attribute 'x': The edges [2, 1] are not in ascending order",
    ),
    "one edge": (attribute("{numeric: {edges: [0]}}"), "attribute 'x': A numeric domain needs at least two"),
    "an edge that is text": (attribute("{numeric: {edges: [0, many]}}"), "attributes > x > numeric > edges > 1: "),
    "an infinite edge": (attribute("{numeric: {edges: [0, inf]}}"), "attributes > x > numeric > edges > 1: "),
    "an absurd edge": (attribute("{numeric: {edges: [0, 1e99999999]}}"), "attribute 'x': 1E+99999999 is outside"),
    "too many cells": (attribute("{numeric: {low: 0, high: 1, step: 1e-12}}"), "attribute 'x': The numeric domain"),
    "a name that releases need": (GOOD.replace("age", "count"), "The attribute 'count' has the name"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_schema_is_refused_with_its_place(case: str) -> None:
    text, said = MALFORMED[case]
    with pytest.raises(InputError, match=re.escape(said)) as refusal:
        parse_schema(text, name="people.yaml")
    message = str(refusal.value)
    assert refusal.value.exit_code == 2
    assert message.startswith("people.yaml")
    assert "\n" not in message
    assert message.endswith(".")


def test_what_the_malformed_ones_were_made_of_is_well_formed() -> None:
    assert [a.name for a in parse_schema(GOOD).attributes] == ["age", "income"]
    assert parse_schema(attribute("{classes: [a]}"))["x"].domain.labels == ("a",)


def test_an_alias_means_the_anchor_last_set() -> None:
    text = GOOD.replace("step: 1}", "step: &s 1}") + "  size: {numeric: {low: 0, high: &s 8, step: *s}}\n"
    assert parse_schema(text)["size"].domain.size == 1


def test_an_identifier_may_have_a_name_that_releases_need() -> None:
    assert parse_schema(f"{GOOD}  count: {{identifier: true}}\n").identifiers == ("count",)


@pytest.mark.parametrize("found", ["nothing", "a folder", "not UTF-8"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, found: str) -> None:
    path = tmp_path / "schema.yaml"
    if found == "a folder":
        path.mkdir()
    elif found == "not UTF-8":
        path.write_bytes(GOOD.encode() + b"# caf\xe9\n")
    with pytest.raises(InputError, match=re.escape(str(path))):
        read_schema(path)


@given(st.data())
@settings(max_examples=150)
def test_a_damaged_file_gives_a_schema_or_an_input_error_and_nothing_else(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([GOOD, PATIENTS_SCHEMA, *(text for text, _ in MALFORMED.values())]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 5)))
        put = data.draw(
            st.sampled_from(
                [
                    "",
                    ":",
                    "{",
                    "}",
                    "[",
                    "]",
                    ",",
                    "&a ",
                    "*a",
                    "- ",
                    "\n",
                    " ",
                    "'",
                    '"',
                    "!!int ",
                    "<<",
                    "? ",
                    "\0",
                    "\t",
                    "%",
                    "|\n",
                    "9",
                    "é",
                ]
            )
        )
        text = text[:start] + put + text[stop:]
    try:
        schema = parse_schema(text)
    except InputError:
        return
    assert parse_schema(schema_text(schema)) == schema


def accepts(value: Any, rule: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    """The part of JSON Schema that the export uses."""
    if "$ref" in rule:
        return accepts(value, whole["$defs"][rule["$ref"].removeprefix("#/$defs/")], whole)
    known = (
        "$defs title description default type properties required additionalProperties anyOf enum const items minimum"
    )
    assert set(rule) <= set(known.split()), "an unknown rule would be taken for one that holds"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    kinds = {
        "object": isinstance(value, Mapping),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "integer": number and not isinstance(value, float),
        "number": number,
        "null": value is None,
    }
    if "type" in rule and not kinds[rule["type"]]:
        return False
    checks = [
        "anyOf" not in rule or any(accepts(value, each, whole) for each in rule["anyOf"]),
        "enum" not in rule or value in rule["enum"],
        "const" not in rule or value == rule["const"],
        "minimum" not in rule or value >= rule["minimum"],
    ]
    if not all(checks):
        return False
    if isinstance(value, list) and "items" in rule:
        return all(accepts(each, rule["items"], whole) for each in value)
    if isinstance(value, Mapping) and rule.get("type") == "object":
        named = rule.get("properties", {})
        others = rule.get("additionalProperties", True)
        return set(rule.get("required", [])) <= set(value) and all(
            accepts(each, named[name], whole)
            if name in named
            else (others if isinstance(others, bool) else accepts(each, others, whole))
            for name, each in value.items()
        )
    return True


def plain(text: str) -> Any:
    """The file as any other YAML reader sees it, through JSON."""
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load(text)))


def fits(text: str) -> bool:
    rule = json_schema()
    return accepts(plain(text), rule, rule)


def test_the_json_schema_accepts_what_we_write() -> None:
    schema = parse_schema(PATIENTS_SCHEMA)
    assert fits(PATIENTS_SCHEMA)
    assert fits(schema_text(schema))
    joined = parse_schema(attribute("{numeric: {edges: [0, 0.5]}, missing: {label: '?', joins: last}}"))
    assert fits(schema_text(joined))


def test_the_json_schema_accepts_the_adult_schema(data_folder: Path) -> None:
    for name in ("adult", "census", "eia"):
        assert fits((data_folder / f"{name}.schema.yaml").read_text(encoding="utf-8")), name


SHAPELESS: Sequence[str] = [
    "no version line",
    "wrong version line",
    "no attributes",
    "empty attributes",
    "unknown key",
    "unknown key of an attribute",
    "unknown key of a grid",
    "unknown unit",
    "unknown outside",
    "rows not whole",
    "rows negative",
    "an attribute with nothing",
]


@pytest.mark.parametrize("case", SHAPELESS)
def test_the_json_schema_refuses_the_wrong_shape(case: str) -> None:
    assert not fits(MALFORMED[case][0])


MISSPELT = """\
scumble: schema/1
attributes:
  age: {numeric: {low: 0, high: 100, step: 1}, missing: {label: none}}
  born: {date: {from: 2000-01-01, to: 2001-01-01, step: month}}
  ill: {boolean: {false: [f], true: [t]}}
  cost: {numeric: {edges: [0, 1]}, numbers: {decimal: ","}, public because: law}
  place: {prefix: {levels: [1], pattern: "[A-Z]"}}
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("attributes", "atributes"), ("high", "hihg"), ("missing", "mising"), ("label", "lable"), ("from", "fromm"),
        ("true", "ture"), ("decimal", "decmal"), ("public because", "public becuase"), ("pattern", "patern"),
    ],
)  # fmt: skip
def test_a_misspelt_key_gets_a_suggestion(right: str, wrong: str) -> None:
    parse_schema(MISSPELT)
    with pytest.raises(InputError, match=r"unknown key.*docs/schema\.md") as refused:
        parse_schema(MISSPELT.replace(f"{right}:", f"{wrong}:", 1))
    assert f"Did you mean `{right}`?" in str(refused.value)


def test_keys_of_the_whole_file_get_suggestions() -> None:
    for right, wrong in (("person", "persons"), ("numbers", "nubmers"), ("rows_each_at_most", "rows_each_atmost")):
        with pytest.raises(InputError, match=f"Did you mean `{right}`"):
            parse_schema(f"{wrong}: x\n{MISSPELT}")
    with pytest.raises(InputError, match="Did you mean `thousands`"):
        parse_schema(f"numbers: {{thousand: ' '}}\n{MISSPELT}")


def test_a_key_like_no_other_gets_no_suggestion() -> None:
    with pytest.raises(InputError, match="unknown key") as refused:
        parse_schema(f"zzz: x\n{MISSPELT}")
    assert "Did you mean" not in str(refused.value)
