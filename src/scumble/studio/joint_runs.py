"""Joint releases of a project: its agreements, the command of every party, and how far each party's run has come."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from scumble.errors import InputError, ScumbleError
from scumble.flows.join_plan import AGREEMENT_FILE
from scumble.foreign.documents import read_json
from scumble.joint.session.agreement import Agreement, read_agreement
from scumble.joint.session.state import FORMAT, STATE, Marks, answers_so_far
from scumble.studio.commands import line
from scumble.studio.projects import Project

STATE_PLACES = (f"*/{STATE}", f"*/*/{STATE}")
"""Where state folders are looked for, below the folder of the project."""
MOST_RUNS = 50


class RunStatus(StrEnum):
    """How far the run of a party has come, by the marks in its state folder."""

    WAITING = "waiting for the other parties; nothing is charged"
    CHARGED = "charged; the keys are not agreed on yet"
    COMPUTING = "computing"
    COMPLETE = "all answers are there; not published yet"
    PUBLISHED = "published"
    ABANDONED = "abandoned; it cannot be resumed"
    UNREADABLE = "cannot be read"


class JointRun(NamedTuple):
    """The state folder of one party."""

    folder: str
    party: str
    agreement: str
    """The hash of the agreement, as `scumble join plan` prints it."""
    status: RunStatus
    charged: bool
    answers: int


class AgreedParty(NamedTuple):
    """A party of an agreement, and what it has to run."""

    name: str
    address: str
    role: str
    command: str


class ShownAgreement(NamedTuple):
    """An agreement in the folder of the project; `problem` says why it cannot be read."""

    folder: str
    agreement: Agreement | None
    parties: Sequence[AgreedParty]
    runs: Sequence[JointRun]
    problem: str = ""


def status_of(marks: Marks) -> RunStatus:
    """The last mark that was set. Each is on disk before the action that it announces."""
    reached = (
        (marks.abandoned, RunStatus.ABANDONED),
        (bool(marks.published), RunStatus.PUBLISHED),
        (marks.complete, RunStatus.COMPLETE),
        (marks.begun, RunStatus.COMPUTING),
        (marks.charging, RunStatus.CHARGED),
    )
    return next((status for mark, status in reached if mark), RunStatus.WAITING)


def runs_of(project: Project) -> list[JointRun]:
    """The state folders below the folder of the project. They are read without their lock, and never changed."""
    places = sorted({path for place in STATE_PLACES for path in project.folder.glob(place)})
    own = [path for path in places if path.resolve().is_relative_to(project.folder.resolve())]
    found = (_run(project, path.parent) for path in own[:MOST_RUNS])
    return [each for each in found if each is not None]


def _run(project: Project, folder: Path) -> JointRun | None:
    """The run in a folder; None if its state.json is of something else."""
    name = str(folder.relative_to(project.folder))
    try:
        data: Any = read_json(folder / STATE)
        if not isinstance(data, dict) or data.pop("scumble", None) != FORMAT:
            return None
        agreement, party = str(data.pop("agreement")), str(data.pop("party"))
        marks = Marks(**data)
    except (OSError, ValueError, TypeError, KeyError):
        return JointRun(name, "", "", RunStatus.UNREADABLE, False, 0)
    return JointRun(name, party, agreement, status_of(marks), marks.charging, answers_so_far(folder))


def agreements_of(project: Project) -> list[ShownAgreement]:
    """The agreements in folders of the project, each with the runs that its hash identifies."""
    runs = runs_of(project)
    found = []
    for path in sorted(project.folder.glob(f"*/{AGREEMENT_FILE}")):
        folder = path.parent.name
        if path.is_symlink() or path.parent.is_symlink():
            continue
        try:
            agreement = read_agreement(path)
        except ScumbleError as error:
            found.append(ShownAgreement(folder, None, (), (), str(error)))
            continue
        own = [run for run in runs if run.agreement == agreement.digest.hex()]
        parties = [_party(project, folder, agreement, name) for name in agreement.names]
        found.append(ShownAgreement(folder, agreement, parties, own))
    return found


def _party(project: Project, folder: str, agreement: Agreement, name: str) -> AgreedParty:
    part = agreement.parties[name]
    data = ["--data", project.run.data] if part.owner else []
    words = ["join", "run", "--agreement", f"{folder}/{AGREEMENT_FILE}", "--party", name, *data, "--out", f"{name}-out"]
    role = "owns rows and computes" if part.owner and part.computes else "owns rows" if part.owner else "computes"
    return AgreedParty(name, part.address, role, line(*words))


def parties_from(owners: Sequence[str], aggregator: str) -> dict[str, dict[str, Any]]:
    """The parties of a form: owners that compute, one NAME=HOST:PORT on each line, and a party without rows."""
    found: dict[str, dict[str, Any]] = {}
    computing = aggregator if "=" in aggregator else f"aggregator={aggregator}"
    stated = [(text, True) for text in owners] + ([(computing, False)] if aggregator else [])
    for text, owner in stated:
        name, equals, address = (each.strip() for each in text.partition("="))
        if not (name and equals and address):
            raise InputError(f"{text!r} is not a party. Write NAME=HOST:PORT, such as north=north.example:7001.")
        if name in found:
            raise InputError(f"{name!r} is there twice. Use each name once.")
        found[name] = {"address": address, "owner": owner, "computes": True}
    return found
