"""Loads real data sets from the folder given by the environment variable SCUMBLE_DATA. The package contains none."""

from dataclasses import dataclass
from pathlib import Path

from scumble.errors import InputError, did_you_mean
from scumble.files.schema_file import read_schema
from scumble.model.schema import Schema
from scumble.settings import setting

NAMES = ("adult", "census", "eia")


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """The path of a table on disk, and its schema."""

    path: Path
    schema: Schema


def load(name: str) -> Dataset:
    """Load a data set by name: `<name>.csv` and `<name>.schema.yaml` in the folder SCUMBLE_DATA."""
    if name not in NAMES:
        raise InputError(f"Unknown data set {name!r}.{did_you_mean(name, NAMES)}")
    named = setting("data")
    if not named:
        raise InputError(
            f"SCUMBLE_DATA is not set. Set it to a folder that contains {name}.csv and {name}.schema.yaml. Adult is in "
            "UCI's Machine Learning Repository (complete rows of adult.data, then of adult.test); CENSUS and EIA are "
            "the reference microdata of the CASC project."
        )
    folder = Path(named)
    path = folder / f"{name}.csv"
    if not path.exists():
        raise InputError(f"The folder {folder} (SCUMBLE_DATA) does not contain {name}.csv. Put the file there.")
    return Dataset(path=path, schema=read_schema(folder / f"{name}.schema.yaml"))
