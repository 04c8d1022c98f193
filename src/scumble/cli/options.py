"""Options that several verbs share, and those made from the parameters of the methods."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from scumble.errors import InputError
from scumble.methods import METHODS
from scumble.model.dialect import ENCODINGS, Dialect

TABLE = "The table: a file (CSV, Parquet, ... see docs/sources.md), a pattern of files, or DATABASE::TABLE."
CSV_PANEL = "How CSV files are written"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
SchemaFile = Annotated[Path, typer.Option("--schema", help="The schema file.", show_default=False)]
MethodName = Annotated[str, typer.Option("--method", help=f"One of: {', '.join(m.name for m in METHODS)}.")]
UsualMethod = Annotated[
    str | None,
    typer.Option(
        "--method",
        help=f"One of: {', '.join(m.name for m in METHODS)} (default: diffgen; explore if the schema has no target).",
        show_default=False,
    ),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger file (default: SCUMBLE_LEDGER, else the user's data folder)."),
]

WitnessFile = Annotated[
    Path | None,
    typer.Option(
        "--witness",
        help="The file that knows what the ledger contained (default: SCUMBLE_WITNESS, else the user's data folder).",
    ),
]
NewLedger = Annotated[
    bool,
    typer.Option("--new-ledger", help="Accept a ledger that lost entries, or replaces a lost one. Needs --reason."),
]
LossReason = Annotated[
    str | None,
    typer.Option("--reason", help="What happened to the lost entries, with --new-ledger. It is recorded permanently."),
]


def declared_loss(new_ledger: bool, reason: str | None) -> str | None:
    """The reason of a declaration that the ledger lost entries; None if there is none."""
    if new_ledger == (reason is not None):
        return reason
    raise InputError("--new-ledger and --reason belong together: say what happened to the ledger.")


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add one option for each parameter of each method. The command receives those that were set as `parameters`."""
    options = _method_options()

    def wrapped(**values: Any) -> None:
        parameters = {name: values.pop(name) for name in options}
        command(parameters={name: value for name, value in parameters.items() if value is not None}, **values)

    return _with_options(command, wrapped, options, instead_of="parameters")


def with_csv_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that describe CSV files. The command receives them as `dialect`."""
    options = _csv_options()

    def wrapped(*, delimiter: str | None, encoding: str | None, multiline: bool, **values: Any) -> None:
        stated = None if delimiter is None else delimiter_of(delimiter)
        command(dialect=Dialect(delimiter=stated, encoding=encoding, multiline=multiline), **values)

    return _with_options(command, wrapped, options, instead_of="dialect")


def _with_options(
    command: Callable[..., None],
    wrapped: Callable[..., None],
    options: dict[str, inspect.Parameter],
    *,
    instead_of: str,
) -> Callable[..., None]:
    """Give `wrapped` the signature of `command` with the options instead of one parameter."""
    kept = [each for each in inspect.signature(command).parameters.values() if each.name != instead_of]
    signature = inspect.Signature([*kept, *options.values()])
    annotations = {each.name: each.annotation for each in signature.parameters.values()}
    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__annotations__ = annotations
    wrapped.__signature__ = signature  # type: ignore[attr-defined]
    return wrapped


def _csv_options() -> dict[str, inspect.Parameter]:
    described: dict[str, tuple[Any, object, str]] = {
        "delimiter": (
            Optional[str],  # noqa: UP045 - typer reads this spelling
            None,
            "The delimiter; `tab` for a tab (default: found in the header line).",
        ),
        "encoding": (
            Optional[str],  # noqa: UP045
            None,
            f"One of: {', '.join(ENCODINGS)} (default: utf-8).",
        ),
        "multiline": (bool, False, "Values contain line breaks, inside quotes. A record is otherwise one line."),
    }
    return {
        name: inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=typer.Option(default, f"--{name}", help=text, rich_help_panel=CSV_PANEL, show_default=False),
            annotation=kind,
        )
        for name, (kind, default, text) in described.items()
    }


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
