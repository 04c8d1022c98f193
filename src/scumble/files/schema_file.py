"""`schema.yaml`: reading, writing, and the JSON Schema of the format.

Every scalar is read as text, so that names stay exact (`no` is not false) and decimals are not rounded.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, SingleQuotedScalarString

from scumble.errors import InputError
from scumble.files.hierarchy_file import read_hierarchy
from scumble.model.guarantee import Unit
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Domain, Grid, Nested, Tree
from scumble.model.validation import first_problem

FORMAT = "schema/1"
NOT_PLAIN_TEXT = re.compile(r"|[-+.]?[0-9].*|[-+]?\.(inf|nan)|~|null|y|n|yes|no|true|false|on|off|=|<<", re.IGNORECASE)
"""Texts that a reader of YAML 1.1 or 1.2 may take for a number, a date, a boolean, null or a merge key."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class NumericPart(_Part):
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


class MissingPart(_Part):
    """The label of missing values; `joins: last` if a published cut merges them with the last interval."""

    label: str
    joins: Literal["last"] | None = None


class AttributePart(_Part):
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
    missing: str | MissingPart | None = None
    outside: Outside | None = None
    unconfirmed: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [self.numeric, self.taxonomy, self.classes, self.identifier]
        if sum(kind is not None for kind in kinds) != 1 or self.identifier is False:
            raise ValueError("give exactly one of numeric, taxonomy, classes, identifier: true")
        if self.cut is not None and self.taxonomy is None:
            raise ValueError("a cut needs a taxonomy")
        if isinstance(self.missing, MissingPart) and self.missing.joins is not None and self.numeric is None:
            raise ValueError("joins is for numeric attributes; in a taxonomy, a missing value is a leaf")
        return self


class SchemaPart(_Part):
    """The whole file."""

    scumble: Literal["schema/1"]
    unit: Unit = Unit.ADD_REMOVE
    rows: Annotated[int, Field(ge=0)] | None = None
    rows_at_most: Annotated[int, Field(ge=0)] | None = None
    target: str | None = None
    attributes: dict[str, AttributePart]


def json_schema() -> dict[str, Any]:
    """The format as a JSON Schema, for editors and other tools."""
    return SchemaPart.model_json_schema()


def read_schema(path: Path) -> Schema:
    """Read a schema file. Paths of hierarchy files are relative to it.

    Raises `InputError`, which names the file and the wrong entry.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"The schema file {path} does not exist. `scumble schema draft DATA` drafts one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The schema file {path} cannot be read: {error}. Give a UTF-8 text file.") from error
    return parse_schema(text, folder=path.parent, name=str(path))


def parse_schema(text: str, *, folder: Path | None = None, name: str = "the schema") -> Schema:
    """Read a schema from text."""
    data = load_yaml(text, name)
    if not isinstance(data, Mapping):
        raise InputError(f"{name} is not a mapping. Start it with `scumble: {FORMAT}`.")
    return schema_from(data, folder=folder, name=name)


def load_yaml(text: str, name: str) -> Any:
    """YAML as nested mappings and lists whose scalars are the text in the file."""
    yaml = YAML(typ="base", pure=True)
    yaml.composer.warn_double_anchors = False  # YAML allows to redefine an anchor; an alias means the last definition
    try:
        return yaml.load(text)
    except RecursionError:
        raise InputError(f"{name} is nested too deeply. Write flatter taxonomies.") from None
    except YAMLError as error:
        problem = str(getattr(error, "problem", None) or error).splitlines()[0]
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{name}{where} is not valid YAML: {problem}. Fix that line.") from error


def schema_from(data: Mapping[str, Any], *, folder: Path | None = None, name: str = "the schema") -> Schema:
    """Read a schema from the result of `load_yaml`, which may be part of a larger file."""
    try:
        part = SchemaPart.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error)}. See `scumble schema format`.") from error
    try:
        return _to_schema(part, folder)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except RecursionError:
        raise InputError(f"{name}: a taxonomy is nested too deeply. Write a flatter one.") from None


def _to_schema(part: SchemaPart, folder: Path | None) -> Schema:
    return Schema(
        unit=part.unit,
        rows=part.rows,
        rows_at_most=part.rows_at_most,
        target=part.target,
        attributes=tuple(
            _to_attribute(name, column, part, folder)
            for name, column in part.attributes.items()
            if not column.identifier
        ),
        identifiers=tuple(name for name, column in part.attributes.items() if column.identifier),
    )


def _to_attribute(name: str, part: AttributePart, whole: SchemaPart, folder: Path | None) -> Attribute:
    try:
        domain = _to_domain(part, folder)
    except InputError as error:
        raise InputError(f"attribute {name!r}: {error}") from error
    missing = part.missing.label if isinstance(part.missing, MissingPart) else part.missing
    safe = Outside.CLAMP if isinstance(domain, Grid) or whole.unit is Unit.REPLACE else Outside.DROP
    return Attribute(
        name=name, domain=domain, outside=part.outside or safe, missing=missing, unconfirmed=part.unconfirmed
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


def schema_text(schema: Schema, *, heading: str = "", comments: Mapping[str, str] | None = None) -> str:
    """The schema as YAML, with comments above the columns that `comments` names. `parse_schema` reads it back."""
    data = schema_data(schema)
    columns = CommentedMap(_exact(data["attributes"]))
    for name, comment in (comments or {}).items():
        if comment:
            columns.yaml_set_comment_before_after_key(name, before=comment, indent=2)
    return yaml_text({**data, "attributes": columns}, heading=heading)


def schema_data(schema: Schema) -> dict[str, Any]:
    """The schema as plain data. `schema_from` reads it back after it was written and loaded as YAML."""
    data: dict[str, Any] = {"scumble": FORMAT, "unit": schema.unit.value}
    for key, value in (("rows", schema.rows), ("rows_at_most", schema.rows_at_most), ("target", schema.target)):
        if value is not None:
            data[key] = value
    data["attributes"] = {a.name: _from_attribute(a, schema) for a in schema.attributes}
    data["attributes"] |= {name: {"identifier": True} for name in schema.identifiers}
    return data


def yaml_text(data: Mapping[str, Any], *, heading: str = "") -> str:
    """Plain data as YAML, below a heading of comments. Every text in it is read back exactly."""
    yaml = YAML()
    yaml.width = 120
    stream = StringIO()
    yaml.dump(_exact(data), stream)
    return "".join(f"# {line}\n" for line in heading.splitlines()) + stream.getvalue()


def _exact(data: Any) -> Any:
    """The same data, with quotes around every text that a reader of YAML 1.1 or 1.2 could take for something else."""
    if isinstance(data, CommentedMap):
        return data
    if isinstance(data, Mapping):
        return {_exact(key): _exact(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_exact(value) for value in data]
    if not isinstance(data, str):
        return data
    if not data.isprintable():
        return DoubleQuotedScalarString(data)
    return SingleQuotedScalarString(data) if NOT_PLAIN_TEXT.fullmatch(data) else data


def write_schema(schema: Schema, path: Path, *, heading: str = "") -> None:
    """Write a schema file, with an optional heading of comments. `read_schema` reads it back."""
    path.write_text(schema_text(schema, heading=heading), encoding="utf-8")


def _from_attribute(attribute: Attribute, schema: Schema) -> dict[str, Any]:
    data: dict[str, Any] = {}
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
    return data


def _number(value: Decimal) -> int | float | str:
    """A decimal as a YAML scalar that is read back as the same decimal."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)
