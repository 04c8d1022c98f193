"""The verb risk: the patients of the several-owners paper, brute force on random tables, releases of every kind."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from anonymity_twins import entropy_values, groups_by
from hypothesis import given, settings
from hypothesis import strategies as st

import scumble
from scumble.errors import InputError
from scumble.files.report.risk import risk_page
from scumble.files.schema_file import parse_schema
from scumble.flows.risk import RiskTable, risk_of_table

PATIENTS = """\
scumble: schema/1
target: class
attributes:
  job: {taxonomy: {Any_Job: {White-collar: {Doctor: , Lawyer: }, Blue-collar: {Janitor: , Mover: }}}}
  sex: {classes: [M, F]}
  age: {numeric: {low: 1, high: 99, step: 1}}
  surgery: {classes: [Transgender, Plastic, Urology, Vascular]}
  class: {classes: [Y, N]}
"""
ROWS = """\
job,sex,age,surgery,class
Janitor,M,34,Transgender,Y
Lawyer,F,58,Plastic,N
Mover,M,58,Urology,N
Lawyer,M,24,Vascular,N
Mover,M,34,Transgender,Y
Janitor,M,44,Plastic,Y
Doctor,F,44,Vascular,N
Doctor,M,58,Plastic,N
Doctor,M,24,Urology,N
Janitor,F,63,Vascular,Y
Mover,F,63,Plastic,Y
"""


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    (tmp_path / "patients.csv").write_text(ROWS)
    (tmp_path / "schema.yaml").write_text(PATIENTS)
    return tmp_path


def test_the_mover_of_34_is_unique(patients: Path) -> None:
    found = scumble.risk(
        patients / "patients.csv", schema=patients / "schema.yaml", quasi="job,age", sensitive="surgery"
    )
    assert (found["k"], found["records"], found["groups"]) == (1, 11, 11)
    assert found["sample_uniqueness"] == 1.0
    assert found["prosecutor"] == {"highest": 1.0, "average": 1.0, "records_at_risk": 1.0}
    assert found["diversity"]["homogeneous_records"] == 1.0


def test_jobs_and_sex(patients: Path) -> None:
    """Seven groups, of which three have one record; the four others have two."""
    found = scumble.risk(patients / "patients.csv", schema=patients / "schema.yaml", quasi=["job", "sex"])
    assert (found["k"], found["groups"]) == (1, 8) or (found["k"], found["groups"]) == (1, 7)
    sizes = Counter(tuple(line.split(",")[:2]) for line in ROWS.splitlines()[1:])
    assert found["groups"] == len(sizes)
    assert found["sample_uniqueness"] == sum(size == 1 for size in sizes.values()) / 11
    assert found["marketer"] == len(sizes) / 11
    assert found["sensitive"] == "class"


SMALL = parse_schema(
    "scumble: schema/1\ntarget: c\nattributes:\n  a: {classes: [x, y]}\n  b: {numeric: {low: 0, high: 3, step: 1}}\n"
    "  c: {classes: [p, q, r]}\n"
)


@given(rows=st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 2), st.sampled_from("pqr")), max_size=25))
@settings(max_examples=60, deadline=None)
def test_measures_equal_brute_force(rows: list[tuple[str, int, str]]) -> None:
    columns = [
        pa.array([row[place] for row in rows], kind)
        for place, kind in enumerate((pa.string(), pa.int64(), pa.string()))
    ]
    found = scumble.risk(pa.table(dict(zip("abc", columns, strict=True))), schema=SMALL)
    groups = list(groups_by(rows, [0, 1]).values())
    secrets = [[rows[number][2] for number in group] for group in groups]
    assert found["k"] == min(map(len, groups), default=0)
    assert found["groups"] == len(groups)
    assert found["prosecutor"]["records_at_risk"] == (
        sum(len(group) for group in groups if 1 / len(group) > 0.2) / len(rows) if rows else 0.0
    )
    assert found["diversity"]["distinct_l"] == min((len(set(values)) for values in secrets), default=0)
    assert found["diversity"]["entropy_l"] == pytest.approx(min(map(entropy_values, secrets), default=0.0))
    overall = Counter(row[2] for row in rows)
    distances = [
        sum(abs(values.count(each) / len(values) - overall[each] / len(rows)) for each in "pqr") / 2
        for values in secrets
    ]
    assert found["diversity"]["t"] == pytest.approx(max(distances, default=0.0))


@pytest.mark.parametrize(
    ("parameters", "kind"),
    [
        ({"method": "mondrian", "k": 3, "accept": ["k-anonymity"]}, "published"),
        ({"method": "tds", "k": 3, "accept": ["k-anonymity"]}, "published"),
        ({"method": "diffgen", "epsilon": "1", "detail": "no"}, "synthetic"),
        ({"method": "histograms", "epsilon": "1"}, "synthetic"),
    ],
)
def test_releases(patients: Path, parameters: dict[str, Any], kind: str) -> None:
    scumble.release(
        patients / "patients.csv",
        schema=patients / "schema.yaml",
        out=patients / "out",
        ledger=patients / "l.db",
        witness=patients / "w.db",
        **parameters,
    )
    found = scumble.risk(patients / "out")
    assert kind in found["notice"]
    assert found["guarantee"]
    if kind == "published":
        assert found["k"] >= 3
        assert found["quasi"] == ["job", "sex", "age", "surgery"]
        assert found["prosecutor"]["highest"] <= 1 / 3


def test_a_population(patients: Path) -> None:
    found = scumble.risk(patients / "patients.csv", schema=patients / "schema.yaml", quasi="sex,job", population=1000)
    assert found["journalist"]["basis"] == "population"
    assert found["journalist"]["highest"] < found["prosecutor"]["highest"]
    assert found["population"]["model"] == "pitman"
    assert 0 < found["population"]["uniqueness"] < 1


def test_a_report_is_written_but_never_into_a_release(patients: Path) -> None:
    table, schema = patients / "patients.csv", patients / "schema.yaml"
    scumble.risk(table, schema=schema, report=patients / "risk.html", population=500)
    page = (patients / "risk.html").read_text()
    assert "for the data owner only" in page
    assert "Some records look like no other" in page
    folder = patients / "release"
    folder.mkdir()
    (folder / "release.json").write_text("{}")
    with pytest.raises(InputError, match="for publication"):
        scumble.risk(table, schema=schema, report=folder / "risk.html")
    assert not (folder / "risk.html").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schema": None}, "give --schema"),
        ({"quasi": "nothing"}, "no attribute 'nothing'"),
        ({"quasi": "job,job"}, "twice"),
        ({"quasi": "job", "sensitive": "job"}, "cannot be part"),
        ({"population": 3}, "smaller than the table"),
        ({"threshold": 2}, "at most 1"),
    ],
)
def test_bad_input(patients: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        scumble.risk(patients / "patients.csv", **{"schema": patients / "schema.yaml", **options})


def test_weights_count_like_repeated_records() -> None:
    """Two lines, one of which stands for four records. An attribute that is published in ranges has no diversity."""
    codes = np.array([0, 1])
    table = RiskTable(
        schema=SMALL,
        columns={"a": codes, "b": codes, "c": codes},
        weights=np.array([4, 1]),
        notice="weighted",
        quasi=("a", "b"),
        generalized=frozenset({"c"}),
    )
    found = risk_of_table(table, quasi="b", sensitive="a", population=None, threshold=Fraction(1, 5))
    assert (found["k"], found["records"], found["groups"]) == (1, 5, 2)
    assert found["prosecutor"] == {"highest": 1.0, "average": 0.4, "records_at_risk": 1.0}
    assert "Some records look like no other" in risk_page(found)
    with pytest.raises(InputError, match="in ranges"):
        risk_of_table(table, quasi=None, sensitive="c", population=None, threshold=Fraction(1, 5))
