"""The progress callback of flows."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with the name of the step, the work done and the total work (None: unknown)."""
