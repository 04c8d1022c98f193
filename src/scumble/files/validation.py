"""Turning a pydantic error into one sentence: where, what."""

from pydantic import ValidationError


def first_problem(error: ValidationError) -> str:
    """The first problem that a validation found, in words.

    Branches of a union that could not apply are noise to a reader; the deepest place is the most telling one.
    """
    problem = max(error.errors(), key=lambda each: len(each["loc"]))
    place = " > ".join(str(part) for part in problem["loc"] if not str(part).startswith(("function-", "literal[")))
    message = problem["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
