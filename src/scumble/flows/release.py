"""The straight line: schema and method make a plan, the ledger reserves it, the holder answers, a folder appears.

    schema -> plan -> reserve -> read rows -> answers -> folder -> settle

No row is read before `reserve`. After it, whatever happens, the charge stands.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.engines import ENGINES, Engine
from scumble.errors import InputError
from scumble.files.atomic_folder import staging
from scumble.files.kinds import kind_of
from scumble.files.release_folder import write_release
from scumble.files.verify import verify_folder
from scumble.flows.charge import charged_rows, check_accepted, reporting_charge
from scumble.flows.plan import schema_of
from scumble.flows.progress import Progress
from scumble.methods import method_and_parameters
from scumble.methods.method import Method, Params
from scumble.model.guarantee import to_json
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.ledger import Ledger, Receipt
from scumble.privacy.noise import Noise, PaidNoise
from scumble.sources import Source, check_columns, open_source


@dataclass(frozen=True, kw_only=True)
class Published:
    """A release that was written to its folder."""

    folder: Path
    release: Release
    receipt: Receipt
    recommended: str
    """The file to train on."""
    seconds: float

    def to_json(self) -> dict[str, Any]:
        summary = release_summary(self.folder, self.release)
        return {**summary, "recommended": self.recommended, "seconds": round(self.seconds, 3)}


def release_summary(folder: Path, release: Release) -> dict[str, Any]:
    """A release as plain data: its folder, guarantee, spends and size."""
    return {
        "release": str(folder),
        "guarantee": to_json(release.plan.guarantee),
        "spends": [spend.to_json() for spend in release.plan.spends],
        **kind_of(release).size(release),
    }


def release(
    data: Any,
    *,
    schema: Schema | str | Path,
    out: str | Path,
    method: str | Params = "diffgen",
    dataset: str | None = None,
    ledger: str | Path | None = None,
    engine: str = "memory",
    table: bool = True,
    delimiter: str = ",",
    accept: Sequence[str] = (),
    progress: Progress | None = None,
    **parameters: Any,
) -> Published:
    """Spend and publish: from a table and its schema to a folder that can be handed to a stranger.

    `data` is a path, a pattern, the address of a table or a frame (`scumble.sources` lists them);
    `parameters` are the method's own, `epsilon` first among them. A guarantee that is not differential privacy must be
    accepted by name: `accept=["unproven"]`.
    """
    began = time.perf_counter()
    tell = progress or (lambda label, done, total: None)
    with reporting_charge() as charge:
        public = schema_of(schema)
        chosen, settings = method_and_parameters(method, parameters)
        planned = chosen.plan(public, settings)
        check_accepted(planned.guarantee, accept)
        source = open_source(data, delimiter=delimiter, engine=engine)
        check_before_reading(source, public, engine)
        with staging(Path(out)) as stage, Ledger.open(None if ledger is None else Path(ledger)) as book:
            charge.begun = True
            receipt = charge.receipt = book.reserve(
                dataset=source.name if dataset is None else dataset,
                unit=public.unit,
                guarantee=planned.guarantee,
                method=chosen.name,
                spends=[spend.to_json() for spend in planned.spends],
            )
            with charged_rows(book, receipt, engine, source, public, tell) as rows:
                made = run(chosen, public, settings, rows, PaidNoise(), plan=planned, progress=tell)
                written = write_release(
                    made,
                    stage.folder,
                    receipt.to_json(),
                    table=table,
                    progress=lambda done, total: tell("writing table.csv", done, total),
                )
            stage.publish()
            charge.published = Path(out)
            book.settle(receipt, written.sha256)
    return Published(
        folder=Path(out),
        release=made,
        receipt=receipt,
        recommended=written.recommended,
        seconds=time.perf_counter() - began,
    )


def run(
    method: Method,
    schema: Schema,
    parameters: Params,
    engine: Engine,
    noise: Noise,
    *,
    plan: Plan,
    progress: Progress | None = None,
) -> Release:
    """A release in memory by a plan that was made before, with no ledger. Use only `release` on private rows."""
    done = 0

    def answered(label: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(label, done, sum(spend.times for spend in holder.plan.spends))

    holder = CentralHolder(engine=engine, noise=noise, plan=plan, answered=answered)
    return method.run(schema, parameters, holder)


def verify(folder: str | Path) -> list[str]:
    """Check a release folder without the private data. Returns every check that passed, as a sentence."""
    return verify_folder(Path(folder))


def check_before_reading(source: Source, schema: Schema, engine: str = "memory") -> None:
    """Refuse what can be told to be wrong from the header, the schema and the options alone."""
    if engine not in ENGINES:
        raise InputError(f"Unknown engine {engine!r}. Available: {', '.join(ENGINES)}.")
    drafted = [attribute.name for attribute in schema.attributes if attribute.unconfirmed]
    if drafted:
        raise InputError(
            f"The domain of {', '.join(drafted)} was drafted from the data and is `unconfirmed`. Check that it is "
            "public knowledge, then delete the line `unconfirmed: true`."
        )
    check_columns(source, schema.columns)
