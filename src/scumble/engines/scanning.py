"""Tables that a database or a cluster reads, recognised by how they are named, and frames that a cluster takes."""

from pathlib import PurePath
from typing import Any

import pyarrow as pa

from scumble.engines.database import database_table
from scumble.engines.source import Source
from scumble.engines.spark_frames import spark_files, spark_frame, to_spark

SPARK = "spark"


def scan(data: object, *, delimiter: str, engine: str) -> Source | None:
    """The source behind `data` where one of the engines' own libraries reads it; None where it is an ordinary file or
    frame. With the engine `spark`, Spark reads whatever has a path."""
    if not isinstance(data, str | PurePath):
        return spark_frame(data)
    return database_table(str(data)) or (spark_files(data, delimiter) if engine == SPARK else None)


def hand_out(table: pa.Table, kind: str) -> Any | None:
    """The table as a frame of the kind where an engine's library makes it, else None."""
    return to_spark(table) if kind == "pyspark" else None
