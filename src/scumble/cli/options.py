"""Options that several verbs share, and those made from the parameters of the methods."""

import inspect
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, get_args, get_origin

import typer

from scumble.errors import InputError
from scumble.methods import METHODS
from scumble.model.dialect import ENCODINGS, Dialect
from scumble.model.local.noise_model import NOISES


def choice(values: Iterable[str], *names: Any, **settings: Any) -> Any:
    """An option whose values the shell completes. A wrong value is refused by the function that uses it."""
    listed = list(values)

    def matching(incomplete: str) -> list[str]:
        return [value for value in listed if value.startswith(incomplete)]

    return typer.Option(*names, autocompletion=matching, **settings)


TABLE = "The table: a file (CSV, Parquet, ... see docs/sources.md), a pattern of files, or DATABASE::TABLE."
CSV_PANEL = "How CSV files are written"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
SchemaFile = Annotated[Path, typer.Option("--schema", help="The schema file.", show_default=False)]
METHOD_NAMES = tuple(method.name for method in METHODS)
MethodName = Annotated[str, choice(METHOD_NAMES, "--method", help=f"One of: {', '.join(METHOD_NAMES)}.")]
UsualMethod = Annotated[
    str | None,
    choice(
        METHOD_NAMES,
        "--method",
        help=f"One of: {', '.join(METHOD_NAMES)} (default: diffgen; explore if the schema has no target).",
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


def with_strength_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how records are perturbed. The command receives the arguments of `noise_model` as
    `strength`."""
    options = _strength_options()

    def wrapped(**values: Any) -> None:
        given = {name: values.pop(name) for name in options}
        for name in ("truthful", "withhold"):
            given[name] = names_of(given[name])
        retain = given["retain"].strip()
        given["privacy_of"] = _pairs(given["privacy_of"], "--privacy-of")
        given["retain"] = retain if retain[:1].isdigit() and "=" not in retain else _pairs(retain, "--retain")
        intervals = _pairs(given["discretize"], "--discretize")
        given["discretize"] = {name: edges.split(":") for name, edges in intervals.items()}
        command(strength=given, **values)

    return _with_options(command, wrapped, options, instead_of="strength")


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
            default=choice(
                ENCODINGS if name == "encoding" else (),
                default,
                f"--{name}",
                help=text,
                rich_help_panel=CSV_PANEL,
                show_default=False,
            ),
            annotation=kind,
        )
        for name, (kind, default, text) in described.items()
    }


def _strength_options() -> dict[str, inspect.Parameter]:
    described = {
        "privacy": "Width of the interval that hides a value, as a share of its public range (default: 100%).",
        "confidence": "Confidence of that interval (default: 95%).",
        "noise": "Noise of numbers: gaussian (default), uniform or discretized.",
        "epsilon": "Use local differential privacy with this total epsilon per record, or per person, instead.",
        "truthful": "Attributes reported without noise, separated by commas.",
        "withhold": "Attributes left out, separated by commas.",
        "privacy_of": "Privacy of single attributes, such as age=50%,salary=150%; the others use --privacy.",
        "retain": "Probability to report the true category: 70% for all, or by attribute: job=70%,sick=90%.",
        "discretize": "Edges of intervals that replace numbers, such as salary=0:10000:20000:50000:100000.",
    }
    listed = ("truthful", "withhold", "privacy_of", "retain", "discretize")
    return {
        name: inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=choice(
                NOISES if name == "noise" else (),
                "" if name in listed else None,
                f"--{name.replace('_', '-')}",
                help=text,
                show_default=False,
            ),
            annotation=str if name in listed else Optional[str],  # noqa: UP045 - typer reads this spelling
        )
        for name, text in described.items()
    }


def names_of(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _pairs(text: str, option: str) -> dict[str, str]:
    pairs = [pair.rpartition("=") for pair in names_of(text)]
    if not all(name.strip() and value.strip() for name, _, value in pairs):
        raise InputError(f"{option} is {text!r}. Write pairs such as age=50%, separated by commas.")
    named = [name.strip() for name, _, _ in pairs]
    if len(set(named)) < len(named):
        raise InputError(f"{option} names an attribute twice. Give each once.")
    return {name.strip(): value.strip() for name, _, value in pairs}


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
                default=choice(
                    values_of(field.annotation),
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


def values_of(annotation: Any) -> list[str]:
    """The values that a parameter can be set to, as far as its type lists them: literals and members of enumerations.

    >>> values_of(Literal["auto", "yes"] | int | None)
    ['auto', 'yes']
    """
    if get_origin(annotation) is Literal:
        return [each for each in get_args(annotation) if isinstance(each, str)]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(each.value) for each in annotation]
    return [value for each in get_args(annotation) for value in values_of(each)]


def delimiter_of(text: str) -> str:
    """The delimiter that an option names."""
    delimiter = "\t" if text in {"tab", "\\t"} else text
    if len(delimiter) != 1:
        raise InputError(f"The delimiter {text!r} is not one character. Give ',' or ';' or tab.")
    return delimiter
