"""Converts a pydantic error into a sentence that says where a document is wrong, and what is wrong."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails


def first_problem(error: ValidationError) -> str:
    """The first problem that a validation found, in words.

    Branches of a union that could not apply are noise to a reader; the deepest place is the most telling one.
    """
    problem = deepest(error)
    place = " > ".join(str(part) for part in problem["loc"] if not str(part).startswith(("function-", "literal[")))
    message = _message(problem)
    return f"{place}: {message}" if place else message


def deepest(error: ValidationError) -> ErrorDetails:
    """The problem that `first_problem` describes. An unknown key goes before a missing one: it may be misspelt."""
    return max(error.errors(), key=lambda each: (len(each["loc"]), each["type"] == "extra_forbidden"))


def wrong_parameter(error: ValidationError) -> str:
    """The first problem with the parameters of a method, which are flat, in whole sentences."""
    problem = max(error.errors(), key=lambda each: len(each["loc"]))
    message = _message(problem)
    if not problem["loc"] or problem["type"] == "value_error":
        return f"{message}."
    name = str(problem["loc"][0])
    option = f"--{name.replace('_', '-')}"
    if problem["type"] == "missing":
        return f"{option} is missing. Give it a value."
    if problem["type"] == "extra_forbidden":
        return f"it has no parameter {name!r}. Leave it out."
    return f"{option} is {problem['input']!r}. {message}."


def _message(problem: ErrorDetails) -> str:
    """What pydantic says, about the thing rather than about "input", without a full stop."""
    if problem["type"] == "extra_forbidden":
        return "unknown key"
    message = problem["msg"].removeprefix("Value error, ").partition(", unable to parse")[0]
    return message.replace("Input should", "It should").rstrip(".")
