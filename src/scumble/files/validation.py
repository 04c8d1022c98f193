"""Turning a pydantic error into words: where, what."""

from pydantic import ValidationError


def first_problem(error: ValidationError) -> str:
    """The first problem that a validation found, in words.

    Branches of a union that could not apply are noise to a reader; the deepest place is the most telling one.
    """
    problem = max(error.errors(), key=lambda each: len(each["loc"]))
    place = " > ".join(str(part) for part in problem["loc"] if not str(part).startswith(("function-", "literal[")))
    message = problem["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def wrong_parameter(error: ValidationError) -> str:
    """The first problem with the parameters of a method, which are flat, in whole sentences."""
    problem = max(error.errors(), key=lambda each: len(each["loc"]))
    message = problem["msg"].removeprefix("Value error, ").rstrip(".")
    if not problem["loc"] or problem["type"] == "value_error":
        return f"{message}."
    name = str(problem["loc"][0])
    option = f"--{name.replace('_', '-')}"
    if problem["type"] == "missing":
        return f"{option} is missing. Give it a value."
    if problem["type"] == "extra_forbidden":
        return f"it has no parameter {name!r}. Leave it out."
    return f"{option} is {problem['input']!r}. {message}."
