"""When to stop reconstructing (section 3 of SIGMOD 2000): comparing with the observed reports is not reliable.

One could stop as soon as the estimate, randomized again, is statistically the same as the observed reports. The paper
found this difference to be no reliable indicator of the difference that matters, between the original and the estimate.
The figure follows both differences over the steps of Equation 3, on the shapes of Figure 2.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

from scumble.charts import Chart, Panel, Point, Series
from scumble.mining.reconstruction.iteration import STOP_CONFIDENCE, reconstruct_shares
from scumble.mining.reconstruction.smoothing import FEWEST_EXPECTED
from scumble.model.counts import Floats
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.figures import Row, paper_claim
from scumble.reproductions.perturbation.shapes import FIGURE_2_RANDOMIZERS, SHAPES, PerturbedShape, perturbed_shapes

POINTS = 10_000
STEPS = tuple(sorted({round(10 ** (place / 6)) for place in range(25)}))
"""1 to 10,000, six to a power of ten."""
SEED = 2000
APART = 2.0
"""How many times as far from the original one accepted estimate must be as another, to call the test unreliable."""
ORIGINAL, OBSERVED = "estimate and original", "randomized again and observed"
NOTES = (
    f"{POINTS:,} points. Accepted: a chi-square test at {STOP_CONFIDENCE:.0%} finds no difference from the observed.",
    "The paper's own rule, which compares successive estimates, stops at about the same distance here.",
)


def steps(each: PerturbedShape, numbers: Sequence[int] = STEPS) -> list[Row]:
    """Both distances after each of these numbers of steps, and whether the chi-square test accepts the estimate."""
    points = float(each.observed.sum())
    rows, shares, done = [], None, 0
    for number in numbers:
        shares = reconstruct_shares(
            each.observed, each.part.kernel, stop_share=0.0, most=number - done, start=shares
        ).shares
        done = number
        implied = each.part.kernel @ shares
        rows.append(
            {
                "shape": each.shape,
                "noise": each.noise,
                "steps": number,
                ORIGINAL: _distance(shares, each.original / points),
                OBSERVED: _distance(implied, each.observed / points),
                "accepted": _accepted(each.observed.astype(np.float64), points * implied),
            }
        )
    return rows


def _distance(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).sum() / 2)


def _accepted(counts: Floats, expected: Floats) -> bool:
    enough = expected >= FEWEST_EXPECTED
    statistic = ((counts - expected)[enough] ** 2 / expected[enough]).sum()
    return bool(statistic <= chi2.ppf(STOP_CONFIDENCE, max(int(enough.sum()) - 1, 1)))


def stopping_figure(request: Request) -> Figure:
    """Both distances over the number of steps, for both shapes and both kinds of noise."""
    rows: list[Row] = []
    papers: dict[tuple[str, str], float] = {}
    for done, each in enumerate(perturbed_shapes(POINTS, SEED), start=1):
        rows += steps(each)
        stopped = reconstruct_shares(each.observed, each.part.kernel).shares
        papers[each.shape, each.noise] = _distance(stopped, each.original / POINTS)
        request.progress("shapes", done, len(SHAPES) * len(FIGURE_2_RANDOMIZERS))
    panels = tuple(
        Panel(
            title=f"{shape}, {noise}",
            x_label="steps, as a power of ten",
            y_label="total variation distance",
            series=tuple(
                Series(
                    label=name,
                    points=tuple(
                        Point(x=float(np.log10(row["steps"])), y=row[name]) for row in _of(rows, shape, noise)
                    ),
                )
                for name in (ORIGINAL, OBSERVED)
            ),
            from_zero=True,
        )
        for shape in SHAPES
        for noise in FIGURE_2_RANDOMIZERS
    )
    title = "SIGMOD 2000, section 3: comparing with the observed reports is no reliable stop"
    return Figure(
        title=title,
        rows=rows,
        claims=tuple(stopping_claims(rows, papers)),
        chart=Chart(title=title, panels=panels),
        notes=NOTES,
    )


def stopping_claims(rows: Sequence[Row], papers: dict[tuple[str, str], float]) -> list[Claim]:
    """Accepted estimates differ in their distance to the original: within a setting, and between settings."""
    claims, firsts = [], []
    for (shape, noise), by_rule in papers.items():
        accepted = [row for row in _of(rows, shape, noise) if row["accepted"]]
        if not accepted:
            continue
        firsts.append(accepted[0][ORIGINAL])
        low, high = min(row[ORIGINAL] for row in accepted), max(row[ORIGINAL] for row in accepted)
        last, best = accepted[-1], min(accepted, key=lambda row: float(row[ORIGINAL]))
        claims.append(
            paper_claim(
                text=f"{shape}, {noise}: accepted estimates are near the original or far from it, and later ones fit "
                "the observed better",
                measured=f"distances {low:.3f} to {high:.3f}",
                holds=high >= APART * low and last[OBSERVED] <= best[OBSERVED],
            )
        )
        claims.append(
            Claim(
                text=f"{shape}, {noise}: distance at the first accepted estimate, and by the paper's rule",
                paper="",
                ours=f"{accepted[0][ORIGINAL]:.3f} and {by_rule:.3f}",
            )
        )
    text = "equally accepted estimates of the four settings are not equally near the original"
    measured = f"first accepted: {min(firsts):.3f} to {max(firsts):.3f}" if firsts else "none accepted"
    holds = bool(firsts) and max(firsts) >= APART * min(firsts)
    return [*claims, paper_claim(text=text, measured=measured, holds=holds)]


def _of(rows: Sequence[Row], shape: str, noise: str) -> list[Row]:
    return [row for row in rows if (row["shape"], row["noise"]) == (shape, noise)]
