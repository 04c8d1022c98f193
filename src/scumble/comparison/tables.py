"""Loads tables by name, coded in memory: real data sets from SCUMBLE_DATA, generated tables, files with a schema."""

import hashlib
from functools import cache
from pathlib import Path

import numpy as np

from scumble import datasets
from scumble.comparison.recipes import RECIPES
from scumble.comparison.trials import CodedTable
from scumble.demo.patients import patients, patients_schema
from scumble.errors import InputError
from scumble.files.schema_file import read_schema
from scumble.methods.persons import refuse_persons
from scumble.sources import check_columns, open_source

REAL = ("adult",)
"""The real data sets that have a class to predict."""
SEED = 2011
PATIENTS = 30_000
NAMES = (*REAL, "patients", *RECIPES)


def table_named(name: str) -> CodedTable:
    """A table named in `NAMES`, or `FILE@SCHEMA`: a CSV or Parquet file and its schema file.

    `xor:5000` is the generated table `xor` with 5,000 records instead of its own number.
    """
    return _table(name, _state_of_files(name))


def digest_of_table(name: str) -> str:
    """An unkeyed digest of a table's codes, for names of cached results. Use it for public tables only."""
    return _digest(name, _state_of_files(name))


FileStates = tuple[tuple[str, int, int], ...]
"""The absolute path, size and time of every file behind a table: a name alone may mean another file later."""


def _state_of_files(name: str) -> FileStates:
    files = [Path(each) for each in name.rpartition("@")[::2]] if "@" in name else []
    stated = [(each.absolute(), each.stat()) for each in files if each.is_file()]
    return tuple((str(path), status.st_size, status.st_mtime_ns) for path, status in stated)


@cache
def _table(name: str, known: FileStates) -> CodedTable:
    if name in REAL:
        dataset = datasets.load(name)
        return CodedTable.read(open_source(dataset.path), dataset.schema)
    if name == "patients":
        return CodedTable.read(open_source(patients(PATIENTS, SEED)), patients_schema())
    recipe, _, rows = name.partition(":")
    if recipe in RECIPES and (not rows or rows.isdecimal()):
        return RECIPES[recipe].table(rows=int(rows) if rows else None, seed=SEED)
    file, separator, schema_file = name.rpartition("@")
    if not separator:
        raise InputError(f"Unknown table {name!r}. Available: {', '.join(NAMES)}, or give FILE@SCHEMA.")
    source, schema = open_source(Path(file)), read_schema(Path(schema_file))
    refuse_persons(schema, "A comparison")
    check_columns(source, schema.columns)
    if schema.target is None:
        raise InputError(f"The schema {schema_file} has no `target`, so there is no class to predict. Add a `target`.")
    return CodedTable.read(source, schema)


@cache
def _digest(name: str, known: FileStates) -> str:
    digest = hashlib.sha256()
    table = table_named(name)
    for attribute, column in zip(table.schema.attributes, table.columns, strict=True):
        digest.update(f"{attribute.name}:{attribute.domain.size}:{len(column)};".encode())
        digest.update(column.astype(np.int64).tobytes())
    return digest.hexdigest()[:16]
