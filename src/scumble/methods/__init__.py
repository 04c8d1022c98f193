"""The available methods and their parameters.

`scumble.release(..., method=DiffGen(epsilon="1"))` is the same as `scumble.release(..., method="diffgen",
epsilon="1")`. To add a method, add a folder here and a line to `METHODS`.
"""

from collections.abc import Mapping
from typing import Any

from scumble.errors import InputError, did_you_mean
from scumble.methods.barak.method import Barak, BarakMethod
from scumble.methods.contingency.method import Contingency, ContingencyMethod
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffp_c45.method import DiffPC45, DiffPC45Method
from scumble.methods.explore.method import Explore, ExploreMethod
from scumble.methods.hay.method import Hay, HayMethod
from scumble.methods.histograms.method import Histograms, HistogramsMethod
from scumble.methods.mdav.method import I_MDAV, IMDAV, MDAV, PLAIN, S_MDAV, SMDAV, MDAVMethod, Plain
from scumble.methods.method import Method, Params
from scumble.methods.microaggregate.method import MicroaggregateMethod
from scumble.methods.microaggregate.parameters import Microaggregate
from scumble.methods.mondrian.method import Mondrian, MondrianMethod
from scumble.methods.privelet.method import Privelet, PriveletMethod
from scumble.methods.tds.method import TDS, TDSMethod
from scumble.model.schema import Schema

__all__ = [
    "IMDAV",
    "MDAV",
    "METHODS",
    "SMDAV",
    "TDS",
    "Barak",
    "Contingency",
    "DiffGen",
    "DiffPC45",
    "Explore",
    "Hay",
    "Histograms",
    "Method",
    "Microaggregate",
    "Mondrian",
    "Params",
    "Plain",
    "Privelet",
    "method_and_parameters",
    "method_named",
    "usual_method",
]

METHODS: tuple[Method, ...] = (
    DiffGenMethod(),
    HistogramsMethod(),
    ExploreMethod(),
    MicroaggregateMethod(),
    MDAVMethod(),
    I_MDAV,
    S_MDAV,
    PLAIN,
    ContingencyMethod(),
    DiffPC45Method(),
    HayMethod(),
    MondrianMethod(),
    TDSMethod(),
    PriveletMethod(),
    BarakMethod(),
)


def method_named(name: str) -> Method:
    for method in METHODS:
        if method.name == name:
            return method
    raise InputError(f"Unknown method {name!r}.{did_you_mean(name, (method.name for method in METHODS))}")


def usual_method(schema: Schema) -> str:
    """The name of the method that is used if none is named: `diffgen` for a class, `explore` without one."""
    return "explore" if schema.target is None else "diffgen"


def method_and_parameters(method: str | Params, values: Mapping[str, Any]) -> tuple[Method, Params]:
    """Find a method by its name and the values of its parameters, or by a parameters object, whose type identifies
    it."""
    if isinstance(method, str):
        named = method_named(method)
        return named, named.parameters(**values)
    if values:
        raise InputError(f"Parameters are given as {method!r} and as {', '.join(values)}. Give them in one form only.")
    for each in METHODS:
        if each.parameters is type(method):
            return each, method
    available = ", ".join(each.parameters.__name__ for each in METHODS)
    raise InputError(f"{type(method).__name__} are not the parameters of a method. Available: {available}.")
