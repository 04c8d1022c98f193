"""The screens, in the order of a release. Each module shows one and carries out its forms."""

from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response

from scumble.studio.screens import (
    attribute,
    audit,
    budget,
    compare,
    domains,
    join,
    ledger,
    method,
    publish,
    rehearsal,
    releases,
    start,
    table,
)

Endpoint = Callable[[Request], Response]
PROJECT = "/projects/{project}"

SCREENS: Sequence[tuple[str, Endpoint | None, Endpoint | None]] = (
    ("/", start.show, start.create),
    (f"{PROJECT}/table", table.show, table.save),
    (f"{PROJECT}/domains", domains.show, None),
    (f"{PROJECT}/domains/{{attribute:path}}", attribute.show, attribute.save),
    (f"{PROJECT}/method", method.show, method.save),
    (f"{PROJECT}/budget", budget.show, budget.save),
    (f"{PROJECT}/budget/meaning", budget.meaning, None),
    (f"{PROJECT}/publish", publish.show, publish.publish),
    (f"{PROJECT}/jobs/{{number:int}}", publish.job, None),
    (f"{PROJECT}/jobs/{{number:int}}/progress", publish.progress, None),
    (f"{PROJECT}/jobs/{{number:int}}/cancel", None, publish.cancel),
    (f"{PROJECT}/releases", releases.listing, None),
    (f"{PROJECT}/releases/{{release}}", releases.show, None),
    (f"{PROJECT}/releases/{{release}}/contents", releases.contents, None),
    (f"{PROJECT}/releases/{{release}}/report", releases.report, None),
    (f"{PROJECT}/releases/{{release}}/zip", releases.archive, None),
    (f"{PROJECT}/rehearsal", rehearsal.show, rehearsal.rehearse),
    (f"{PROJECT}/ledger", ledger.show, ledger.grant),
    (f"{PROJECT}/audit", audit.show, audit.audit),
    (f"{PROJECT}/compare", compare.show, None),
    (f"{PROJECT}/join", join.show, join.carry_out),
)
"""The address of every screen, and the functions that show it and that carry out its form."""
