"""What `scumble` exports is documented: every name, every public method and property."""

import inspect
from collections.abc import Iterator
from types import UnionType
from typing import Any

import pytest

import scumble


def public_parts(name: str, value: Any) -> Iterator[tuple[str, str | None]]:
    """A public name with its own docstring; and those of its methods and properties that scumble defines."""
    if not isinstance(value, type):
        yield name, value.__doc__
        return
    yield name, value.__dict__.get("__doc__")
    for parent in value.__mro__:
        if not parent.__module__.startswith("scumble"):
            continue
        for part, member in list(vars(parent).items()):  # pydantic adds to it
            function = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
            if not part.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{part}", inspect.getdoc(getattr(value, part))


@pytest.mark.parametrize("name", scumble.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    value = getattr(scumble, name)
    if isinstance(value, UnionType):  # Python gives all unions the same docstring; the package's own names this one
        assert f"`{name}`" in (scumble.__doc__ or "")
        return
    undocumented = [part for part, doc in public_parts(name, value) if not doc or len(doc.split()) < 2]
    assert undocumented == []


def test_a_missing_docstring_is_found() -> None:
    class Documented:
        """A class."""

        def quiet(self) -> None: ...

        @property
        def silent(self) -> int:
            return 1

        def loud(self) -> None:
            """It says something."""

    Documented.__module__ = "scumble.planted"
    found = {part: bool(doc) for part, doc in public_parts("Documented", Documented)}
    assert found == {
        "Documented": True,
        "Documented.quiet": False,
        "Documented.silent": False,
        "Documented.loud": True,
    }
