"""Any attribute as the class: classifiers trained on a published table predict it on raw rows.

A number is predicted as above a threshold or not. A published value that covers several classes (a node of a taxonomy,
an interval with the threshold inside) is a class of its own in training; its predicted probability counts evenly for
the values that it covers. So a table with coarse values gets no credit for predicting coarse classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.mining.benchmark.sample import Sample
from scumble.mining.benchmark.scores import class_shares, measures, predict
from scumble.mining.fidelity.margins import BinnedColumn
from scumble.mining.fidelity.one_way import Columns
from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.model.values import recoding


@dataclass(frozen=True, kw_only=True)
class Target:
    """An attribute of the public schema as a class: the labels, and the class of each of its codes."""

    name: str
    labels: tuple[str, ...]
    classes: Integers

    @property
    def title(self) -> str:
        """The attribute and, of a number, the condition that is predicted.

        >>> Target(name="age", labels=("at most 40", "above 40"), classes=np.array([0, 1])).title
        'age above 40'
        """
        return f"{self.name} {self.labels[1]}" if self.labels[0].startswith("at most ") else self.name


def target_of(text: str, schema: Schema, rows: Columns) -> Target:
    """A target as the owner names it: an attribute, or `NUMBER>THRESHOLD` such as `age>40`.

    A number without a threshold is compared with its median in the given raw rows, coded by the schema.
    """
    name, threshold = _parsed(text, schema)
    domain = schema[name].domain
    if isinstance(domain, Tree):
        return Target(name=name, labels=domain.labels, classes=np.arange(domain.size))
    lower = domain.edge_floats[:-1]
    if threshold is None:
        numbers = rows[name][rows[name] < domain.cells]
        threshold = float(np.median(lower[numbers])) if numbers.size else float(lower[0])
    classes = (lower > threshold).astype(np.int64)
    if classes.min() == classes.max():
        raise InputError(
            f"All values of {name!r} are on one side of {threshold:g}. Name a threshold within its range, such as "
            f"`{name}>{lower[len(lower) // 2]:g}`."
        )
    labels = (f"at most {threshold:g}", f"above {threshold:g}")
    if domain.size == domain.cells:
        return Target(name=name, labels=labels, classes=classes)
    return Target(name=name, labels=(*labels, str(domain.missing)), classes=np.append(classes, 2))


def names_target(text: str, schema: Schema) -> bool:
    """Whether a text names an attribute of a schema, with or without a threshold."""
    return text in schema.names or text.rpartition(">")[0].strip() in schema.names


def _parsed(text: str, schema: Schema) -> tuple[str, float | None]:
    """The attribute and the threshold. A whole text that names an attribute is that attribute."""
    if text in schema.names:
        return text, None
    name, separator, number = (part.strip() for part in text.rpartition(">"))
    if not separator:
        return schema[text].name, None
    if not isinstance(schema[name].domain, Grid):
        raise InputError(f"{name!r} has categories, so it has no threshold. Name it alone: `{name}`.")
    try:
        return name, float(number)
    except ValueError:
        raise InputError(
            f"The threshold {number!r} of {name!r} is not a number. Write, for example, `{name}>40`."
        ) from None


def target_scores(
    target: Target,
    columns: Columns,
    published: Schema,
    test: Columns,
    schema: Schema,
    *,
    counts: npt.NDArray[np.integer] | None = None,
    classifiers: Sequence[str],
) -> dict[str, Any]:
    """The measures of classifiers that are trained on a table coded by its published schema.

    `test` has raw rows, coded by the public schema.
    """
    domain = schema[target.name].domain
    column = BinnedColumn.of(columns[target.name], published[target.name].domain, domain, target.classes)
    learned = schema_with_target(published, target.name, len(column.shares))
    predictors = [attribute.name for attribute in learned.predictors]
    train = Sample(codes=_stacked([columns[name] for name in predictors]), labels=column.atoms, weights=counts)
    recoded = [recoding(schema[name].domain, published[name].domain)[test[name]] for name in predictors]
    labels = target.classes[test[target.name]]
    # The classes of the training table are only labels for these rows: they are scored with the true ones below.
    tested = Sample(codes=_stacked(recoded), labels=labels)
    shares: Floats = class_shares(train, len(column.shares)) @ column.shares
    return {
        name: measures(
            each.probabilities @ column.shares, labels, np.ones_like(labels), shares=shares, classes=target.labels
        )
        for name, each in predict(train, tested, learned, classifiers=classifiers).items()
    }


def commonest_scores(target: Target, rows: Columns, test: Columns) -> dict[str, Any]:
    """The measures of always predicting the commonest class of some raw rows, and its label."""
    shares = np.bincount(target.classes[rows[target.name]], minlength=len(target.labels)) / max(
        len(rows[target.name]), 1
    )
    labels = target.classes[test[target.name]]
    probabilities = np.zeros((len(labels), len(shares)))
    probabilities[:, shares.argmax()] = 1.0
    scores = measures(probabilities, labels, np.ones_like(labels), shares=shares, classes=target.labels)
    return {"class": target.labels[int(shares.argmax())], **scores}


def schema_with_target(schema: Schema, name: str, classes: int) -> Schema:
    """A schema in which an attribute is the class, with so many labels; the former class becomes a predictor."""
    domain = Tree.flat([str(number) for number in range(max(classes, 2))])
    attributes = [
        Attribute(name=name, domain=domain, outside=Outside.CLAMP) if each.name == name else each
        for each in schema.attributes
    ]
    return replace(schema, attributes=tuple(attributes), target=name)


def _stacked(columns: Sequence[npt.NDArray[np.integer]]) -> Integers:
    return np.stack([column.astype(np.int64) for column in columns], axis=1)
