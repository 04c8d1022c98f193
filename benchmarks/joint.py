"""Measures accuracy and cost of joint releases and writes the tables into docs/joint-figures.md.

    python benchmarks/joint.py accuracy               joint release, separate releases, one owner: 40 splits of Adult
    python benchmarks/joint.py cost                   processes on this machine: seconds, rounds of messages and bytes
    python benchmarks/joint.py peer                   the same scores and selection with MPyC (see peers/README.md)
    python benchmarks/joint.py accuracy --splits 100  more splits

Every run is cached in benchmarks/results/joint, so an interrupted command resumes. Adult is read from SCUMBLE_DATA.
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
    """Replace the text between the page's markers of this name."""
    begin, end = f"<!-- begin: {name} -->", "<!-- end -->"
    written, found = re.subn(
        rf"{re.escape(begin)}\n.*?{re.escape(end)}",
        lambda match: f"{begin}\n{text}{end}",
        page.read_text("utf-8"),
        flags=re.DOTALL,
    )
    if found != 1:
        sys.exit(f"{page} has {found} sections that begin with {begin!r}. It must have exactly one.")
    page.write_text(written, encoding="utf-8")


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("what", choices=["accuracy", "cost", "peer"])
    reader.add_argument(
        "--splits", type=int, default=40, help="number of random splits of Adult (default: %(default)s)"
    )
    reader.add_argument(
        "--epsilons", nargs="*", default=["0.1", "0.25", "0.5", "1"], help="privacy budgets (default: 0.1 0.25 0.5 1)"
    )
    reader.add_argument(
        "--against",
        nargs="*",
        choices=list(joint_accuracy.OTHERS),
        default=list(joint_accuracy.OTHERS),
        help="what a joint release is compared with (default: all)",
    )
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    reader.add_argument(
        "--results", type=Path, default=RESULTS, help="the folder for cached runs (default: %(default)s)"
    )
    reader.add_argument("--before", type=Path, help="for `cost`: a clone of an earlier version to compare with")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page to write into (default: %(default)s)")
    reader.add_argument("--print-only", action="store_true", help="print the tables without changing the page")
    given = reader.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    match given.what:
        case "accuracy":
            text = joint_accuracy.section(given.results, given.splits, given.epsilons, given.jobs, given.against)
        case "cost":
            text = joint_cost.section(given.results, given.page.parent, given.before)
        case _:
            text = joint_peer.section(given.results)
    print(text)
    if not given.print_only:
        write_section(given.page, given.what, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
