"""The papers' figures from our code, by name. A new one is a function in its own module and a line in `FIGURES`."""

from collections.abc import Callable, Mapping

from scumble.errors import InputError
from scumble.reproductions.diffgen.accuracy import figure_3a, figure_3b
from scumble.reproductions.diffgen.runtime import figure_5
from scumble.reproductions.figure import Figure, Request
from scumble.reproductions.microaggregation.charts import micro_figure_4, micro_figure_5, micro_figure_6
from scumble.reproductions.perturbation.charts import as_figure_2, as_figure_5, as_figure_6, as_table_1
from scumble.reproductions.perturbation.filtering import as_filter
from scumble.reproductions.perturbation.limits import as_limits
from scumble.reproductions.perturbation.local_privacy import as_local

FIGURES: Mapping[str, Callable[[Request], Figure]] = {
    "as-table1": as_table_1,
    "as-fig2": as_figure_2,
    "as-fig5": as_figure_5,
    "as-fig6": as_figure_6,
    "as-filter": as_filter,
    "as-limits": as_limits,
    "as-local": as_local,
    "diffgen-fig3a": figure_3a,
    "diffgen-fig3b": figure_3b,
    "diffgen-fig5": figure_5,
    "micro-fig4": micro_figure_4,
    "micro-fig5": micro_figure_5,
    "micro-fig6": micro_figure_6,
}


def reproduce(name: str, request: Request) -> Figure:
    if name not in FIGURES:
        raise InputError(f"There is no figure {name!r}. There is: {', '.join(FIGURES)}.")
    return FIGURES[name](request)
