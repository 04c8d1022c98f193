"""The results of all runs, and the table in docs/faults.md."""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from fuzzing.tally import version

from faults.campaign import Group
from faults.invariants import CATEGORIES

BEGIN, END = "<!-- begin: made by `make faults` -->", "<!-- end -->"
_lock = threading.Lock()
Kept = dict[str, dict[str, Any]]


def read_all(path: Path | None) -> dict[str, Kept]:
    """The kept results of all versions of the source, the latest last."""
    if path is None or not path.exists():
        return {}
    kept: dict[str, Kept] = json.loads(path.read_text("utf-8"))
    return kept


def read(path: Path | None) -> Kept:
    """The kept results of this version of the source, by the names of groups."""
    return read_all(path).get(version(), {})


def add(path: Path | None, kept: Kept, group: Group, found: dict[str, Any]) -> None:
    """Add the results of some places of a group."""
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
            others = {each: results for each, results in read_all(path).items() if each != version()}
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_text(json.dumps({**others, version(): kept}) + "\n", encoding="utf-8")
            unfinished.replace(path)


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


def write(page: Path, path: Path) -> None:
    """Replace the table between the two markers of the page: the results of the latest version that has any."""
    of_version, kept = list(read_all(path).items())[-1]
    stated = f"Version of the source (a digest, as in [fuzzing](fuzzing.md)): {of_version}."
    before, rest = page.read_text("utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{stated}\n\n" + "\n".join(lines(kept)) + f"\n\n{END}{after}", encoding="utf-8")
