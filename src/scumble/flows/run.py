"""The verb `run`: a release that was recorded in a run file, once more. It reads no choice from anywhere else."""

from pathlib import Path
from typing import Any

from scumble.files.run_file import RunFile, beside, read_run
from scumble.flows.charge import Notify
from scumble.flows.plan import plan
from scumble.flows.progress import Progress
from scumble.flows.release import Published, release
from scumble.model.plan import Plan


def run(
    path: str | Path,
    *,
    data: Any = None,
    out: str | Path | None = None,
    dataset: str | None = None,
    ledger: str | Path | None = None,
    witness: str | Path | None = None,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Published:
    """Make the release that a run file describes, as `scumble studio` or an editor wrote it.

    `data` is another table with the same columns, such as that of the next year. It is charged to the account that the
    run file names, or else to the one of its own name. `out`, `dataset`, `ledger` and `witness` replace those of the
    file. Raises what `release` raises.
    """
    place = Path(path)
    recorded = read_run(place)
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
        **_chosen(recorded, place.parent),
    )


def plan_run(recorded: RunFile, folder: Path) -> Plan:
    """What a recorded run would cost, spend by spend. It reads no data."""
    return plan(**_chosen(recorded, folder))


def _chosen(recorded: RunFile, folder: Path) -> dict[str, Any]:
    """The schema, the method and its parameters, as `plan` and `release` take them."""
    return {"schema": folder / recorded.schema_path, "method": recorded.method, **recorded.parameters}


def _stated(given: str | Path | None, recorded: str | None, folder: Path) -> str | Path | None:
    if given is not None or recorded is None:
        return given
    return folder / recorded
