"""Several reports of one person as the subject of an audit: what fixed and what fresh noise reveal over time.

The two "tables" of a pair are two histories of one person: the person's record at the first report, at the second, and
so on. `scumble.privacy.PROOF.md` states what each case costs. An audit must find the same.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from scumble.auditing.audit import Subject
from scumble.auditing.neighbours import CodedRows, Pair
from scumble.auditing.outcomes import Draws
from scumble.files.schema_file import parse_schema
from scumble.model.local.noise_model import NoiseModel, for_epsilon
from scumble.model.schema import Schema
from scumble.privacy.noise import KeyedWords, secret_key
from scumble.privacy.perturber import perturb_block

ONE_ATTRIBUTE = "scumble: schema/1\nattributes:\n  state: {taxonomy: {Any: {a: , b: , c: }}}\n"


@dataclass(frozen=True, kw_only=True)
class ReportsOverTime:
    """One report for each record of a history, perturbed by the shipped code. The adversary sees all reports."""

    model: NoiseModel
    fixed: bool
    """Whether a secret fixes the noise. Otherwise each report has fresh noise."""

    @property
    def schema(self) -> Schema:
        return self.model.schema

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        """Each run is another person. The people of one call share a secret and differ in their entity."""
        del pair
        words = KeyedWords(secret_key()) if self.fixed else None
        people = [str(person) for person in range(runs)]
        reports = []
        for record in rows:
            columns = {name: np.full(runs, code) for name, code in zip(self.model.reported, record, strict=True)}
            perturbed = perturb_block(self.model, columns, words=words, entities=people)
            reports.append([tuple(report) for report in np.column_stack(list(perturbed.values())).tolist()])
        seen = {
            tuple(f"report {time + 1} is {report}" for time, report in enumerate(history)): number
            for history, number in Counter(zip(*reports, strict=True)).items()
        }
        return Draws(
            numbers={path: np.zeros((number, 0)) for path, number in seen.items()},
            observed={path: np.zeros((number, 0)) for path, number in seen.items()},
            names=dict.fromkeys(seen, ()),
        )


def reports_over_time(
    epsilon: Fraction, first: Sequence[int], second: Sequence[int], *, fixed: bool, declared: Fraction | None = None
) -> Subject:
    """Two histories of one attribute with three values, each report epsilon-locally private.

    `declared` is the epsilon that all reports together are claimed to have: by default that of a single report.
    """
    model = for_epsilon(parse_schema(ONE_ATTRIBUTE), epsilon=epsilon)
    pair = Pair(first=tuple((code,) for code in first), second=tuple((code,) for code in second), why="Two histories")
    return Subject(
        name=f"{len(first)} reports with {'fixed' if fixed else 'fresh'} noise",
        parameters={},
        mechanism=ReportsOverTime(model=model, fixed=fixed),
        pairs=[pair],
        declared=epsilon if declared is None else declared,
    )
