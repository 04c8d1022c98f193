"""The verb `release`: schema and method give a plan, the ledger reserves it, the holder answers, a folder is published.

    schema -> plan -> reserve -> read rows -> answers -> folder -> settle

No row is read before `reserve`. After it, the charge is never refunded, whatever happens.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble import interrupts
from scumble.engines import ENGINES, Engine
from scumble.errors import Abort, BudgetError, InputError, did_you_mean
from scumble.files.atomic_folder import staging
from scumble.files.kinds import kind_of
from scumble.files.page_check import check_pages
from scumble.files.release_folder import read_manifest, write_release
from scumble.files.signature import check_signature, read_public_key, read_signing_key, sign_folder
from scumble.files.verify import read_and_verify
from scumble.flows.charge import Notify, aborting, charged_rows, check_accepted, open_ledger, reporting_charge
from scumble.flows.count_warnings import count_warnings
from scumble.flows.plan import refuse_doubtful, schema_of
from scumble.flows.progress import Progress
from scumble.flows.promises import check_promises
from scumble.installation import EXTRAS, is_installed, missing_sentence
from scumble.methods import method_and_parameters, usual_method
from scumble.methods.method import Method, Params
from scumble.methods.persons import plan_release, run_release
from scumble.model.display import Displayed, Summary
from scumble.model.guarantee_json import to_json
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise
from scumble.privacy.receipt import Receipt
from scumble.sources import Dialect, Source, check_columns, check_dialect, open_source


@dataclass(frozen=True, kw_only=True, repr=False)
class Published(Displayed):
    """The result of `release`: the folder, the release in memory, and the receipt of the ledger."""

    folder: Path
    release: Release
    receipt: Receipt
    recommended: str
    """The file to train on."""
    seconds: float
    ledger: Path
    """The ledger that was charged."""
    notices: tuple[str, ...] = ()
    """What the owner should know about the ledger: that it is new, or replaces one that was lost."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the data owner should look at, from published numbers only."""
        return (*count_warnings(self.release), *kind_of(self.release).warnings(self.release))

    @property
    def uses(self) -> str:
        """What the recommended file is good for and what not, as sentences; empty if there is nothing to say."""
        return kind_of(self.release).uses(self.release, self.recommended)

    @property
    def summary(self) -> Summary:
        """The folder, the charge, and what its release says of itself."""
        made = self.release.summary
        facts = (
            ("folder", str(self.folder)),
            ("recommended for training", self.recommended),
            ("charged", self.receipt.text),
            ("took", f"{self.seconds:.1f} s"),
            *(("notice", notice) for notice in self.notices),
            *(("warning", warning) for warning in self.warnings),
            *made.facts,
        )
        return Summary(kind="Published", size=f"{made.size}, in {self.folder}", facts=facts, listings=made.listings)

    def to_json(self) -> dict[str, Any]:
        """The folder, guarantee, spends and size as plain data, as `scumble release --json` prints them."""
        summary = release_summary(self.folder, self.release)
        return {
            **summary,
            "recommended": self.recommended,
            "warnings": list(self.warnings),
            "ledger": {"path": str(self.ledger), "notices": list(self.notices)},
            "seconds": round(self.seconds, 3),
        }


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
    method: str | Params | None = None,
    dataset: str | None = None,
    ledger: str | Path | None = None,
    witness: str | Path | None = None,
    new_ledger: str | None = None,
    engine: str = "memory",
    table: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
    accept: Sequence[str] = (),
    sign: str | Path | None = None,
    progress: Progress | None = None,
    notify: Notify | None = None,
    **parameters: Any,
) -> Published:
    """Publish a table: charge the ledger and write a release folder that may be given to anyone.

    `data` is a path, a pattern, the address of a table or a frame (see `scumble.sources`). `schema` is a `Schema` or
    the path of a schema file. `out` is the folder to create. `method` and `parameters` are those of `plan`. `dataset`
    is the name of the account in the `ledger` (default: the file's stem, and the user's ledger). `engine` is
    `memory`, `duckdb` or `spark`. `table=False` leaves out the rows. A guarantee that is not differential privacy must
    be accepted by name: `accept=["unproven"]`. The delimiter of a CSV file is found in its header unless `delimiter`
    states it; `encoding` is UTF-8 unless stated; `multiline=True` says that values contain line breaks.
    `sign` is the file of an Ed25519 private key with which the release is signed.
    `progress` is called with a label, the steps done and their total.

    The `witness` is the file that knows which entries the ledger had (default: in the user's data folder). A ledger
    that lost entries is refused until `new_ledger` gives the reason, which is recorded. `notify` is called with each
    of the result's `notices` before anything is charged.

    Raises `InputError` before anything is charged if the schema, a parameter or the header is wrong, and `BudgetError`
    if the ceiling of the account does not allow the charge. The `charge` of any later error says what was charged.
    """
    began = time.perf_counter()
    report = progress or (lambda label, done, total: None)
    with reporting_charge() as charge:
        public = schema_of(schema)
        refuse_doubtful(public)
        chosen, settings = method_and_parameters(method or usual_method(public), parameters)
        planned = plan_release(chosen, public, settings)
        check_accepted(planned.guarantee, accept)
        dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
        source = open_source(data, dialect=dialect, engine=engine)
        check_dialect(dialect, source)
        check_before_reading(source, public, engine)
        key = None if sign is None else read_signing_key(Path(sign))
        with staging(Path(out)) as stage, open_ledger(ledger, witness, new_ledger, notify) as opened:
            interrupts.check()
            charge.begun = True
            receipt = charge.receipt = opened.reserve(
                dataset=source.name if dataset is None else dataset,
                unit=public.unit,
                guarantee=planned.guarantee,
                method=chosen.name,
                spends=[spend.to_json() for spend in planned.spends],
            )
            charge.drawn = False
            with charged_rows(opened, receipt, engine, source, public, report) as rows:
                charge.drawn = True
                made = run(chosen, public, settings, rows, PaidNoise(), plan=planned, progress=report)
                if made.plan.reserved != planned.spends:
                    raise BudgetError("The release states another plan than was reserved. This is a bug of the method.")
                written = write_release(
                    made,
                    stage.folder,
                    receipt.to_json(),
                    table=table,
                    progress=lambda done, total: report("writing table.csv", done, total),
                )
            signature = {} if key is None else sign_folder(stage.folder, written.seal, key)
            with aborting(Abort.OUTPUT), interrupts.delayed(), charge.publishing(stage, Path(out)):
                stage.publish()
            with aborting(Abort.LEDGER):
                opened.settle(receipt, written.sha256, **signature)
    return Published(
        folder=Path(out),
        release=made,
        receipt=receipt,
        recommended=written.recommended,
        seconds=time.perf_counter() - began,
        ledger=opened.path,
        notices=opened.notices,
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
    """Run a method by a given plan, in memory and without a ledger. For private rows, always use `release`."""
    done = 0

    def answered(label: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(label, done, sum(spend.times for spend in holder.plan.spends))

    holder = CentralHolder(engine=engine, noise=noise, plan=plan, answered=answered)
    return run_release(method, schema, parameters, holder)


def verify(folder: str | Path, *, signed_by: str | Path | None = None) -> list[str]:
    """Check a release folder without the private data. Returns every check that passed, as a sentence.

    A sentence that begins with "not checked" states what this version cannot check.

    `signed_by` is the file of the public key of the owner, who must have signed the release.

    Raises `CheckError` for the first check that fails, and `InputError` if the folder is not a release.
    """
    place = Path(folder)
    key = None if signed_by is None else read_public_key(Path(signed_by))
    checks, release = read_and_verify(place)
    promises = check_promises(place, release)
    return [*checks, *promises, *check_signature(place, read_manifest(place), key), *check_pages(place, release)]


def check_before_reading(source: Source, schema: Schema, engine: str = "memory") -> None:
    """Check everything that can be checked from the header, the schema and the options."""
    if engine not in ENGINES:
        raise InputError(f"Unknown engine {engine!r}.{did_you_mean(engine, ENGINES)}")
    if engine in EXTRAS and not is_installed(engine):
        raise InputError(missing_sentence(engine))
    drafted = [attribute.name for attribute in schema.attributes if attribute.unconfirmed]
    if drafted:
        raise InputError(
            f"The domain of {', '.join(drafted)} was drafted from the data and is `unconfirmed`. Replace it by "
            "public knowledge, then state why it is public with `scumble schema confirm SCHEMA` (or delete the line "
            "`unconfirmed: true`)."
        )
    refuse_doubtful(schema)
    check_columns(source, schema.columns_read, person=schema.person)
