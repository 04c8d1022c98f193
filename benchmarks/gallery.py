"""Draws the pictures of docs/gallery.md anew, by the commands that the page states, on generated data.

    python benchmarks/gallery.py docs            all of them, a few minutes
    python benchmarks/gallery.py docs query      one of them: query, reconstruct, mine, compare or reproduce

Each command runs in a temporary folder; the pictures are copied to docs/gallery-NAME.svg.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEMO = "scumble demo --out demo"
PERTURB = "scumble perturb demo/patients.csv --schema demo/schema.yaml --epsilon 3 --out blurred"

COMPARE = (
    "scumble compare --contender diffgen --contender histograms --contender raw --data patients "
    "--epsilon 0.5 --epsilon 1 --epsilon 3 --classifier c45 --splits 3 --attacks --out compared"
)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Commands, and the pictures that they write, by the names they get in the gallery."""

    commands: tuple[str, ...]
    files: Mapping[str, str]


PICTURES: Mapping[str, Picture] = {
    "query": Picture(
        commands=(DEMO, "scumble query demo/release --by ward --out ward.svg"),
        files={"ward.svg": "query"},
    ),
    "reconstruct": Picture(
        commands=(DEMO, PERTURB, "scumble reconstruct blurred --out distributions"),
        files={"distributions/distributions.svg": "distributions"},
    ),
    "mine": Picture(
        commands=(DEMO, PERTURB, "scumble mine train blurred --out model.json --plot tree.svg"),
        files={"tree.svg": "tree"},
    ),
    "compare": Picture(
        commands=(COMPARE,),
        files={"compared/comparison.svg": "compare", "compared/risk-utility.svg": "risk"},
    ),
    "reproduce": Picture(
        commands=(
            "scumble reproduce as-table1 --out figures",
            "scumble reproduce as-fig5 --quick --runs 3 --out figures",
        ),
        files={"figures/as-table1.svg": "table", "figures/as-fig5.svg": "figure"},
    ),
}


def draw(names: list[str], docs: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="scumble-gallery-") as place:
        folder = Path(place)
        environment = {
            **os.environ,
            "SCUMBLE_LEDGER": str(folder / "ledger.db"),
            "SCUMBLE_WITNESS": str(folder / "witness.db"),
        }
        done = set()
        for name in names:
            for command in PICTURES[name].commands:
                if command in done:
                    continue
                done.add(command)
                print(command, flush=True)
                words = [sys.executable, "-m", "scumble", *shlex.split(command)[1:]]
                subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True)
            for made, kept in PICTURES[name].files.items():
                shutil.copyfile(folder / made, docs / f"gallery-{kept}.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path)
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], help="default: all")
    options = parser.parse_args()
    draw(options.names or list(PICTURES), options.docs)


if __name__ == "__main__":
    main()
