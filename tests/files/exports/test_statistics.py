"""Stata and SPSS files read back by pyreadstat, and by our own reader: codes, value labels, missing values, names."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.engines.arrow_values import python_values
from scumble.errors import InputError
from scumble.files.exports import statistics
from scumble.files.exports.formats import FORMATS
from scumble.files.exports.statistics import LONGEST_NAME, RESERVED, variable_names
from scumble.files.exports.tables import ExportTable
from scumble.model.grid import Grid
from scumble.model.ordered import Ordered
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.sources import open_source

FACTS = {"title": "1-differentially private, by scumble diffgen", "guarantee": "x" * 300, "method": "größer " * 30}
WARD = Attribute(
    outside=Outside.CLAMP, name="ward", domain=Tree.flat(["Medicine", "Chirurgie für Kinder", "NA"]), missing="NA"
)
PAIN = Attribute(outside=Outside.CLAMP, name="pain", domain=Ordered.of(["none", "mild", "severe"]))
STAY = Attribute(
    outside=Outside.CLAMP,
    name="stay",
    domain=Grid(edges=(Decimal(1), Decimal(7), Decimal(61)), missing="?"),
    missing="?",
)
ROWS = {
    "ward": ["NA", "Chirurgie für Kinder", "Medicine", "Medicine"],
    "pain": ["severe", "none", "none", "mild"],
    "stay": ["[7,61)", "?", "[1,7)", "[1,7)"],
    "stay_low": [7, None, 1, 1],
    "measured": [-1.25, 0.0, 2.0, 1e9],
    "count": [0, 0, 2, 1_000_000_000],
}


def table(columns: dict[str, Any], *attributes: Attribute) -> ExportTable:
    meanings = {name: f"What {name} is." for name in columns}
    rows = pa.table(columns)
    half = len(rows) // 2
    return ExportTable(
        name="counts",
        attributes={each.name: each for each in attributes},
        meanings=meanings,
        blocks=iter([rows[:half], rows[half:]]),
    )


def written(path: Path, columns: dict[str, Any], *attributes: Attribute) -> tuple[dict[str, list[Any]], Any]:
    program = "stata" if path.suffix == ".dta" else "spss"
    FORMATS[program].write(table(columns, *attributes), path, FACTS)
    reader = pyreadstat.read_dta if program == "stata" else pyreadstat.read_sav
    rows, header = reader(str(path), output_format="dict", user_missing=True)
    return dict(rows), header


ENDINGS = pytest.mark.parametrize("ending", ["dta", "sav", "zsav"])


@ENDINGS
def test_labels_are_codes_in_the_order_of_the_schema(tmp_path: Path, ending: str) -> None:
    rows, header = written(tmp_path / f"t.{ending}", ROWS, WARD, PAIN, STAY)
    missing = "a" if ending == "dta" else 3
    assert rows["pain"] == [3, 1, 1, 2]
    assert rows["ward"] == [missing, 2, 1, 1]
    assert rows["stay"] == [2, missing, 1, 1]
    assert header.variable_value_labels["pain"] == {1: "none", 2: "mild", 3: "severe"}
    assert header.variable_value_labels["ward"] == {1: "Medicine", 2: "Chirurgie für Kinder", missing: "NA"}
    assert header.variable_value_labels["stay"] == {1: "[1,7)", 2: "[7,61)", missing: "?"}


@ENDINGS
def test_missing_values_are_declared_and_numbers_are_numbers(tmp_path: Path, ending: str) -> None:
    rows, header = written(tmp_path / f"t.{ending}", ROWS, WARD, PAIN, STAY)
    if ending == "dta":
        assert header.missing_user_values == {"ward": ["a"], "stay": ["a"]}
    else:
        assert header.missing_ranges == {name: [{"lo": 3.0, "hi": 3.0}] for name in ("ward", "stay")}
        assert header.variable_measure["ward"] == "nominal"
        assert header.variable_measure["pain"] == header.variable_measure["stay"] == "ordinal"
        assert header.variable_measure["measured"] == "scale"
        assert "".join(header.notes).startswith("title: 1-differentially private")
    assert rows["stay_low"] == [7, None, 1, 1]
    assert rows["measured"] == ROWS["measured"]
    assert rows["count"] == ROWS["count"]
    assert header.file_label == FACTS["title"]
    assert header.column_names_to_labels["ward"] == "ward"
    assert header.column_names_to_labels["measured"] == "What measured is."


@ENDINGS
def test_our_own_reader_reads_the_labels_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    written(path, ROWS, WARD, PAIN, STAY)
    found = {
        name: [value for batch in open_source(path).batches([name]) for value in python_values(batch.column(name))]
        for name in ("ward", "pain", "stay")
    }
    assert found["pain"] == ROWS["pain"]
    assert found["ward"] == [None, *ROWS["ward"][1:]]
    assert found["stay"] == ["[7,61)", None, "[1,7)", "[1,7)"]


@ENDINGS
def test_labels_that_do_not_fit_are_text(tmp_path: Path, ending: str) -> None:
    long = "ü" * 61  # 122 bytes: SPSS would cut it
    names = [str(number) for number in range(1200)]
    attributes = (
        Attribute(outside=Outside.CLAMP, name="wordy", domain=Tree.flat([long, "short"])),
        Attribute(outside=Outside.CLAMP, name="many", domain=Tree.flat(names)),
    )
    rows, header = written(tmp_path / f"t.{ending}", {"wordy": [long, "short"] * 600, "many": names}, *attributes)
    assert rows["many"] == names
    assert "many" not in header.variable_value_labels
    if ending == "dta":  # Stata has room for it
        assert header.variable_value_labels["wordy"] == {1: long, 2: "short"}
    else:
        assert rows["wordy"][:2] == [long, "short"]
        assert "wordy" not in header.variable_value_labels


def test_a_text_beyond_the_format_is_refused(tmp_path: Path) -> None:
    huge = "x" * 33_000
    with pytest.raises(InputError, match=r"'big' has a text of 33,000 bytes.*Parquet"):
        written(
            tmp_path / "t.dta",
            {"big": [huge, "y"]},
            Attribute(outside=Outside.CLAMP, name="big", domain=Tree.flat([huge, "y"])),
        )


@ENDINGS
def test_values_generalized_line_by_line_are_ordered_by_their_ranges(tmp_path: Path, ending: str) -> None:
    age = Attribute(
        outside=Outside.CLAMP, name="age", domain=Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(10))
    )
    labels = ["[40,100)", "[0,100)", "[0,40)", "[40,100)"]
    rows, header = written(tmp_path / f"t.{ending}", {"age": labels}, age)
    assert header.variable_value_labels["age"] == {1: "[0,100)", 2: "[0,40)", 3: "[40,100)"}
    assert rows["age"] == [3, 1, 2, 3]


@ENDINGS
def test_a_table_without_rows(tmp_path: Path, ending: str) -> None:
    rows, header = written(
        tmp_path / f"t.{ending}", {"pain": pa.array([], pa.string()), "n": pa.array([], pa.int64())}, PAIN
    )
    assert rows == {"pain": [], "n": []}
    assert header.variable_value_labels["pain"] == {1: "none", 2: "mild", 3: "severe"}


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=70)
HARD = st.sampled_from(["if", "IF", "_N", "str5", "all", "age", "AGE", "a-b", "a b", "a_b", "2", "ü" * 40, "x" * 64])


@given(columns=st.lists(NAMES | HARD, unique=True, min_size=1, max_size=12))
def test_names_are_allowed_and_differ_even_without_case(columns: list[str]) -> None:
    names = list(variable_names(columns).values())
    assert len({name.lower() for name in names}) == len(columns)
    for name in names:
        assert len(name.encode()) <= LONGEST_NAME
        assert name[0].isalpha()
        assert all(sign.isalnum() or sign == "_" for sign in name)
        assert not RESERVED.fullmatch(name)


@ENDINGS
def test_names_that_the_programs_refuse_are_changed(tmp_path: Path, ending: str) -> None:
    hard = ["if", "IF", "_N", "str5", "ALL", "a-b", "a b", "2", "größe", "ü" * 40, "x" * 64, "x" * 65, "with", "€"]
    rows, header = written(tmp_path / f"t.{ending}", {name: [number, 0] for number, name in enumerate(hard)})
    assert header.column_names == list(variable_names(hard).values())
    assert [values[0] for values in rows.values()] == list(range(len(hard)))


def test_a_missing_package_is_named_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"pip install 'scumble\[statistics\]'"):
        statistics.check_installed()
