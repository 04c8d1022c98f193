"""A limit of interval privacy: noise on correlated attributes can be filtered out.

Kargupta, Datta, Wang & Sivakumar (2003) observed that independent noise spreads evenly over all directions, while
correlated records lie near a few of them. An adversary subtracts the known covariance of the noise from that of the
published table and computes the best linear estimate of every record (Huang, Du & Chen 2005). The attack only uses the
published table and its noise model.
"""

from decimal import Decimal

import numpy as np

from scumble.charts import Chart, Panel, Point, Series
from scumble.model.counts import Floats
from scumble.model.grid import Grid
from scumble.model.local.channel import AdditiveChannel
from scumble.model.local.noise_model import for_privacy
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.schema import Attribute, Outside, Schema
from scumble.privacy.noise import SimulatedWords, Simulation, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.figures import NOISES, Row, published_matrix

PEOPLE = 20_000
CORRELATIONS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)
NUMBERS = (1, 2, 5, 10, 20, 50)
USUAL_CORRELATION, USUAL_NUMBER = 0.95, 10
RANGE, MIDDLE, SPREAD = 100, 50.0, 15.0
CONFIDENCE = 0.95
SEED = 2003
GUESSES = ("the published value", "the mean of all", "filtered alone", "filtered together")
JUDGED = ((10, 0.0), (10, 0.5), (10, 0.95), (50, 0.95))
"""The numbers of attributes and correlations for which a claim is printed."""
NOTES = (
    f"{PEOPLE:,} synthetic people; measures are normal with a standard deviation of {SPREAD:g} on a range of {RANGE}.",
    "Interval privacy concerns a single perturbed value. An adversary with the whole table can estimate correlations.",
)


def schema(number: int) -> Schema:
    grid = Grid.regular(low=Decimal(0), high=Decimal(RANGE), step=Decimal("0.1"))
    return Schema(
        attributes=tuple(
            Attribute(name=f"measure {place + 1}", domain=grid, outside=Outside.CLAMP) for place in range(number)
        )
    )


def correlated(number: int, correlation: float, people: int, draw: Simulation) -> Floats:
    """Normal measures with the same correlation between any two, such as one quantity measured on several days."""
    common = draw.normal(size=(people, 1))
    own = draw.normal(size=(people, number))
    values = MIDDLE + SPREAD * (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own)
    return np.clip(values, 0, RANGE - 0.1)


def filtered(published: Floats, variances: Floats) -> Floats:
    """The best linear estimate of every true record: mean + C (C + N)^-1 (record - mean).

    N is the covariance of the noise and C + N that of the published table.
    """
    mean = published.mean(axis=0)
    whole = np.atleast_2d(np.cov(published, rowvar=False))
    values, directions = np.linalg.eigh(whole - np.diag(variances))
    true = directions @ np.diag(np.maximum(values, 0.0)) @ directions.T
    return mean + (published - mean) @ np.linalg.solve(whole, true)


def noise_variance(randomized: RandomizedAttribute) -> float:
    """The variance of the noise that the model describes, in the attribute's unit."""
    channel, grid = randomized.channel, randomized.attribute.domain
    assert isinstance(channel, AdditiveChannel) and isinstance(grid, Grid) and grid.step is not None
    weights = channel.weights / channel.weights.sum()
    steps = np.arange(len(weights)) - channel.reach
    return float((weights * steps**2).sum()) * (float(grid.step) / channel.refine) ** 2


def widths(noise: str, number: int, correlation: float, *, people: int = PEOPLE, seed: int = SEED) -> Row:
    """The width of the interval around each estimate that contains 95 % of the true values, as a share of the range."""
    draw = simulation(seed)
    model = for_privacy(schema(number), privacy="100%", noise=noise)
    true = correlated(number, correlation, people, draw)
    names = model.reported
    cells = {name: np.floor(true[:, place] * 10 + 1e-9).astype(np.int64) for place, name in enumerate(names)}
    reports = perturb_block(model, cells, words=SimulatedWords(draw))
    published = published_matrix(model, reports, names)
    variances = np.array([noise_variance(model[name]) for name in names])
    alone = np.column_stack([filtered(published[:, [place]], variances[[place]]) for place in range(number)])
    average = np.broadcast_to(published.mean(axis=0), published.shape)
    guesses = zip(GUESSES, (published, average, alone, filtered(published, variances)), strict=True)
    found = {name: 2 * float(np.quantile(np.abs(guess - true), CONFIDENCE)) / RANGE for name, guess in guesses}
    return {"noise": noise, "attributes": number, "correlation": correlation, **found}


def filtering_figure(request: Request) -> Figure:
    """How much of the noise of 100 % interval privacy can be filtered out of correlated attributes."""
    settings = [(USUAL_NUMBER, each) for each in CORRELATIONS] + [(each, USUAL_CORRELATION) for each in NUMBERS]
    settings = list(dict.fromkeys(settings))
    rows = []
    for done, (number, correlation) in enumerate(settings, start=1):
        rows += [widths(noise, number, correlation) for noise in NOISES]
        request.progress("filtering", done, len(settings))
    panels = []
    for noise in NOISES:
        here = [row for row in rows if row["noise"] == noise]
        by_correlation = [row for row in here if row["attributes"] == USUAL_NUMBER]
        by_number = [row for row in here if row["correlation"] == USUAL_CORRELATION]
        panels.append(
            _panel(f"{noise}, {USUAL_NUMBER} attributes", "correlation of any two", by_correlation, "correlation")
        )
        panels.append(
            _panel(f"{noise}, correlation {USUAL_CORRELATION:g}", "number of attributes", by_number, "attributes")
        )
    title = "100 % interval privacy after the noise is filtered out"
    return Figure(
        title=title,
        rows=rows,
        claims=tuple(_claim(row) for row in rows if (row["attributes"], row["correlation"]) in JUDGED),
        chart=Chart(title=title, panels=tuple(panels), note="the nominal privacy is 100 %"),
        notes=NOTES,
    )


def _panel(title: str, label: str, rows: list[Row], column: str) -> Panel:
    lines = tuple(
        Series(label=name, points=tuple(Point(x=row[column], y=100 * row[name]) for row in rows)) for name in GUESSES
    )
    y_label = "95 % interval, % of the range"
    return Panel(
        title=title, x_label=label, y_label=y_label, series=lines, from_zero=True, logarithmic=column == "attributes"
    )


def _claim(row: Row) -> Claim:
    setting = f"{row['noise']}, {row['attributes']} attributes, correlation {row['correlation']:g}"
    ours = ", ".join(f"{name} {row[name]:.0%}" for name in GUESSES)
    return Claim(
        text=f"{setting}: width of the 95 % interval", paper="100%", ours=ours, holds=row["filtered together"] >= 1
    )
