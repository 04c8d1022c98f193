"""Confirmed domains: the reason takes the place of `unconfirmed: true`, and nothing else in the file changes."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import schemas

from scumble.errors import InputError
from scumble.files.schema_confirm import confirm_domains, confirmed_text
from scumble.files.schema_file import parse_schema, schema_text

BLOCK = """\
# A heading.
scumble: schema/1
attributes:
  # Guess: the range of the rows.
  age:  # in years
    numeric: {low: 0.10, high: 1_0.10, step: 5}
    unconfirmed: true  # drafted
    outside: drop
  job: { classes: [no, 'yes'], unconfirmed: true }
"""
REASONS = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text.isprintable() and text.strip())


@given(data=st.data())
def test_any_schema_and_any_reason(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    drafted = replace(schema, attributes=tuple(replace(each, unconfirmed=True) for each in schema.attributes))
    names = data.draw(st.lists(st.sampled_from(schema.names), unique=True))
    reasons = {name: data.draw(REASONS) for name in names}
    comments = dict.fromkeys(schema.names, "a comment: \u00e4\nof two lines")
    text = schema_text(drafted, heading="A heading", comments=comments)
    found = parse_schema(confirmed_text(text, reasons, name="schema.yaml"))
    assert {each.name: each.public_because for each in found.attributes if not each.unconfirmed} == reasons
    assert [replace(each, public_because=None, unconfirmed=True) for each in found.attributes] == [*drafted.attributes]


def test_comments_order_and_spelling_stay() -> None:
    text = confirmed_text(BLOCK, {"age": 'said "so"', "job": "census: 2021"}, name="schema.yaml")
    assert text == BLOCK.replace("unconfirmed: true  #", 'public because: "said \\"so\\""  #').replace(
        "unconfirmed: true }", 'public because: "census: 2021" }'
    )


def test_line_ends_and_a_byte_order_mark_stay(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    raw = ("\ufeff" + BLOCK.replace("\n", "\r\n")).encode()
    path.write_bytes(raw)
    confirm_domains(path, {"age": "known"})
    assert path.read_bytes() == raw.replace(b"unconfirmed: true  #", b'public because: "known"  #')


@pytest.mark.parametrize("key", ["public because", "public_because"])
def test_an_older_reason_is_replaced(key: str) -> None:
    text = BLOCK.replace("unconfirmed: true }", f"unconfirmed: true, {key}: {{}} }}".replace("{}", "old"))
    found = parse_schema(confirmed_text(text, {"job": "new"}, name="schema.yaml"))
    assert (found["job"].public_because, found["job"].unconfirmed) == ("new", False)


def test_the_file_is_replaced_through_links_with_its_permissions(tmp_path: Path) -> None:
    path, link = tmp_path / "schema.yaml", tmp_path / "link.yaml"
    path.write_text(BLOCK)
    path.chmod(0o640)
    link.symlink_to(path)
    assert confirm_domains(link, {"age": "known"})["age"].public_because == "known"
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.yaml", "schema.yaml"]


@pytest.mark.parametrize(
    ("reasons", "message"),
    [
        ({"age": " "}, "'age': a domain copied from the rows is not public"),
        ({"age": "two\nlines"}, "State in one line"),
        ({"nobody": "known"}, "no attribute 'nobody'"),
    ],
)
def test_what_cannot_be_confirmed(tmp_path: Path, reasons: dict[str, str], message: str) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(BLOCK)
    with pytest.raises(InputError, match=message):
        confirm_domains(path, reasons)
    assert path.read_text() == BLOCK


def test_an_entry_that_two_attributes_share_is_left_to_the_owner() -> None:
    text = BLOCK.replace("job: {", "job: &one {") + "  town: *one\n"
    with pytest.raises(InputError, match="cannot be edited on their own"):
        confirmed_text(text, {"job": "known"}, name="schema.yaml")
    found = parse_schema(confirmed_text(text, {"job": "known", "town": "known"}, name="schema.yaml"))
    assert {found["job"].public_because, found["town"].public_because} == {"known"}


def test_a_reason_is_not_empty() -> None:
    with pytest.raises(InputError, match="'age': the reason why its domain is public is empty"):
        parse_schema('scumble: schema/1\nattributes:\n  age: {classes: [a], public because: ""}\n')
