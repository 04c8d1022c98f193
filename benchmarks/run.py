"""Measures the cost of a release compared with reading the same file, and writes docs/benchmarks.md.

    make bench                              1 and 10 million rows; 14, 50 and 200 attributes
    make bench ARGS=--large                 also 100 million rows, with the DuckDB engine
    make bench ARGS=--quick                 1 million rows; the page is not written
    make bench ARGS="--repeats 9 --work /somewhere/large"

The exit code is 4 if a limit is missed. Figures that are more than 20 % larger than in the kept run are listed; --keep
makes this run the kept one.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import counting
import figures
import growth
import peer_costs
from engine_costs import COUNTING_TEXT, count, memory, spark
from figures import Section
from harness import MILLION, SMALL, Tables, log, shown
from method_costs import method_costs, method_section
from release_costs import by_rounds, speed, wide
from scumble.errors import ScumbleError
from start_up import start_up
from waiting import kept_section

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
KEPT = ROOT / "benchmarks" / "results" / "bench.json"
WIDE_TEXT = """\
The attributes are repeated under other names. Tables of 50 and 200 attributes were not measured with more
rows."""


def measured_at() -> str:
    """The commit and the day, so that the page states how old it is."""
    command = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return f"Measured on {datetime.now(UTC):%d %B %Y}, commit {commit or 'unknown'}."


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the cost of a release compared with reading the same file.")
    cache = Path(tempfile.gettempdir()) / "scumble-bench"
    parser.add_argument("--work", type=Path, default=cache, help="folder for tables and results (default: %(default)s)")
    parser.add_argument(
        "--repeats", type=int, default=5, help="number of runs of which the median is taken (default: %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="1 million rows only; docs/benchmarks.md is not written")
    parser.add_argument("--large", action="store_true", help="also ten times the larger size, with DuckDB")
    parser.add_argument("--wide", type=int, nargs="*", default=(50, 200), help="additional numbers of attributes")
    parser.add_argument(
        "--peers", type=int, metavar="SECONDS", help="also AIM and MST, with this limit of CPU seconds for each fit"
    )
    parser.add_argument("--no-spark", action="store_true", help="leave Spark out")
    parser.add_argument("--data", choices=("adult", "patients"), default="adult", help="the table to enlarge")
    parser.add_argument("--rows", type=int, nargs=2, default=(MILLION, 10 * MILLION), help="the two sizes")
    parser.add_argument("--page", type=Path, help="the page to write (default: docs/benchmarks.md)")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the kept run to compare with (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="keep the figures of this run there")
    parser.add_argument("--no-limits", action="store_true", help="print the figures without checking their limits")
    return parser.parse_args()


def left_out(options: argparse.Namespace) -> str:
    """The sentence about what this run did not measure."""
    skipped = {
        "tables of 50 and 200 attributes": not options.wide,
        "100 million rows": not options.large,
        "Spark": options.no_spark,
        "AIM and MST": options.peers is None,
    }
    names = [name for name, is_skipped in skipped.items() if is_skipped]
    return f"Not measured in this run: {', '.join(names)}." if names else ""


def main() -> int:
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    try:
        source = Tables(options.data, options.work)
    except ScumbleError as error:
        log(f"error: {error}")
        return error.exit_code
    rows = tuple(options.rows[:1] if options.quick else options.rows)
    stopwatch, timed = speed(source, rows, options.repeats, options.work)
    costs, counted = count(source, rows[-1], options.repeats)
    widened, by_attributes = wide(source, options.wide, rows[0], options.work)
    peaks, by_rows = memory(source, rows, options.large, options.work)
    on_spark = None if options.no_spark else spark(source, rows, options.repeats)
    peers = None if options.peers is None else peer_costs.costs(source, (SMALL, *rows), options.peers)
    methods = method_section(method_costs(most=rows[-1], log=log))
    started = start_up(source.schema, options.repeats)
    sections = [
        Section(title="A release", figures=timed),
        Section(title="Counting", figures=counted, text=COUNTING_TEXT),
        *([Section(title="More attributes", figures=widened, text=WIDE_TEXT)] if widened else []),
        methods,
        Section(title="Memory", figures=peaks),
        *([] if on_spark is None else [on_spark[0]]),
        *([] if peers is None else [Section(title="Peers", figures=peers[0], text=peers[1])]),
        Section(title="Starting", figures=started),
    ]
    if options.no_limits:
        sections = [replace(each, figures=[replace(one, limit=None) for one in each.figures]) for each in sections]
    found = [figure for section in sections for figure in section.figures]
    print(figures.table(found))
    result = json.dumps(
        {**figures.as_json(found, stopwatch.seconds), "spark": None if on_spark is None else on_spark[1]}, indent=2
    )
    for sentence in figures.regressions(found, options.kept):
        print(sentence)
    if options.keep:
        options.kept.parent.mkdir(parents=True, exist_ok=True)
        options.kept.write_text(result + "\n", encoding="utf-8")
    (options.work / "results.json").write_text(result + "\n", encoding="utf-8")
    page = options.page or (None if options.quick or options.data != "adult" else PAGE)
    if page is not None:
        picture = page.with_suffix(".svg")
        for name in ("published mode", "cells alone", "read_table"):
            by_rows[name] = [(number / MILLION, stopwatch.median(f"{name}, {shown(number)}")) for number in rows]
        by_cells = [(cells, 1000 * costs[f"cells {cells}, 1"].cpu) for cells in counting.CELLS]
        curves = by_rounds(source, rows[0], options.work)
        growth.draw(picture, by_rows, by_attributes, curves, {f"{shown(rows[-1])}, one thread": by_cells})
        sections.append(Section(title="Growth", figures=[], picture=picture.name))
        kept = kept_section(page.read_text("utf-8")) if page.exists() else ""
        text = figures.page(sections, f"Medians of {options.repeats} runs. {measured_at()} {left_out(options)}")
        page.write_text(text + kept, encoding="utf-8")
    return figures.exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
