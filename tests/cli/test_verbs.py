"""The verbs of the command line: each is in the module of its name, explains its options and takes `--json`."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from scumble.cli import (
    audit,
    compare,
    demo,
    doctor,
    export,
    join,
    ledger,
    mine,
    perturb,
    plan,
    query,
    rehearse_release,
    release,
    report,
    reproduce,
    risk,
    run,
    schema,
    studio,
    survey,
)
from scumble.cli.verbs import VERBS
from scumble.methods import METHODS

MODULES: dict[str, ModuleType] = {
    "audit": audit,
    "compare": compare,
    "demo": demo,
    "doctor": doctor,
    "evaluate": release,
    "export": export,
    "join": join,
    "ledger": ledger,
    "mine": mine,
    "perturb": perturb,
    "plan": plan,
    "query": query,
    "reconstruct": mine,
    "rehearse": rehearse_release,
    "release": release,
    "report": report,
    "reproduce": reproduce,
    "risk": risk,
    "schema": schema,
    "survey": survey,
    "run": run,
    "studio": studio,
    "verify": release,
}


def leaves(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, by its words."""
    if hasattr(command, "commands"):
        for name, below in command.commands.items():
            yield from leaves(below, (*words, name))
    else:
        yield words, command


COMMANDS = {words: command for name, verb in VERBS.items() for words, command in leaves(verb.load(name), (name,))}


def test_every_verb_has_a_module() -> None:
    assert set(VERBS) == set(MODULES)
    for name, verb in VERBS.items():
        assert MODULES[name].__name__ == f"scumble.cli.{verb.module}"
        assert verb.help


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_verb_is_found_in_its_module(words: tuple[str, ...]) -> None:
    callback = COMMANDS[words].callback
    named = getattr(MODULES[words[0]], callback.__name__, None)
    assert named is not None, f"{callback.__name__} is not in {MODULES[words[0]].__name__}"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_verb_explains_itself_and_takes_json(words: tuple[str, ...]) -> None:
    verb = COMMANDS[words]
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
    wanted = {f"--{name.replace('_', '-')}" for method in METHODS for name in method.parameters.model_fields}
    for words in (("plan",), ("release",)):
        options = {option for parameter in COMMANDS[words].params for option in parameter.opts}
        assert wanted <= options
