"""One odd record does not slow down the reading of all others by orders of magnitude.

Time itself is not measured, except against bounds that are a hundred times what was measured. What is counted are calls
of Python functions: vectorised code makes few for a whole column, slow code makes dozens for each value.
"""

import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import Any

import pandas as pd
import pytest
from raw_tables import codes, objects

ROWS = 5_000
CALLS_EACH = 6
"""Calls for each value that one odd record may cause."""
CALLS = 2_000
"""Calls that do not depend on the number of rows, such as imports and types."""
TOWNS = ["Ulm", "Bonn", "K\u00f6ln", "a"]
COLUMNS: dict[str, list[Any]] = {
    "few texts": [TOWNS[row % 4] for row in range(ROWS)],
    "many texts": [f"person {row}" for row in range(ROWS)],
    "numbers as text": [f"{row / 7:.3f}" for row in range(ROWS)],
    "floats": [row / 7 for row in range(ROWS)],
    "whole numbers": list(range(ROWS)),
    "booleans": [row % 3 == 0 for row in range(ROWS)],
    "moments": [datetime(2024, 1, 1) + timedelta(hours=row % 900) for row in range(ROWS)],
}
ODD: dict[str, Any] = {
    "a number": 1,
    "text": "x",
    "text that is not ASCII": "\u00f6",
    "a surrogate": "\ud800",
    "bytes": b"\xff",
    "a list": [1],
    "a huge number": 10**5000,
    "an extreme Decimal": Decimal("1E+999999999"),
    "a complex number": 1j,
    "nothing": None,
}


def calls(work: Callable[[], object]) -> int:
    """How many Python functions are called."""
    count = 0

    def tally(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        del frame, argument
        count += event == "call"

    sys.setprofile(tally)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("kind", COLUMNS)
def test_one_odd_value_in_a_column(kind: str, odd: str) -> None:
    """The column as pandas types it, and the column of objects that it becomes with the odd value."""
    values = COLUMNS[kind]
    plain = pd.DataFrame({"x": pd.Series(values)})
    mixed = objects([*values, ODD[odd]])
    codes(plain)
    codes(mixed)
    usual = calls(lambda: codes(plain))
    assert calls(lambda: codes(mixed)) <= usual + CALLS_EACH * ROWS + CALLS


@pytest.mark.parametrize(
    "value",
    [
        10**1_000_000,
        "1" * 10_000_000,
        " " * 10_000_000 + "1",
        "x" * 10_000_000,
        b"\xff" * 10_000_000,
        Decimal("1" * 1_000_000),
        Decimal("0." + "1" * 1_000_000),
        Decimal("1E+999999999999999999"),
        Decimal("-1E-999999999999999999"),
        eval("[" * 90 + "]" * 90),  # noqa: S307
    ],
    ids=["digits", "digit text", "spaces", "text", "bytes", "Decimal", "fraction", "large", "small", "nested"],
)
def test_one_very_large_value(value: Any, tmp_path: Path) -> None:
    """It takes the time of its own size, and no more: about 0.1 seconds here."""
    began = time.process_time()
    assert len(codes(objects(["a", value, "Ulm"]))) == 3
    if isinstance(value, str):
        (tmp_path / "people.csv").write_text(f"x\na\n{value}\nUlm\n", encoding="utf-8")
        assert len(codes(tmp_path / "people.csv")) == 3
    assert time.process_time() - began < 10
