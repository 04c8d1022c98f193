"""scumble publishes a table that people can mine without publishing the people in it.

The verbs, the same as on the command line:

- `plan`: what a release would cost, before any row is read;
- `release`: spend and publish;
- `evaluate`: what a miner can do with a release;
- `verify`: check a release folder without the private data;
- `load_release`: read one back (`to_frame`: its table in pandas, polars, Arrow or Spark; `NoisyCellsClassifier`: a tree
  that knows the noise of its cells);
- `perturb`: blur a table record by record, for somebody who is not trusted with it (`Perturber`: one record, by its
  owner);
- `reconstruct`: the distributions of true values behind blurred ones (`PerturbedTreeClassifier`: a tree);
- `audit`: hold a method to the epsilon it declares, on made-up tables.

The rooms: `model` holds the nouns, `privacy` all that touches a budget or noise, `engines` count, `methods` plan and
run, `mining` is what the receiver does, `files` is the edge to the disk, `flow` is the line through all of them,
`blur_flow` and `mine_flow` the one for those who trust nobody, `auditing` holds them to their word.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scumble.auditing.audit import Finding, audit
    from scumble.errors import BudgetError, CheckError, InputError, Interrupted, ScumbleError
    from scumble.files.release_frames import to_frame
    from scumble.files.schema_file import read_schema, write_schema
    from scumble.flows.evaluate import evaluate
    from scumble.flows.load import load_release
    from scumble.flows.mine import reconstruct
    from scumble.flows.perturb import noise_model, perturb
    from scumble.flows.plan import plan
    from scumble.flows.release import Published, release, verify
    from scumble.mining.noisy_cells.classifier import NoisyCellsClassifier
    from scumble.mining.perturbed.classifier import PerturbedTreeClassifier
    from scumble.model.guarantee import Unit
    from scumble.model.plan import Plan, Spend
    from scumble.model.release import Release
    from scumble.model.schema import Attribute, Outside, Schema
    from scumble.model.taxonomy import Grid, Tree
    from scumble.privacy.ledger import Ledger
    from scumble.privacy.perturber import Perturber

__version__ = "0.1.0"

__all__ = [
    "Attribute",
    "BudgetError",
    "CheckError",
    "Finding",
    "Grid",
    "InputError",
    "Interrupted",
    "Ledger",
    "NoisyCellsClassifier",
    "Outside",
    "PerturbedTreeClassifier",
    "Perturber",
    "Plan",
    "Published",
    "Release",
    "Schema",
    "ScumbleError",
    "Spend",
    "Tree",
    "Unit",
    "audit",
    "evaluate",
    "load_release",
    "noise_model",
    "perturb",
    "plan",
    "read_schema",
    "reconstruct",
    "release",
    "to_frame",
    "verify",
    "write_schema",
]


# The same as the imports above, for the interpreter: a module is imported when one of its names is first used, so that
# `import scumble` loads no library.
_NAMES_OF_MODULES = {
    "auditing.audit": ("Finding", "audit"),
    "errors": ("BudgetError", "CheckError", "InputError", "Interrupted", "ScumbleError"),
    "files.release_frames": ("to_frame",),
    "files.schema_file": ("read_schema", "write_schema"),
    "flows.evaluate": ("evaluate",),
    "flows.load": ("load_release",),
    "flows.mine": ("reconstruct",),
    "flows.perturb": ("noise_model", "perturb"),
    "flows.plan": ("plan",),
    "flows.release": ("Published", "release", "verify"),
    "mining.noisy_cells.classifier": ("NoisyCellsClassifier",),
    "mining.perturbed.classifier": ("PerturbedTreeClassifier",),
    "model.guarantee": ("Unit",),
    "model.plan": ("Plan", "Spend"),
    "model.release": ("Release",),
    "model.schema": ("Attribute", "Outside", "Schema"),
    "model.taxonomy": ("Grid", "Tree"),
    "privacy.ledger": ("Ledger",),
    "privacy.perturber": ("Perturber",),
}
_MODULE_OF_NAME = {name: module for module, names in _NAMES_OF_MODULES.items() for name in names}

# Type checkers do not see this function, so they know an unknown name from a public one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF_NAME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"scumble.{_MODULE_OF_NAME[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
