"""The table in docs/fuzzing.md."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fuzzing import tally
from fuzzing.target import Target

BEGIN, END = "<!-- begin: made by `make fuzz` with --page -->", "<!-- end -->"


def lines(targets: Mapping[str, Target], folder: Path, version: str) -> list[str]:
    """One line for each target: all runs, and those of the current version."""
    heads = ("input", "inputs", "of these, this version", "goal", "crashes", "hangs", "beyond memory", "slowest input")
    found = [f"| {' | '.join(heads)} | peak memory | lines reached |", f"|{'---|' * (len(heads) + 2)}"]
    for name, target in targets.items():
        tallies = tally.read(folder, name)
        every = tally.total(list(tallies.values()))
        now = tallies.get(version, {"inputs": 0})
        found.append(
            f"| {target.reads} | {every['inputs']:,.0f} | {now['inputs']:,.0f} | {target.long_run:,} "
            f"| {now.get('crashes', 0):.0f} | {now.get('hangs', 0):.0f} | {now.get('memory_faults', 0):.0f} "
            f"| {_milliseconds(every['slowest'])} | {every['memory'] / (1 << 20):,.0f} MiB | {every['lines']:,} |"
        )
    return found


def _milliseconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def write(page: Path, targets: Mapping[str, Target], folder: Path, version: str) -> None:
    """Replace the table between the two markers of the page."""
    text = page.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    runs: list[dict[str, Any]] = [each for name in targets for each in tally.read(folder, name).values()]
    hours = sum(run["seconds"] for run in runs) / 3600
    summary = f"Version {version} (a digest of the package's source files). All runs together took {hours:.1f} hours."
    table = "\n".join(lines(targets, folder, version))
    page.write_text(f"{before}{BEGIN}\n\n{summary}\n\n{table}\n\n{END}{after}", encoding="utf-8")
