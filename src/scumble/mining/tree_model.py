"""Decision trees as flat arrays, and the trained model that is stored as one JSON file.

Reading a model and predicting with it needs numpy only, not scikit-learn.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.foreign.documents import read_json
from scumble.foreign.numbers import shown
from scumble.model.counts import Floats, Integers
from scumble.model.values import category_text, is_missing_number, number_of

FORMAT = "tree/1"
LEAF = -1


@dataclass(frozen=True, kw_only=True)
class Feature:
    """An input: a number, or a category given by its index in `values`."""

    name: str
    values: tuple[str, ...] | None = None
    missing: str | None = None
    """The text that marks a missing number in tables, such as -999."""
    column: str | None = None
    """The column of a table of true rows, if it has another name."""

    @property
    def source_column(self) -> str:
        """The column of a table of true rows."""
        return self.name if self.column is None else self.column

    def number(self, value: Any) -> float:
        """One true value as a number; a missing one is not a number. Values are read as in a table."""
        if self.values is not None:
            known = value is not None and category_text(value) in self.values
            return float(self.values.index(category_text(value))) if known else float("nan")
        number = number_of(value)
        if is_missing_number(value, self.missing) or value != value:
            return float("nan")
        if number is None:
            raise InputError(f"{self.name!r} is {value!r}, not a number. Give one, or leave it empty.")
        return number

    def to_json(self) -> dict[str, Any]:
        values = {} if self.values is None else {"values": list(self.values)}
        missing = {} if self.missing is None else {"missing": self.missing}
        column = {} if self.column is None else {"column": self.column}
        return {"name": self.name, **values, **missing, **column}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Feature":
        values = _texts(data["values"]) if "values" in data else None
        missing, column = (None if data.get(key) is None else str(data[key]) for key in ("missing", "column"))
        return cls(name=str(data["name"]), values=values, missing=missing, column=column)


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise TypeError("the values of a feature are not a list of texts")
    return tuple(values)


@dataclass(frozen=True, kw_only=True, eq=False)
class FlatTree:
    """A binary tree as parallel arrays with one entry per node: the root first, parents before their children."""

    feature: Integers
    """The feature that the node tests; LEAF at a leaf."""
    left: Integers
    right: Integers
    """The numbers of the children; LEAF at a leaf."""

    @property
    def inner(self) -> npt.NDArray[np.bool_]:
        """Which nodes have children."""
        return self.feature != LEAF

    @property
    def leaves(self) -> int:
        return int((~self.inner).sum())

    @property
    def depth(self) -> int:
        depths = np.zeros(len(self.feature), dtype=np.int64)
        for node in np.flatnonzero(self.inner):
            depths[[self.left[node], self.right[node]]] = depths[node] + 1
        return int(depths.max())

    def bottom_up(self) -> Iterator[int]:
        """The inner nodes, children before their parents."""
        return (int(node) for node in np.flatnonzero(self.inner)[::-1])

    def pruned(self, split: npt.NDArray[np.bool_]) -> "tuple[Integers, FlatTree]":
        """The nodes that remain if only the nodes in `split` keep their children, and the tree they form.

        The nodes are given by their old numbers, in the order of their new ones.
        """
        order = [0]
        for node in order:
            if split[node]:
                order += [int(self.left[node]), int(self.right[node])]
        nodes = np.array(order)
        number = np.full(len(split), LEAF)
        number[nodes] = np.arange(len(nodes))
        inner = split[nodes]
        tree = FlatTree(
            feature=np.where(inner, self.feature[nodes], LEAF),
            left=np.where(inner, number[self.left[nodes]], LEAF),
            right=np.where(inner, number[self.right[nodes]], LEAF),
        )
        return nodes, tree


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeModel(FlatTree):
    """A trained tree over true values. A value below the threshold goes left."""

    features: tuple[Feature, ...]
    classes: tuple[Any, ...]
    threshold: Floats
    missing_left: npt.NDArray[np.bool_]
    """Whether a missing value goes left."""
    shares: Floats
    """The class probabilities at each node: shape (nodes, classes)."""
    target: str | None = None
    """The name of the class, if known."""
    target_column: str | None = None
    """The column of the class in a table of true rows, if it has another name."""
    schema: Mapping[str, Any] | None = None
    """The schema of the true rows as plain data, if its notations are needed to read them."""

    def probabilities(self, values: npt.ArrayLike) -> Floats:
        """The class probabilities of the leaf that each row of true values reaches."""
        rows = np.asarray(values, dtype=np.float64)
        nodes = np.zeros(len(rows), dtype=np.int64)
        moving = np.flatnonzero(self.feature[nodes] != LEAF)
        while moving.size:
            here = nodes[moving]
            value = rows[moving, self.feature[here]]
            left = np.where(np.isnan(value), self.missing_left[here], value < self.threshold[here])
            nodes[moving] = np.where(left, self.left[here], self.right[here])
            moving = moving[self.feature[nodes[moving]] != LEAF]
        return self.shares[nodes]

    def predict(self, records: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The class of each record, a mapping from names to true values. An absent value counts as missing."""
        rows = [[feature.number(record.get(feature.name)) for feature in self.features] for record in records]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(self.features))
        return [self.classes[place] for place in self.probabilities(table).argmax(axis=1)]

    def to_json(self) -> dict[str, Any]:
        return {
            "scumble": FORMAT,
            "features": [feature.to_json() for feature in self.features],
            "target": self.target,
            **({} if self.target_column is None else {"target_column": self.target_column}),
            **({} if self.schema is None else {"schema": self.schema}),
            "classes": list(self.classes),
            "nodes": {
                "feature": self.feature.tolist(),
                "threshold": self.threshold.tolist(),
                "left": self.left.tolist(),
                "right": self.right.tolist(),
                "missing_left": self.missing_left.tolist(),
                "shares": self.shares.tolist(),
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TreeModel":
        """The inverse of `to_json`. Refuses nodes that do not form a tree."""
        try:
            if data["scumble"] != FORMAT:
                raise InputError(f"The model has format {shown(data['scumble'])}, not {FORMAT!r}. Update scumble.")
            nodes = data["nodes"]
            model = cls(
                features=tuple(Feature.from_json(each) for each in data["features"]),
                classes=tuple(data["classes"]),
                feature=np.array(nodes["feature"], dtype=np.int64),
                threshold=np.array(nodes["threshold"], dtype=np.float64),
                left=np.array(nodes["left"], dtype=np.int64),
                right=np.array(nodes["right"], dtype=np.int64),
                missing_left=np.array(nodes["missing_left"], dtype=np.bool_),
                shares=np.array(nodes["shares"], dtype=np.float64),
                target=None if data.get("target") is None else str(data["target"]),
                target_column=None if data.get("target_column") is None else str(data["target_column"]),
                schema=data.get("schema"),
            )
            sound = model._is_tree()
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise InputError(
                f"This is not a tree model: {error!r}. Use a file that `scumble mine train` wrote."
            ) from error
        if not sound:
            raise InputError("The nodes of the model do not form a tree. Use a file that `scumble mine train` wrote.")
        return model

    def _is_tree(self) -> bool:
        """Arrays of one length, known features, and children after their parents, so that every path reaches a leaf."""
        size = len(self.feature)
        shapes = {column.shape for column in (self.feature, self.threshold, self.left, self.right, self.missing_left)}
        plain = bool(self.features and self.classes) and not any(isinstance(each, dict | list) for each in self.classes)
        if not (plain and size) or shapes != {(size,)} or self.shares.shape != (size, len(self.classes)):
            return False
        numbers = np.arange(size)
        known = (self.feature >= LEAF) & (self.feature < len(self.features))
        later = (self.left > numbers) & (self.left < size) & (self.right > numbers) & (self.right < size)
        return bool(known.all() and (later | ~self.inner).all())

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.to_json()), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "TreeModel":
        try:
            return cls.from_json(read_json(path, follow_links=True, finite=False))
        except FileNotFoundError:
            raise InputError(
                f"The tree model {path} does not exist. Give a file that `scumble mine train` wrote."
            ) from None
        except IsADirectoryError:
            raise InputError(
                f"{path} is a folder, not a tree model. Give the file that `scumble mine train` wrote."
            ) from None
        except (OSError, ValueError) as error:
            raise InputError(
                f"{path} is not a tree model: {error}. Give a file that `scumble mine train` wrote."
            ) from error
