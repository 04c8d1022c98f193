"""Codes by their prefixes: lists, patterns, and the reading of longer and shorter values."""

from typing import Any

import pytest

from scumble.errors import InputError
from scumble.model.prefixes import PrefixNotation, characters
from scumble.model.schema import Attribute, Outside
from scumble.model.values import code_of

ICD = PrefixNotation(levels=(1, 3), codes=("E10.1", "I10", "E11", "E10.9"), ignore=". ")


def test_the_levels_group_codes_by_their_first_characters() -> None:
    assert ICD.tree.to_nested() == {"*": {"E*": {"E10": None, "E11": None}, "I*": {"I10": None}}}
    assert PrefixNotation(levels=(2,), codes=("E10", "E11", "I10")).tree.labels == ("E1", "I1")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        *((value, 1) for value in ("E11", "E11.9", "E 11", "E1.1", "E119999", b"E11.0")),
        *((value, None) for value in ("E1", "e11", "E12", "", None, "E", "E*", 11, [])),
    ],
)
def test_a_value_is_read_by_its_prefix(value: Any, code: int | None) -> None:
    here = Attribute(name="icd", domain=ICD.tree, outside=Outside.DROP, notation=ICD)
    assert code_of(here, value) == code


def test_a_generalized_code_is_read_below_its_group() -> None:
    cut = ICD.tree.truncate([ICD.tree.node("E*"), ICD.tree.node("I10")])
    here = Attribute(name="icd", domain=cut, outside=Outside.DROP, notation=ICD)
    assert [code_of(here, value) for value in ("E11.9", "E10", "I10.0", "X")] == [0, 0, 1, None]


def test_whole_numbers_are_codes_by_their_digits() -> None:
    zips = PrefixNotation(levels=(1, 2), pattern="[0-9]{5}")
    here = Attribute(name="zip", domain=zips.tree, outside=Outside.DROP, notation=zips)
    assert code_of(here, 53113) == code_of(here, "53113") == 53
    assert zips.size == 100


def test_patterns() -> None:
    assert characters("[A-C]1{2}[xz-]") == ["ABC", "1", "1", "xz-"]
    assert PrefixNotation(levels=(1, 2), pattern="[ab][0-1]").tree.labels == ("a0", "a1", "b0", "b1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"levels": (), "codes": ("a",)}, "do not ascend"),
        ({"levels": (3, 1), "codes": ("abc",)}, "do not ascend"),
        ({"levels": (0, 1), "codes": ("abc",)}, "do not ascend"),
        ({"levels": (1,)}, "Give the public list of codes, or a pattern"),
        ({"levels": (1,), "codes": ("a",), "pattern": "a"}, "and not both"),
        ({"levels": (1,), "codes": ()}, "is empty"),
        ({"levels": (1, 3), "codes": ("E10", "E1")}, "'E1' is shorter than 3 characters"),
        ({"levels": (2,), "codes": ("a*",)}, r"contains '\*'"),
        ({"levels": (6,), "pattern": "[0-9]{6}"}, "has 1,000,000 prefixes of 6 characters, more than 100,000"),
        ({"levels": (3,), "pattern": "[A-Z]"}, "describes 1 characters, and the last level has 3"),
        ({"levels": (1,), "pattern": "[A-Z]+"}, r"cannot be read from '\+' on"),
        ({"levels": (1,), "pattern": "(a|b)"}, "cannot be read"),
        ({"levels": (1,), "pattern": "[Z-A]"}, "is not a list of characters and ranges"),
        ({"levels": (1,), "pattern": "[^a]"}, "is not a list of characters and ranges"),
        ({"levels": (1,), "pattern": "[)-+]"}, "which marks groups"),
    ],
)
def test_what_cannot_be_served_is_refused_with_advice(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        PrefixNotation(**options)


def test_a_pattern_has_no_ignored_characters() -> None:
    codes = PrefixNotation(levels=(1, 3), pattern="[AB]-[0-1]{2}", ignore="-")
    here = Attribute(name="code", domain=codes.tree, outside=Outside.DROP, notation=codes)
    assert codes.tree.labels[:2] == ("A00", "A01")
    assert code_of(here, "A-01") == code_of(here, "A01") == 1
