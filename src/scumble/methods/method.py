"""What every method is: a name, parameters, a plan before any data, and a run that has nothing but a holder."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)

from scumble.errors import InputError
from scumble.model.budget import budget_text, parse_budget
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.validation import wrong_parameter
from scumble.privacy.holder import Holder


def _exactly(value: object, info: ValidationInfo) -> Fraction:
    try:
        return parse_budget(value, name=info.field_name or "the number")
    except InputError as error:
        raise ValueError(str(error)) from error


Exact = Annotated[
    Fraction,
    BeforeValidator(_exactly),
    PlainSerializer(budget_text),
    WithJsonSchema({"type": "string", "description": "an exact decimal or fraction"}),
]
"""A positive number kept exactly: text, whole number, Decimal, Fraction, or a float through its repr."""


class Params(BaseModel):
    """Parameters of a method: public, keyword-only, frozen, validated once, written into the release."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    method_name: ClassVar[str] = "the method"

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InputError(f"{self.method_name}: {wrong_parameter(error)} See `scumble release --help`.") from error

    def __repr__(self) -> str:
        """The parameters that were given, as they could be given again."""
        given = self.model_dump(mode="json", exclude_unset=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @classmethod
    def jointly(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """What several owners choose together where only `given` was said."""
        return dict(given)


class Method(Protocol):
    """One line for every method: `plan` before a row is read, `run` on nothing but the holder's answers."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """What the method does, in one line."""

    @property
    def parameters(self) -> type[Params]: ...

    def plan(self, schema: Schema, parameters: Any) -> Plan:
        """All spends, adding up to the guarantee. Raises where the method cannot serve the schema."""

    def run(self, schema: Schema, parameters: Any, holder: Holder) -> Release:
        """Ask for what the holder's plan has and turn the answers into a release.

        The plan is not made again: the release publishes `holder.plan`.
        """


def require_target(schema: Schema, method: str) -> None:
    if schema.target is None:
        raise InputError(f"{method} publishes a table for predicting a class. Add `target:` to the schema.")
