"""Table 2 of the DiffGen paper (KDD 2011): characteristics of methods, from what each method declares about itself.

A method declares its `characteristics` (`scumble.methods.method`): whether it counts attributes one by one only or
several together, and whether it publishes the leaves of taxonomies, generalized values, or both. The privacy model
follows from the guarantee of its plan. Methods that declare nothing are left out.
"""

from collections.abc import Mapping
from typing import Any

from scumble.charts import BarPanel, Chart
from scumble.methods import METHODS
from scumble.methods.method import Characteristics, Method
from scumble.model.guarantee import KAnonymity
from scumble.reproductions.diffgen.examples import example_schema
from scumble.reproductions.figure import Claim, Figure, Request

COLUMNS = ("single", "multi", "leaf level", "hierarchical", "differential privacy", "partition-based privacy")
PAPER: Mapping[str, str] = {
    "mondrian": "single, multi, hierarchical, partition-based privacy",
    "tds": "single, multi, hierarchical, partition-based privacy",
    "barak": "single, multi, leaf level, differential privacy",
    "hay": "single, leaf level, hierarchical, differential privacy",
    "privelet": "single, multi, leaf level, differential privacy",
    "diffgen": "single, multi, leaf level, hierarchical, differential privacy",
}
"""The rows of the paper, by the name of our method."""


def table_2(request: Request) -> Figure:
    del request
    declared = {method.name: marks_of(method) for method in METHODS if characteristics_of(method) is not None}
    rows: list[dict[str, Any]] = [
        {"method": name, **{column: "yes" if column in marks else "" for column in COLUMNS}}
        for name, marks in declared.items()
    ]
    claims = tuple(
        Claim(
            text=f"Table 2, row {name}",
            paper=paper,
            ours=", ".join(declared[name]) if name in declared else "not declared in this version",
            holds=declared[name] == tuple(paper.split(", ")) if name in declared else None,
        )
        for name, paper in PAPER.items()
    )
    title = "Table 2: characteristics of methods"
    numbers = tuple(float(sum(column in marks for marks in declared.values())) for column in COLUMNS)
    panel = BarPanel(title="", x_label="number of methods", names=COLUMNS, values={"methods": numbers})
    return Figure(
        title=title,
        rows=rows,
        claims=claims,
        chart=Chart(title=title, panels=(panel,)),
        notes=("The privacy model follows from the guarantee of each method's plan.",),
    )


def characteristics_of(method: Method) -> Characteristics | None:
    """What a method declares about itself, if it does."""
    return getattr(method, "characteristics", None)


def marks_of(method: Method) -> tuple[str, ...]:
    """The columns of Table 2 that a method has, in their order."""
    declares = characteristics_of(method)
    assert declares is not None
    return tuple(
        column
        for column, marked in zip(
            COLUMNS,
            (
                True,
                declares.several_attributes,
                declares.leaf_values,
                declares.generalized_values,
                not _is_partition_based(method),
                _is_partition_based(method),
            ),
            strict=True,
        )
        if marked
    )


def _is_partition_based(method: Method) -> bool:
    """Whether the guarantee of the method's plan for the paper's example is k-anonymity."""
    given = {name: value for name, value in (("k", 2), ("epsilon", 1)) if name in method.parameters.model_fields}
    return isinstance(method.plan(example_schema(), method.parameters(**given)).guarantee, KAnonymity)
