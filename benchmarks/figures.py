"""Measured figures and their limits, written as a Markdown table, as a page of the docs, and as JSON."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "pyarrow", "numba", "duckdb", "opendp", "pydantic")
REGRESSION = 1.2
"""A figure that is so many times as large as in the kept run is shown."""
MISSED = 4
"""The exit code of a check that failed."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured number and, if scumble commits to one, its limit."""

    what: str
    measured: float
    unit: str
    limit: float | None = None
    detail: str = ""

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        return "ok" if self.measured <= self.limit else "**missed**"


def exit_code(figures: Sequence[Figure]) -> int:
    return MISSED if any(figure.limit is not None and figure.measured > figure.limit for figure in figures) else 0


def table(figures: Sequence[Figure]) -> str:
    """
    >>> print(table([Figure(what="a", measured=1.234, unit="x", limit=2, detail="1 s of 1 s")]))
    | what | measured | limit | | how |
    |---|---:|---:|---|---|
    | a | 1.23 x | 2 x | ok | 1 s of 1 s |
    """
    lines = ["| what | measured | limit | | how |", "|---|---:|---:|---|---|"]
    for each in figures:
        limit = "" if each.limit is None else _shown(each.limit, each.unit)
        lines.append(f"| {each.what} | {_shown(each.measured, each.unit)} | {limit} | {each.verdict} | {each.detail} |")
    return "\n".join(lines)


def _shown(number: float, unit: str) -> str:
    digits = f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
    return f"{digits} {unit}"


def machine() -> dict[str, str]:
    """The properties of the machine that the figures depend on, without host name or paths."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{os.cpu_count()} cores, {_processor()}",
        "memory": f"{memory:.0f} GB",
        "load": f"{os.getloadavg()[0]:.0f} running processes on average in the last minute",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


@dataclass(frozen=True, kw_only=True)
class Section:
    """A group of figures with an explanatory text."""

    title: str
    figures: Sequence[Figure]
    text: str = ""
    picture: str | None = None

    def markdown(self) -> str:
        parts = [f"## {self.title}"]
        parts += [table(self.figures)] if self.figures else []
        parts += [f"![{self.title}]({self.picture})"] if self.picture else []
        return "\n\n".join([*parts, *([self.text] if self.text else [])])


def page(sections: Sequence[Section], settings: str) -> str:
    """docs/benchmarks.md."""
    facts = "\n".join(f"- {name}: {value}" for name, value in machine().items())
    whole = "\n\n".join(section.markdown() for section in sections)
    return f"""# Benchmarks

Written by `make bench`; do not edit. {settings}

{whole}

## How it was measured

Costs are CPU seconds of the process with all its threads, including system time. Figures that are compared were
measured in one run, alternating, on files in the page cache, after a release of a small file had imported and compiled
everything. A release is timed from opening the source until `release.json`, `counts.csv` and `schema.yaml` are
durable, with a new ledger; `table.csv` is timed separately. "Cells alone" means without the detail of the default mode;
in default mode, the fine rows are drawn but not written. Peak memory is that of a new process above its memory use
after imports.

The table is Adult, enlarged by repeating its records with a quarter of the attribute values replaced by other values of
the same domain: 14 attributes and a class, with categories as plain text, in Parquet with pyarrow's default settings.

## The machine

{facts}
"""


def as_json(figures: Sequence[Figure], seconds: dict[str, list[float]]) -> dict[str, Any]:
    return {"machine": machine(), "figures": [asdict(figure) for figure in figures], "cpu_seconds": seconds}


def regressions(figures: Sequence[Figure], kept: Path) -> list[str]:
    """The figures that are more than a fifth larger than in a kept run, a sentence each; larger is worse for all."""
    if not kept.exists():
        return [f"No earlier run is kept in {kept.name}: nothing to compare with."]
    before = {each["what"]: each["measured"] for each in json.loads(kept.read_text(encoding="utf-8"))["figures"]}
    return [
        f"WORSE: {each.what}: {_shown(each.measured, each.unit)}, kept run {_shown(before[each.what], each.unit)}"
        for each in figures
        if each.measured > REGRESSION * before.get(each.what, each.measured)
    ]
