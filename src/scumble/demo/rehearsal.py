"""Rehearse a joint release on one machine: one process for each party, real connections, generated rows."""

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from scumble.demo.delaying_proxy import DelayingProxy
from scumble.demo.patients import patients, patients_schema
from scumble.errors import InputError, ScumbleError
from scumble.files.release_folder import file_hash
from scumble.flows.abandon import state_folder
from scumble.flows.join_plan import prepare, write_agreement
from scumble.flows.plan import schema_of
from scumble.foreign.documents import read_json
from scumble.foreign.files import read_text
from scumble.joint.session.agreement import Address, read_agreement
from scumble.joint.session.state import answers_so_far
from scumble.model.grid import Grid
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation

POLL_SECONDS = 0.2

RehearsalObserver = Callable[[str, int, int], None]
"""Called with a party's name, the number of answers it has stored, and their total number."""


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """What a rehearsal cost each party."""

    rows: int
    delay_ms: float
    seconds: float
    parties: Mapping[str, Mapping[str, Any]]
    """The JSON output of each party's `scumble join run`, with the cost of its phases."""

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "delay_ms": self.delay_ms,
            "seconds": round(self.seconds, 3),
            "parties": {name: dict(result) for name, result in self.parties.items()},
        }


def rehearse(
    *,
    owners: int = 3,
    aggregator: bool = False,
    rows: int = 3000,
    delay_ms: float = 0,
    schema: Schema | str | Path | None = None,
    table: pa.Table | None = None,
    method: str = "diffgen",
    parameters: Mapping[str, Any] | None = None,
    out: Path | None = None,
    progress: RehearsalObserver | None = None,
) -> Rehearsed:
    """Run a joint release of generated rows. If `out` is given, all parties' folders are kept there.

    The rows are generated patients or, if a `schema` is given, drawn uniformly from its domains. What a run costs
    depends on the schema, the parameters and the answers, hardly on the rows. Pass `table` to use the first `rows` rows
    of a public table instead.
    """
    began = time.perf_counter()
    public = patients_schema() if schema is None else schema_of(schema)
    if table is None:
        table = patients(rows, seed=1) if schema is None else uniform_rows(public, rows, seed=1)
    names = [f"owner-{number}" for number in range(1, owners + 1)] + ["aggregator"] * aggregator
    ports = free_addresses(2 * len(names))
    called, listening = ports[: len(names)], ports[len(names) :] if delay_ms else ports[: len(names)]
    with ExitStack() as stack:
        folder = stack.enter_context(_folder(out))
        path = write_agreement(
            folder / "agreed",
            schema=public,
            parties={
                name: {"address": str(address), "owner": name != "aggregator", "computes": True}
                for name, address in zip(names, called, strict=True)
            },
            parameters={"epsilon": "1"} if parameters is None else parameters,
            rows_at_most=max(2 * rows, 1),  # generous, as a real bound should be
            method=method,
        )
        if delay_ms:
            stack.enter_context(DelayingProxy(list(zip(called, listening, strict=True)), delay=delay_ms / 1000))
        for number, name in enumerate(names[:owners]):
            pacsv.write_csv(table.take(np.arange(number, rows, owners)), folder / f"{name}.csv")
        commands = {name: _command(folder, path, name, address) for name, address in zip(names, listening, strict=True)}
        results = _run_all(commands, folder, sum(spend.times for spend in prepare(path).plan.spends), progress)
    return Rehearsed(rows=rows, delay_ms=delay_ms, seconds=time.perf_counter() - began, parties=results)


def uniform_rows(schema: Schema, rows: int, *, seed: int) -> pa.Table:
    """Rows with values drawn uniformly and independently from the schema's domains, and so the persons, if any."""
    draw = simulation(seed)
    columns = {}
    for attribute in schema.attributes:
        domain = attribute.domain
        if isinstance(domain, Grid):
            edges = [str(domain.edge(code)) for code in range(domain.cells)]
            values = [edge.replace(".", attribute.numbers.decimal) for edge in edges]
        else:
            values = list(domain.labels)
        columns[attribute.source_column] = np.array(values)[draw.integers(0, len(values), rows)]
    columns |= {name: np.arange(rows) for name in schema.identifiers}
    if schema.persons is not None:
        columns[schema.persons.column] = draw.integers(0, max(rows // schema.persons.rows_each_at_most, 1), rows)
    return pa.table(columns)


def _command(folder: Path, agreement: Path, name: str, listen: Address) -> list[str]:
    words = ["join", "run", "--agreement", agreement, "--party", name, "--out", folder / name, "--listen", listen]
    if read_agreement(agreement).parties[name].owner:
        words += ["--data", folder / f"{name}.csv", "--ledger", folder / f"{name}.db"]
        words += ["--witness", folder / "witness.db"]
    return [sys.executable, "-m", "scumble", *map(str, words), "--json"]


def _run_all(
    commands: Mapping[str, Sequence[str]], folder: Path, answers: int, progress: RehearsalObserver | None
) -> dict[str, dict[str, Any]]:
    with ExitStack() as stack:
        running = {}
        for name, command in commands.items():
            files = [stack.enter_context((folder / f"{name}.{kind}").open("w+")) for kind in ("json", "log")]
            running[name] = subprocess.Popen(command, stdout=files[0], stderr=files[1])
            stack.callback(_end, running[name])
        while any(process.poll() is None for process in running.values()):
            time.sleep(POLL_SECONDS)
            for name in running:
                if progress is not None:
                    progress(name, answers_so_far(state_folder(folder / name, None)), answers)
        failed = [name for name, process in running.items() if process.returncode]
        if failed:
            last = read_text(folder / f"{failed[0]}.log").strip().splitlines()[-1:]
            raise ScumbleError(f"{failed[0]} failed: {' '.join(last).removeprefix('error: ')}")
        if len({file_hash(folder / name / "counts.csv") for name in commands}) > 1:
            raise ScumbleError("The parties did not publish the same counts. This is a bug; please report it.")
        return {name: read_json(folder / f"{name}.json") for name in commands}


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
    process.wait()


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is None:
        with tempfile.TemporaryDirectory(prefix="scumble-rehearsal-") as name:
            yield Path(name)
        return
    try:
        out.mkdir(parents=True)
    except FileExistsError:
        raise InputError(f"{out} exists already and is not overwritten. Give another --out.") from None
    yield out


def free_addresses(number: int) -> list[Address]:
    """Addresses of this machine that are currently not in use."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [Address(host="127.0.0.1", port=each.getsockname()[1]) for each in sockets]
