"""The interface of a method: a name, parameters, a plan made before any data is read, and a run on a holder."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)

from scumble.errors import InputError
from scumble.model.budget import Budget, budget_text, delta_text, parse_budget, parse_delta
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.validation import wrong_parameter
from scumble.privacy.holder import Holder


def _exact_delta(value: object) -> Fraction:
    try:
        return parse_delta(value)
    except InputError as error:
        raise ValueError(str(error)) from error


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
"""A positive number stored as a Fraction. Accepts text, int, Decimal, Fraction, or a float, which is read by its
repr."""

Delta = Annotated[
    Fraction,
    BeforeValidator(_exact_delta),
    PlainSerializer(delta_text),
    WithJsonSchema({"type": "string", "description": "an exact number such as 1e-9"}),
]
"""The delta of approximate differential privacy, stored as a Fraction. A method that offers it declares
`delta: Delta | None = None`: without it the guarantee is pure."""


class Params(BaseModel):
    """Base class of the parameters of a method: public, keyword-only, immutable, and published with the release."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    method_name: ClassVar[str] = "the method"

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InputError(f"{self.method_name}: {wrong_parameter(error)} `--help` lists all parameters.") from error

    def __repr__(self) -> str:
        """The call that makes the same parameters, without defaults."""
        given = self.model_dump(mode="json", exclude_unset=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @classmethod
    def jointly(cls, given: Mapping[str, Any], classes: int = 2) -> dict[str, Any]:
        """The parameters of a joint release for which only `given` was specified, and whose schema has so many
        classes."""
        del classes
        return dict(given)

    @property
    def joint_note(self) -> str:
        """How these parameters differ from one owner's because several owners compute jointly; empty if they do not."""
        return ""


class BudgetParams(Params):
    """The parameters of methods that need a privacy budget only: epsilon, and a delta if one is accepted."""

    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]
    delta: Annotated[
        Delta | None,
        Field(description="Gaussian noise under (epsilon, delta)-differential privacy, such as 1e-9 (default: pure)."),
    ] = None

    if TYPE_CHECKING:

        def __init__(self, *, epsilon: Budget, delta: Budget | None = None) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Characteristics:
    """What a method publishes. Optional: a method may declare it as its attribute `characteristics`."""

    several_attributes: bool
    """Whether combinations of several attributes are counted, not only single attributes."""
    leaf_values: bool
    """Whether the leaves of taxonomies are published."""
    generalized_values: bool
    """Whether inner nodes of taxonomies, or intervals of values, are counted or published."""


class Method(Protocol):
    """A method plans its spends before any row is read, and computes a release from the holder's answers only."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """One line that says what the method does."""

    @property
    def parameters(self) -> type[Params]: ...

    def plan(self, schema: Schema, parameters: Any) -> Plan:
        """The plan, whose spends add up to the guarantee. Raises `InputError` if the method does not support the
        schema."""

    def run(self, schema: Schema, parameters: Any, holder: Holder) -> Release:
        """Request the planned answers from the holder and make a release of them.

        The release publishes `holder.plan`; the plan is not computed again.
        """


def require_target(schema: Schema, method: str) -> None:
    if schema.target is None:
        raise InputError(f"{method} needs a class to predict. Add `target:` to the schema, or use explore.")
