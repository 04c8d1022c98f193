"""How a flow reports that long work goes on."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with what is going on, how much of it is done, and how much there is (None: unknown)."""
