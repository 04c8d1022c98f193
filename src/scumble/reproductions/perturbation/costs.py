"""What training costs (section 4.2 of SIGMOD 2000): Global the least, ByClass a little more, Local the most.

Two measures: how many distributions are reconstructed, which depends on the algorithm and the tree alone, and CPU
seconds. The algorithms are those of the paper; ours, which also reconstruct leaves, are shown beside them.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scumble.charts import Chart, Panel, Point, Series
from scumble.mining.perturbed.rows import IntervalPartitions, PerturbedRows
from scumble.mining.perturbed.tree import Algorithm, Leaves, train_tree
from scumble.mining.reconstruction.iteration import STOP_SHARE
from scumble.model.counts import Floats, Integers
from scumble.model.local.noise_model import for_privacy
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.charts import FUNCTIONS
from scumble.reproductions.perturbation.figures import (
    NOISES,
    QUICK_TRAINING,
    TRAINING,
    Row,
    paper_claim,
)
from scumble.reproductions.perturbation.people import RANGES, agrawal_schema, codes, generate

LEVEL = "100%"
ALGORITHMS = {
    "global": (Algorithm.GLOBAL, Leaves.ASSOCIATED),
    "byclass as printed": (Algorithm.BYCLASS, Leaves.ASSOCIATED),
    "local as printed": (Algorithm.LOCAL, Leaves.ASSOCIATED),
    "byclass": (Algorithm.BYCLASS, Leaves.RECONSTRUCTED),
    "local": (Algorithm.LOCAL, Leaves.RECONSTRUCTED),
}
PRINTED = tuple(ALGORITHMS)[:3]
EQUAL = 1.15
"""Two times within 15 % of each other count as equal."""
SEED = 2000
TIMES = 3
NOTES = (
    "CPU seconds of the training from codes, the least of several.",
    "Reconstructing is vectorised over attributes and classes, so ByClass costs hardly more than Global.",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedRows(PerturbedRows):
    """Perturbed rows that note how many distributions are reconstructed from them."""

    reconstructed: list[int] = field(default_factory=list)

    def reconstruct(
        self,
        rows: Integers,
        groups: Integers,
        parts: IntervalPartitions,
        which: Sequence[int],
        stop_share: float = STOP_SHARE,
    ) -> Floats:
        shares = super().reconstruct(rows, groups, parts, which, stop_share)
        self.reconstructed.append(shares.shape[0] * shares.shape[1])
        return shares


def costs(function: int, noise: str, *, training: int, times: int) -> list[Row]:
    """The cost of each algorithm on the same perturbed people."""
    people, labels = generate(function, training, seed=SEED + function)
    model = for_privacy(agrawal_schema(), privacy=LEVEL, noise=noise)
    reports = perturb_block(model, {**codes(people), "group": labels}, words=SimulatedWords(simulation(SEED)))
    table = np.stack([reports[name] for name in RANGES], axis=1)
    rows = []
    for name, (algorithm, leaves) in ALGORITHMS.items():
        seconds = []
        for _ in range(times):
            counted = CountedRows(
                attributes=tuple(model[each] for each in RANGES), codes=table, labels=labels, classes=2
            )
            began = time.process_time()
            tree = train_tree(counted, algorithm, stop_share=STOP_SHARE / 10, leaves=leaves)
            seconds.append(time.process_time() - began)
        rows.append(
            {
                "function": function,
                "noise": noise,
                "algorithm": name,
                "cpu_seconds": round(min(seconds), 3),
                "reconstructed": sum(counted.reconstructed),
                "leaves": tree.leaves,
            }
        )
    return rows


def costs_figure(request: Request) -> Figure:
    """CPU seconds of each algorithm on each function."""
    rows: list[Row] = []
    costs(FUNCTIONS[0], NOISES[0], training=1_000, times=1)  # compile before the clock starts
    settings = [(function, noise) for function in FUNCTIONS for noise in NOISES]
    for done, (function, noise) in enumerate(settings, start=1):
        size = request.size(TRAINING, QUICK_TRAINING)
        rows += costs(function, noise, training=size, times=request.times(TIMES))
        request.progress("functions timed", done, len(settings))
    panels = tuple(
        Panel(
            title=f"{noise}, {LEVEL} privacy",
            x_label="function",
            y_label="CPU seconds",
            series=tuple(
                Series(
                    label=name,
                    points=tuple(
                        Point(x=row["function"], y=row["cpu_seconds"])
                        for row in rows
                        if (row["algorithm"], row["noise"]) == (name, noise)
                    ),
                )
                for name in ALGORITHMS
            ),
            numbered=True,
            from_zero=True,
        )
        for noise in NOISES
    )
    title = "SIGMOD 2000, section 4.2: what training costs"
    return Figure(
        title=title, rows=rows, claims=tuple(cost_claims(rows)), chart=Chart(title=title, panels=panels), notes=NOTES
    )


def cost_claims(rows: Sequence[Row]) -> list[Claim]:
    """The order of the three algorithms of the paper by both measures, summed over functions and kinds of noise."""

    def total(column: str, algorithm: str) -> float:
        return float(sum(row[column] for row in rows if row["algorithm"] == algorithm))

    claims = []
    for column, words, slack in (
        ("reconstructed", "distributions reconstructed", 1.0),
        ("cpu_seconds", "CPU s", EQUAL),
    ):
        cheap, middle, dear = (total(column, name) for name in PRINTED)
        measured = f"{cheap:,.4g}, {middle:,.4g} and {dear:,.4g} {words}"
        claims.append(
            paper_claim(
                text=f"global costs least, local most ({words})",
                measured=measured,
                holds=cheap <= slack * middle and middle < dear,
            )
        )
        claims.append(
            paper_claim(
                text=f"byclass is closer to global than to local ({words})",
                measured=measured,
                holds=abs(middle - cheap) < abs(dear - middle),
            )
        )
    ours = f"{total('cpu_seconds', 'byclass'):.3g} and {total('cpu_seconds', 'local'):.3g} CPU s"
    return [*claims, Claim(text="our byclass and local, with their leaves reconstructed", paper="", ours=ours)]
