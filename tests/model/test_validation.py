"""Validation errors as sentences: which place, what is wrong."""

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from scumble.model.validation import first_problem, wrong_parameter


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    step: int = Field(gt=0)


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    max_rounds: int = Field(default=1, ge=0)
    inner: Inner | None = None

    @model_validator(mode="after")
    def _not_thirteen(self) -> "Outer":
        if self.max_rounds == 13:
            raise ValueError("thirteen is refused.")
        return self


def problem(data: dict[str, object]) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(data)
    return caught.value


def test_the_deepest_place_is_named() -> None:
    text = first_problem(problem({"inner": {"step": 0}}))
    assert text.startswith("inner > step: ")
    assert "greater than 0" in text


def test_an_unknown_key_is_named_with_its_place() -> None:
    assert first_problem(problem({"inner": {"step": 1, "stpe": 2}})).startswith("inner > stpe: ")


def test_a_check_of_the_whole_has_no_place() -> None:
    assert first_problem(problem({"max_rounds": 13})) == "thirteen is refused"
    assert wrong_parameter(problem({"max_rounds": 13})) == "thirteen is refused."


def test_a_parameter_is_named_as_its_option_with_what_was_given() -> None:
    text = wrong_parameter(problem({"max_rounds": -1}))
    assert text.startswith("--max-rounds is -1. ")
    assert text.endswith(".")


def test_an_unknown_parameter_is_named() -> None:
    assert "'roundz'" in wrong_parameter(problem({"roundz": 3}))


def test_a_missing_parameter_is_named_as_its_option() -> None:
    with pytest.raises(ValidationError) as caught:
        Inner.model_validate({})
    assert wrong_parameter(caught.value).startswith("--step is missing.")
