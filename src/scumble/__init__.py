"""scumble publishes a table that people can mine without publishing the people in it.

The verbs, the same as on the command line:

- `plan`: what a release would cost, before any row is read;
- `check_rows`: how the rows fit their schema, before anything is spent; for the data owner only;
- `release`: reserve the budget, publish, settle; `join`: the same for several owners together;
- `load_release`: read a release back, of any kind; `load_cells`, `load_records`, `load_generalized`, `load_blurred` and
  `load_classifier` read one kind;
- `run`: make the release that a run file describes, as `scumble studio` records it;
- `to_frame`: the table of a release in pandas, polars, Arrow or Spark; `NoisyCellsClassifier`: a decision tree that
  accounts for the noise of the cells; `C45Classifier`: C4.5;
- `export`: a table of a release for another program, as Parquet, Stata, SPSS or CSV, in an `Exported` file;
- `query`: counts, shares, means and quantiles with intervals for the noise, in a `QueryAnswer`;
- `evaluate`: the accuracy of classifiers trained on a release;
- `risk`: k, l, t, uniqueness and the risk of re-identification of any table;
- `verify`: check a release folder without the private data;
- `perturb`: local differential privacy, record by record; `Perturber`: one record, by its owner;
- `reconstruct`: the distributions of true values behind perturbed ones; `PerturbedTreeClassifier`: a decision tree;
- `audit`: search for a violation of the epsilon that a method declares; `check_method`: the laws that every method
  satisfies, for authors of methods.

`DiffGen`, `Explore`, `Histograms`, `Microaggregate`, `MDAV`, `IMDAV`, `SMDAV`, `Plain`, `Mondrian`, `TDS`,
`Contingency`, `Hay`, `Privelet`, `Barak` and `DiffPC45` are methods with their parameters, as in `plan(schema=...,
method=DiffGen(epsilon="1"))`. `Guarantee` is the union of all guarantees. The domain of an `Attribute` is a `Tree`, a
`Grid` or `Ordered` categories; `NumberNotation`, `IntervalNotation`, `DateNotation`, `BooleanNotation` and
`PrefixNotation` say how its raw values are written.
docs/architecture.md describes the rooms of the package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scumble import datasets
    from scumble.auditing.audit import Finding, audit
    from scumble.auditing.laws.methods import check_method
    from scumble.errors import BudgetError, CheckError, InputError, Interrupted, ScumbleError
    from scumble.files.release_frames import to_frame
    from scumble.files.schema_file import read_schema, write_schema
    from scumble.flows.check_rows import RowsCheck, check_rows
    from scumble.flows.evaluate import evaluate
    from scumble.flows.export import Exported, export
    from scumble.flows.join import join
    from scumble.flows.joined import Joined
    from scumble.flows.load import (
        load_blurred,
        load_cells,
        load_classifier,
        load_generalized,
        load_records,
        load_release,
    )
    from scumble.flows.mine import reconstruct
    from scumble.flows.perturb import noise_model, perturb
    from scumble.flows.plan import plan
    from scumble.flows.query import query
    from scumble.flows.release import Published, release, verify
    from scumble.flows.risk import risk
    from scumble.flows.run import run
    from scumble.methods import (
        IMDAV,
        MDAV,
        SMDAV,
        TDS,
        Barak,
        Contingency,
        DiffGen,
        DiffPC45,
        Explore,
        Hay,
        Histograms,
        Microaggregate,
        Mondrian,
        Plain,
        Privelet,
    )
    from scumble.mining.c45.classifier import C45Classifier
    from scumble.mining.noisy_cells.classifier import NoisyCellsClassifier
    from scumble.mining.perturbed.classifier import PerturbedTreeClassifier
    from scumble.model.dates import DateNotation, DateStep
    from scumble.model.grid import Grid
    from scumble.model.guarantee import (
        ApproxDP,
        Guarantee,
        IntervalPrivacy,
        JointDP,
        KAnonymity,
        LDiversity,
        LocalDP,
        PureDP,
        TCloseness,
        Unit,
        Unproven,
    )
    from scumble.model.notation import BooleanNotation, IntervalNotation, NumberNotation
    from scumble.model.ordered import Ordered
    from scumble.model.persons import Persons
    from scumble.model.plan import Plan, Spend
    from scumble.model.prefixes import PrefixNotation
    from scumble.model.release import (
        BlurredRelease,
        CellRelease,
        ClassifierRelease,
        GeneralizedRelease,
        RecordRelease,
        Release,
    )
    from scumble.model.schema import Attribute, Outside, Schema
    from scumble.model.taxonomy import Tree
    from scumble.privacy.ledger import Ledger
    from scumble.privacy.ledger_statement import LedgerStatement
    from scumble.privacy.perturber import Perturber
    from scumble.querying.answers import QueryAnswer

__version__ = "0.2.0"

__all__ = [
    "IMDAV",
    "MDAV",
    "SMDAV",
    "TDS",
    "ApproxDP",
    "Attribute",
    "Barak",
    "BlurredRelease",
    "BooleanNotation",
    "BudgetError",
    "C45Classifier",
    "CellRelease",
    "CheckError",
    "ClassifierRelease",
    "Contingency",
    "DateNotation",
    "DateStep",
    "DiffGen",
    "DiffPC45",
    "Explore",
    "Exported",
    "Finding",
    "GeneralizedRelease",
    "Grid",
    "Guarantee",
    "Hay",
    "Histograms",
    "InputError",
    "Interrupted",
    "IntervalNotation",
    "IntervalPrivacy",
    "Joined",
    "JointDP",
    "KAnonymity",
    "LDiversity",
    "Ledger",
    "LedgerStatement",
    "LocalDP",
    "Microaggregate",
    "Mondrian",
    "NoisyCellsClassifier",
    "NumberNotation",
    "Ordered",
    "Outside",
    "Persons",
    "PerturbedTreeClassifier",
    "Perturber",
    "Plain",
    "Plan",
    "PrefixNotation",
    "Privelet",
    "Published",
    "PureDP",
    "QueryAnswer",
    "RecordRelease",
    "Release",
    "RowsCheck",
    "Schema",
    "ScumbleError",
    "Spend",
    "TCloseness",
    "Tree",
    "Unit",
    "Unproven",
    "audit",
    "check_method",
    "check_rows",
    "datasets",
    "evaluate",
    "export",
    "join",
    "load_blurred",
    "load_cells",
    "load_classifier",
    "load_generalized",
    "load_records",
    "load_release",
    "noise_model",
    "perturb",
    "plan",
    "query",
    "read_schema",
    "reconstruct",
    "release",
    "risk",
    "run",
    "to_frame",
    "verify",
    "write_schema",
]


# The same as the imports above, for the interpreter: a module is imported when one of its names is first used, so that
# `import scumble` loads no library.
_NAMES_OF_MODULES = {
    "auditing.audit": (
        "Finding",
        "audit",
    ),
    "auditing.laws.methods": ("check_method",),
    "datasets": ("datasets",),
    "errors": (
        "BudgetError",
        "CheckError",
        "InputError",
        "Interrupted",
        "ScumbleError",
    ),
    "files.release_frames": ("to_frame",),
    "files.schema_file": (
        "read_schema",
        "write_schema",
    ),
    "flows.check_rows": (
        "RowsCheck",
        "check_rows",
    ),
    "flows.evaluate": ("evaluate",),
    "flows.export": (
        "Exported",
        "export",
    ),
    "flows.join": ("join",),
    "flows.joined": ("Joined",),
    "flows.load": (
        "load_blurred",
        "load_cells",
        "load_classifier",
        "load_generalized",
        "load_records",
        "load_release",
    ),
    "flows.mine": ("reconstruct",),
    "flows.perturb": (
        "noise_model",
        "perturb",
    ),
    "flows.plan": ("plan",),
    "flows.query": ("query",),
    "flows.release": (
        "Published",
        "release",
        "verify",
    ),
    "flows.risk": ("risk",),
    "flows.run": ("run",),
    "methods": (
        "Barak",
        "Contingency",
        "DiffGen",
        "DiffPC45",
        "Explore",
        "Hay",
        "Histograms",
        "IMDAV",
        "MDAV",
        "Microaggregate",
        "Mondrian",
        "Plain",
        "Privelet",
        "SMDAV",
        "TDS",
    ),
    "mining.noisy_cells.classifier": ("NoisyCellsClassifier",),
    "mining.c45.classifier": ("C45Classifier",),
    "mining.perturbed.classifier": ("PerturbedTreeClassifier",),
    "model.guarantee": (
        "ApproxDP",
        "Guarantee",
        "IntervalPrivacy",
        "JointDP",
        "KAnonymity",
        "LDiversity",
        "LocalDP",
        "PureDP",
        "TCloseness",
        "Unit",
        "Unproven",
    ),
    "model.persons": ("Persons",),
    "model.plan": (
        "Plan",
        "Spend",
    ),
    "model.dates": (
        "DateNotation",
        "DateStep",
    ),
    "model.grid": ("Grid",),
    "model.notation": (
        "BooleanNotation",
        "IntervalNotation",
        "NumberNotation",
    ),
    "model.ordered": ("Ordered",),
    "model.prefixes": ("PrefixNotation",),
    "model.release": (
        "BlurredRelease",
        "CellRelease",
        "ClassifierRelease",
        "GeneralizedRelease",
        "RecordRelease",
        "Release",
    ),
    "model.schema": (
        "Attribute",
        "Outside",
        "Schema",
    ),
    "model.taxonomy": ("Tree",),
    "privacy.ledger": ("Ledger",),
    "privacy.ledger_statement": ("LedgerStatement",),
    "privacy.perturber": ("Perturber",),
    "querying.answers": ("QueryAnswer",),
}
_MODULE_OF_NAME = {name: module for module, names in _NAMES_OF_MODULES.items() for name in names}

# Type checkers do not see this function, so they know an unknown name from a public one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF_NAME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"scumble.{_MODULE_OF_NAME[name]}")
        value = module if name == "datasets" else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
