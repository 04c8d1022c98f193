"""docs/schema.md documents every key of the schema file, and each of its examples is a schema."""

import re
from pathlib import Path
from typing import Any

import pytest

from scumble.files.schema_file import json_schema, parse_schema, parse_yaml, schema_text

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "schema.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
DOCUMENTED = set(re.findall(r"^\| `([\w ]+)` \|", PAGE, flags=re.MULTILINE))


def keys_of_the_format() -> set[str]:
    whole = json_schema()
    return {key for part in (whole, *whole["$defs"].values()) for key in part.get("properties", {})}


def keys_of(data: Any) -> set[str]:
    """All keys of nested mappings."""
    if isinstance(data, dict):
        return set(data) | {key for value in data.values() for key in keys_of(value)}
    return set()


def test_every_key_is_documented() -> None:
    assert keys_of_the_format() == DOCUMENTED


def test_every_key_has_an_example() -> None:
    shown = {key for text in EXAMPLES for key in keys_of(parse_yaml(text, "an example"))}
    assert keys_of_the_format() <= shown


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_is_a_schema(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs.csv").write_text("Dancer;Stage;Any\nLawyer;Office;Any\n", encoding="utf-8")
    (tmp_path / "procedures.csv").write_text("5-01;A\n5-03;B\n8-10;C\n", encoding="utf-8")
    schema = parse_schema(text, folder=tmp_path)
    assert parse_schema(schema_text(schema)) == schema
