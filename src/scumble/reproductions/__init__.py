"""Reproduces figures of papers, by name. To add one, write a function and add it to `FIGURES`."""

from collections.abc import Callable, Mapping

from scumble.errors import InputError
from scumble.reproductions.diffgen.accuracy import figure_3a, figure_3b
from scumble.reproductions.diffgen.cross_validation import figure_4
from scumble.reproductions.diffgen.examples import examples_figure
from scumble.reproductions.diffgen.runtime import figure_5
from scumble.reproductions.diffgen.specializations import specializations_figure
from scumble.reproductions.diffgen.table_2 import table_2
from scumble.reproductions.figure import Figure, Request
from scumble.reproductions.joint.linking import linking_figure
from scumble.reproductions.microaggregation.charts import micro_figure_4, micro_figure_5, micro_figure_6
from scumble.reproductions.perturbation.charts import (
    perturbation_figure_2,
    perturbation_figure_5,
    perturbation_figure_6,
    perturbation_table_1,
)
from scumble.reproductions.perturbation.costs import costs_figure
from scumble.reproductions.perturbation.credit_risk import credit_risk_figure
from scumble.reproductions.perturbation.discretization import discretization_figure
from scumble.reproductions.perturbation.filtering import filtering_figure
from scumble.reproductions.perturbation.limits import limits_figure
from scumble.reproductions.perturbation.local_privacy import local_privacy_figure
from scumble.reproductions.perturbation.stopping import stopping_figure

FIGURES: Mapping[str, Callable[[Request], Figure]] = {
    "as-table1": perturbation_table_1,
    "as-fig2": perturbation_figure_2,
    "as-fig3": credit_risk_figure,
    "as-fig5": perturbation_figure_5,
    "as-fig6": perturbation_figure_6,
    "as-discretized": discretization_figure,
    "as-stop": stopping_figure,
    "as-costs": costs_figure,
    "as-filter": filtering_figure,
    "as-limits": limits_figure,
    "as-local": local_privacy_figure,
    "diffgen-fig3a": figure_3a,
    "diffgen-fig3b": figure_3b,
    "diffgen-fig4": figure_4,
    "diffgen-fig5": figure_5,
    "diffgen-table2": table_2,
    "diffgen-examples": examples_figure,
    "diffgen-h": specializations_figure,
    "joint-linking": linking_figure,
    "micro-fig4": micro_figure_4,
    "micro-fig5": micro_figure_5,
    "micro-fig6": micro_figure_6,
}


def reproduce(name: str, request: Request) -> Figure:
    if name not in FIGURES:
        raise InputError(f"Unknown figure {name!r}. Available: {', '.join(FIGURES)}.")
    return FIGURES[name](request)
