"""Create the agreement of a joint release, and derive the plan from it.

No data is read. Every party derives the same plan.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.files.atomic_folder import staging
from scumble.files.schema_file import schema_data
from scumble.flows.plan import refuse_doubtful, schema_of
from scumble.joint.network.certificates import check_dates, make_key, read_certificate
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.roles import default_threshold
from scumble.joint.session.agreement import Agreement, agreement_from, read_agreement
from scumble.joint.session.sources import source_hash
from scumble.methods import Method, Params, method_and_parameters, method_named
from scumble.methods.persons import plan_release, run_release
from scumble.model.guarantee import Unit
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.noise import secret_key

AGREEMENT_FILE = "agreement.yaml"
EACH_OWNER = (
    "Each owner bounds the rows of its own persons; the owners do not compare ids. For a person with rows at several "
    "owners, epsilon counts once for each of them."
)


@dataclass(frozen=True, kw_only=True)
class PlannedAgreement:
    """An agreement with the method, the parameters and the plan that it determines; the same for all parties."""

    agreement: Agreement
    method: Method
    parameters: Params
    plan: Plan

    @property
    def schema(self) -> Schema:
        return self.agreement.schema_

    def fields(self) -> dict[str, str]:
        """Hashes that the parties compare along with the agreement: the version and sources of scumble, the plan."""
        facts = {
            "the version of scumble": version("scumble"),
            "the sources of scumble": source_hash(),
            "the plan that follows": self.plan.to_json(),
        }
        return {name: hashlib.sha256(json.dumps(fact).encode()).hexdigest() for name, fact in facts.items()}

    def run(self, holder: Holder) -> Release:
        """The release, by the method as it is. The holder's plan states what the parties together can promise."""
        return run_release(self.method, self.schema, self.parameters, holder)


def prepare(agreement: Agreement | str | Path) -> PlannedAgreement:
    """Read an agreement and derive its plan. No data is read."""
    agreed = agreement if isinstance(agreement, Agreement) else read_agreement(Path(agreement))
    method, parameters = method_and_parameters(agreed.method, agreed.parameters)
    schema = agreed.schema_
    if schema.unit is not Unit.ADD_REMOVE:
        raise InputError(
            "A joint release does not support `unit: replace`: it makes the number of rows public, and the owners do "
            "not know each other's. Write `unit: add-remove` in the schema."
        )
    roles = agreed.roles
    planned = joint_plan(plan_release(method, schema, parameters), roles=roles, schema=schema)
    notes = (
        *([parameters.joint_note] if parameters.joint_note else ()),
        *(() if schema.persons is None else (EACH_OWNER,)),
    )
    note = (
        f"Joint release of {len(roles.owners)} owners; {len(roles.compute)} parties compute. A coalition of up to "
        f"{roles.threshold} of them learns nothing but the release; {roles.threshold + 1} together could see all "
        "owners' counts."
    )
    planned = replace(planned, notes=(*planned.notes, *notes, note))
    return PlannedAgreement(agreement=agreed, method=method, parameters=parameters, plan=planned)


def write_agreement(
    folder: Path,
    *,
    schema: Schema | str | Path,
    parties: Mapping[str, Mapping[str, Any]],
    parameters: Mapping[str, Any],
    rows_at_most: int,
    method: str = "diffgen",
    threshold: int | None = None,
    certificates: Mapping[str, Path] | None = None,
    deadlines: Mapping[str, int] | None = None,
    owners_rows_at_most: Mapping[str, int] | None = None,
) -> Path:
    """Write an agreement into a new folder, with a new key for each party without a certificate in `certificates`.

    `rows_at_most` is the bound of every owner without one in `owners_rows_at_most`. Everything is validated first. If
    the agreement is invalid, the folder is not created.
    """
    given = dict(certificates or {})
    unknown = set(given) - set(parties)
    if unknown:
        raise InputError(f"--certificate names {sorted(unknown)[0]!r}, which is not a party. Add it with --party.")
    bounds = dict(owners_rows_at_most or {})
    unknown = set(bounds) - set(parties)
    if unknown:
        raise InputError(f"--owner-rows-at-most names {sorted(unknown)[0]!r}, which is not a party.")
    public = schema_of(schema)
    refuse_doubtful(public)
    named = method_named(method)
    chosen = named.parameters(**named.parameters.jointly(parameters, len(public.classes)))
    computing = sum(bool(party["computes"]) for party in parties.values())
    with staging(folder) as stage:
        pinned = {
            name: read_certificate(given[name]) if name in given else make_key(name, stage.folder / name)
            for name in parties
        }
        for name, text in pinned.items():
            check_dates(text, name)
        agreement = agreement_from(
            {
                "session": secret_key()[:16].hex(),
                "method": method,
                "parameters": chosen.model_dump(mode="json", exclude_unset=True),
                "threshold": default_threshold(computing) if threshold is None else threshold,
                "rows_at_most": rows_at_most,
                "deadlines": dict(deadlines or {}),
                "parties": {
                    name: {**party, "rows_at_most": bounds.get(name), "certificate": pinned[name]}
                    for name, party in parties.items()
                },
                "schema": schema_data(public),
            }
        )
        prepare(agreement)
        (stage.folder / AGREEMENT_FILE).write_text(agreement.text(), encoding="utf-8")
        stage.publish()
    return folder / AGREEMENT_FILE
