"""The entry of one attribute in `schema.yaml`: its keys, and the domain that they describe."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from scumble.errors import InputError
from scumble.files.schema_kinds import (
    BooleanPart,
    DatePart,
    EntryPart,
    NumbersPart,
    NumericPart,
    PrefixPart,
    booleans_data,
    date_data,
    grid_data,
    intervals_of,
    numbers_data,
    prefix_data,
    taxonomy_of,
    without,
)
from scumble.model.dates import DateNotation
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.notation import PLAIN, BooleanNotation, IntervalNotation, Notation, NumberNotation
from scumble.model.ordered import Ordered
from scumble.model.prefixes import PrefixNotation
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

REASON = "public because"
"""The key of the reason why a domain is public."""


class MissingPart(EntryPart):
    """The label of missing values; `joins: last` if a published cut merges them with the last interval."""

    label: str
    joins: Literal["last"] | None = None


KINDS = ("numeric", "taxonomy", "ordered", "date", "boolean", "prefix", "classes", "identifier")
"""The keys of which each attribute has exactly one."""


class AttributePart(EntryPart):
    """One column. Exactly one of the `KINDS` is given."""

    numeric: NumericPart | None = None
    taxonomy: Annotated[
        dict[str, Any] | None,
        Field(description="Nested mappings parent -> children, a leaf has none; or {csv: FILE} in ARX's format."),
    ] = None
    cut: Annotated[
        list[str] | None, Field(description="In a published schema: the nodes of the taxonomy that are published.")
    ] = None
    ordered: Annotated[list[str] | None, Field(description="Categories in order, from first to last.")] = None
    date: DatePart | None = None
    boolean: bool | BooleanPart | None = None
    prefix: PrefixPart | None = None
    classes: list[str] | None = None
    identifier: bool | None = None
    column: Annotated[
        str | None, Field(description="The table's name for this column, if it differs from the attribute's name.")
    ] = None
    numbers: NumbersPart | None = None
    missing: str | MissingPart | None = None
    outside: Outside | None = None
    unconfirmed: bool = False
    public_because: Annotated[
        str | None, Field(alias=REASON, description="Why the domain is public knowledge. Published with the schema.")
    ] = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1 or self.identifier is False or self.boolean is False:
            raise ValueError(f"give exactly one of {', '.join(KINDS[:-1])}, identifier: true")
        if self.identifier and self.column is not None:
            raise ValueError("an identifier is never read: name it as the table does, without column")
        if self.cut is not None and given[0] in ("classes", "identifier"):
            raise ValueError("a cut needs a taxonomy")
        if self.numbers is not None and self.numeric is None:
            raise ValueError("numbers says how a numeric attribute is written")
        if isinstance(self.missing, MissingPart) and self.missing.joins is not None and self.numeric is None:
            raise ValueError("joins is for numeric attributes; in a taxonomy, a missing value is a leaf")
        return self

    @property
    def missing_label(self) -> str | None:
        """The label of missing values."""
        return self.missing.label if isinstance(self.missing, MissingPart) else self.missing


def attribute_from(
    name: str, part: AttributePart, unit: Unit, folder: Path | None, numbers: NumberNotation = PLAIN
) -> Attribute:
    """An attribute from its entry. Paths of files are relative to `folder`; `numbers` is the default of the file."""
    try:
        finest, notation = _described(part, numbers if part.numbers is None else part.numbers.notation(), folder)
        domain = _cut(finest, part.cut)
    except InputError as error:
        raise InputError(f"attribute {name!r}: {error}") from error
    attribute = Attribute(
        name=name,
        domain=domain,
        outside=part.outside or Outside.CLAMP,
        missing=part.missing_label,
        unconfirmed=part.unconfirmed,
        column=part.column,
        public_because=part.public_because,
        notation=notation,
    )
    return attribute if part.outside is not None else replace(attribute, outside=_usual_outside(attribute, unit))


def _usual_outside(attribute: Attribute, unit: Unit) -> Outside:
    return Outside.CLAMP if attribute.on_a_line or unit is Unit.REPLACE else Outside.DROP


def _described(part: AttributePart, numbers: NumberNotation, folder: Path | None) -> tuple[Domain, Notation | None]:
    """The finest domain and the notation of an attribute."""
    joined = isinstance(part.missing, MissingPart) and part.missing.joins == "last"
    missing = part.missing_label
    style = None if numbers == PLAIN else numbers
    if part.numeric is not None and part.numeric.tree is None:
        return part.numeric.grid(missing=missing, joined=joined), style
    if part.ordered is not None:
        return Ordered.of(part.ordered, missing=missing), None
    if part.classes is not None:
        if not part.classes:
            raise InputError("`classes` is empty. List the labels.")
        added = [] if missing is None or missing in part.classes else [missing]
        return Tree.flat([*part.classes, *added]), None
    tree, notation = _tree_and_notation(part, numbers, folder)
    return tree if missing is None or missing in tree.labels else tree.with_leaf(missing), notation


def _tree_and_notation(
    part: AttributePart, numbers: NumberNotation, folder: Path | None
) -> tuple[Tree, Notation | None]:
    if part.numeric is not None:
        assert part.numeric.tree is not None
        intervals, tree = intervals_of(part.numeric.tree, numbers)
        return tree, intervals
    if part.boolean is not None:
        booleans = BooleanNotation() if isinstance(part.boolean, bool) else part.boolean.notation()
        return booleans.tree, booleans
    if part.date is not None:
        dates = part.date.notation()
        return dates.tree, dates
    if part.prefix is not None:
        prefixes = part.prefix.notation(folder)
        return prefixes.tree, prefixes
    assert part.taxonomy is not None
    return taxonomy_of(part.taxonomy, folder), None


def _cut(domain: Domain, cut: list[str] | None) -> Domain:
    if cut is None:
        return domain
    if isinstance(domain, Grid):
        raise InputError("A cut needs a taxonomy. Delete it: the cells of a grid are given by its edges.")
    return domain.truncate(sorted((domain.node(label) for label in cut), key=lambda node: node.low))


def attribute_data(attribute: Attribute, schema: Schema) -> dict[str, Any]:
    """The entry of an attribute as plain data. `attribute_from` reads it back."""
    data: dict[str, Any] = {} if attribute.column is None else {"column": attribute.column}
    domain = attribute.domain
    kind, described = _kind_data(attribute, schema)
    data[kind] = described
    if isinstance(domain, Tree) and domain.origin is not None:
        data["cut"] = list(domain.labels)
    if numbers_of(attribute) != PLAIN:
        data["numbers"] = numbers_data(numbers_of(attribute))
    if attribute.missing is not None:
        joins = isinstance(domain, Grid) and domain.joined
        data["missing"] = {"label": attribute.missing, "joins": "last"} if joins else attribute.missing
    if attribute.outside is not _usual_outside(attribute, schema.unit):
        data["outside"] = attribute.outside.value
    if attribute.unconfirmed:
        data["unconfirmed"] = True
    if attribute.public_because is not None:
        data[REASON] = attribute.public_because
    return data


def numbers_of(attribute: Attribute) -> NumberNotation:
    """How the numbers of an attribute are written."""
    return attribute.notation.numbers if isinstance(attribute.notation, IntervalNotation) else attribute.numbers


def _kind_data(attribute: Attribute, schema: Schema) -> tuple[str, Any]:
    """The key of an attribute's kind, and its entry."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        return "numeric", grid_data(domain)
    finest = domain.finest
    if isinstance(finest, Ordered):
        return "ordered", [label for label in finest.labels if label != finest.apart]
    match attribute.notation:
        case IntervalNotation(size=size):
            added = finest.labels[size] if finest.size > size else None
            return "numeric", {"tree": without(finest.to_nested(), added)}
        case BooleanNotation() as booleans:
            return "boolean", booleans_data(booleans)
        case DateNotation() as dates:
            return "date", date_data(dates)
        case PrefixNotation() as prefixes:
            return "prefix", prefix_data(prefixes)
    if attribute.name == schema.target and domain == Tree.flat(domain.labels):
        return "classes", list(domain.labels)
    return "taxonomy", finest.to_nested()
