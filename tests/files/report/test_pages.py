"""The report and the miner's page: well formed, self-contained, escaped, right in their numbers, and runnable."""

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from report_pages import CODE_BLOCK, EXPECTED_TAGS, HOSTILE, RECEIPT, Page, attribute, code_blocks, flat

from scumble.engines.coding import coder
from scumble.files.release_folder import write_release
from scumble.files.report.pages import miners_page, report_page
from scumble.files.report.text import markdown_code, markdown_text
from scumble.model.counts import Integers
from scumble.model.cut import Cut, Specialization
from scumble.model.grid import Grid
from scumble.model.guarantee import PureDP, Unit
from scumble.model.plan import Plan, Spend
from scumble.model.release import CellRelease
from scumble.model.rounding import Rounding
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Tree


def release_of(
    attributes: Sequence[Attribute],
    measured: Integers,
    *,
    target: str | None = "class",
    epsilon: Fraction = Fraction(1),
    unit: Unit = Unit.ADD_REMOVE,
    resolution: int = 1,
    variance: float = 8.0,
    rounding: Rounding = Rounding.PROJECT,
    story: tuple[str, ...] = (),
) -> CellRelease:
    half = epsilon / 2
    choose = Spend(label="choose", epsilon=half / 3, times=3, purpose="a `score` & more")
    spends = (choose, Spend(label="count", epsilon=half, purpose="noise"))
    rows = 987_654 if unit is Unit.REPLACE else None
    return CellRelease(
        method="some-method",
        parameters={"epsilon": str(epsilon), "rounds": 3},
        plan=Plan(guarantee=PureDP(epsilon=epsilon, unit=unit), spends=spends, cells_at_most=100, notes=("A `note`.",)),
        schema=Schema(attributes=tuple(attributes), target=target, unit=unit, rows=rows),
        measured=measured,
        resolution=resolution,
        variance=variance,
        rounding=rounding,
        count=rounding.apply(measured, resolution),
        story=story,
    )


def plain_release() -> CellRelease:
    """Intervals, one of them with missing values joined to it, missing values apart, and a truncated taxonomy."""
    jobs = {"Any": {"Office": {"Clerk": None, "Boss": None}, "Field": {"Farmer": None, "Miner": None}, "?": None}}
    raw = Schema(
        attributes=(
            attribute("age", Grid.regular(low=Decimal(15), high=Decimal(95), step=Decimal(5), missing="?"), "?"),
            attribute("job", Tree.nested(jobs), "?"),
            attribute("wealth", Grid.regular(low=Decimal(0), high=Decimal(1), step=Decimal("0.25"), missing="?"), "?"),
            flat("town", ["A", "B", "NA"]),
            flat("class", ["no", "yes"]),
        ),
        target="class",
    )
    cut = Cut.top(raw)
    for name, position in (("age", 4), ("job", 0), ("wealth", 4), ("wealth", 2), ("town", 0)):
        node = cut.nodes[name][0]
        children = raw[name].domain.split(node, position)
        cut = cut.specialize(Specialization(attribute=name, node=node, children=children))
    entries = np.arange(2 * cut.cells).reshape(cut.cells, 2)
    measured = 5000 // (1 + 37 * entries % entries.size) ** 2 + 13 * entries % 9 - 4
    return release_of(cut.published_schema().attributes, measured, story=("age: [15,95) -> two | halves",))


def hostile_release() -> CellRelease:
    first, second, third, fourth = HOSTILE
    attributes = [flat(first, HOSTILE), flat(second, [third, "a,b"]), flat(third, [first]), flat(fourth, HOSTILE[:2])]
    measured = np.arange(16).reshape(8, 2) * 10 - 20
    return release_of(attributes, measured, target=fourth, story=HOSTILE)


def one_predictor(
    cells: int, classes: Sequence[str], measured: Integers | None = None, **options: object
) -> CellRelease:
    attributes = [flat("x", [f"x{k}" for k in range(cells)]), flat("class", classes)]
    if measured is None:
        measured = np.arange(cells * len(classes)).reshape(cells, len(classes))
    return release_of(attributes, measured, **options)  # type: ignore[arg-type]


def degenerate_releases() -> dict[str, CellRelease]:
    many = [f"class {k}" for k in range(40)]
    missing = Grid(edges=(Decimal(0), Decimal(1), Decimal(2)), missing="n/a")
    values = [flat("x", [f"x{k}" for k in range(500)]), flat("class", ["a"])]
    return {
        "one cell": one_predictor(1, ["a", "b"]),
        "one cell, one class": one_predictor(1, ["a"]),
        "all zero": one_predictor(3, ["a", "b"], np.zeros((3, 2), dtype=np.int64)),
        "all negative": one_predictor(3, ["a", "b"], np.full((3, 2), -9)),
        "three classes": one_predictor(4, ["a", "b", "c"]),
        "six classes": one_predictor(4, list("abcdef")),
        "forty classes": one_predictor(30, many),
        "empty labels": release_of([flat("x", ["", "y"]), flat("class", ["", "b"])], np.ones((2, 2), dtype=np.int64)),
        "no target": release_of([flat("x", ["a", "b"])], np.array([[5], [7]]), target=None),
        "missing values": release_of([attribute("x", missing, "n/a"), flat("class", ["a"])], np.array([[5], [7], [1]])),
        "no noise": one_predictor(3, ["a", "b"], variance=0.0),
        "no story, huge epsilon": one_predictor(2, ["a"], epsilon=Fraction(1000)),
        "tiny epsilon": one_predictor(2, ["a"], epsilon=Fraction(1, 10**9), variance=8e18),
        "replace": one_predictor(2, ["a", "b"], unit=Unit.REPLACE),
        "fractions of rows": one_predictor(5, ["a", "b"], resolution=1024, rounding=Rounding.NEAREST),
        "many values": release_of(values, np.arange(500).reshape(500, 1)),
    }


DEGENERATE = degenerate_releases()
EVERY = {"plain": plain_release(), "hostile": hostile_release(), **DEGENERATE}
every_release = pytest.mark.parametrize("release", EVERY.values(), ids=EVERY.keys())
every_tame_release = pytest.mark.parametrize("release", DEGENERATE.values(), ids=DEGENERATE.keys())


@every_release
def test_the_report_is_well_formed_and_accessible(release: CellRelease) -> None:
    page = Page(report_page(release, RECEIPT))
    tags = [tag for tag, _ in page.tags]
    assert set(tags) <= EXPECTED_TAGS
    assert tags.count("h1") == 1 and tags.count("main") == 1
    assert tags.index("h1") < tags.index("h2")
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true" or (attributes["role"] == "img" and attributes["aria-label"])
        if tag == "th":
            assert attributes["scope"] in {"row", "col"}
        if tag == "rect":
            assert all(0 <= float((attributes.get(side) or "0").rstrip("%")) <= 100.01 for side in ("x", "width"))


@every_release
def test_the_guarantee_comes_first(release: CellRelease) -> None:
    sentence = release.plan.guarantee.sentence
    html, markdown = report_page(release, RECEIPT), miners_page(release, "table.csv")
    assert sentence in html.splitlines()[0]
    assert sentence in markdown.splitlines()[0]
    body = Page(html[html.index("<body>") : html.index("</h1>") + 5] + "</header></body>")
    assert body.text.endswith(sentence) and len(body.text) < len(sentence) + 40


@every_tame_release
def test_the_report_loads_and_runs_nothing(release: CellRelease) -> None:
    html = report_page(release, RECEIPT)
    for reference in ("http:", "https:", "src=", "href", "@import", "url(", "<script", "<link", "javascript", " on"):
        found = re.search(re.escape(reference) + (r"\w+=" if reference == " on" else ""), html)
        assert found is None, reference


@every_release
def test_pages_are_repeatable_and_leave_the_release_alone(release: CellRelease) -> None:
    before = release.count.copy(), release.measured.copy()
    first = report_page(release, RECEIPT), miners_page(release, "table.csv")
    assert (report_page(release, RECEIPT), miners_page(release, "table.csv")) == first
    assert np.array_equal(release.count, before[0]) and np.array_equal(release.measured, before[1])


@every_tame_release
def test_nothing_is_left_of_the_templates(release: CellRelease) -> None:
    prose = re.sub(CODE_BLOCK, "", miners_page(release, "counts.csv"))
    for page in (Page(report_page(release, {})).text, prose):
        for trace in ("{%", "{{", "None", "nan", "inf ", "Undefined", "object at 0x"):
            assert trace not in page


def test_hostile_labels_are_text() -> None:
    release = hostile_release()
    page = Page(report_page(release, {**RECEIPT, "entry": HOSTILE[0]}))
    assert not {tag for tag, _ in page.tags} - EXPECTED_TAGS
    for label in HOSTILE:
        assert page.text.count(label) >= 3, "the label stands there as it is, in the domain, the story and a cell"
    # Every hostile name in the Markdown is within a code span or a block of code, where HTML means nothing.
    markdown = miners_page(release, "table.csv")
    prose = re.sub(CODE_BLOCK, "", markdown)
    prose = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", prose)
    assert "<" not in prose and "*star*" not in prose
    assert len(re.findall(r"(?m)^\s*```", markdown)) == 2 * len(code_blocks(markdown)) == 6


def test_markdown_spans_hold_anything() -> None:
    assert markdown_code("`a` ``b") == "``` `a` ``b ```"
    assert markdown_code("line\nbreak") == "`line break`"
    assert markdown_code("") == "` `"
    assert markdown_text("<b> *x* _y_ [z](w) `v` & #1 \\") == r"\<b\> \*x\* \_y\_ \[z\](w) \`v\` \& \#1 \\"


@pytest.mark.parametrize(
    ("epsilon", "highest", "factor"),
    [("1", "73.1 %", "2.72"), ("0.1", "52.5 %", "1.11"), ("3", "95.3 %", "20.1"), ("20", "> 99.9 %", "10^8")],
)
def test_what_epsilon_means(epsilon: str, highest: str, factor: str) -> None:
    text = Page(report_page(one_predictor(2, ["a"], epsilon=Fraction(epsilon)), {})).text
    assert f"{highest} a 50 % suspicion can rise to" in text or f"a 50 % suspicion can rise to{highest}" in text
    assert f"at most {factor} times as likely" in text


def test_suspicions_stay_within_a_factor_of_the_odds() -> None:
    text = Page(report_page(one_predictor(2, ["a"], epsilon=Fraction(1)), {})).text
    for prior in (0.01, 0.1, 0.5, 0.9):
        odds = prior / (1 - prior)
        low, high = (100 * moved / (1 + moved) for moved in (odds / math.e, odds * math.e))
        assert re.search(rf"{100 * prior:g} ?% ?{low:.1f} ?% ?{high:.1f} ?%", text), prior


def test_the_account_is_shown_and_the_dataset_is_not() -> None:
    text = Page(report_page(one_predictor(2, ["a"]), {**RECEIPT, "dataset": "patients-of-ward-7"})).text
    assert RECEIPT["entry"] in text and "have spent 1.5 of at most 3" in text
    assert "81.8 %" in text, "e^1.5 / (1 + e^1.5)"
    assert "ward" not in text
    assert "ledger charged" not in Page(report_page(one_predictor(2, ["a"]), {})).text


def test_totals_come_from_the_signed_measurements() -> None:
    measured = np.array([[4096, -300], [-1024, 2048], [512, 0]])
    text = Page(report_page(one_predictor(3, ["a", "b"], measured, resolution=1024, variance=3.0), RECEIPT)).text
    one, every = 1.96 * math.sqrt(3 * 3.0), 1.96 * math.sqrt(6 * 3.0)
    for total, either_side in ((3.5, one), (1748 / 1024, one), (3.5 + 1748 / 1024, every)):
        low, high = (f"{round(end)}".replace("-", "−") for end in (total - either_side, total + either_side))
        assert f"{low} to {high}" in text


def test_the_share_of_clear_cells_against_a_readable_twin() -> None:
    release = plain_release()
    rows = cells = 0
    for cell in release.count.tolist():
        if sum(cell) > 2 * math.sqrt(release.variance * len(cell)):
            rows += sum(cell)
            cells += 1
    share = f"{100 * rows / release.count.sum():.1f}".removesuffix(".0")
    share_of_cells = f"{100 * cells / len(release.count):.1f}".removesuffix(".0")
    text = Page(report_page(release, RECEIPT)).text
    assert f"Of the published rows, {share} % lie in cells larger" in text
    assert f"which are {share_of_cells} % of the cells" in text


def test_the_largest_cells_are_the_largest() -> None:
    release = plain_release()
    sizes = sorted(release.count.sum(axis=1).tolist(), reverse=True)
    html = report_page(release, RECEIPT)
    plot = html[html.index('<ol class="cells">') : html.index("</ol>", html.index('<ol class="cells">'))]
    assert re.findall(r"<b>([\d,]+)</b>", plot) == [f"{size:,}" for size in sizes[:12] if size > 0]


def test_classes_without_a_colour_share_one() -> None:
    release = DEGENERATE["forty classes"]
    html = report_page(release, RECEIPT)
    label = re.search(r'aria-label="(class 35 [^"]*)"', html)
    assert label is not None
    counts = [int(part.split()[-1].replace(",", "")) for part in label[1].split(", ")]
    assert len(counts) == 6 and sum(counts) == release.count.sum(axis=1).max()


def test_long_lists_are_folded_and_cut() -> None:
    html = report_page(DEGENERATE["many values"], RECEIPT)
    assert "<details>" in html and "x119<" in html and "x120<" not in html and "380 more" in html


def test_a_public_number_of_rows_is_not_repeated() -> None:
    release = DEGENERATE["replace"]
    html, markdown = report_page(release, RECEIPT), miners_page(release, "table.csv")
    assert "number of rows is public" in html
    assert not re.search("987.?654", html + markdown)


RAW = {
    "age": ["15", "34.5", "35", "94", "2", "200", "", "?"],
    "job": ["Clerk", "Boss", "Farmer", "Miner", "?", "", "Office", "Clerk"],
    "wealth": ["0", "0.25", "0.5", "0.75", "?", "", "0.4999", "1"],
    "town": ["A", "B", "NA", "A", "B", "NA", "A", "B"],
}
GENERALIZE_RAW = f"""
rows = generalize(pd.DataFrame({RAW!r}))
assert set(model.predict(rows)) <= {{"no", "yes"}}
for row in rows.itertuples(index=False):
    print(*row, sep="\\t")
"""
MINED = {"plain": True, "hostile": False, "all zero": True, "no target": True}
"""Releases whose README is run, and whether they have a table.csv."""


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], list[str]]]:
    """The code of each README, and what it prints when run in its folder: one process for all, no warning let pass."""
    scripts = {}
    for name, table in MINED.items():
        folder = tmp_path_factory.mktemp("release")
        write_release(EVERY[name], folder, RECEIPT, table=table)
        scripts[name] = (folder, code_blocks((folder / "README.md").read_text("utf-8")))
    program = "import os, sys\n"
    for name, (folder, blocks) in scripts.items():
        code = "".join(blocks) + (GENERALIZE_RAW if name == "plain" else "")
        program += f"os.chdir({str(folder)!r})\nexec(compile({code!r}, {name!r}, 'exec'), {{}})\nprint('end')\n"
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    outputs = [part.splitlines() for part in done.stdout.split("end\n")]
    return {name: (blocks, outputs[k]) for k, (name, (_, blocks)) in enumerate(scripts.items())}


def test_the_miners_code_runs_in_the_folder(mined: dict[str, tuple[list[str], list[str]]]) -> None:
    release, (blocks, output) = EVERY["plain"], mined["plain"]
    assert len(blocks[0].splitlines()) == 16
    agreement = re.fullmatch(r"agrees with ([\d.]+)% of the published rows", output[0])
    majority = 100 * release.count.sum(axis=0).max() / release.count.sum()
    assert agreement is not None and majority - 0.1 <= float(agreement[1]) <= 100
    group = release.measured.reshape(2, -1)[0]
    error = math.sqrt(release.variance * len(group))
    assert output[1] == f"{group.sum():,} people, standard error {error:,.1f} from the noise"


def test_the_miners_code_generalizes_as_we_do(mined: dict[str, tuple[list[str], list[str]]]) -> None:
    expected = []
    for each in EVERY["plain"].schema.predictors:
        codes = coder(each)(pa.array(RAW[each.name])).codes
        if each.name == "job":
            codes[RAW["job"].index("Office")] = 0  # the snippet also reads the names of groups
        expected.append([each.domain.labels[code] for code in codes])
    found = [line.split("\t") for line in mined["plain"][1][2:]]
    assert found == [list(row) for row in zip(*expected, strict=True)]


def test_the_miners_code_runs_whatever_the_names_are(mined: dict[str, tuple[list[str], list[str]]]) -> None:
    blocks, output = mined["hostile"]
    assert len(blocks) == 3 and 'read_csv("counts.csv"' in blocks[0]
    assert output[0].startswith("agrees with ")
    assert output[1].startswith(f"{EVERY['hostile'].measured[:2].sum():,} people")


@pytest.mark.parametrize("name", ["all zero", "no target"])
def test_where_nothing_can_be_trained_sums_still_run(mined: dict[str, tuple[list[str], list[str]]], name: str) -> None:
    blocks, output = mined[name]
    assert "sklearn" not in "".join(blocks)
    assert output[0].startswith(f"{EVERY[name].measured[0].sum():,} people")
