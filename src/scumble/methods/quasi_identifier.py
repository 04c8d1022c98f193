"""What methods of k-anonymity share: the quasi-identifier, the plan, and the lines of a generalized table.

A quasi-identifier is the set of attributes by which someone could recognize a person. Records are grouped by it; all
other attributes are published as they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from scumble.errors import InputError
from scumble.methods.mdav.mdav import check_group_size
from scumble.methods.method import Params
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import KAnonymity
from scumble.model.plan import WARNING, Plan
from scumble.model.release import GeneralizedRelease
from scumble.model.schema import Attribute, Schema

LARGEST_KEY = 2**62


def quasi_attributes(schema: Schema, names: Sequence[str] | None, *, sensitive: str | None) -> tuple[Attribute, ...]:
    """The attributes of the quasi-identifier in the order of the schema.

    By default all but the class and the sensitive attribute. Raises `InputError` if there are none, or if one of them
    is not an attribute, is the class, or is the sensitive attribute.
    """
    if names is None:
        found = tuple(each for each in schema.predictors if each.name != sensitive)
        if not found:
            raise InputError("There is no attribute for a quasi-identifier besides the sensitive one. Add one.")
        return found
    if not names or len(set(names)) < len(names):
        raise InputError("The quasi-identifier is empty or names an attribute twice. Give each name once.")
    for name in names:
        if schema[name].name in (schema.target, sensitive):
            raise InputError(
                f"{name!r} cannot be part of the quasi-identifier: it is the class or the sensitive attribute, which "
                "are published as they are. Leave it out of --quasi."
            )
    return tuple(each for each in schema.predictors if each.name in names)


def anonymity_plan(schema: Schema, quasi: Sequence[Attribute], guarantee: KAnonymity) -> Plan:
    """The plan of a release without noise: no spends, and notes about what is published exactly."""
    check_group_size(guarantee.k, schema.rows)
    grouped = {attribute.name for attribute in quasi}
    exact = [each.name for each in schema.attributes if each.name not in grouped and each.name != schema.target]
    notes = ["The release states the exact number of records, unless it has fewer than k: then it is empty."]
    if exact:
        notes.append(
            f"{WARNING}{', '.join(exact)} will be published exactly, record by record. Someone who knows these values "
            "of a person can find their record. Add them to --quasi unless nobody can know them."
        )
    rows = schema.rows if schema.rows is not None else schema.rows_at_most
    combinations = prod(attribute.domain.size for attribute in schema.predictors)
    return Plan(
        guarantee=guarantee,
        schema_unit=schema.unit,
        spends=(),
        cells_at_most=combinations if rows is None else min(combinations, rows),
        notes=tuple(notes),
    )


def all_columns(blocks: Iterable[Block], schema: Schema) -> dict[str, Integers]:
    """The codes of every attribute in memory, by name."""
    parts = list(blocks)
    return {
        name: np.concatenate([np.zeros(0, dtype=np.int64), *(part[place].astype(np.int64) for part in parts)])
        for place, name in enumerate(schema.names)
    }


def class_labels(columns: Mapping[str, Integers], schema: Schema) -> Integers:
    """The class of each row; 0 without a target."""
    if schema.target is not None:
        return columns[schema.target]
    return np.zeros(len(next(iter(columns.values()))), dtype=np.int64)


def numbered(columns: Sequence[Integers], rows: int) -> Integers:
    """The number of each row's combination of values, among those that occur, in the order of the values.

    >>> numbered([np.array([7, 3, 7, 3]), np.array([0, 1, 0, 0])], 4).tolist()
    [2, 1, 2, 0]
    """
    key: Integers = np.zeros(rows, dtype=np.int64)
    bound = 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if bound * size > LARGEST_KEY:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
            bound = rows + 1
        key = key * size + column
        bound *= size
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def generalized_lines(
    schema: Schema, columns: Mapping[str, Integers], group: Integers, ranges: Mapping[str, tuple[Integers, Integers]]
) -> Integers:
    """The lines of a generalized table: for each predictor the range of its codes, then the count of each class.

    `group` is the group of each row, and `ranges` has the lows and the highs of all groups for each attribute of the
    quasi-identifier. Other attributes are kept as they are. The lines are in the order of their values, so they do not
    depend on the order of the rows.
    """
    rows, groups = len(group), len(next(iter(ranges.values()))[0])
    alike = numbered([side for sides in ranges.values() for side in sides], groups)
    kept = [columns[each.name] for each in schema.predictors if each.name not in ranges]
    line = numbered([alike[group], *kept], rows)
    lines = int(line.max(initial=-1)) + 1
    first = np.zeros(lines, dtype=np.int64)
    first[line[::-1]] = np.arange(rows)[::-1]
    sides = []
    for attribute in schema.predictors:
        if attribute.name in ranges:
            sides += [side[group[first]] for side in ranges[attribute.name]]
        else:
            sides += [columns[attribute.name][first], columns[attribute.name][first] + 1]
    classes = len(schema.classes)
    count = np.bincount(line * classes + class_labels(columns, schema), minlength=lines * classes)
    return np.concatenate([np.stack(sides, axis=1).reshape(lines, -1), count.reshape(lines, classes)], axis=1)


def generalized_release(
    method: str, parameters: Params, plan: Plan, schema: Schema, quasi: Sequence[Attribute], lines: Integers
) -> GeneralizedRelease:
    """The release of the lines of `generalized_lines`."""
    width = 2 * len(schema.predictors)
    stated: dict[str, Any] = parameters.model_dump(mode="json")
    return GeneralizedRelease(
        method=method,
        parameters=stated,
        plan=plan,
        schema=schema,
        boxes=lines[:, :width].reshape(len(lines), len(schema.predictors), 2),
        count=lines[:, width:],
        quasi=tuple(attribute.name for attribute in quasi),
    )
