"""The points of Figures 4, 5 and 6 of EDBT 2019, the paper's claims as predicates, and `microaggregate` for comparison.

All methods use `replace`, the same epsilon, and bounds from the schemas. `il1s` is computed as in the paper, without
clamping. `clamped` clamps the noisy centres to the public domain, which is post-processing; methods are compared by it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import sqrt
from statistics import fmean
from typing import Any

import numpy as np

from scumble.comparison.trials import CodedTable
from scumble.datasets import load
from scumble.engines.memory import MemoryEngine
from scumble.methods.coordinates import collect, require_numbers
from scumble.methods.mdav.queries import GroupingRule, GroupSums
from scumble.methods.mdav.stable import group_averages
from scumble.methods.microaggregate.method import MicroaggregateMethod
from scumble.methods.microaggregate.parameters import Microaggregate
from scumble.methods.microaggregate.partition import middle
from scumble.model.counts import Integers
from scumble.model.grid import Grid
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise
from scumble.reproductions.microaggregation.measures import il1s, margins_distance
from scumble.sources import open_source

DATASETS = ("census", "eia")
SIZES = (2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
EPSILONS = tuple(Fraction(text) for text in ("0.01", "0.1", "1", "10"))
RUNS = 3
"""As in the paper."""


@dataclass(frozen=True, kw_only=True)
class FigurePoint:
    """One point of a figure. `k` is 0, `epsilon` empty and `margins` None where the method has none."""

    dataset: str
    method: str
    k: int = 0
    epsilon: str = ""
    il1s: float
    clamped: float
    margins: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class NumericTable:
    """A public data set, as codes and as numbers."""

    def __init__(self, name: str, schema: Schema, rows: Integers) -> None:
        self.name, self.schema, self.codes = name, schema, rows
        self.block = tuple(column.astype(np.uint32) for column in rows.T)
        self.numbers = rows_as_numbers(schema, rows)

    @classmethod
    def load(cls, name: str) -> "NumericTable":
        dataset = load(name)
        columns = CodedTable.read(open_source(dataset.path), dataset.schema).columns
        return cls(name, dataset.schema, collect([columns], len(columns)))


def rows_as_numbers(schema: Schema, rows: Integers) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The numeric values of the codes."""
    scales = require_numbers(schema, "the figures")
    columns = [
        float(scale.low) + float(scale.unit) * scale.of_codes(codes)
        for scale, codes in zip(scales, rows.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def figure_4(table: NumericTable, sizes: Sequence[int] = SIZES) -> Iterator[FigurePoint]:
    """Microaggregation without noise: MDAV and I-MDAV."""
    for method, grouping in (("mdav", GroupingRule.STABLE), ("i-mdav", GroupingRule.INSENSITIVE)):
        for k in sizes:
            labels = GroupSums(schema=table.schema, grouping=grouping, k=k).groups(table.codes)
            loss = il1s(table.numbers, group_averages(table.numbers, labels)[labels])
            yield FigurePoint(dataset=table.name, method=method, k=k, il1s=loss, clamped=loss)


def figure_5_or_6(
    table: NumericTable,
    *,
    sizes: Sequence[int] = SIZES,
    epsilons: Sequence[Fraction] = EPSILONS,
    runs: int = RUNS,
    default_runs: int = RUNS,
    noise: Noise | None = None,
) -> Iterator[FigurePoint]:
    """Figure 5 on CENSUS or Figure 6 on EIA: eps-DP, I-MDAV and S-MDAV; then our default, a noisy mean, a constant."""
    source = noise or PaidNoise()
    yield from _noisy(table, "eps-dp", GroupingRule.RECORDS, (1,), epsilons, runs, source)
    yield from _noisy(table, "i-mdav", GroupingRule.INSENSITIVE, sizes, epsilons, runs, source)
    yield from _noisy(table, "s-mdav", GroupingRule.STABLE, sizes, epsilons, runs, source)
    for epsilon in epsilons:
        yield default_line(table, epsilon, default_runs, source)
        yield _noisy_mean(table, epsilon, default_runs, source)
    yield constant_line(table)


def _noisy(
    table: NumericTable,
    method: str,
    grouping: GroupingRule,
    sizes: Sequence[int],
    epsilons: Sequence[Fraction],
    runs: int,
    noise: Noise,
) -> Iterator[FigurePoint]:
    """Noisy centres as the holder computes them, with the exact answer reused in all runs."""
    rows = len(table.codes)
    for k in sizes:
        query = GroupSums(schema=table.schema, grouping=grouping, k=k)
        labels, exact = query.groups(table.codes), query.answer([table.block])
        bound = query.sensitivity(table.schema.unit).bound
        for epsilon in epsilons:
            plain, clamped = [], []
            for _ in range(runs):
                noisy = noise.laplace(exact, sensitivity=bound, epsilon=epsilon)
                plain.append(il1s(table.numbers, query.centres(noisy, rows, clamp=False)[labels]))
                clamped.append(il1s(table.numbers, query.centres(noisy, rows)[labels]))
            shown = 0 if grouping is GroupingRule.RECORDS else k
            yield _line(table, method, k=shown, epsilon=epsilon, il1s=fmean(plain), clamped=fmean(clamped))


def default_line(table: NumericTable, epsilon: Fraction, runs: int, noise: Noise, **parameters: Any) -> FigurePoint:
    """`microaggregate` with its defaults: each record is replaced by the centre of the published box around it."""
    method = MicroaggregateMethod()
    given = Microaggregate(epsilon=epsilon, **parameters)
    plan = method.plan(table.schema, given)
    losses, margins = [], []
    for _ in range(runs):
        engine = MemoryEngine([table.block], table.schema)
        made = method.groups(table.schema, given, CentralHolder(engine=engine, noise=noise, plan=plan))
        assert made.boxes is not None
        losses.append(il1s(table.numbers, made.numbers[containing(made.boxes, table.codes)]))
        margins.append(margins_distance(table.numbers, made.numbers, made.sizes))
    loss = fmean(losses)
    return _line(table, method.name, epsilon=epsilon, il1s=loss, clamped=loss, margins=fmean(margins))


def containing(boxes: Iterable[Any], codes: Integers) -> Integers:
    """The index of the published box that contains each record."""
    labels = np.full(len(codes), -1, dtype=np.int64)
    for number, box in enumerate(np.array(boxes, dtype=np.int64)):
        labels[((codes >= box[:, 0]) & (codes < box[:, 1])).all(axis=1)] = number
    return labels


def _noisy_mean(table: NumericTable, epsilon: Fraction, runs: int, noise: Noise) -> FigurePoint:
    """A single centre: the noisy average of all records, with the whole epsilon."""
    rows = len(table.codes)
    query = GroupSums(schema=table.schema, grouping=GroupingRule.INSENSITIVE, k=rows)
    exact, bound = query.answer([table.block]), query.sensitivity(table.schema.unit).bound
    plain, clamped = [], []
    for _ in range(runs):
        noisy = noise.laplace(exact, sensitivity=bound, epsilon=epsilon)
        plain.append(il1s(table.numbers, query.centres(noisy, rows, clamp=False)))
        clamped.append(il1s(table.numbers, query.centres(noisy, rows)))
    return _line(table, "noisy mean", epsilon=epsilon, il1s=fmean(plain), clamped=fmean(clamped))


def constant_line(table: NumericTable) -> FigurePoint:
    """A baseline without data: the middle of the public domain, to which `microaggregate` falls back."""
    codes = []
    for attribute in table.schema.attributes:
        assert isinstance(attribute.domain, Grid)
        codes.append(middle(attribute.domain, 0, attribute.domain.size))
    constant = rows_as_numbers(table.schema, np.array([codes]))
    loss = il1s(table.numbers, constant)
    return FigurePoint(dataset=table.name, method="constant", il1s=loss, clamped=loss)


def _line(table: NumericTable, method: str, *, epsilon: Fraction, **fields: Any) -> FigurePoint:
    return FigurePoint(dataset=table.name, method=method, epsilon=f"{float(epsilon):g}", **fields)


def judged_claims(lines: Sequence[FigurePoint], rows: int) -> dict[str, bool]:
    """Whether the points satisfy each claim: the paper's about its figures, and ours about `microaggregate`.

    At the threshold (k = sqrt n for I-MDAV, k = 2 for S-MDAV against eps-DP) both noise scales are equal, so the claims
    are only tested strictly beyond it.
    """

    def found(method: str, k: int, epsilon: str, field: str = "il1s") -> float:
        return next(getattr(x, field) for x in lines if (x.method, x.k, x.epsilon) == (method, k, epsilon))

    claims: dict[str, bool] = {}
    noiseless = sorted({line.k for line in lines if line.method == "mdav"})
    if noiseless:
        claims["figure 4: MDAV below I-MDAV at every k"] = all(
            found("mdav", k, "") < found("i-mdav", k, "") for k in noiseless
        )
    for epsilon in sorted({line.epsilon for line in lines if line.method == "s-mdav"}, key=float):
        sizes = sorted({line.k for line in lines if line.method == "s-mdav"})
        plain = found("eps-dp", 0, epsilon)
        below = {k: found("i-mdav", k, epsilon) < plain for k in sizes}
        at = f"eps {epsilon}: "
        claims[at + "I-MDAV below eps-DP for every k > sqrt n"] = all(below[k] for k in sizes if k > sqrt(rows))
        claims[at + "I-MDAV above eps-DP for every k < sqrt n"] = not any(below[k] for k in sizes if k < sqrt(rows))
        claims[at + "S-MDAV below I-MDAV from k = 2"] = all(
            found("s-mdav", k, epsilon) < found("i-mdav", k, epsilon) for k in sizes
        )
        claims[at + "S-MDAV below eps-DP for every k > 2"] = all(
            found("s-mdav", k, epsilon) < plain for k in sizes if k > 2
        )
        ours = found("microaggregate", 0, epsilon)
        claims[at + "microaggregate below S-MDAV's claim at every k, clamped"] = all(
            ours < found("s-mdav", k, epsilon, "clamped") for k in sizes
        )
        claims[at + "microaggregate not above the constant"] = ours <= found("constant", 0, "")
    return claims


def noise_shares(lines: Sequence[FigurePoint]) -> dict[tuple[str, str], tuple[float, float]]:
    """The least and the largest share of noise in the loss of I-MDAV and S-MDAV over k, by method and epsilon.

    The share is what the loss has beyond that of the same groups without noise, as in the paper without clamping.
    """
    without = {(line.method, line.k): line.il1s for line in lines if line.k and not line.epsilon}
    shares: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        groups = ("mdav" if line.method == "s-mdav" else line.method, line.k)
        if line.epsilon and groups in without:
            shares.setdefault((line.method, line.epsilon), []).append(1 - without[groups] / line.il1s)
    return {place: (min(each), max(each)) for place, each in shares.items()}
