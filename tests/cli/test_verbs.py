"""The verbs of the command line: each is in the module of its name, explains its options and takes `--json`."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import typer.main

from scumble.cli import app, audit, compare, demo, join, ledger, mine, perturb, release, reproduce, schema

MODULES: dict[str, ModuleType] = {
    "audit": audit,
    "compare": compare,
    "demo": demo,
    "evaluate": release,
    "join": join,
    "ledger": ledger,
    "mine": mine,
    "perturb": perturb,
    "plan": release,
    "reconstruct": mine,
    "release": release,
    "reproduce": reproduce,
    "schema": schema,
    "verify": release,
}


def verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, by its words."""
    if hasattr(command, "commands"):
        for name, below in command.commands.items():
            yield from verbs(below, (*words, name))
    else:
        yield words, command


VERBS = dict(verbs(typer.main.get_command(app)))


def test_every_verb_has_a_module() -> None:
    assert {words[0] for words in VERBS} == set(MODULES)


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_verb_is_found_in_its_module(words: tuple[str, ...]) -> None:
    callback = VERBS[words].callback
    named = getattr(MODULES[words[0]], callback.__name__, None)
    assert named is not None, f"{callback.__name__} is not in {MODULES[words[0]].__name__}"


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_verb_explains_itself_and_takes_json(words: tuple[str, ...]) -> None:
    verb = VERBS[words]
    assert verb.help, "what does it do?"
    options = {option: parameter for parameter in verb.params for option in parameter.opts}
    unexplained = [option for option, parameter in options.items() if not getattr(parameter, "help", None)]
    assert unexplained == []
    assert "--json" in options
    for option in options:
        if option.startswith("-"):
            assert option == option.lower()
            assert "_" not in option


def test_methods_parameters_are_options_of_plan_and_release() -> None:
    from scumble.methods import METHODS

    wanted = {f"--{name.replace('_', '-')}" for method in METHODS for name in method.parameters.model_fields}
    for words in (("plan",), ("release",)):
        options = {option for parameter in VERBS[words].params for option in parameter.opts}
        assert wanted <= options
