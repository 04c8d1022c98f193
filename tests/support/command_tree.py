"""All commands of the command line, by their words."""

from typing import Any

from scumble.cli.verbs import VERBS


def leaves(command: Any, words: str) -> dict[str, Any]:
    """The commands below a command, or the command itself if there are none."""
    below = getattr(command, "commands", None)
    if below is None:
        return {words: command}
    return {name: leaf for each, child in below.items() for name, leaf in leaves(child, f"{words} {each}").items()}


COMMANDS = {words: leaf for name, verb in VERBS.items() for words, leaf in leaves(verb.load(name), name).items()}
