"""Columns of a table as small codes, decoded when a column is read."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.model.schema import Schema
from scumble.model.values import Column, published_values

SmallCodes = npt.NDArray[np.unsignedinteger[Any]]


class CodedColumns(Mapping[str, Column]):
    """The columns of all attributes of a schema. A million labels take a megabyte as codes, eight as a column."""

    def __init__(self, schema: Schema, codes: Mapping[str, SmallCodes]) -> None:
        self.schema, self.codes = schema, codes

    def __getitem__(self, name: str) -> Column:
        return published_values(self.schema[name].domain, self.codes[name])

    def __iter__(self) -> Iterator[str]:
        return (attribute.name for attribute in self.schema.attributes)

    def __len__(self) -> int:
        return len(self.schema.attributes)

    @property
    def rows(self) -> int:
        return len(next(iter(self.codes.values()), ()))


def code_array(codes: npt.NDArray[np.integer[Any]], values: int) -> SmallCodes:
    """SmallCodes of so many values in the smallest unsigned type.

    >>> code_array(np.array([3, 255]), 256).dtype, code_array(np.array([3, 255]), 257).dtype
    (dtype('uint8'), dtype('uint16'))
    """
    return codes.astype(np.min_scalar_type(max(values - 1, 0)), copy=False)
