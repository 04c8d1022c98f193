"""The entry of one attribute: its data reads back as the same attribute, and wrong entries are refused with advice."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import attributes

from scumble.errors import InputError
from scumble.files.schema_attribute import AttributePart, attribute_data, attribute_from
from scumble.files.schema_file import parse_schema, read_schema, schema_text
from scumble.model.guarantee import Unit
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.values import code_of


@given(attribute=attributes("here", unit=Unit.ADD_REMOVE))
def test_the_data_of_an_attribute_reads_back(attribute: Attribute) -> None:
    data = attribute_data(attribute, Schema(attributes=(attribute,)))
    assert attribute_from("here", AttributePart.model_validate(data), Unit.ADD_REMOVE, None) == attribute


@given(attribute=st.sampled_from(Unit).flatmap(lambda unit: attributes("here", unit=unit, classes=2)))
def test_a_target_is_written_as_classes(attribute: Attribute) -> None:
    other = Attribute(name="other", domain=attribute.domain, outside=attribute.outside, missing=attribute.missing)
    assert "classes" in attribute_data(attribute, Schema(attributes=(other, attribute), target="here"))


NESTED = "number in nested intervals"


def parsed(entry: str, *, head: str = "") -> Attribute:
    return parse_schema(f"scumble: schema/1\n{head}attributes:\n  x: {entry}\n")["x"]


@pytest.mark.parametrize(
    ("entry", "kind", "labels"),
    [
        ("{boolean: true}", "boolean", ["false", "true"]),
        ("{boolean: {false: [no], true: [yes]}, missing: '?'}", "boolean", ["false", "true", "?"]),
        ("{ordered: [none, mild, severe]}", "ordered category", ["none", "mild", "severe"]),
        ("{ordered: [none, mild, severe], missing: mild}", "ordered category", ["none", "mild", "severe"]),
        ("{ordered: [a, b, c], cut: [a, b..c]}", "ordered category", ["a", "b..c"]),
        ("{numeric: {tree: {'[0,9)': {'[0, 5.0)': , '[5,9)': }}}}", NESTED, ["[0,5)", "[5,9)"]),
        ("{numeric: {tree: {'[0,2)': {'[0,1)': , '[1,2)': }}}, cut: ['[0,2)']}", NESTED, ["[0,2)"]),
        ("{numeric: {edges: [0, 1, 2]}, numbers: {decimal: ','}}", "number", ["[0,1)", "[1,2)"]),
        ("{date: {from: 2023-12-01, to: 2024-02-01, step: month}}", "date", ["2023-12", "2024-01"]),
        ("{date: {from: 2023-01-01, to: 2024-01-01, step: quarter}, cut: ['2023']}", "date", ["2023"]),
        (
            "{date: {from: 2023-01-01, to: 2024-01-01, step: year, format: '%d/%m/%Y'}, missing: x}",
            "date",
            ["2023", "x"],
        ),
        ("{prefix: {levels: [1, 2], codes: [E10, E11, I10], ignore: .}}", "code", ["E1", "I1"]),
        ("{prefix: {levels: [1, 2], pattern: '[ab]0'}, missing: '?', cut: [a*, b0, '?']}", "code", ["a*", "b0", "?"]),
    ],
)
def test_every_kind_is_read_and_written(entry: str, kind: str, labels: list[str]) -> None:
    attribute = parsed(entry)
    assert (attribute.kind, list(attribute.domain.labels)) == (kind, labels)
    assert parse_schema(schema_text(Schema(attributes=(attribute,))))["x"] == attribute
    assert attribute.outside is (Outside.CLAMP if kind.startswith(("number", "date")) else Outside.DROP)


def test_numbers_have_a_default_for_the_whole_file() -> None:
    head = "numbers: {decimal: ',', thousands: '.'}\n"
    grid = "numeric: {low: 0, high: 9000, step: 1}"
    assert code_of(parsed(f"{{{grid}}}", head=head), "1.234,5") == 1234
    assert code_of(parsed(f"{{{grid}, numbers: {{decimal: '.'}}}}", head=head), "1234.5") == 1234
    assert parsed("{classes: [a]}", head=head).notation is None


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{text: true}", "Kinds of attributes: numeric, .* Free text and unique keys have no public domain"),
        ("{boolean: false}", "give exactly one of"),
        ("{boolean: {false: [x], true: [x]}}", "means both false and true"),
        ("{ordered: []}", "`ordered` is empty"),
        ("{date: {from: 2023-01-05, to: 2024-01-01, step: year}}", "is not the first day of a year"),
        ("{date: {from: 1900, to: 2024-01-01, step: year}}", "'1900' is not a date"),
        ("{date: {from: 2023-02-30, to: 2024-01-01, step: year}}", "'2023-02-30' is not a date"),
        ("{date: {from: 2023-01-01, to: 2024-01-01, step: week}}", "step"),
        ("{prefix: {levels: [1]}}", "give exactly one of codes, csv, pattern"),
        ("{prefix: {levels: [1], csv: absent.csv}}", "names the file 'absent.csv', but this schema must be complete"),
        ("{numeric: {tree: {'[0,9)': {'[0,5)': , '[6,9)': }}}}", "do not tile"),
        ("{numeric: {tree: {'[0,9)': }, low: 1}}", "or a tree of intervals"),
        ("{classes: [a], numbers: {decimal: ','}}", "numbers says how a numeric attribute is written"),
        ("{numeric: {edges: [0, 1]}, numbers: {decimal: '!'}}", "The decimal sign is '!'"),
        ("{numeric: {edges: [0, 1]}, cut: [a]}", "A cut needs a taxonomy"),
    ],
)
def test_wrong_entries_are_refused_with_advice(entry: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parsed(entry)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.csv", "absent.csv cannot be read"),
        ("../codes.csv", "'../codes.csv' leads out of the folder"),
        ("/etc/passwd", "'/etc/passwd' leads out of the folder"),
        ("linked/codes.csv", "leads out of the folder"),
        ("link.csv", "it is a symbolic link"),
        ("folder", "Is a directory"),
    ],
)
def test_a_schema_names_only_files_in_its_folder(tmp_path: Path, name: str, words: str) -> None:
    here = tmp_path / "here"
    (here / "folder").mkdir(parents=True)
    (tmp_path / "codes.csv").write_text("A1\n", encoding="utf-8")
    (here / "linked").symlink_to(tmp_path)
    (here / "link.csv").symlink_to(tmp_path / "codes.csv")
    (here / "schema.yaml").write_text(
        f"scumble: schema/1\nattributes: {{x: {{prefix: {{levels: [1], csv: {name}}}}}}}\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match=words):
        read_schema(here / "schema.yaml")
