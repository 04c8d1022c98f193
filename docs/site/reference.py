"""The reference of the Python API, from signatures and docstrings of the public names."""

import inspect
import re
import textwrap
from typing import Any

import scumble

SECTIONS = {
    "Verbs": inspect.isfunction,
    "Errors": lambda thing: inspect.isclass(thing) and issubclass(thing, BaseException),
    "Methods and their parameters": lambda thing: inspect.isclass(thing) and hasattr(thing, "method_name"),
    "Estimators": lambda thing: inspect.isclass(thing) and hasattr(thing, "fit"),
    "Values": inspect.isclass,
    "Other names": lambda thing: True,
}


def reference() -> str:
    """The page, as Markdown."""
    left = {name: getattr(scumble, name) for name in sorted(scumble.__all__, key=str.lower)}
    lines = [
        "# Python API",
        "",
        "All public names of the package `scumble`. Everything else may change without notice.",
        "",
    ]
    for title, belongs in SECTIONS.items():
        here = {name: thing for name, thing in left.items() if belongs(thing)}
        left = {name: thing for name, thing in left.items() if name not in here}
        if here:
            lines += [f"## {title}", ""]
        for name, thing in here.items():
            lines += _entry(name, thing)
    return "\n".join(lines)


def _entry(name: str, thing: Any) -> list[str]:
    lines = [f"### {name}", ""]
    if callable(thing):
        lines += ["```python", *_signature(name, thing), "```", ""]
    text = inspect.getdoc(thing) or ""
    if inspect.isclass(thing) and text == inspect.getdoc(thing.__mro__[1]):
        text = ""
    lines += [_markdown(text), ""]
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        for method, member in inspect.getmembers(thing, inspect.isfunction):
            own = member.__module__.startswith("scumble") and not method.startswith("_")
            if own and member.__doc__:
                first = inspect.getdoc(member) or ""
                lines += [f"- `{method}{_short(member)}`: {' '.join(first.split(chr(10) * 2)[0].split())}"]
        lines.append("")
    return lines


def _signature(name: str, thing: Any) -> list[str]:
    """The call, on one line if it fits, else with one parameter on each."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return [name]
    whole = name + _without_modules(str(signature))
    if len(whole) <= 100:
        return [whole]
    parameters, named = [], False
    for each in signature.parameters.values():
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not named:
            parameters.append("*")
        named = named or each.kind in {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL}
        parameters.append(_without_modules(str(each)))
    after = _without_modules(str(signature.replace(parameters=())))[2:]
    return [f"{name}(", *(f"    {each}," for each in parameters), f"){after}"]


def _without_modules(text: str) -> str:
    """
    >>> _without_modules("(path: pathlib.Path = '0.999')")
    "(path: Path = '0.999')"
    """
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+([A-Za-z_]\w*)", r"\1", text)


def _short(member: Any) -> str:
    names = [each for each in inspect.signature(member).parameters if each != "self"]
    return f"({', '.join(names)})"


def _markdown(docstring: str) -> str:
    """Doctests become code."""
    blocks = []
    for block in docstring.split("\n\n"):
        plain = textwrap.dedent(block)
        blocks.append(f"```python\n{plain}\n```" if plain.startswith(">>>") else plain)
    return "\n\n".join(blocks)
