"""All targets of the fuzzer."""

from pathlib import Path

from fuzzing.documents import document_targets
from fuzzing.folders import folder_targets
from fuzzing.network import network_targets
from fuzzing.tables import table_targets
from fuzzing.target import Target
from fuzzing.web import web_targets


def all_targets(made: Path) -> dict[str, Target]:
    """Every target by name, with seeds from a folder that `fuzzing.seeds` made."""
    found = (*document_targets(made), *network_targets(), *web_targets(), *table_targets(), *folder_targets(made))
    return {target.name: target for target in found}
