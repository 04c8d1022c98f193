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

from typing import TYPE_CHECKING, Any

from scumble.auditing.audit import Finding, audit
from scumble.errors import BudgetError, CheckError, InputError, Interrupted, ScumbleError
from scumble.files.release_frames import to_frame
from scumble.files.schema_file import read_schema, write_schema
from scumble.flows.evaluate import evaluate
from scumble.flows.load import load_release
from scumble.flows.mine import reconstruct
from scumble.flows.perturb import noise_model, perturb
from scumble.flows.release import Published, plan, release, verify
from scumble.model.guarantee import Unit
from scumble.model.plan import Plan, Spend
from scumble.model.release import Release
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Grid, Tree
from scumble.privacy.ledger import Ledger
from scumble.privacy.perturber import Perturber

if TYPE_CHECKING:
    from scumble.mining.noisy_cells.classifier import NoisyCellsClassifier
    from scumble.mining.perturbed.classifier import PerturbedTreeClassifier

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


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, which most users of this package do not need.
    if name == "PerturbedTreeClassifier":
        from scumble.mining.perturbed.classifier import PerturbedTreeClassifier

        return PerturbedTreeClassifier
    if name == "NoisyCellsClassifier":
        from scumble.mining.noisy_cells.classifier import NoisyCellsClassifier

        return NoisyCellsClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
