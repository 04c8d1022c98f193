"""Files of Stata, SPSS and SAS: labels, declared missing values, formats of dates, encodings, chunks."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from command_line import scumble

from scumble.engines.arrow_values import python_values
from scumble.errors import InputError
from scumble.model.raw_value import ValueKind, canonical
from scumble.sources import check_columns, open_source, statistics

NUMBER, TEXT, MISSING, OFF = ValueKind.NUMBER, ValueKind.TEXT, ValueKind.MISSING, ValueKind.OFF
WRITERS: dict[str, Any] = {
    "people.dta": pyreadstat.write_dta,
    "people.sav": pyreadstat.write_sav,
    "people.zsav": lambda frame, path, **options: pyreadstat.write_sav(frame, path, compress=True, **options),
    "people.xpt": pyreadstat.write_xport,
}
LABELLED = [name for name in WRITERS if name != "people.xpt"]


def readings(path: Path, column: str = "x") -> list[tuple[ValueKind, str]]:
    return [
        canonical(value)
        for batch in open_source(path).batches([column])
        for value in python_values(batch.column(column))
    ]


def texts(path: Path, column: str = "x") -> list[str]:
    return [text for _, text in readings(path, column)]


@pytest.mark.parametrize("name", WRITERS)
def test_numbers_and_text(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 0.7, np.nan], "s": ["a", "", "K\u00f6ln"], "other": [1, 2, 3]})
    WRITERS[name](frame, tmp_path / name)
    source = open_source(tmp_path / name)
    assert (source.name, source.columns(), source.kinds()) == ("people", ("x", "s", "other"), None)
    assert readings(tmp_path / name) == [(NUMBER, "1"), (NUMBER, "0.7"), (MISSING, "")]
    assert readings(tmp_path / name, "s") == [(TEXT, "a"), (TEXT, ""), (TEXT, "K\u00f6ln")]


@pytest.mark.parametrize("name", LABELLED)
def test_a_label_replaces_its_code_and_other_values_stay(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, np.nan], "plain": [1.0, 2.0, 3.0, 4.0]})
    WRITERS[name](frame, tmp_path / name, variable_value_labels={"x": {1: "female", 2: "m\u00e4nnlich"}})
    assert readings(tmp_path / name) == [(TEXT, "female"), (TEXT, "m\u00e4nnlich"), (NUMBER, "3"), (MISSING, "")]
    assert texts(tmp_path / name, "plain") == ["1", "2", "3", "4"]


def test_values_that_spss_declares_as_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 9.0, 99.0]})
    ranges = {"x": [9, {"lo": 90, "hi": 100}]}
    pyreadstat.write_sav(frame, tmp_path / "people.sav", missing_ranges=ranges)
    assert readings(tmp_path / "people.sav") == [(NUMBER, "1"), (MISSING, ""), (MISSING, "")]


FORMATS = {
    "people.dta": {"day": "%td", "moment": "%tc"},
    "people.sav": {"day": "DATE11", "moment": "DATETIME20", "time": "TIME8"},
    "people.xpt": {"day": "YYMMDDN10.", "moment": "DATETIME20.", "time": "TIME8."},
}
UNITS = {"people.dta": (-3653, 1, 1000), "people.sav": (-141428, 86400, 1), "people.xpt": (-3653, 1, 1)}


@pytest.mark.parametrize("name", FORMATS)
def test_dates_are_read_by_the_declared_format_and_impossible_ones_are_off_the_domain(
    tmp_path: Path, name: str
) -> None:
    start, day, second = UNITS[name]
    days = [19753.0, 1e9, np.nan, -1e7, 1e300 if name != "people.xpt" else 1e70]
    moment = (19753 - start) * 86400 + 9.5 * 3600
    frame = pd.DataFrame(
        {
            "day": [(each - start) * day for each in days],
            "moment": [moment * second, moment * second + second / 2, np.nan, 1e18, -1e18],
            "time": [34200.0, 0.5, np.nan, 86400.0, -1.0],
        }
    )
    WRITERS[name](frame, tmp_path / name, variable_format=FORMATS[name])
    off, missing = (OFF, ""), (MISSING, "")
    assert readings(tmp_path / name, "day") == [(TEXT, "2024-01-31"), off, missing, off, off]
    moments = [(TEXT, "2024-01-31T09:30:00"), (TEXT, "2024-01-31T09:30:00.5"), missing, off, off]
    assert readings(tmp_path / name, "moment") == moments
    if "time" in FORMATS[name]:
        assert readings(tmp_path / name, "time") == [(TEXT, "09:30:00"), (TEXT, "00:00:00.5"), missing, off, off]


def test_text_in_the_encoding_of_the_file(tmp_path: Path) -> None:
    """A byte that is not valid there puts its own value off the domain, and no other."""
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(pd.DataFrame({"x": ["K\u00f6ln", "Bonn", "\u00e4\u00f6\u00fc"]}), path)
    whole = path.read_bytes()
    assert whole.count("K\u00f6".encode()) == 1
    path.write_bytes(whole.replace("K\u00f6".encode(), b"K\xff\xff"))
    assert readings(path) == [(OFF, ""), (TEXT, "Bonn"), (TEXT, "\u00e4\u00f6\u00fc")]


def test_names_that_are_not_ascii(tmp_path: Path) -> None:
    frame = pd.DataFrame({"stra\u00dfe": ["a"], "x": [1.0]})
    pyreadstat.write_sav(frame, tmp_path / "people.sav", variable_value_labels={"x": {1: "\u00fcber"}})
    assert texts(tmp_path / "people.sav", "stra\u00dfe") == ["a"]
    assert texts(tmp_path / "people.sav") == ["\u00fcber"]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("rows", [0, 3, 4])
def test_files_are_read_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rows: int) -> None:
    monkeypatch.setattr(statistics, "BATCH_ROWS", 2)
    frame = pd.DataFrame({"x": np.arange(rows, dtype=np.float64), "y": ["a"] * rows})
    WRITERS[name](frame, tmp_path / name)
    batches = list(open_source(tmp_path / name).batches(["y", "x"]))
    assert [len(batch) for batch in batches] == [2] * (rows // 2) + [1] * (rows % 2)
    assert texts(tmp_path / name) == [str(row) for row in range(rows)]


def test_single_precision_of_stata_is_read_by_the_shortest_decimal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "people.dta"
    stored = pd.DataFrame({"x": np.array([0.7, 0.1, np.nan], np.float32), "y": np.array([0.7, 1, 2], np.float32)})
    stored.to_stata(path, write_index=False, version=118)
    assert texts(path) == ["0.7", "0.1", ""]
    assert statistics.stata_encoding(path) == "UTF-8"
    stored.to_stata(path, write_index=False, version=114)
    assert statistics.stata_encoding(path) == "windows-1252"
    assert texts(path) == ["0.7", "0.1", ""]


def test_text_of_an_older_stata(tmp_path: Path) -> None:
    pd.DataFrame({"x": ["K\u00f6ln", "Bonn"]}).to_stata(tmp_path / "people.dta", write_index=False, version=114)
    assert texts(tmp_path / "people.dta") == ["K\u00f6ln", "Bonn"]


def test_labels_of_sas_are_in_a_catalogue_beside_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No free program writes sas7bdat, so the library is replaced by one that returns what it would."""
    asked: list[dict[str, Any]] = []

    def read(path: str, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        asked.append(options)
        declared = SimpleNamespace(
            column_names=["x", "day"],
            readstat_variable_types={"x": "double", "day": "double"},
            original_variable_types={"x": "SEX", "day": "DATE9"},
            variable_value_labels={"x": {1.0: "female"}} if "catalog_file" in options else {},
            file_encoding="UTF-8",
        )
        return {"x": [1.0, 2.0, None], "day": [0.0, None, 1.0]}, declared

    monkeypatch.setattr(pyreadstat, "read_sas7bdat", read)
    (tmp_path / "people.sas7bdat").touch()
    assert texts(tmp_path / "people.sas7bdat") == ["1", "2", ""]
    (tmp_path / "people.sas7bcat").touch()
    assert texts(tmp_path / "people.sas7bdat") == ["female", "2", ""]
    assert texts(tmp_path / "people.sas7bdat", "day") == ["1960-01-01", "", "1960-01-02"]
    assert asked[-1]["disable_datetime_conversion"] is True


@pytest.mark.parametrize("name", [*WRITERS, "people.sas7bdat"])
def test_a_damaged_file_is_refused_without_its_content(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"Zaphod" * 1000)
    with pytest.raises(InputError, match="or is damaged") as caught:
        check_columns(open_source(tmp_path / name), ["x"])
    assert "Zaphod" not in str(caught.value) and caught.value.__cause__ is None


def test_without_the_library_its_installation_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.dta").touch()
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"pip install 'scumble\[statistics\]'"):
        check_columns(open_source(tmp_path / "people.dta"), ["x"])


SCHEMA = """
scumble: schema/1
target: ill
attributes: {age: {numeric: {low: 0, high: 100, step: 10}}, ill: {classes: ["no", "yes"]}}
"""


def test_the_command_line_reads_spss(tmp_path: Path) -> None:
    ages = np.arange(100) // 2 * 2.0
    frame = pd.DataFrame({"age": ages, "ill": (ages > 50).astype(float)})
    data, schema = tmp_path / "people.sav", tmp_path / "schema.yaml"
    pyreadstat.write_sav(frame, data, variable_value_labels={"ill": {0: "no", 1: "yes"}})
    schema.write_text(SCHEMA, encoding="utf-8")
    assert scumble("schema", "check", schema, data, "--rows", "--json").json["rows"]["kept"] == 100
    assert "- 'no'" in scumble("schema", "draft", data, "--target", "ill").out
    made = scumble(
        "release", data, "--schema", schema, "--out", tmp_path / "out", "--ledger", tmp_path / "x.db", "--epsilon", "1"
    )
    assert made.code == 0, made.err
