"""The verbs of the command line. A verb's module, with the libraries behind it, is imported when the verb is used.

`scumble --help` and shell completion need only the name and one line of each verb.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from scumble.cli.examples import epilog

HELP_NAMES = ["-h", "--help"]


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A command or group of commands: where it is defined, and its line in `scumble --help`."""

    module: str
    attribute: str
    help: str
    linear_algebra: bool = True
    """Whether it needs the threads of numpy's linear algebra, which take a fifth of a short command's time to start."""

    def load(self, name: str) -> Any:
        """The command itself, with all its options."""
        if not self.linear_algebra:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        found = getattr(import_module(f"scumble.cli.{self.module}"), self.attribute)
        if isinstance(found, typer.Typer):
            return completed(get_group(found), name)
        alone = typer.Typer(add_completion=False)
        alone.command(name)(found)
        return completed(get_command(alone), name)


def completed(command: Any, words: str) -> Any:
    """A command, and all below it, with examples, with `-h`, and without a type beside options that take no value."""
    for name, below in getattr(command, "commands", {}).items():
        completed(below, f"{words} {name}")
    command.epilog = epilog(words)
    command.context_settings = {**command.context_settings, "help_option_names": HELP_NAMES}
    without_types([*command.params, command.get_help_option(typer.Context(command, help_option_names=HELP_NAMES))])
    return command


def without_types(options: list[Any]) -> list[Any]:
    """The same options, where those that take no value show no type in the help."""
    for option in options:
        if getattr(option, "is_flag", False):
            option.metavar = ""
    return options


VERBS: Mapping[str, Verb] = {
    "demo": Verb(
        module="demo",
        attribute="demo",
        help="Run the whole workflow on built-in data, with a separate ledger.",
    ),
    "doctor": Verb(
        module="doctor",
        attribute="doctor",
        help="Show what is installed, what is missing and how to install it, and where ledger and settings lie.",
        linear_algebra=False,
    ),
    "plan": Verb(
        module="plan",
        attribute="plan",
        help="What a release would cost, spend by spend. It reads no data; the table need not exist yet.",
        linear_algebra=False,
    ),
    "release": Verb(
        module="release",
        attribute="release",
        help="Publish a table: reserve the budget, read the rows, write the release.",
    ),
    "run": Verb(
        module="run",
        attribute="run",
        help="Make the release that a run file describes: the same schema, method and parameters, with new noise.",
    ),
    "rehearse": Verb(
        module="rehearse_release",
        attribute="rehearse",
        help="Make a whole release of rows drawn from the schema: time, size and noise. It costs nothing.",
    ),
    "report": Verb(
        module="report",
        attribute="report",
        help="Write the pages about a release for an audience.",
    ),
    "studio": Verb(
        module="studio",
        attribute="studio",
        help="Open the studio: a local web page that leads from a table to a published folder.",
    ),
    "evaluate": Verb(
        module="release",
        attribute="evaluate",
        help="Compare a release with raw rows: accuracy of classifiers trained on it, and distances of its margins.",
    ),
    "query": Verb(
        module="query",
        attribute="query",
        help="Answer a question about a release: counts, shares, means, quantiles, with 95 % intervals for the noise.",
    ),
    "export": Verb(
        module="export",
        attribute="export",
        help="Write a table of a release for another program: Parquet, Stata or SPSS with value labels, or CSV.",
        linear_algebra=False,
    ),
    "verify": Verb(module="release", attribute="verify", help="Check a release folder without the private data."),
    "risk": Verb(
        module="risk",
        attribute="risk",
        help="Measure the risk of re-identification in a table: k, l, t, uniqueness, and the risks of three attackers.",
    ),
    "audit": Verb(
        module="audit",
        attribute="audit_",
        help="Search for a violation of the declared epsilon by running a method many times on neighbouring tables.",
    ),
    "compare": Verb(
        module="compare",
        attribute="compare",
        help="Compare methods on public tables: accuracy and distances of margins over repeated random splits.",
    ),
    "reproduce": Verb(
        module="reproduce",
        attribute="reproduce",
        help="Reproduce a figure of a paper: plot, CSV, and the paper's claims compared with our results.",
    ),
    "perturb": Verb(
        module="perturb",
        attribute="perturb",
        help="Perturb every record independently, for a receiver who must not see the true table.",
    ),
    "reconstruct": Verb(
        module="mine",
        attribute="reconstruct",
        help="Reconstruct the distributions of true values from perturbed ones: as CSV, JSON and plot.",
    ),
    "mine": Verb(
        module="mine",
        attribute="mine_app",
        help="Learn decision trees from perturbed records, and apply them to true records.",
    ),
    "survey": Verb(
        module="survey",
        attribute="survey_app",
        help="Ask people through a web page that perturbs their answers in the browser, before anything is sent.",
    ),
    "schema": Verb(module="schema", attribute="schema_app", help="Draft, check, edit and convert schema files."),
    "ledger": Verb(
        module="ledger", attribute="ledger_app", help="Show, verify and raise the privacy budgets of datasets."
    ),
    "join": Verb(
        module="join",
        attribute="join_app",
        help="Joint releases: several owners publish one table without showing each other their rows.",
    ),
}


class Verbs(TyperGroup):
    """All verbs. They are listed from `VERBS`; the module of a verb is loaded when it is invoked or completed."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, verb in VERBS.items():
            self.add_command(TyperCommand(name, help=verb.help))
        completed(self, "")

    def get_params(self, ctx: Any) -> list[Any]:
        return without_types(super().get_params(ctx))  # typer adds those for completion late

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, VERBS[name].load(name) if name is not None else listed, rest
