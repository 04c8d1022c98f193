"""`python -m faults`: commands that fail or are killed at every place, and what is true afterwards.

Without options a few places of every group are tried, which takes minutes. `--every 1` tries all of them, which takes
hours; `--tallies` keeps the results of every few places by version of the source, so that it can be interrupted and
started again.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from faults import page
from faults.campaign import Group, all_groups
from faults.shim import compile_shim
from faults.world import Launcher, World, launcher

Report = Callable[[str], None]
FEW = 2
PIECE = 20
"""Places after which the results are kept."""
WAITING = 3
"""How many processes that mostly wait run in the place of one that computes."""


def chosen(group: Group, every: int) -> list[int]:
    """The places that are tried: one of so many, or a few of each group (`every` 0)."""
    if every:
        return list(range(0, len(group.cases), every))
    step = max(1, len(group.cases) // FEW)
    return list(range(step // 2, len(group.cases), step))[:FEW]


def pieces(groups: list[Group], kept: page.Kept, every: int) -> Iterator[tuple[Group, list[int]]]:
    """What is left to try, in pieces."""
    for group in groups:
        done = set(kept.get(group.name, {}).get("places", ()))
        places = [place for place in chosen(group, every) if place not in done]
        for start in range(0, len(places), PIECE):
            yield group, places[start : start + PIECE]


def run_group(group: Group, places: list[int], folder: Path, ready: Launcher, report: Report) -> dict[str, Any]:
    """Try some cases of a group. Returns the line of the table."""
    tally: dict[str, Any] = {"tried": 0, "codes": Counter(), "violations": Counter(), "places": []}
    world = None
    for turn, place in enumerate(places):
        case = group.cases[place]
        if world is None or turn % group.fresh == 0:
            world = World(folder, ready)
        findings, ended = group.run(world, case)
        tally["tried"] += 1
        tally["places"].append(place)
        tally["codes"][str(ended["code"])] += 1
        for category, what in findings.found:
            tally["violations"][category] += 1
            report(f"{group.name}, {case.at} {case.how}: {category}: {what}")
        if findings.found:
            world = None
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("words", nargs="*", help="only groups whose name contains all these words")
    parser.add_argument("--every", type=int, default=0, help="try every n-th place (default: a few of each group)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time (default: 2)")
    parser.add_argument("--tallies", type=Path, help="a JSON file in which results are kept")
    parser.add_argument("--page", type=Path, help="the page whose table is written from the tallies")
    parser.add_argument("--list", action="store_true", help="print the groups and their numbers of places")
    options = parser.parse_args()
    report: Report = lambda line: print(line, flush=True)  # noqa: E731, T201
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        shim = compile_shim(scratch)
        with launcher(shim) as ready:
            groups = [
                group
                for group in all_groups(ready, scratch / "count")
                if all(word in group.name for word in options.words)
            ]
        if options.list:
            for group in groups:
                report(f"{len(group.cases):6} {group.name}")
            return 0
        kept = page.read(options.tallies)

        def work(waiting: Queue[tuple[Group, list[int]]], folder: Path) -> list[bool]:
            passed = []
            with launcher(shim) as ready, suppress(Empty):
                while True:
                    group, places = waiting.get_nowait()
                    found = run_group(group, places, folder, ready, report)
                    page.add(options.tallies, kept, group, found)
                    wrong = dict(found["violations"])
                    codes = dict(found["codes"])
                    report(f"{group.name}: {found['tried']} tried, exit codes {codes}, violations {wrong or 0}")
                    passed.append(not wrong)
            return passed

        computing: Queue[tuple[Group, list[int]]] = Queue()
        waiting: Queue[tuple[Group, list[int]]] = Queue()
        for piece in pieces(groups, kept, options.every):
            (waiting if piece[0].waits else computing).put(piece)
        queues = [computing] * options.jobs + [waiting] * (WAITING * options.jobs if waiting.qsize() else 0)
        with ThreadPoolExecutor(len(queues)) as pool:
            working = [pool.submit(work, queue, scratch / f"world{job}") for job, queue in enumerate(queues)]
            passed = [each for job in working for each in job.result()]
        if options.page and options.tallies:
            page.write(options.page, options.tallies)
    report(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
