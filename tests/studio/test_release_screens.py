"""The Release and Compare screens: the price of every round, and the margins of releases side by side."""

import time
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from threading import Event
from zipfile import ZipFile

import pyarrow as pa
import pytest
from command_line import SCHEMA, people
from studio_client import StudioClient

from scumble.files.schema_file import parse_schema
from scumble.flows.query import query
from scumble.flows.release import release
from scumble.model.guarantee import PureDP, Unit
from scumble.model.plan import Plan
from scumble.model.spend import Spend
from scumble.studio import views
from scumble.studio.projects import Workspace
from scumble.studio.rounds import Round, rounds_of
from scumble.studio.table_margins import table_margins
from scumble.studio.views import release_view

SCREEN = "/projects/people-project"


def planned(*spends: tuple[str, str, int]) -> Plan:
    made = tuple(Spend(label=label, epsilon=Fraction(price), times=times, purpose="") for label, price, times in spends)
    total = sum((spend.epsilon * spend.times for spend in made), Fraction(0))
    return Plan(guarantee=PureDP(epsilon=total, unit=Unit.ADD_REMOVE), spends=made, cells_at_most=8)


def test_each_round_has_the_price_of_its_choice() -> None:
    plan = planned(("choose a split", "1/8", 3), ("count the cells", "1/2", 1), ("count age by class", "0.1", 1))
    steps, unused = rounds_of(plan, ["age: Any -> a | b", "job: Any -> c | d", "age by class, in 4 bins", "a remark"])
    assert steps == [
        Round("age: Any -> a | b", "choose a split", "0.125"),
        Round("job: Any -> c | d", "choose a split", "0.125"),
        Round("age by class, in 4 bins", "count age by class", "0.1"),
        Round("a remark", "", ""),
    ]
    assert unused == ["choose a split: 3 choices were paid, 2 changed the release"]


def test_no_price_is_guessed() -> None:
    """Two prices for three choices, of which one was made: nobody can say which paid for it."""
    plan = planned(("choose a combination", "0.2", 1), ("choose a further combination", "0.1", 2))
    line = "sex and ward together by class, in 8 combinations of bins"
    assert rounds_of(plan, [line]).steps == [Round(line, "", "")]
    assert [step.price for step in rounds_of(plan, [line] * 3).steps] == ["0.2", "0.1", "0.1"]
    assert rounds_of(plan, ["age: Any -> a | b"]).steps[0].price == "", "no such spend was planned"


def test_margins_of_a_table_are_its_shares() -> None:
    schema = parse_schema(SCHEMA)
    rows = pa.table({"age": [5, 15, 15, None], "job": ["Dancer", "Dancer", "Lawyer", "Dancer"], "count": [1, 2, 3, 4]})
    age, job = table_margins(rows, schema, counts=True)
    assert {band.label: band.share for band in job.bands} == pytest.approx({"Dancer": 0.7, "Lawyer": 0.3})
    assert [band.label for band in job.bands] == ["Dancer", "Lawyer"], "the largest first"
    assert sum(band.share for band in age.bands) == pytest.approx(0.6), "the missing one is in no column"
    assert (age.ends, age.histogram.count("<rect")) == (("0", "100"), len(age.bands))
    assert [band.share for band in table_margins(rows, schema, counts=False)[1].bands] == [0.75, 0.25]
    assert table_margins(rows.slice(0, 0), schema, counts=True) == []
    one = pa.table({"job": ["Dancer"] * 7, "count": [3, 1, 4, 1, 5, 9, 2]})
    assert table_margins(one, schema, counts=True)[0].bands[0].share == 1, "shares are divided once, after adding up"
    many = pa.table({"job": [f"job {number}" for number in range(20)]})
    (margin,) = table_margins(many, schema, counts=False)
    assert margin.bands[-1].label == "15 other values"
    assert sum(band.share for band in margin.bands) == pytest.approx(1)


@pytest.fixture
def studio(tmp_path: Path) -> StudioClient:
    """A project with a release of cells and one of records."""
    (tmp_path / "people.csv").write_text(people(300), encoding="utf-8")
    client = StudioClient(folder=tmp_path)
    client.post("/", {"data": "people.csv"})
    project = Workspace(folder=tmp_path.resolve()).project("people-project")
    (project.folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    settings = {"cells": {"method": "diffgen", "rounds": 2, "detail": "no"}, "records": {"method": "histograms"}}
    for name, chosen in settings.items():
        release(
            tmp_path / "people.csv",
            schema=project.folder / "schema.yaml",
            epsilon="1/2",
            ledger=tmp_path / f"{name}.db",
            witness=tmp_path / f"{name}-witness.db",
            out=project.folder / name,
            **chosen,
        )
        until = time.monotonic() + 60
        while release_view(project.folder / name) is None:
            assert time.monotonic() < until
    return client


def test_releases_side_by_side_and_their_rounds(studio: StudioClient) -> None:
    shown = studio.get(f"{SCREEN}/compare").text
    table, _, margins = shown.partition('id="margins"')
    assert table.count("<td>0.5</td>") == 2
    assert "<td>diffgen</td>" in table
    assert "<td>histograms</td>" in table
    assert "counts.csv" in table
    for name in ("age", "job", "income"):
        charts = margins.partition(f"<h3>{name}</h3>")[2].partition("</ul>")[0]
        assert charts.count("<li>") == 2, name
        assert charts.count("<svg") >= 2, name
        assert "not shown" not in charts, name
    zipped = ZipFile(BytesIO(studio.get(f"{SCREEN}/releases/cells/zip").body))
    assert zipped.testzip() is None
    folder = studio.folder / "people-project" / "cells"
    assert {name: zipped.read(name) for name in zipped.namelist()} == {
        f"cells/{path.name}": path.read_bytes() for path in folder.iterdir()
    }
    rounds = studio.get(f"{SCREEN}/releases/cells").text.partition("<h2>Rounds</h2>")[2].partition("</table>")[0]
    assert rounds.count('<td class="number">0.125</td><td class="soft">choose a split</td>') == rounds.count("-&gt;")
    assert rounds.count("-&gt;") in (1, 2)


def test_a_question_is_answered_beside_the_page(studio: StudioClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the answer is computed, the page says so and asks again; a wrong question is explained at its field."""
    finish = Event()
    monkeypatch.setattr(views, "query", lambda *words, **options: finish.wait(60) and query(*words, **options))
    address = f"{SCREEN}/releases/cells?where=age+%3C+50&by=income"
    waiting = studio.get(address).text
    assert "The release is being read for the answer" in waiting
    assert f'hx-get="{SCREEN}/releases/cells?where=age' in waiting
    assert '<noscript><meta http-equiv="refresh"' in waiting
    finish.set()
    until = time.monotonic() + 60
    while "95 % interval" not in (shown := studio.get(address).text):
        assert time.monotonic() < until
    assert "being read for the answer" not in shown
    while "wrong" not in (wrong := studio.get(f"{SCREEN}/releases/cells?where=height+%3C+50").text):
        assert time.monotonic() < until
    assert 'id="where-wrong"' in wrong
