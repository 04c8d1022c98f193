"""The schema: everything that is public about a table before any row of it is read."""

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from scumble.errors import InputError
from scumble.model.display import Displayed, Listing, Summary, plural
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.notation import PLAIN, Notation, NumberNotation
from scumble.model.ordered import Ordered
from scumble.model.persons import Persons
from scumble.model.taxonomy import Tree

PUBLISHED_COLUMNS = ("count", "measured", "variance")
"""The columns of counts.csv beside the attributes."""
FIRST_LABELS = 4
"""So many categories are named when a schema is displayed."""


class Outside(StrEnum):
    """What happens to a value outside the public domain, or one that cannot be parsed.

    `clamp` maps a number to the nearest cell of the grid. It maps an unknown category, or text in place of a number, to
    the code of missing values if there is one, else to the first code. `drop` drops the row.
    """

    CLAMP = "clamp"
    DROP = "drop"


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A column of the table with its public domain.

    `domain` is a `Tree` of categories or a `Grid` of numbers. `outside` says what happens to values outside of it.
    `missing` is the label of missing values, if the domain has one. `unconfirmed` marks a domain that was drafted from
    the data; `release` refuses it. `column` is the table's name for the column if it differs from `name`, under which
    the attribute is published. `public_because` is the owner's reason why the domain is public; it is published, too.
    `notation` says how raw values are written, where neither labels nor plain numbers are. Raises `InputError` if the
    domain lacks the label of missing values, or if the reason is empty.

    >>> Attribute(name="job", domain=Tree.flat(["Engineer", "Artist"]), outside=Outside.DROP).domain_text
    '2 categories: Engineer, Artist'
    """

    name: str
    domain: Domain
    outside: Outside
    missing: str | None = None
    unconfirmed: bool = False
    column: str | None = None
    public_because: str | None = None
    notation: Notation | None = None

    def __post_init__(self) -> None:
        domain, notation = self.domain, self.notation
        if notation is not None and isinstance(domain, Grid) != isinstance(notation, NumberNotation):
            raise InputError(
                f"{self.name!r}: {type(notation).__name__} does not fit its domain. NumberNotation is for "
                "grids, all other notations are for taxonomies."
            )
        if isinstance(domain, Tree) and notation is not None and domain.finest.size - notation.size not in (0, 1):
            raise InputError(f"{self.name!r}: its taxonomy has other leaves than its notation. Build it from that.")
        known = self.missing == domain.missing if isinstance(domain, Grid) else self.missing in (None, *domain.codes)
        if not known:
            raise InputError(
                f"{self.name!r}: its domain lacks {self.missing!r}, the value for missing ones. Add it there."
            )

        if self.public_because is not None and not self.public_because.strip():
            raise InputError(
                f"{self.name!r}: the reason why its domain is public is empty. State one, or leave it out."
            )

    @property
    def source_column(self) -> str:
        """The column of the table that this attribute is read from."""
        return self.name if self.column is None else self.column

    @property
    def missing_code(self) -> int | None:
        """The code of missing values in the domain, or None."""
        if self.missing is None:
            return None
        return self.domain.missing_code if isinstance(self.domain, Grid) else self.domain.codes[self.missing]

    @property
    def numbers(self) -> NumberNotation:
        """How numbers are written as text."""
        return self.notation if isinstance(self.notation, NumberNotation) else PLAIN

    @property
    def on_a_line(self) -> bool:
        """Whether values are numbers or dates: one outside the range then has a nearest end."""
        return isinstance(self.domain, Grid) or (self.notation is not None and self.notation.on_a_line)

    @property
    def kind(self) -> str:
        """The kind of its values, in one or two words: number, date, boolean, category, ..."""
        if isinstance(self.domain, Grid):
            return "number"
        if isinstance(self.domain, Ordered):
            return "ordered category"
        return "category" if self.notation is None else self.notation.kind

    @property
    def in_order(self) -> bool:
        """Whether the order of codes has a meaning, as for numbers, dates and ordered categories."""
        return self.on_a_line or isinstance(self.domain, Ordered)

    @property
    def domain_text(self) -> str:
        """The domain in a few words."""
        if isinstance(self.domain, Grid):
            span = self.domain.interval(0, self.domain.cells).label
            return f"{plural(self.domain.cells, 'interval')} in {span}"
        first = ", ".join(self.domain.labels[:FIRST_LABELS])
        more = ", ..." if self.domain.size > FIRST_LABELS else ""
        return f"{plural(self.domain.size, 'category', 'categories')}: {first}{more}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Schema(Displayed):
    """Everything that is public about a table: attributes in the order of publication, unit of privacy, number of rows.

    `target` names the attribute to predict; `identifiers` are columns that are never published. `rows` is the exact
    number of rows, which `unit=Unit.REPLACE` requires; `rows_at_most` is a public bound. `schema[name]` is an
    attribute. `person` names the column that identifies persons, and `rows_each_at_most` says how many rows of each are
    used; epsilon then protects a person instead of a row. Raises `InputError` if the parts contradict each other.

    >>> Schema(attributes=(Attribute(name="job", domain=Tree.flat(["a", "b"]), outside=Outside.DROP),))
    <Schema: 1 attribute, no target, unit add-remove>
    """

    attributes: tuple[Attribute, ...]
    target: str | None = None
    unit: Unit = Unit.ADD_REMOVE
    rows: int | None = None
    rows_at_most: int | None = None
    identifiers: tuple[str, ...] = ()
    person: str | None = None
    rows_each_at_most: int | None = None

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.attributes] + list(self.identifiers)
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise InputError(f"The schema names {sorted(repeated)[0]!r} twice. Attribute names are unique.")
        taken = [attribute.name for attribute in self.attributes if attribute.name in PUBLISHED_COLUMNS]
        if taken:
            raise InputError(
                f"The attribute {taken[0]!r} has the name of a column that every release adds. Rename it in the schema "
                f"and write `column: {taken[0]}` there: the table stays as it is."
            )
        self._check_columns()
        if not self.predictors:
            raise InputError("The schema has no attribute to publish. Describe at least one column besides the target.")
        if self.target is not None:
            self._check_target()
        if self.unit is Unit.REPLACE:
            self._check_replace()
        if self.person is not None or self.rows_each_at_most is not None:
            self._check_person(self.person, self.rows_each_at_most)
        for name, rows in (("rows", self.rows), ("rows_at_most", self.rows_at_most)):
            if rows is not None and rows < 0:
                raise InputError(f"`{name}` is {rows}. Give a whole number, zero or more.")

    def _check_columns(self) -> None:
        """Each attribute has a column of its own.

        Two attributes of one column would be two independent reports of the same value, which pay twice for one fact
        and narrow the interval that `perturb` hides the value in.
        """
        read: dict[str, str] = {}
        identifiers = frozenset(self.identifiers)
        for attribute in self.attributes:
            column = attribute.source_column
            if column in read:
                raise InputError(
                    f"{read[column]!r} and {attribute.name!r} read the same column {column!r}. Keep one of them."
                )
            if column in identifiers:
                raise InputError(
                    f"{attribute.name!r} reads the column {column!r}, which is an identifier and never read. Remove "
                    "one of them."
                )
            read[column] = attribute.name

    def _check_target(self) -> None:
        target = next((attribute for attribute in self.attributes if attribute.name == self.target), None)
        if target is None:
            raise InputError(
                f"The target {self.target!r} is not an attribute of the schema. Add it with its `classes`."
            )
        if not isinstance(target.domain, Tree):
            raise InputError(f"The target {self.target!r} is numeric. Give it `classes: [...]`, the labels to predict.")

    def _check_person(self, person: str | None, rows: int | None) -> None:
        if person is None or rows is None:
            raise InputError(
                "`person` and `rows_each_at_most` belong together: the column that identifies persons, and how many "
                "rows of each are used. Give both or neither."
            )
        if rows < 1:
            raise InputError(f"`rows_each_at_most` is {rows}. Give a whole number, one or more.")
        if any(person in (attribute.name, attribute.source_column) for attribute in self.attributes):
            raise InputError(
                f"{person!r} identifies persons and is described as an attribute, which would be published. Remove the "
                "attribute, or write `identifier: true` there."
            )
        if self.unit is Unit.REPLACE:
            raise InputError(
                "Rows of persons are protected under `unit: add-remove` only, because `replace` publishes the number "
                "of rows. Change the unit, or remove `person`."
            )

    def _check_replace(self) -> None:
        if self.rows is None:
            raise InputError("Under `unit: replace` the number of rows is public. Add `rows: N` to the schema.")
        for attribute in self.attributes:
            if attribute.outside is Outside.DROP:
                raise InputError(
                    f"{attribute.name!r} drops rows outside its domain, which would reveal how many there were under "
                    "`unit: replace`. Write `outside: clamp` there."
                )

    @property
    def persons(self) -> Persons | None:
        """The persons whose rows are protected together; None if each row is protected on its own."""
        if self.person is None or self.rows_each_at_most is None:
            return None
        return Persons(column=self.person, rows_each_at_most=self.rows_each_at_most)

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns to read of a table: the attributes, and the column that identifies persons."""
        return self.columns if self.person is None else (*self.columns, self.person)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes, in order: the columns of a published table."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns to read of the owner's table, one for each attribute, in order."""
        return tuple(attribute.source_column for attribute in self.attributes)

    @property
    def of_published_rows(self) -> "Schema":
        """The schema for reading a published table, whose columns have the names of the attributes."""
        return replace(self, attributes=tuple(replace(attribute, column=None) for attribute in self.attributes))

    @cached_property
    def predictors(self) -> tuple[Attribute, ...]:
        """All attributes but the target, in order."""
        return tuple(attribute for attribute in self.attributes if attribute.name != self.target)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The labels of the target; one class with an empty label if there is no target."""
        return self[self.target].domain.labels if self.target is not None else ("",)

    @property
    def summary(self) -> Summary:
        """The unit, what is public about rows, and the attributes with their domains."""
        target = "no target" if self.target is None else f"target {self.target!r}"
        facts = [("target", "none" if self.target is None else self.target), ("unit", self.unit.value)]
        facts += [("rows", f"{self.rows:,}")] if self.rows is not None else []
        facts += [("rows at most", f"{self.rows_at_most:,}")] if self.rows_at_most is not None else []
        facts += [("identifiers, never published", ", ".join(self.identifiers))] if self.identifiers else []
        if self.person is not None:
            facts.append(("person", f"{self.person}, at most {plural(self.rows_each_at_most or 1, 'row')} of each"))
        attributes = Listing(
            columns=("attribute", "domain", "outside", "missing"),
            rows=tuple((a.name, a.domain_text, a.outside.value, a.missing or "") for a in self.attributes),
            unit="attributes",
        )
        size = f"{plural(len(self.attributes), 'attribute')}, {target}, unit {self.unit.value}"
        return Summary(kind="Schema", size=size, facts=tuple(facts), listings=(attributes,))

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise InputError(f"The schema has no attribute {name!r}. It has {', '.join(a.name for a in self.attributes)}.")
