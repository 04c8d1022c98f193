"""Audits every method in each of its modes at three budgets, with one confidence level for all findings together.

`python benchmarks/audit_table.py docs/audit.md` writes the table between two markers in the page. The counts are saved
in a folder, so an interrupted audit resumes where it stopped. `--only METHOD ...` audits some methods and prints their
lines, whose confidence is that of these lines together.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

from scumble.auditing.audit import Finding, Subject, audit_subject, method_subject
from scumble.auditing.bounds import epsilon_bounds
from scumble.auditing.exact import exact_loss
from scumble.auditing.laws.cases import audited_modes, parameters_for, served_schema, settings_of
from scumble.auditing.neighbours import Pair, generic_pairs
from scumble.auditing.report import audit_page, settings_text
from scumble.auditing.search import Effort, best_pair
from scumble.auditing.single_answers import SINGLE_ANSWERS, one_count, one_selection
from scumble.auditing.workers import all_cores, worker_pool
from scumble.errors import CheckError
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.method import Method
from scumble.model.budget import budget_text

BUDGETS = (Fraction(1, 10), Fraction(1), Fraction(3))
SINGLE_RUNS = {Fraction(1, 10): 500_000, Fraction(1): 100_000, Fraction(3): 100_000}
"""Test runs of single answers. A smaller epsilon needs more runs for a tight bound."""
TIMES = {Fraction(1, 10): 3, Fraction(1): 1, Fraction(3): 1}
"""Test runs of whole releases, as multiples of `--runs`."""
SEARCH = Effort(test_runs=800, variations=12)
"""The search for a pair runs once for each mode of a method, at the largest budget, where differences are largest."""
CONFIDENCE = Fraction(999, 1000)
BEGIN, END = "<!-- begin: made by `make audit` -->", "<!-- end -->"


def single_answers() -> Iterator[tuple[Subject, int]]:
    """One noisy count and one private selection, with their numbers of test runs."""
    for epsilon in BUDGETS:
        yield one_count(epsilon), SINGLE_RUNS[epsilon]
        yield one_selection(epsilon), SINGLE_RUNS[epsilon]


def releases(
    method: Method, settings: dict[str, Any], folder: Path, runs: int, workers: int
) -> Iterator[tuple[Subject, int]]:
    """One mode at every budget, on the pair that the search found."""
    at = [method_subject(method, parameters={**settings, "epsilon": epsilon}) for epsilon in BUDGETS]
    pair = _searched(at[-1], folder, workers)
    for subject, epsilon in zip(at, BUDGETS, strict=True):
        yield replace(subject, pairs=[pair]), runs * TIMES[epsilon]


def _searched(subject: Subject, folder: Path, workers: int) -> Pair:
    kept = folder / f"{_file_name(subject)}-pair.json"
    if kept.exists():
        return Pair.from_json(json.loads(kept.read_text("utf-8")))
    with worker_pool(subject.mechanism, workers) as draw:
        pair, _ = best_pair(subject.mechanism, list(subject.pairs), SEARCH, draw)
    kept.write_text(json.dumps(pair.to_json()), encoding="utf-8")
    return pair


def audit_everything(folder: Path, runs: int, workers: int, only: Sequence[str] = ()) -> list[Finding]:
    """All findings, or those on some methods, at one confidence level for all of them together.

    The counts are saved in a folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    modes = [mode for mode in audited_modes() if not only or mode[0].name in only]
    claims = len(BUDGETS) * (len(modes) if only else len(SINGLE_ANSWERS) + len(modes))
    each_mode = chain.from_iterable(releases(*mode, folder, runs, workers) for mode in modes)
    findings = []
    for number, (subject, test_runs) in enumerate(chain(() if only else single_answers(), each_mode), start=1):
        finding = audit_subject(
            subject,
            runs=test_runs,
            confidence=CONFIDENCE,
            claims=claims,
            workers=workers,
            state=folder / f"{_file_name(subject)}-{test_runs}.json",
        )
        sys.stderr.write(f"{number} of {claims}: {settings_text(finding)} {finding.sentence}\n")
        findings.append(finding)
    return findings


def _file_name(subject: Subject) -> str:
    words = [subject.name, *(f"{name}-{value}" for name, value in subject.parameters.items())]
    text = "_".join([*words, budget_text(subject.declared)])
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in text)


def audit_tables(findings: list[Finding]) -> str:
    """The table of findings and the table of exact losses."""
    return "\n".join([*finding_lines(findings), "", *_single_answer_lines(findings), "", exact_table()])


def finding_lines(findings: list[Finding]) -> list[str]:
    """The table of findings, and their confidence."""
    columns = ("method", "unit", "declared eps", "lower bound", "share", "confidence", "test runs", "power")
    sure = f"{budget_text(100 * CONFIDENCE)} %"
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for each in findings:
        smallest = "-" if math.isinf(each.smallest_violation) else f"{each.smallest_violation:.3f}"
        mark = " **refuted**" if each.refuted else ""
        name = f"{each.method} ({settings_text(each)})" if settings_text(each) else each.method
        lines.append(
            f"| {name} | {each.unit.value} | {budget_text(each.declared)} | {each.found:.3f}{mark} "
            f"| {100 * each.found / float(each.declared):.0f} % | {sure} | {each.judged:,} | {smallest} |"
        )
    return [*lines, "", f"The confidence of {sure} applies to all {findings[0].claims} lines together."]


def _single_answer_lines(findings: list[Finding]) -> list[str]:
    """The findings on single answers, each with its own confidence level."""
    lines = [f"Single answers, each at an individual confidence of {budget_text(100 * CONFIDENCE)} %:", ""]
    for each in findings:
        if each.method in SINGLE_ANSWERS:
            few, many = sorted(each.hits)
            alone = float(epsilon_bounds(many, few, (each.judged, each.judged), float(1 - CONFIDENCE)))
            share = 100 * alone / float(each.declared)
            lines.append(f"- {each.method}, eps {budget_text(each.declared)}: {alone:.4f} ({share:.0f} %)")
    return lines


def exact_table() -> str:
    """The exact privacy loss of DiffGen's selections, by enumeration, on the worst of the generic pairs."""
    lines = ["| selections of diffgen | charged | exact loss, worst pair | share |", "|---|---|---|---|"]
    method = DiffGenMethod()
    for settings in settings_of(method):
        if settings.get("leaves"):
            continue
        for rounds in (1, 2):
            parameters = parameters_for(method, 1, {**settings, "rounds": rounds})
            schema = served_schema(method, parameters)
            losses = [exact_loss(method, schema, parameters, pair) for pair in generic_pairs(schema)]
            worst = max(losses, key=lambda each: each.loss)
            words = ", ".join(f"{name} {value}" for name, value in {**settings, "rounds": rounds}.items())
            share = 100 * worst.loss / float(worst.charged)
            lines.append(f"| {words} | {budget_text(worst.charged)} | {worst.loss:.6f} | {share:.1f} % |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Audit every method and write the table into a page.")
    parser.add_argument("page", type=Path)
    parser.add_argument(
        "--runs",
        type=int,
        default=8_000,
        help="test runs on each table of a pair at eps 1 and 3; three times as many at 0.1",
    )
    parser.add_argument("--workers", type=int, default=all_cores())
    parser.add_argument("--state", type=Path, default=Path(".audit"))
    parser.add_argument("--report", type=Path, default=None)
    parser.add_argument("--only", nargs="*", default=[], help="methods to audit; prints their lines")
    given = parser.parse_args()
    if given.only:
        print("\n".join(finding_lines(audit_everything(given.state, given.runs, given.workers, given.only))))
        return
    page = given.page.read_text("utf-8")
    before, mark, rest = page.partition(BEGIN)
    _, ending, after = rest.partition(END)
    if not mark or not ending:
        raise SystemExit(f"{given.page} has no place for the table. Add the lines {BEGIN} and {END} to it.")
    findings = audit_everything(given.state, given.runs, given.workers)
    given.page.write_text(f"{before}{BEGIN}\n\n{audit_tables(findings)}\n\n{END}{after}", encoding="utf-8")
    if given.report is not None:
        given.report.write_text(audit_page(findings), encoding="utf-8")
    refuted = [each for each in findings if each.refuted and each.proved]
    if refuted:
        raise CheckError(refuted[0].sentence)


if __name__ == "__main__":
    main()
