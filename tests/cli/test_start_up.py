"""Slow libraries are imported by those who need them: `scumble --help` and `scumble plan` are not made to wait."""

import subprocess
import sys

SLOW = ("duckdb", "matplotlib", "narwhals", "numba", "opendp.prelude", "pandas", "polars", "scipy.stats", "sklearn")


def test_the_command_line_starts_without_slow_libraries() -> None:
    program = f"import sys, scumble.cli; print([name for name in {SLOW} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
