"""The kinds of attributes: files of codes, and taxonomies without a leaf."""

from pathlib import Path

import pytest

from scumble.errors import InputError
from scumble.files.schema_kinds import PrefixPart, nested, without


@pytest.mark.parametrize("text", ["E10;a\nE11;b\n\nI10\n", "\ufeffE10\r\nE11\r\nI10", '"E10",x\n"E11"\nI10\tz\n'])
def test_a_file_of_codes_has_one_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "codes.csv").write_bytes(text.encode())
    found = PrefixPart(levels=[1, 3], csv="codes.csv").notation(tmp_path)
    assert found.codes == ("E10", "E11", "I10")
    (tmp_path / "codes.csv").write_bytes(b"K\xf6ln")
    with pytest.raises(InputError, match="cannot be read"):
        PrefixPart(levels=[1], csv="codes.csv").notation(tmp_path)


def test_taxonomies() -> None:
    assert without({"Any": {"a": None, "b": {"c": None}}}, "a") == {"Any": {"b": {"c": None}}}
    assert nested({"Any": {"a": "", "b": {"c": None}}}) == {"Any": {"a": None, "b": {"c": None}}}
    with pytest.raises(InputError, match="only mappings"):
        nested({"Any": ["a"]})
