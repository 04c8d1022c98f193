"""Spreadsheets: each cell is read by the type that is stored with it, and the header is the first row."""

import sys
import zipfile
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import scumble
from openpyxl import Workbook

from scumble.engines.arrow_values import python_values
from scumble.errors import InputError
from scumble.model.raw_value import ValueKind, canonical
from scumble.sources import check_columns, excel, open_source

TEXT, OFF = ValueKind.TEXT, ValueKind.OFF
EMPTY = (TEXT, "")


def written(path: Path, *sheets: tuple[str, list[list[Any]]]) -> Path:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def readings(data: Any, column: str = "x") -> list[tuple[ValueKind, str]]:
    return [
        canonical(value)
        for batch in open_source(data).batches([column])
        for value in python_values(batch.column(column))
    ]


CELLS: list[tuple[Any, tuple[ValueKind, str]]] = [
    (1, (ValueKind.NUMBER, "1")),
    (1.5, (ValueKind.NUMBER, "1.5")),
    (10_000_000_001, (ValueKind.NUMBER, "10000000001")),
    (True, (ValueKind.BOOLEAN, "true")),
    ("1.50", (TEXT, "1.50")),
    (" K\u00f6ln", (TEXT, " K\u00f6ln")),
    (None, EMPTY),
    ("#N/A", EMPTY),
    (date(2024, 1, 31), (TEXT, "2024-01-31")),
    (datetime(2024, 1, 31, 9, 30), (TEXT, "2024-01-31T09:30:00")),
    (time(9, 30), (TEXT, "09:30:00")),
    (timedelta(days=2), (OFF, "")),
]


def test_a_cell_is_read_by_the_type_that_is_stored_with_it(tmp_path: Path) -> None:
    rows = [["x", "y"], *([value, "kept"] for value, _ in CELLS)]
    path = written(tmp_path / "people.xlsx", ("First", rows))
    assert readings(path) == [expected for _, expected in CELLS]


def test_numbers_with_the_format_of_a_date_that_has_no_date(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["x", "y"])
    for serial in (1e10, -5, 2958466, 1e300):
        book.active.append([serial, "kept"])
        book.active.cell(row=book.active.max_row, column=1).number_format = "yyyy-mm-dd hh:mm"
    book.save(tmp_path / "people.xlsx")
    assert len(readings(tmp_path / "people.xlsx")) == 4


def test_sheets_by_name_patterns_and_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "BATCH_ROWS", 2)
    path = written(
        tmp_path / "people.xlsx", ("First", [["x"], [1], [2], [3]]), ("My sheet", [["y", "x"], ["a", 7], ["b", 8]])
    )
    assert [text for _, text in readings(path)] == ["1", "2", "3"]
    assert [text for _, text in readings(f"{path}::My sheet")] == ["7", "8"]
    assert [text for _, text in readings(str(tmp_path / "peop*.xlsx"))] == ["1", "2", "3"]
    source = open_source(f"{path}::My sheet")
    assert (source.name, source.columns(), source.kinds()) == ("My sheet", ("y", "x"), None)
    seen: list[tuple[int, int | None]] = []
    list(open_source(path).batches(["x"], lambda done, total: seen.append((done, total))))
    assert seen == [(2, 3), (3, 3)]


def test_the_header_is_the_first_row_and_rows_without_values_are_no_records(tmp_path: Path) -> None:
    """Empty rows and columns are not skipped as a whole, for one record could change which there are."""
    rows: list[list[Any]] = [
        [None, "x", None, 2024],
        [None, 1],
        [None, None],
        [None, None, "note"],
        [None, 2, None, "z"],
    ]
    path = written(tmp_path / "people.xlsx", ("First", rows))
    assert open_source(path).columns() == ("x", "2024")
    assert [text for _, text in readings(path)] == ["1", "", "2"]
    assert [text for _, text in readings(path, "2024")] == ["", "", "z"]
    late = written(tmp_path / "late.xlsx", ("First", [[], ["x"], [1]]))
    with pytest.raises(InputError, match=r"late.xlsx::First has no column names: its first row is empty\."):
        check_columns(open_source(late), ["x"])


def test_what_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "people.xlsx", ("First", [["x"], ["Zaphod"]]))
    damaged = tmp_path / "damaged.xlsx"
    damaged.write_bytes(path.read_bytes()[:300])
    cases = [
        (f"{path}::Nobody", "has no sheet 'Nobody'"),
        (f"{tmp_path}/absent.xlsx::First", "does not exist"),
        (str(damaged), "is not a spreadsheet, is damaged, or has a cell"),
    ]
    for data, said in cases:
        with pytest.raises(InputError, match=said) as caught:
            check_columns(open_source(data), ["x"])
        assert caught.value.__cause__ is None


def test_without_the_library_its_installation_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "people.xlsx", ("First", [["x"]]))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(InputError, match=r"pip install 'scumble\[excel\]'"):
        check_columns(open_source(path), ["x"])


MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">
<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>
</manifest:manifest>
"""
OPEN_DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2">
<office:body><office:spreadsheet><table:table table:name="First">
<table:table-row><table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="float" office:value="1.5"/></table:table-row>
<table:table-row><table:table-cell office:value-type="boolean" office:boolean-value="true"/></table:table-row>
<table:table-row><table:table-cell office:value-type="date" office:date-value="2024-01-31"/></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>
</table:table></office:spreadsheet></office:body></office:document-content>
"""


def test_a_sheet_of_opendocument(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "people.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("content.xml", OPEN_DOCUMENT)
    expected = [(ValueKind.NUMBER, "1.5"), (ValueKind.BOOLEAN, "true"), (TEXT, "2024-01-31"), (TEXT, "a")]
    assert readings(tmp_path / "people.ods") == expected


SCHEMA = """
scumble: schema/1
target: ill
attributes: {age: {numeric: {low: 0, high: 100, step: 10}}, ill: {classes: ["no", "yes"]}}
"""


def test_the_command_line_reads_a_sheet(tmp_path: Path) -> None:
    rows = [["age", "ill"], *([2 * (age // 2), "yes" if age > 50 else "no"] for age in range(100))]
    path = written(tmp_path / "people.xlsx", ("Notes", [["none"]]), ("People", rows))
    schema = tmp_path / "schema.yaml"
    schema.write_text(SCHEMA, encoding="utf-8")
    data = f"{path}::People"
    assert scumble("schema", "check", schema, data, "--rows", "--json").json["rows"]["kept"] == 100
    assert "numeric" in scumble("schema", "draft", data, "--target", "ill").out
    made = scumble(
        "release", data, "--schema", schema, "--out", tmp_path / "out", "--ledger", tmp_path / "x.db", "--epsilon", "1"
    )
    assert made.code == 0, made.err
    assert scumble("evaluate", tmp_path / "out", "--test", data, "--json").json["majority"]
    words = ["--schema", schema, "--out", tmp_path / "perturbed", "--epsilon", "1"]
    assert scumble("perturb", data, *words).code == 0


@pytest.mark.parametrize(
    "error", [OverflowError("days=10000000000"), type("PanicException", (BaseException,), {})("out")]
)
def test_a_failure_inside_the_library_is_called_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    import python_calamine

    class Failing:
        @staticmethod
        def from_path(path: str) -> None:
            raise error

    monkeypatch.setattr(python_calamine, "CalamineWorkbook", Failing)
    with pytest.raises(InputError, match="cannot read"):
        open_source(written(tmp_path / "people.xlsx", ("First", [["x"], [1]]))).columns()
