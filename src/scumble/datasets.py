"""Real data sets, read from the folder that SCUMBLE_DATA names. None is part of this package."""

import os
from dataclasses import dataclass
from pathlib import Path

from scumble.errors import InputError
from scumble.files.schema_file import read_schema
from scumble.model.schema import Schema

NAMES = ("adult", "census", "eia")


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A table on disk and its schema."""

    path: Path
    schema: Schema


def load(name: str) -> Dataset:
    """The paths and the schema of a data set: `<name>.csv` and `<name>.schema.yaml` in the folder of SCUMBLE_DATA."""
    if name not in NAMES:
        raise InputError(f"There is no data set {name!r}. There is: {', '.join(NAMES)}.")
    setting = os.environ.get("SCUMBLE_DATA")
    if not setting:
        raise InputError(
            f"SCUMBLE_DATA is not set. Make a folder with {name}.csv and {name}.schema.yaml and name it there: Adult "
            "is in UCI's Machine Learning Repository (complete rows of adult.data, then of adult.test), CENSUS and EIA "
            "are the reference microdata of the CASC project."
        )
    folder = Path(setting)
    path = folder / f"{name}.csv"
    if not path.exists():
        raise InputError(f"SCUMBLE_DATA names {folder}, which has no {name}.csv. Put the file there.")
    return Dataset(path=path, schema=read_schema(folder / f"{name}.schema.yaml"))
