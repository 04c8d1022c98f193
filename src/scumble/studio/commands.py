"""The commands that the pages show: each does the same as the page, in the folder of the project."""

import shlex
from collections.abc import Sequence

from scumble.files.run_file import RunFile
from scumble.methods import method_named
from scumble.studio.projects import RUN, Project

LABEL, REASON, DOMAIN, FILE, CEILING = "LABEL", "REASON", "DOMAIN", "FILE", "CEILING"
PUBLIC, PARTY = "PUBLIC.csv", "NAME=HOST:PORT"
BLANKS = frozenset({LABEL, REASON, DOMAIN, FILE, CEILING, PUBLIC, PARTY})
"""Words in commands that stand for what is still to be typed into the form."""
MEMORY = "memory"
"""The engine of a release whose options name none."""


def line(*words: object) -> str:
    """A command as it is typed in a shell."""
    return shlex.join(["scumble", *map(str, words)])


def has_blanks(command: str) -> bool:
    """Whether a word of a command stands for something that the form does not say yet."""
    return not BLANKS.isdisjoint(shlex.split(command))


def parameter_words(project: Project) -> list[str]:
    """The chosen method and parameters as options."""
    return option_words(project.run)


def option_words(run: RunFile) -> list[str]:
    """The method and parameters of a run as options."""
    flags = set() if run.method is None else _flags(run.method)
    words: list[str] = [] if run.method is None else ["--method", run.method]
    for name, value in run.parameters.items():
        option = f"--{name.replace('_', '-')}"
        words += [option] if name in flags and value == "true" else [option, value]
    return words


def _flags(method: str) -> set[str]:
    return {name for name, field in method_named(method).parameters.model_fields.items() if field.annotation is bool}


def dialect_words(run: RunFile) -> list[str]:
    """How the CSV file of a run is written, as options; none of them if the header says it all."""
    words = [] if run.delimiter is None else ["--delimiter", run.delimiter]
    words += [] if run.encoding is None else ["--encoding", run.encoding]
    return [*words, "--multiline"] if run.multiline else words


def ledger_words(project: Project) -> list[str]:
    """The ledger as options, if it is not the user's own."""
    run = project.run
    ledger = [] if run.ledger is None else ["--ledger", run.ledger]
    return ledger if run.witness is None else [*ledger, "--witness", run.witness]


def plan_command(project: Project) -> str:
    """The plan of what was chosen."""
    return line("plan", "--schema", project.run.schema_path, *parameter_words(project))


def run_words(project: Project, out: str) -> list[str]:
    """The arguments that publish what was chosen."""
    return ["run", RUN, "--out", out]


def release_commands(project: Project, out: str) -> Sequence[str]:
    """The recorded run, and the same written out as `scumble release`."""
    run = project.run
    words: list[object] = ["release", run.data, "--schema", run.schema_path, *parameter_words(project)]
    words += [] if run.dataset is None else ["--dataset", run.dataset]
    words += [word for each in run.accept for word in ("--accept", each)]
    words += [] if run.table else ["--no-table"]
    words += [] if run.engine == MEMORY else ["--engine", run.engine]
    words += dialect_words(run)
    return (line(*run_words(project, out)), line(*words, *ledger_words(project), "--out", out))
