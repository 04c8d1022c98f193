"""The page of `scumble evaluate`, for the data owner: how well a release describes the raw rows.

It shows what the JSON object of the evaluation says. It is computed from raw rows and never written into a release
folder.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from scumble.files.report.svg import box, drawing, line
from scumble.files.report.text import environment, percent

WAYS = {"one_way": "one attribute", "two_way": "two attributes", "three_way": "three attributes"}
WITH_CLASS = "two and the class"
TITLES = {"boosting": "boosting", "tree": "tree", "c45": "C4.5"}
"""The names of the classifiers. Where there is room for one only, the first that was trained is shown."""
MOST_BARS = 6
"""The most bars of a categorical attribute; all other values share the last."""
HEIGHT = 56
"""The height of a histogram in pixels."""
FIRST_ATTRIBUTES = 24
"""The attributes that are shown at once; the others are folded."""
LARGE_MAP = 20
"""A heat map of more attributes gets the width of the page."""
SMALLEST_SCALE = 0.1
"""The smallest difference of associations that gets the full colour."""
CELL, LABEL = 10, 92
"""The width of a cell and of the row labels of a heat map, in units of the drawing."""


def evaluation_page(result: Mapping[str, Any], *, method: str, guarantee: str) -> str:
    """An evaluation with all details of its fidelity as one self-contained HTML file."""
    fidelity = result["fidelity"]
    return (
        environment()
        .get_template("evaluation.html")
        .render(
            result=result,
            method=method,
            guarantee=guarantee,
            fidelity=fidelity,
            distances=_distances(fidelity),
            classifiers=_classifiers(result),
            shown=shown_classifier((*result, *(name for each in result.get("targets", {}).values() for name in each))),
            titles=TITLES,
            targets=[_target(text, each) for text, each in result.get("targets", {}).items()],
            attributes=[multiple(each) for each in fidelity["attributes"]],
            first=FIRST_ATTRIBUTES,
            maps=heat_maps(fidelity["associations"]),
            large=len(fidelity["associations"]["attributes"]) > LARGE_MAP,
            groups=result.get("by"),
            longest=max([each["one_way"] for each in result.get("by", {}).get("groups", [])], default=0.0) or 1.0,
            bar=_distance_bar,
        )
    )


def shown_classifier(names: Iterable[str]) -> str:
    """The classifier whose accuracy is shown where there is room for one only."""
    known = set(names)
    return next((name for name in TITLES if name in known), "boosting")


class _Distance(NamedTuple):
    """A line of the table of distances."""

    name: str
    mean: float
    links_lost: float | None
    test_rows: float | None
    compared: int
    available: int
    largest: str
    largest_distance: float
    bar: Markup

    @property
    def sampled(self) -> bool:
        return self.compared < self.available


def _distances(fidelity: Mapping[str, Any]) -> list[_Distance]:
    present = [key for key in WAYS if key in fidelity]
    test_rows = fidelity.get("test_rows", {})
    reach = max([each for key in present for each in (fidelity[key]["mean"], fidelity[key]["links_lost"])] + [1e-9])
    lines = []
    for key in present:
        each = fidelity[key]
        lost = each["links_lost"] if key != "one_way" else None
        other = test_rows[key]["mean"] if key in test_rows else None
        lines.append(
            _Distance(
                name=WITH_CLASS if key == "three_way" and fidelity["class"] is not None else WAYS[key],
                mean=each["mean"],
                links_lost=lost,
                test_rows=other,
                compared=each["compared"],
                available=each["available"],
                largest=" × ".join(each["largest"]["attributes"]),
                largest_distance=each["largest"]["distance"],
                bar=_distance_bar(each["mean"] / reach, None if lost is None else lost / reach),
            )
        )
    return lines


def _distance_bar(share: float, tick: float | None = None) -> Markup:
    """A bar, with a tick for what it is compared with."""
    shapes = [box("rail", 0, 1, top=6, height=2), box("t1", 0, min(share, 1.0), top=2, height=10)]
    words = f"{percent(min(share, 1.0))} of the scale"
    if tick is not None:
        shapes.append(line(tick, tick, top=0, bottom=14))
    return drawing(words, *shapes)


class _Classifier(NamedTuple):
    """A line of the table of scores."""

    name: str
    scores: Mapping[str, Any]


def _classifiers(result: Mapping[str, Any]) -> list[_Classifier]:
    """The scores of the class, or none if there is no class or no test rows."""
    found = [_Classifier(f"{title} on the release", result[name]) for name, title in TITLES.items() if name in result]
    raw = result.get("raw", {})
    found += [_Classifier(f"{title} on the raw rows", raw[name]) for name, title in TITLES.items() if name in raw]
    return [*found, _Classifier("always the commonest class", result["commonest"])] if found else []


class _Target(NamedTuple):
    """A line of the table of other attributes as the class."""

    name: str
    classes: int
    accuracy: float
    balanced: float
    raw: float | None
    commonest: float


def _target(text: str, each: Mapping[str, Any]) -> _Target:
    best = shown_classifier(each)
    return _Target(
        name=each["predicted"] or text,
        classes=len(each["classes"]),
        accuracy=each[best]["accuracy"],
        balanced=each[best]["balanced_accuracy"],
        raw=each["raw"][best]["accuracy"] if "raw" in each else None,
        commonest=each["commonest"]["accuracy"],
    )


class Multiple(NamedTuple):
    """An attribute before and after: its bars or its histogram."""

    name: str
    distance: float
    bars: list[tuple[str, float, float, Markup]]
    """Of categories: label, true share, published share, drawing."""
    histogram: Markup | None
    ends: tuple[str, str] | None
    missing: tuple[str, float, float] | None


def multiple(attribute: Mapping[str, Any]) -> Multiple:
    """The distribution of an attribute in the raw rows and in the published table."""
    values = list(zip(attribute["values"], attribute["true"], attribute["released"], strict=True))
    if attribute["kind"] != "number":
        ordered = sorted(values, key=lambda each: -each[1])
        shown = ordered if len(ordered) <= MOST_BARS else ordered[: MOST_BARS - 1]
        rest = ordered[len(shown) :]
        if rest:
            shown.append((f"{len(rest):,} other values", sum(each[1] for each in rest), sum(each[2] for each in rest)))
        longest = max([share for _, true, released in shown for share in (true, released)] + [1e-9])
        bars = [(label, true, released, _pair(label, true, released, longest)) for label, true, released in shown]
        return Multiple(attribute["name"], attribute["distance_in_bins"], bars, None, None, None)
    missing = values.pop() if attribute["missing"] is not None and values[-1][0] == attribute["missing"] else None
    low, high = values[0][0].strip("[").split(",")[0], values[-1][0].split(",")[-1].split(")")[0]
    return Multiple(attribute["name"], attribute["distance_in_bins"], [], _histogram(values), (low, high), missing)


def _pair(label: str, true: float, released: float, longest: float) -> Markup:
    """Two bars: the true share above the published one."""
    words = f"{label}: true {percent(true)}, released {percent(released)}"
    return drawing(
        words,
        box("true", 0, true / longest, top=0, height=6),
        box("t1", 0, released / longest, top=7, height=6),
    )


def _histogram(values: Sequence[tuple[str, float, float]]) -> Markup:
    """Columns for the published shares, and a line at the height of the true one above each column."""
    tallest = max([share for _, true, released in values for share in (true, released)] + [1e-9])
    width = 1 / len(values)
    shapes = []
    for place, (_, true, released) in enumerate(values):
        pixels, level = round(HEIGHT * released / tallest), round(HEIGHT * (1 - true / tallest))
        shapes.append(box("t1", place * width, 0.92 * width, top=HEIGHT - pixels, height=pixels))
        shapes.append(line(place * width, (place + 0.92) * width, top=level, bottom=level))
    words = "; ".join(
        f"{label}: true {percent(true)}, released {percent(released)}" for label, true, released in values
    )
    return drawing(words, *shapes)


class HeatMap(NamedTuple):
    """A matrix of associations, drawn, with a caption."""

    title: str
    caption: str
    drawing: Markup


def heat_maps(found: Mapping[str, Any]) -> list[HeatMap]:
    """The associations of all pairs: true, released, and released minus true."""
    names, true, released = found["attributes"], found["true"], found["released"]
    pairs = range(len(names))
    difference = [[released[one][other] - true[one][other] for other in pairs] for one in pairs]
    scale = max([abs(each) for row in difference for each in row] + [SMALLEST_SCALE])
    return [
        HeatMap("true", "from 0 (no colour) to 1", _heat_map("true", names, true, 1.0)),
        HeatMap("released", "from 0 (no colour) to 1", _heat_map("released", names, released, 1.0)),
        HeatMap(
            "released minus true",
            f"blue: lost, red: invented; full colour at ±{scale:.2f}",
            _heat_map("difference", names, difference, scale),
        ),
    ]


def _heat_map(title: str, names: Sequence[str], matrix: Sequence[Sequence[float]], scale: float) -> Markup:
    cells = []
    for row, name in enumerate(names):
        top = CELL * (row + 1)
        cells.append(f'<text x="{LABEL - 4}" y="{top + 7.5}" text-anchor="end">{escape(_short(name))} {row + 1}</text>')
        cells.append(f'<text x="{LABEL + CELL * row + 5}" y="7.5" class="column">{row + 1}</text>')
        for column, other in enumerate(names):
            value = matrix[row][column]
            style = "rail" if row == column else "strong" if value >= 0 else "weak"
            style = "v" if style == "strong" and title != "difference" else style
            opacity = 1.0 if row == column else round(min(abs(value) / scale, 1.0) ** 0.5, 3)
            words = f"{name} × {other}: {value:.2f}"
            place = f'x="{LABEL + CELL * column}" y="{top}" width="{CELL - 1}" height="{CELL - 1}"'
            cells.append(
                f'<rect class="{style}" fill-opacity="{opacity}" {place}><title>{escape(words)}</title></rect>'
            )
    side = CELL * (len(names) + 1)
    label = f"Associations of {len(names)} attributes: {title}"
    return Markup(
        f'<svg class="map" role="img" aria-label="{escape(label)}" viewBox="0 0 {LABEL + side - CELL} {side}">'
        f"{''.join(cells)}</svg>"
    )


def _short(name: str, most: int = 16) -> str:
    """
    >>> _short("education"), _short("a very long attribute name")
    ('education', 'a very long att…')
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"
