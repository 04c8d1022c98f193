"""Plans a published release again, from its method, parameters and schema, and compares the plan with the stated one.

A plan needs public facts only, and a folder publishes them. The spends and the guarantee that release.json states must
be those that follow. Folders of other versions may have been planned by other rules: they are compared as far as the
rules still agree, and a sentence says if they do not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scumble.errors import BudgetError, CheckError, InputError
from scumble.files.kinds.blurred import BLURRED
from scumble.files.kinds.cells import FINE_SCHEMA
from scumble.files.page_check import NOT_CHECKED
from scumble.files.report.version import pages_version
from scumble.files.schema_file import read_published_schema
from scumble.methods import method_named
from scumble.methods.persons import plan_release
from scumble.model.guarantee import Guarantee, JointDP, PureDP, persons_of
from scumble.model.plan import Plan, Spend
from scumble.model.release import Release
from scumble.model.schema import Schema

DO_NOT_TRUST = "Do not trust this folder."


def check_plan(folder: Path, manifest: Mapping[str, Any], release: Release) -> Iterator[str]:
    """Yield what was checked; raise `CheckError` if the folder states another plan than follows from its facts."""
    if manifest["kind"] == BLURRED.name:
        return  # its noise model states every spend, and the kind checks that the guarantee follows
    same_version = manifest.get("pages") == pages_version()
    try:
        follows = _planned(folder, manifest, release)
    except (InputError, BudgetError) as error:
        if same_version:
            raise CheckError(f"The method and the parameters do not allow a plan: {error} {DO_NOT_TRUST}") from error
        yield f"{NOT_CHECKED}the plan, whose method or parameters this version does not have"
        return
    if _agree(follows, release.plan, purposes=same_version):
        yield "the spends and the guarantee are planned from the method, the parameters and the schema"
    elif same_version:
        raise CheckError(
            "The spends or the guarantee are not those which follow from the method, the parameters and the schema. "
            f"{DO_NOT_TRUST}"
        )
    else:
        yield f"{NOT_CHECKED}the plan, which another version of scumble made"


def _planned(folder: Path, manifest: Mapping[str, Any], release: Release) -> Plan:
    method = method_named(str(release.method))
    if not isinstance(release.parameters, Mapping):
        raise InputError("`parameters` is not a mapping.")
    parameters = method.parameters(**{str(name): value for name, value in release.parameters.items()})
    return plan_release(method, _public_schema(folder, manifest, release), parameters)


def _public_schema(folder: Path, manifest: Mapping[str, Any], release: Release) -> Schema:
    """The finest schema that the folder publishes, with the persons that the guarantee protects."""
    fine = FINE_SCHEMA in manifest["files"]
    schema = read_published_schema(folder / FINE_SCHEMA) if fine else release.schema
    persons = persons_of(release.plan.guarantee)
    if persons is None:
        return schema
    return replace(schema, person=persons.column, rows_each_at_most=persons.rows_each_at_most)


def _agree(follows: Plan, stated: Plan, *, purposes: bool) -> bool:
    """Whether two plans promise the same at the same prices; with `purposes`, for the same stated purposes."""
    return _promise(follows.guarantee) == _promise(stated.guarantee) and [
        _comparable(spend, purposes=purposes) for spend in follows.reserved
    ] == [_comparable(spend, purposes=purposes) for spend in stated.reserved]


def _promise(guarantee: Guarantee) -> Guarantee:
    """The guarantee of one owner. Several owners plan as one does; the delta of their noise depends on their roles."""
    if isinstance(guarantee, JointDP):
        return PureDP(epsilon=guarantee.epsilon, unit=guarantee.unit, protects=guarantee.protects)
    return guarantee


def _comparable(spend: Spend, *, purposes: bool) -> Spend:
    return spend if purposes else replace(spend, purpose="")
