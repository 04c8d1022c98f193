"""Options made from the parameters of the methods."""

import inspect
from typing import Any

import pytest

from scumble.cli.options import delimiter_of, with_method_options
from scumble.errors import InputError
from scumble.methods import METHODS

NAMES = {name for method in METHODS for name in method.parameters.model_fields}


def test_a_command_gets_one_option_for_each_parameter_and_receives_those_that_were_set() -> None:
    received: dict[str, Any] = {}

    @with_method_options
    def command(data: str, parameters: dict[str, Any]) -> None:
        """What it does."""
        received.update(data=data, parameters=parameters)

    signature = inspect.signature(command)
    assert set(signature.parameters) == {"data", *NAMES}
    assert command.__doc__ == "What it does."
    given = dict.fromkeys(NAMES) | {"epsilon": "1", "rounds": "3"}
    command(data="people.csv", **given)
    assert received == {"data": "people.csv", "parameters": {"epsilon": "1", "rounds": "3"}}


@pytest.mark.parametrize(("text", "delimiter"), [(",", ","), (";", ";"), ("tab", "\t"), ("\\t", "\t"), ("|", "|")])
def test_delimiters(text: str, delimiter: str) -> None:
    assert delimiter_of(text) == delimiter


@pytest.mark.parametrize("text", ["", ",,", "comma"])
def test_what_is_not_one_character_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="delimiter"):
        delimiter_of(text)
