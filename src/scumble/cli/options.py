"""Options that several verbs share, and those made from the parameters of the methods."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from scumble.errors import InputError
from scumble.methods import METHODS

TABLE = "The table: a file (CSV, Parquet, ... see docs/sources.md), a pattern of files, or DATABASE::TABLE."
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
SchemaFile = Annotated[Path, typer.Option("--schema", help="The schema file.", show_default=False)]
MethodName = Annotated[str, typer.Option("--method", help=f"One of: {', '.join(m.name for m in METHODS)}.")]
Delimiter = Annotated[str, typer.Option("--delimiter", help="The delimiter of CSV files; `tab` for a tab.")]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger file (default: SCUMBLE_LEDGER, else the user's data folder)."),
]


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add one option for each parameter of each method. The command receives those that were set as `parameters`."""
    options = _method_options()

    def wrapped(**values: Any) -> None:
        parameters = {name: values.pop(name) for name in options}
        command(parameters={name: value for name, value in parameters.items() if value is not None}, **values)

    kept = [each for each in inspect.signature(command).parameters.values() if each.name != "parameters"]
    signature = inspect.Signature([*kept, *options.values()])
    annotations = {each.name: each.annotation for each in signature.parameters.values()}
    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__annotations__ = annotations
    wrapped.__signature__ = signature  # type: ignore[attr-defined]
    return wrapped


def _method_options() -> dict[str, inspect.Parameter]:
    options: dict[str, inspect.Parameter] = {}
    for method in METHODS:
        for name, field in method.parameters.model_fields.items():
            if name in options:
                continue
            default = "" if field.is_required() else f" (default: {getattr(field.default, 'value', field.default)})"
            flag = field.annotation is bool
            options[name] = inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=typer.Option(
                    None,
                    f"--{name.replace('_', '-')}",
                    help=f"{field.description or ''}{'' if flag else default}",
                    rich_help_panel=f"Options of the method: {method.name}",
                    metavar=None if flag else "VALUE",
                    show_default=False,
                ),
                annotation=Optional[bool] if flag else Optional[str],  # noqa: UP045 - typer reads this spelling
            )
    return options


def delimiter_of(text: str) -> str:
    """The delimiter that an option names."""
    delimiter = "\t" if text in {"tab", "\\t"} else text
    if len(delimiter) != 1:
        raise InputError(f"The delimiter {text!r} is not one character. Give ',' or ';' or tab.")
    return delimiter
