"""Checks of the documents of a release: each has the shape that its name promises, over the published schema."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from scumble.errors import CheckError, InputError
from scumble.files.measured_tables import FORMAT, detail_tables, listed_tables
from scumble.files.report.version import pages_version
from scumble.model.grid import Grid
from scumble.model.measured_tables import AttributeBins
from scumble.model.schema import Schema

Documents = Mapping[str, Mapping[str, Any]]


def check_documents(documents: Documents, schema: Schema, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each document. `schema` is the finest one that is published.

    Raises `CheckError` for a document that is not what its name promises. Other versions may have written documents
    that this one does not know.
    """
    same_version = manifest.get("pages") == pages_version()
    for name in documents:
        check = CHECKS.get(name)
        known = check is not None and (name != "tables" or documents[name].get("format") == FORMAT)
        if check is not None and known:
            try:
                check(documents, schema)
            except InputError as error:
                raise CheckError(f"{error} Do not trust this folder.") from error
            except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
                raise CheckError(
                    f"{name}.json does not have the content that its name promises: {error!r}. Do not trust this "
                    "folder."
                ) from error
            yield f"{name}.json fits the published schema"
        elif same_version:
            raise CheckError(f"{name}.json does not have a format that scumble writes. Do not trust this folder.")
        else:
            yield f"{name}.json is a JSON object"


def _check_tables(documents: Documents, schema: Schema) -> None:
    listed_tables(documents, schema)


def _check_detail(documents: Documents, schema: Schema) -> None:
    detail_tables(documents, schema)


def _check_model(documents: Documents, schema: Schema) -> None:
    """The bins of every attribute, and sets of attributes."""
    model = documents["model"]
    if set(model["bins"]) != set(schema.names):
        raise ValueError("it has bins of other attributes")
    for name, starts in model["bins"].items():
        AttributeBins.from_starts(name, schema[name].domain, np.array(starts, dtype=np.int64))
    for several in (*model["cliques"], *model["separators"]):
        _check_names(several, schema)


def _check_marginals(documents: Documents, schema: Schema) -> None:
    """Consistent counts, none negative, of bins of some attributes."""
    for marginal in documents["marginals"]["marginals"]:
        _check_names(marginal["attributes"], schema)
        shape = [
            AttributeBins.from_starts(name, schema[name].domain, np.array(starts, dtype=np.int64)).size
            for name, starts in zip(marginal["attributes"], marginal["bins"], strict=True)
        ]
        if len(marginal["counts"]) != math.prod(shape) or not all(map(_is_count, marginal["counts"])):
            raise ValueError("a marginal does not have a count for each combination of bins")


def _check_groups(documents: Documents, schema: Schema) -> None:
    """Groups with a size, and a centre over the attributes of the schema."""
    document = documents["groups"]
    if not isinstance(document["groups"], list):
        raise ValueError("`groups` is not a list")
    for group in document["groups"]:
        if not _is_count(group["size"]) or not isinstance(group.get("measured", 0), int):
            raise ValueError("the size of a group is not a whole number")
        for part in ("centre", "box", "counts"):
            _check_names(list(group.get(part, {})), schema)
        for name, value in group.get("centre", {}).items():
            _check_value(schema, name, value)
    for name, starts in document.get("bins", {}).items():
        AttributeBins.from_starts(name, schema[name].domain, np.array(starts, dtype=np.int64))


def _check_value(schema: Schema, name: str, value: Any) -> None:
    """A centre is a number or a label of the domain, nothing if it is missing, or the shares of several values."""
    domain = schema[name].domain
    if value is None or isinstance(value, dict):
        return
    if isinstance(domain, Grid) and isinstance(value, int | float) and math.isfinite(value):
        return
    if value not in domain.labels:
        raise ValueError(f"the centre of a group is not a value of {name!r}")


def _check_names(names: Any, schema: Schema) -> None:
    if not isinstance(names, list) or not set(names) <= set(schema.names):
        raise ValueError("it names attributes that the schema does not have")


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


CHECKS: Mapping[str, Callable[[Documents, Schema], None]] = {
    "tables": _check_tables,
    "detail": _check_detail,
    "model": _check_model,
    "marginals": _check_marginals,
    "groups": _check_groups,
}
"""How each document is checked, by its name."""
