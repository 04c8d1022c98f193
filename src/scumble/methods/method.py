"""What every method is: a name, parameters, a plan before any data, and a run that has nothing but a holder."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationInfo, WithJsonSchema

from scumble.errors import InputError
from scumble.model.budget import budget_text, parse_budget
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.model.schema import Schema
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
    """Parameters of a method: public, validated once, written into the release."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
        """Ask for what was planned and turn the answers into a release."""


def require_target(schema: Schema, method: str) -> None:
    if schema.target is None:
        raise InputError(f"{method} publishes a table for predicting a class. Add `target:` to the schema.")
