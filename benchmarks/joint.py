"""What a joint release is worth, and what it takes. Writes its tables into docs/joint-figures.md.

    python benchmarks/joint.py accuracy               joint, apart and one owner: 40 paired runs on Adult
    python benchmarks/joint.py cost                   real processes on this machine: seconds, rounds and bytes
    python benchmarks/joint.py peer                   the same scores and choice by MPyC (see peers/README.md)
    python benchmarks/joint.py accuracy --splits 100  more runs

Every run is kept under benchmarks/results/joint: stopped, each goes on where it was. Adult is read from SCUMBLE_DATA.
"""

import argparse
import os
import re
import sys
from pathlib import Path

import joint_accuracy
import joint_cost
import joint_peer

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "joint-figures.md"
RESULTS = ROOT / "benchmarks" / "results" / "joint"


def write_section(page: Path, name: str, text: str) -> None:
    """Put a text between the page's markers of this name; everything around them stays."""
    begin, end = f"<!-- begin: {name} -->", "<!-- end -->"
    written, found = re.subn(
        rf"{re.escape(begin)}\n.*?{re.escape(end)}",
        lambda match: f"{begin}\n{text}{end}",
        page.read_text("utf-8"),
        flags=re.DOTALL,
    )
    if found != 1:
        sys.exit(f"{page} has {found} sections that begin with {begin!r}; it should have one.")
    page.write_text(written, encoding="utf-8")


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("what", choices=["accuracy", "cost", "peer"])
    reader.add_argument("--splits", type=int, default=40, help="how many random splits of Adult (default: %(default)s)")
    reader.add_argument("--epsilons", nargs="*", default=["0.1", "0.5", "1"], help="budgets (default: 0.1 0.5 1)")
    reader.add_argument("--own-defaults", action="store_true", help="also owners apart who leave all to the defaults")
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    reader.add_argument("--results", type=Path, default=RESULTS, help="where runs are kept (default: %(default)s)")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page to write into (default: %(default)s)")
    reader.add_argument("--print-only", action="store_true", help="leave the page as it is")
    given = reader.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    match given.what:
        case "accuracy":
            text = joint_accuracy.section(
                given.results, given.splits, given.epsilons, given.jobs, own_defaults=given.own_defaults
            )
        case "cost":
            text = joint_cost.section(given.results, given.page.parent)
        case _:
            text = joint_peer.section(given.results)
    print(text)
    if not given.print_only:
        write_section(given.page, given.what, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
