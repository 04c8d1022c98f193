"""Cuts, and the cells they define: one generalized value on every path of every attribute's taxonomy."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from scumble.model.schema import Schema
from scumble.model.taxonomy import Node


@dataclass(frozen=True, kw_only=True)
class Specialization:
    """One specialization: a generalized value of one attribute replaced by finer ones that cover it."""

    attribute: str
    node: Node
    children: tuple[Node, ...]


@dataclass(frozen=True, kw_only=True)
class Cut:
    """For every predictor, generalized values that cover its domain in the order of codes.

    The cells are the cross product in row-major order, the first attribute slowest.
    """

    schema: Schema
    nodes: Mapping[str, tuple[Node, ...]]

    @classmethod
    def top(cls, schema: Schema) -> "Cut":
        """Everything generalized to its root: one cell."""
        return cls(schema=schema, nodes={a.name: (a.domain.root,) for a in schema.predictors})

    @classmethod
    def leaves(cls, schema: Schema, attributes: Iterable[str] | None = None) -> "Cut":
        """The finest values of the given attributes (default: of all), the others at their root."""
        fine = {a.name for a in schema.predictors} if attributes is None else set(attributes)
        nodes = {}
        for attribute in schema.predictors:
            domain = attribute.domain
            finest = (Node(label=label, low=code, high=code + 1) for code, label in enumerate(domain.labels))
            nodes[attribute.name] = tuple(finest) if attribute.name in fine else (domain.root,)
        return cls(schema=schema, nodes=nodes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of generalized values of each predictor."""
        return tuple(len(nodes) for nodes in self.nodes.values())

    @property
    def cells(self) -> int:
        return prod(self.shape)

    def lows(self, attribute: str) -> npt.NDArray[np.int64]:
        """The first code of each generalized value."""
        return np.array([node.low for node in self.nodes[attribute]], dtype=np.int64)

    def digits(self, attribute: str) -> npt.NDArray[np.int64]:
        """For each code of an attribute, the index of its generalized value in the cut."""
        widths = [node.high - node.low for node in self.nodes[attribute]]
        return np.repeat(np.arange(len(widths)), widths)

    def outer_inner(self, attribute: str) -> tuple[int, int]:
        """The numbers of cells over the attributes before this one, and over those after it."""
        place = list(self.nodes).index(attribute)
        return prod(self.shape[:place]), prod(self.shape[place + 1 :])

    def specialize(self, step: Specialization) -> "Cut":
        nodes = self.nodes[step.attribute]
        place = nodes.index(step.node)
        finer = nodes[:place] + step.children + nodes[place + 1 :]
        return replace(self, nodes={**self.nodes, step.attribute: finer})

    def cells_after(self, step: Specialization) -> int:
        """The number of cells after a step."""
        here = len(self.nodes[step.attribute])
        return self.cells // here * (here + len(step.children) - 1)

    def published_schema(self) -> Schema:
        """The schema of a table generalized by this cut, whose finest values are those of the cut."""
        attributes = tuple(
            attribute
            if attribute.name not in self.nodes
            else replace(attribute, domain=attribute.domain.truncate(self.nodes[attribute.name]))
            for attribute in self.schema.attributes
        )
        return replace(self.schema, attributes=attributes)
