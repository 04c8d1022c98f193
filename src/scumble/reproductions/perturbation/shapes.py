"""Figure 2 of Agrawal & Srikant (SIGMOD 2000): two shapes, two kinds of noise, and what reconstruction makes of them.

The paper only draws the shapes. Ours: the plateau rises over the first quarter, is level over the next half, and falls
over the last quarter; the two triangles are side by side, each half as wide as the domain.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from scumble.mining.reconstruction.iteration import IntervalPartition, interval_partition
from scumble.mining.reconstruction.smoothing import Rule, reconstruct_by_rule
from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import Gaussian, Randomizer, Uniform
from scumble.model.schema import Attribute, Outside
from scumble.privacy.noise import SimulatedWords, Simulation, simulation
from scumble.reproductions.figure import Claim
from scumble.reproductions.perturbation.figures import TRAINING, Row, paper_claim

SHAPES = ("plateau", "triangles")
FIGURE_2_RANDOMIZERS: Mapping[str, Randomizer] = {
    "gaussian": Gaussian(sigma=Fraction(1, 4)),
    "uniform": Uniform(half_width=Fraction(4995, 10_000)),
}
FIGURE_2_INTERVALS = 20
DEEPEST_VALLEY = 0.8
"""Two peaks are picked out if the middle is at most this share of the lower one."""
GRID = Grid.regular(low=Decimal(0), high=Decimal(1), step=Decimal("0.001"))


@dataclass(frozen=True, kw_only=True, eq=False)
class PerturbedShape:
    """Points of one shape with one kind of noise, in intervals of 0.05."""

    shape: str
    noise: str
    part: IntervalPartition
    original: Integers
    """True points by interval."""
    observed: Integers
    """Perturbed points by bin; bins extend beyond the domain."""
    lows: Floats
    """The lower edge of each bin."""


def perturbed_shapes(points: int, seed: int | None) -> Iterator[PerturbedShape]:
    """Both shapes with both kinds of noise."""
    draw = simulation(seed)
    attribute = Attribute(name="x", domain=GRID, outside=Outside.CLAMP)
    for shape in SHAPES:
        true = np.minimum((_shape(shape, points, draw) * GRID.cells).astype(np.int64), GRID.cells - 1)
        for noise, randomizer in FIGURE_2_RANDOMIZERS.items():
            randomized = RandomizedAttribute(attribute=attribute, randomizer=randomizer)
            reports = randomized.apply(true, SimulatedWords(draw).draw(b"", (), true))
            part = interval_partition(randomized, FIGURE_2_INTERVALS)
            published = randomized.published.domain
            assert isinstance(published, Grid)
            yield PerturbedShape(
                shape=shape,
                noise=noise,
                part=part,
                original=np.bincount(part.interval_of(true), minlength=part.size),
                observed=part.observe(reports),
                lows=published.edge_floats[part.bins],
            )


def figure_2(*, points: int = TRAINING, seed: int | None = None, rule: Rule = Rule.SMOOTHED) -> list[Row]:
    """Original, randomized and reconstructed points in intervals of 0.05 that extend beyond [0, 1)."""
    rows = []
    for each in perturbed_shapes(points, seed):
        estimate = reconstruct_by_rule(each.observed, each.part, rule)
        first = int((each.lows < 0.0).sum())
        for place, count in enumerate(each.observed):
            inside = 0 <= place - first < each.part.size
            rows.append(
                {
                    "shape": each.shape,
                    "noise": each.noise,
                    "low": float(each.lows[place]),
                    "original": int(each.original[place - first]) if inside else 0,
                    "randomized": int(count),
                    "reconstructed": float(estimate[place - first] * points) if inside else 0.0,
                }
            )
    return rows


def _shape(shape: str, points: int, draw: Simulation) -> Floats:
    if shape == "plateau":
        return draw.uniform(0, 0.75, points) + draw.uniform(0, 0.25, points)
    return 0.5 * draw.integers(0, 2, points) + draw.triangular(0, 0.25, 0.5, points)


def figure_2_distances(rows: Sequence[Row]) -> list[Row]:
    """Total variation distance to the original, of the randomized and of the reconstructed distribution."""
    result = []
    for shape in SHAPES:
        for noise in FIGURE_2_RANDOMIZERS:
            here = [row for row in rows if row["shape"] == shape and row["noise"] == noise]
            total = sum(row["original"] for row in here)
            distance = {
                kind: sum(abs(row[kind] - row["original"]) for row in here) / (2 * total)
                for kind in ("randomized", "reconstructed")
            }
            result.append({"shape": shape, "noise": noise, **distance})
    return result


def figure_2_claims(rows: Sequence[Row]) -> list[Claim]:
    return [*_distance_claims(rows), *_peak_claims(rows)]


def _peak_claims(rows: Sequence[Row]) -> list[Claim]:
    """The triangles as a reader of the plot judges them: a peak in each half, at its place, and a valley between."""
    claims = []
    for noise in FIGURE_2_RANDOMIZERS:
        inside = [r for r in rows if (r["shape"], r["noise"]) == ("triangles", noise) and -0.01 < r["low"] < 0.99]
        peaks, valley = {}, {}
        for kind in ("original", "randomized", "reconstructed"):
            counts = np.array([row[kind] for row in inside])
            half = len(counts) // 2
            peaks[kind] = np.array([counts[:half].argmax(), half + counts[half:].argmax()])
            middle = counts[half - 2 : half + 2].mean()
            valley[kind] = float(middle / min(counts[:half].max(), counts[half:].max()))
        placed = bool((np.abs(peaks["reconstructed"] - peaks["original"]) <= 1).all())
        claims.append(
            paper_claim(
                text=f"Two peaks are picked out, each within an interval of its place: triangles, {noise} noise",
                measured=", ".join(f"{kind} valley {each:.2f} of the peak" for kind, each in valley.items()),
                holds=placed and valley["reconstructed"] <= DEEPEST_VALLEY < valley["randomized"],
            )
        )
    return claims


def _distance_claims(rows: Sequence[Row]) -> list[Claim]:
    return [
        paper_claim(
            text=f"The original shape is picked out: {row['shape']}, {row['noise']} noise",
            measured=f"distance {row['reconstructed']:.3f}, randomized {row['randomized']:.3f}",
            holds=row["reconstructed"] < 0.05 and row["reconstructed"] < row["randomized"] / 4,
        )
        for row in figure_2_distances(rows)
    ]
