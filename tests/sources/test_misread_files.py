"""Mistakes that newcomers make with files: each message says what is wrong and what to do."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import scumble
from openpyxl import Workbook

from scumble import interrupts, release
from scumble.errors import InputError
from scumble.sources import Dialect, check_columns, check_dialect, interruptible, open_source
from scumble.sources.csv import published_csv

NUMBERS = "{numeric: {low: 0, high: 4, step: 1}}"
SCHEMA = f"scumble: schema/1\nattributes:\n  x: {NUMBERS}\n  y: {NUMBERS}\n"


@pytest.mark.parametrize("note", ["sep=;", '"sep=,"', "SEP=\t", "sep="])
def test_a_note_for_excel_is_not_a_header(tmp_path: Path, note: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"{note}\r\nx;y\r\n1;2\r\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"people.csv: its first line is a note for Excel \(sep=\).*Delete this line"):
        open_source(path).columns()
    path.write_text("sep=;\n1\n", encoding="utf-8")
    assert published_csv(path).columns() == ("sep=;",)  # an attribute may have this name


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"x": [1, 2], "y": [1, 3]}), tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


@pytest.mark.parametrize("dialect", [Dialect(encoding="latin-1"), Dialect(delimiter=";"), Dialect(multiline=True)])
def test_options_of_csv_files_are_refused_for_others(parquet: Path, dialect: Dialect) -> None:
    source = open_source(parquet, dialect=dialect)
    with pytest.raises(InputError, match=r"people.parquet is not a CSV file. Leave out --delimiter, --encoding"):
        check_dialect(dialect, source)
    check_dialect(Dialect(), source)
    text = parquet.with_suffix(".csv")
    text.write_text("x\n1\n", encoding="utf-8")
    check_dialect(dialect, source, open_source(text, dialect=dialect))


@pytest.mark.parametrize("verb", ["release", "schema check", "schema draft", "perturb", "evaluate"])
def test_the_command_line_refuses_an_encoding_for_parquet(parquet: Path, tmp_path: Path, verb: str) -> None:
    (tmp_path / "s.yaml").write_text(SCHEMA, encoding="utf-8")
    schema, out = ["--schema", tmp_path / "s.yaml"], ["--out", tmp_path / "out"]
    arguments = {
        "release": ["release", parquet, *schema, "--epsilon", "1", *out, "--ledger", tmp_path / "l.db"],
        "schema check": ["schema", "check", tmp_path / "s.yaml", parquet],
        "schema draft": ["schema", "draft", parquet],
        "perturb": ["perturb", parquet, *schema, "--epsilon", "1", *out],
        "evaluate": ["evaluate", tmp_path / "made", "--test", parquet],
    }[verb]
    if verb == "evaluate":
        ledger = {"ledger": tmp_path / "made.db", "witness": tmp_path / "made.witness"}
        release(parquet, schema=tmp_path / "s.yaml", out=tmp_path / "made", epsilon="1", method="explore", **ledger)
    ended = scumble(*arguments, "--encoding", "latin-1")
    assert ended.code == 2 and "is not a CSV file" in ended.err, ended
    assert not (tmp_path / "out").exists()


def test_errors_name_the_sheet(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title = "Notes"  # type: ignore[union-attr]
    book.active.append(["text"])  # type: ignore[union-attr]
    book.create_sheet("People").append(["x"])
    book.save(tmp_path / "book.xlsx")
    with pytest.raises(InputError, match=r"book.xlsx::Notes has none of the schema's columns"):
        check_columns(open_source(tmp_path / "book.xlsx"), ["x"])
    with pytest.raises(InputError, match=r"book.xlsx::People has no column 'y'"):
        check_columns(open_source(f"{tmp_path / 'book.xlsx'}::People"), ["x", "y"])


def test_batches_end_at_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pa.record_batch({"x": [1]})

    def batches() -> Iterator[pa.RecordBatch]:
        yield batch
        monkeypatch.setattr(interrupts._state, "arrivals", interrupts._state.arrivals + 1)  # swallowed by a library
        yield batch

    read = iter(interruptible(batches()))
    assert next(read) is batch
    with pytest.raises(KeyboardInterrupt):
        next(read)
    rows_of_a_cluster = [batch]
    assert interruptible(rows_of_a_cluster) is rows_of_a_cluster


def test_a_wrong_parameter_does_not_cite_another_command(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCHEMA, encoding="utf-8")
    ended = scumble("plan", "--schema", tmp_path / "s.yaml", "--epsilon", "many")
    assert ended.code == 2 and "release --help" not in ended.err and "`--help` lists all parameters" in ended.err, ended
