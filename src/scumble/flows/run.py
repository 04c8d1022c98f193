"""The verb `run`: a release that was recorded in a run file, once more. It reads no choice from anywhere else."""

import hashlib
import json
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.files.run_file import RunFile, beside, read_run
from scumble.files.schema_file import read_schema, schema_text
from scumble.flows.charge import Notify
from scumble.flows.plan import plan
from scumble.flows.progress import Progress
from scumble.flows.release import Published, release
from scumble.model.plan import Plan
from scumble.model.schema import Schema


def run(
    path: str | Path,
    *,
    data: Any = None,
    out: str | Path | None = None,
    dataset: str | None = None,
    ledger: str | Path | None = None,
    witness: str | Path | None = None,
    confirmed: str | None = None,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Published:
    """Make the release that a run file describes, as `scumble studio` or an editor wrote it.

    `data` is another table with the same columns, such as that of the next year. It is charged to the account that the
    run file names, or else to the one of its own name. `out`, `dataset`, `ledger` and `witness` replace those of the
    file. `confirmed` is the `confirmation_of` a run that somebody was shown: another run is refused before anything is
    charged. Raises what `release` raises.
    """
    place = Path(path)
    recorded = read_run(place)
    chosen = {**_chosen(recorded, place.parent), "schema": read_schema(place.parent / recorded.schema_path)}
    if confirmed is not None and confirmed != confirmation_of(recorded, chosen["schema"], plan(**chosen)):
        raise InputError(
            f"{place}, its schema or its plan is not what was confirmed. Nothing was charged. Look at it again, then "
            "confirm what it says now."
        )
    return release(
        beside(place.parent, recorded.data) if data is None else data,
        out=place.parent / recorded.out if out is None else out,
        dataset=recorded.dataset if dataset is None else dataset,
        ledger=_stated(ledger, recorded.ledger, place.parent),
        witness=_stated(witness, recorded.witness, place.parent),
        engine=recorded.engine,
        table=recorded.table,
        accept=recorded.accept,
        delimiter=recorded.delimiter,
        encoding=recorded.encoding,
        multiline=recorded.multiline,
        progress=progress,
        notify=notify,
        **chosen,
    )


def plan_run(recorded: RunFile, folder: Path) -> Plan:
    """What a recorded run would cost, spend by spend. It reads no data."""
    return plan(**_chosen(recorded, folder))


def confirmation_of(recorded: RunFile, schema: Schema, planned: Plan) -> str:
    """A hash of everything that decides what a run releases and charges, except the rows: equal for equal runs."""
    parts = {"run": recorded.to_data(), "schema": schema_text(schema), "plan": planned.to_json()}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _chosen(recorded: RunFile, folder: Path) -> dict[str, Any]:
    """The schema, the method and its parameters, as `plan` and `release` take them."""
    return {"schema": folder / recorded.schema_path, "method": recorded.method, **recorded.parameters}


def _stated(given: str | Path | None, recorded: str | None, folder: Path) -> str | Path | None:
    if given is not None or recorded is None:
        return given
    return folder / recorded
