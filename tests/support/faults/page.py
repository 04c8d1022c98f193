"""The results of all runs, and the table in docs/faults.md."""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from faults.campaign import Group
from faults.invariants import CATEGORIES

BEGIN, END = "<!-- begin: made by `make faults` -->", "<!-- end -->"
_lock = threading.Lock()
Kept = dict[str, dict[str, Any]]


def read(path: Path | None) -> Kept:
    """The kept results by the names of groups."""
    kept: Kept = json.loads(path.read_text("utf-8")) if path is not None and path.exists() else {}
    return kept


def add(path: Path | None, kept: Kept, group: Group, found: dict[str, Any]) -> None:
    """Add the results of one run."""
    with _lock:
        before = kept.get(group.name, {"tried": 0, "codes": {}, "violations": {}, "places": []})
        kept[group.name] = {
            "command": group.command,
            "fault": group.fault,
            "of": len(group.cases),
            "tried": before["tried"] + found["tried"],
            "codes": dict(Counter(before["codes"]) + Counter(found["codes"])),
            "violations": dict(Counter(before["violations"]) + Counter(found["violations"])),
            "places": sorted({*before["places"], *found["places"]}),
        }
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(kept) + "\n", encoding="utf-8")


def lines(kept: Kept) -> list[str]:
    """One line for each group, and their sum."""
    found = [
        f"| command | fault | places | tried | survived | {' | '.join(CATEGORIES)} |",
        f"|---|---|---|---|---|{'---|' * len(CATEGORIES)}",
    ]
    sums: Counter[str] = Counter()
    for group in kept.values():
        wrong = Counter(group["violations"])
        survived = group["tried"] - min(group["tried"], wrong.total())
        sums.update({"of": group["of"], "tried": group["tried"], "survived": survived, **wrong})
        counts = " | ".join(str(wrong[category]) for category in CATEGORIES)
        found.append(
            f"| `{group['command']}` | {group['fault']} | {group['of']} | {group['tried']} | {survived} | {counts} |"
        )
    counts = " | ".join(f"**{sums[category]}**" for category in CATEGORIES)
    found.append(f"| **all** | | {sums['of']:,} | **{sums['tried']:,}** | **{sums['survived']:,}** | {counts} |")
    return found


def write(page: Path, kept: Kept) -> None:
    """Replace the table between the two markers of the page."""
    before, rest = page.read_text("utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines(kept)) + f"\n\n{END}{after}", encoding="utf-8")
