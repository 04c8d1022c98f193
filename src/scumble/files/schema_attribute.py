"""The entry of one attribute in `schema.yaml`: its keys, and the domain that they describe."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from scumble.errors import InputError
from scumble.files.hierarchy_file import read_hierarchy
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Nested, Tree

REASON = "public because"
"""The key of the reason why a domain is public."""


class EntryPart(BaseModel):
    """A part of the file. Unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class NumericPart(EntryPart):
    """Regular cells [low, low + step), ... up to high, which is excluded; or irregular cells between edges."""

    low: Decimal | None = None
    high: Decimal | None = None
    step: Decimal | None = None
    edges: list[Decimal] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        given = {name for name in ("low", "high", "step", "edges") if getattr(self, name) is not None}
        if given not in ({"low", "high", "step"}, {"edges"}):
            raise ValueError("give either low, high and step, or edges")
        return self

    def domain(self) -> Grid:
        if self.edges is not None:
            return Grid(edges=tuple(self.edges))
        assert self.low is not None and self.high is not None and self.step is not None
        return Grid.regular(low=self.low, high=self.high, step=self.step)


class MissingPart(EntryPart):
    """The label of missing values; `joins: last` if a published cut merges them with the last interval."""

    label: str
    joins: Literal["last"] | None = None


class AttributePart(EntryPart):
    """One column. Exactly one of numeric, taxonomy, classes, identifier is given."""

    numeric: NumericPart | None = None
    taxonomy: Annotated[
        dict[str, Any] | None,
        Field(description="Nested mappings parent -> children, a leaf has none; or {csv: FILE} in ARX's format."),
    ] = None
    cut: Annotated[
        list[str] | None, Field(description="In a published schema: the nodes of the taxonomy that are published.")
    ] = None
    classes: list[str] | None = None
    identifier: bool | None = None
    column: Annotated[
        str | None, Field(description="The table's name for this column, if it differs from the attribute's name.")
    ] = None
    missing: str | MissingPart | None = None
    outside: Outside | None = None
    unconfirmed: bool = False
    public_because: Annotated[
        str | None, Field(alias=REASON, description="Why the domain is public knowledge. Published with the schema.")
    ] = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [self.numeric, self.taxonomy, self.classes, self.identifier]
        if sum(kind is not None for kind in kinds) != 1 or self.identifier is False:
            raise ValueError("give exactly one of numeric, taxonomy, classes, identifier: true")
        if self.identifier and self.column is not None:
            raise ValueError("an identifier is never read: name it as the table does, without column")
        if self.cut is not None and self.taxonomy is None:
            raise ValueError("a cut needs a taxonomy")
        if isinstance(self.missing, MissingPart) and self.missing.joins is not None and self.numeric is None:
            raise ValueError("joins is for numeric attributes; in a taxonomy, a missing value is a leaf")
        return self


def attribute_from(name: str, part: AttributePart, unit: Unit, folder: Path | None) -> Attribute:
    """An attribute from its entry. Paths of hierarchy files are relative to `folder`."""
    try:
        domain = _to_domain(part, folder)
    except InputError as error:
        raise InputError(f"attribute {name!r}: {error}") from error
    missing = part.missing.label if isinstance(part.missing, MissingPart) else part.missing
    safe = Outside.CLAMP if isinstance(domain, Grid) or unit is Unit.REPLACE else Outside.DROP
    return Attribute(
        name=name,
        domain=domain,
        outside=part.outside or safe,
        missing=missing,
        unconfirmed=part.unconfirmed,
        column=part.column,
        public_because=part.public_because,
    )


def _to_domain(part: AttributePart, folder: Path | None) -> Domain:
    joined = isinstance(part.missing, MissingPart) and part.missing.joins == "last"
    missing = part.missing.label if isinstance(part.missing, MissingPart) else part.missing
    if part.numeric is not None:
        grid = part.numeric.domain()
        return Grid(edges=grid.edges, step=grid.step, missing=missing, joined=joined)
    if part.classes is not None:
        if not part.classes:
            raise InputError("`classes` is empty. List the labels.")
        labels = part.classes + ([missing] if missing is not None and missing not in part.classes else [])
        return Tree.flat(labels)
    assert part.taxonomy is not None
    tree = _to_tree(part.taxonomy, folder)
    if missing is not None and missing not in tree.labels:
        tree = _with_missing(tree, missing)
    if part.cut is None:
        return tree
    nodes = sorted((tree.node(label) for label in part.cut), key=lambda node: node.low)
    return tree.truncate(nodes)


def _with_missing(tree: Tree, missing: str) -> Tree:
    """The tree with a further leaf below its root."""
    branches = tree.to_nested()[tree.root.label]
    if not branches:
        raise InputError(f"{tree.root.label!r} is both root and leaf. Put it below a root, beside {missing!r}.")
    if missing in branches:
        raise InputError(f"missing {missing!r} has values below it in the taxonomy. Name a leaf or a new value.")
    return Tree.nested({tree.root.label: {**branches, missing: None}})


def _to_tree(taxonomy: Mapping[str, Any], folder: Path | None) -> Tree:
    if list(taxonomy) == ["csv"] and isinstance(taxonomy["csv"], str) and taxonomy["csv"]:
        return read_hierarchy((folder or Path()) / taxonomy["csv"])
    return Tree.nested(_nested(taxonomy))


def _nested(taxonomy: Any) -> Nested:
    if not isinstance(taxonomy, Mapping):
        raise InputError(
            f"A taxonomy contains only mappings, not {taxonomy!r}. Write a leaf as `{taxonomy}:`, with no value."
        )
    return {label: _nested(below) if below else None for label, below in taxonomy.items()}


def attribute_data(attribute: Attribute, schema: Schema) -> dict[str, Any]:
    """The entry of an attribute as plain data. `attribute_from` reads it back."""
    data: dict[str, Any] = {} if attribute.column is None else {"column": attribute.column}
    domain = attribute.domain
    if isinstance(domain, Grid):
        if domain.step is None:
            data["numeric"] = {"edges": [_number(edge) for edge in domain.edges]}
        else:
            low, high = domain.edges
            data["numeric"] = {"low": _number(low), "high": _number(high), "step": _number(domain.step)}
    elif attribute.name == schema.target and domain == Tree.flat(domain.labels):
        data["classes"] = list(domain.labels)
    else:
        data["taxonomy"] = (domain.origin or domain).to_nested()
        if domain.origin is not None:
            data["cut"] = list(domain.labels)
    if attribute.missing is not None:
        joins = isinstance(domain, Grid) and domain.joined
        data["missing"] = {"label": attribute.missing, "joins": "last"} if joins else attribute.missing
    usual = Outside.CLAMP if isinstance(domain, Grid) or schema.unit is Unit.REPLACE else Outside.DROP
    if attribute.outside is not usual:
        data["outside"] = attribute.outside.value
    if attribute.unconfirmed:
        data["unconfirmed"] = True
    if attribute.public_because is not None:
        data[REASON] = attribute.public_because
    return data


def _number(value: Decimal) -> int | float | str:
    """A decimal as a YAML scalar that is read back as the same decimal."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)
