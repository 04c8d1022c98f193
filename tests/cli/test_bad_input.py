"""Bad input on the command line: the error says what is wrong, where and what to do; nothing is charged or created."""

import gzip
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import HEADER, SCHEMA, Ended, accounts, contents, kinds, nothing_happens, people, release, scumble

from scumble.privacy.ledger import Ledger


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a table, its schema, and a ledger in which another table has already been charged."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(50, seed=2))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    assert release(dataset="others", out="first", epsilon="0.5").code == 0
    (tmp_path / "people.csv").write_text(people(50))
    return tmp_path


@pytest.fixture
def ledger(folder: Path) -> Path:
    return folder / "ledger.db"


Change = Callable[[Path], Any]
Case = tuple[str, Change | None, dict[str, Any], tuple[str, ...]]


def write(name: str, text: str | bytes) -> Change:
    content = text.encode() if isinstance(text, str) else text
    return lambda folder: (folder / name).write_bytes(content)


def schema(*changes: tuple[str, str]) -> Change:
    text = SCHEMA
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return write("schema.yaml", text)


def job(taxonomy: str) -> Change:
    line = next(line for line in SCHEMA.splitlines() if line.startswith("  job:"))
    return schema((line, f"  job: {{taxonomy: {taxonomy}}}"))


def job_from(hierarchy: str) -> Change:
    def change(folder: Path) -> None:
        (folder / "jobs.csv").write_text(hierarchy)
        job("{csv: jobs.csv}")(folder)

    return change


def parquet(folder: Path) -> None:
    table = pa.table({"age": [[1, 2]], "job": ["Lawyer"], "income": ["no"]})
    pq.write_table(table, folder / "lists.parquet")


# Name, change of the folder, changed options, texts that the message must contain.
FILES: list[Case] = [
    (
        "missing data",
        None,
        {"data": "nobody.csv"},
        ("The file nobody.csv does not exist", "Give a CSV or Parquet file"),
    ),
    ("data is a folder", None, {"data": "first"}, ("first is a folder", "Give a CSV or Parquet file")),
    (
        "missing schema",
        None,
        {"schema": "none.yaml"},
        ("The schema file none.yaml does not exist", "scumble schema draft"),
    ),
    ("schema is a folder", None, {"schema": "first"}, ("The schema file first cannot be read", "Give a UTF-8")),
    (
        "wrong delimiter",
        write("people.csv", people(9).replace(",", ";")),
        {"delimiter": ","},
        ("people.csv: its first line has none of the schema's columns", "pass --delimiter ';'"),
    ),
    ("an unknown encoding", None, {"encoding": "klingon"}, ("Unknown encoding 'klingon'", "Available: utf-8, latin-1")),
    ("wrong delimiter said", None, {"delimiter": "tab"}, ("people.csv", "pass --delimiter ','")),
    ("a long delimiter", None, {"delimiter": "::"}, ("The delimiter '::'", "Give")),
    ("a quote for a delimiter", None, {"delimiter": '"'}, ("The delimiter '\"'", "Give")),
    (
        "unknown column",
        schema(("  age:", "  height:")),
        {},
        ("people.csv has no column 'height'", "Correct the name in the schema"),
    ),
    (
        "duplicate column",
        write("people.csv", f"age,{HEADER}\n1,1,Lawyer,no\n"),
        {},
        ("people.csv: the column 'age' occurs twice", "Rename one"),
    ),
    ("not UTF-8", write("people.csv", b"\xff\xfeage\n"), {}, ("is not UTF-8 text", "Pass --encoding utf-16")),
    ("Latin-1", write("people.csv", b"gr\xf6\xdfe\n"), {}, ("is not UTF-8 text", "Pass --encoding latin-1")),
    ("no bytes at all", write("people.csv", ""), {}, ("people.csv: its first line has none", "have a header?")),
    (
        "lines end as on old Macs",
        write("people.csv", "age\rjob\r"),
        {},
        ("people.csv: its first line", "one line for each row"),
    ),
    (
        "no gzip",
        write("people.csv.gz", "age"),
        {"data": "people.csv.gz"},
        ("people.csv.gz cannot be read: it is not a complete gzip file", "Check"),
    ),
    (
        "gzip cut short",
        write("people.csv.gz", gzip.compress(people(9).encode())[:8]),
        {"data": "people.csv.gz"},
        ("people.csv.gz cannot be read", "Check the file"),
    ),
    ("no Parquet", write("x.parquet", "age"), {"data": "x.parquet"}, ("x.parquet is not a Parquet file", "Give a")),
    ("lists", parquet, {"data": "lists.parquet"}, ("lists.parquet: the column 'age' contains lists", "Split it into")),
]

SCHEMAS: list[Case] = [
    ("repeated leaf", job("{Any: {A: {Dancer: }, B: {Dancer: }}}"), {}, ("schema.yaml", "'job'", "'Dancer' twice")),
    ("leaf repeated side by side", job("{Any: {Dancer: , Dancer: }}"), {}, ("schema.yaml, line 5", "duplicate key")),
    ("two roots", job("{White: {Lawyer: }, Blue: {Dancer: }}"), {}, ("'job'", "one root", "below a single node")),
    ("repeated leaf, CSV", job_from("Dancer;A;Any\nDancer;B;Any\n"), {}, ("jobs.csv: line 2", "'Dancer'", "one place")),
    ("two roots, CSV", job_from("Dancer;Blue\nLawyer;White\n"), {}, ("jobs.csv", "one root", "single node")),
    (
        "no hierarchy file",
        job("{csv: none.csv}"),
        {},
        ("'job'", "The hierarchy file none.csv does not exist", "relative to the schema"),
    ),
    ("no YAML", write("schema.yaml", "a: [1\nb: 2"), {}, ("schema.yaml, line 2", "not valid YAML", "Fix that line")),
    ("no mapping", write("schema.yaml", "- 1"), {}, ("schema.yaml is not a mapping", "Start it with")),
    ("other format", schema(("schema/1", "schema/9")), {}, ("schema.yaml", "scumble", "schema/1")),
    ("unknown key", schema(("target", "traget")), {}, ("schema.yaml", "traget", "scumble schema format")),
    ("no target", schema(("target: income\n", "")), {"method": "diffgen"}, ("diffgen", "Add `target:` to the schema")),
    ("target not described", schema(("target: income", "target: wage")), {}, ("schema.yaml", "'wage'", "Add it")),
    ("target a number", schema(("target: income", "target: age")), {}, ("'age' is numeric", "Give it `classes:")),
    ("step too wide", schema(("step: 10", "step: 7")), {}, ("'age'", "does not divide", "change the step")),
    ("high below low", schema(("low: 0", "low: 200")), {}, ("'age'", "ascending order")),
    ("low no number", schema(("low: 0", "low: zero")), {}, ("schema.yaml", "age", "low", "decimal")),
    ("replace without rows", schema(("target:", "unit: replace\ntarget:")), {}, ("schema.yaml", "Add `rows: N`")),
    (
        "rows dropped under replace",
        schema(("target:", "unit: replace\nrows: 50\ntarget:"), ("step: 10}", "step: 10}, outside: drop")),
        {},
        ("'age' drops rows", "Write `outside: clamp`"),
    ),
    (
        "unconfirmed",
        schema(("step: 10}", "step: 10}, unconfirmed: true")),
        {},
        ("age", "`unconfirmed`", "delete the line"),
    ),
    (
        "published mode under replace",
        schema(
            ("target:", "unit: replace\nrows: 50\ntarget:"),
        ),
        {"selection": "published"},
        ("Published mode", "add-remove", "remove `--selection published`"),
    ),
]

EPSILONS: list[Case] = [
    (f"epsilon {value}", None, {"epsilon": value}, (f"epsilon is {shown}", advice, "--help"))
    for value, shown, advice in [
        ("0", "0, but must be above zero", "Common values"),
        ("0.0", "0.0, but must be above zero", "Common values"),
        ("-1", "-1, but must be above zero", "Common values"),
        ("NaN", "'NaN', not a finite number", "Give a decimal"),
        ("inf", "'inf', not a finite number", "Give a decimal"),
        ("-inf", "'-inf', not a finite number", "Give a decimal"),
        ("much", "'much', not a finite number", "Give a decimal"),
        ("", "'', not a finite number", "Give a decimal"),
        ("1/0", "'1/0', not a finite number", "Give a decimal"),
        ("1e9", "1e9: above 1000 it protects nobody", "Common values"),
        ("1e-30", "1e-30: below 1e-09 only noise is left", "Try 0.01 or more"),
        ("1e999999999", "1e999999999: above 1000", "Common values"),
        ("1e-999999999", "1e-999999999: below 1e-09", "Try 0.01"),
    ]
]

PARAMETERS: list[Case] = [
    ("no epsilon", None, {"epsilon": None}, ("--epsilon is missing", "--help")),
    ("rounds 0", None, {"rounds": "0"}, ("--rounds is '0'", "greater than or equal to 1")),
    ("rounds -1", None, {"rounds": "-1"}, ("--rounds is '-1'", "greater than or equal to 1")),
    ("rounds text", None, {"rounds": "many"}, ("--rounds is 'many'", "integer")),
    ("rounds 2.5", None, {"rounds": "2.5"}, ("--rounds is '2.5'", "integer")),
    ("rounds 1001", None, {"rounds": "1001"}, ("--rounds is '1001'", "less than or equal to 1000")),
    ("method", None, {"method": "magic"}, ("Unknown method 'magic'", "diffgen")),
    ("engine", None, {"engine": "steam"}, ("Unknown engine 'steam'", "memory, duckdb")),
    ("score", None, {"score": "beauty"}, ("--score is 'beauty'", "'accuracy', 'gini', 'max' or 'infogain'")),
    ("selection", None, {"selection": "lazy"}, ("--selection is 'lazy'", "'together' or 'published'")),
    ("published gini", None, {"selection": "published", "score": "gini"}, ("scores max and infogain, not gini",)),
    ("infogain together", None, {"score": "infogain"}, ("infogain is only available in published mode", "use gini")),
    ("share 0", None, {"selection_share": "0"}, ("selection_share is 0, but must be above zero",)),
    ("share 1", None, {"selection_share": "1"}, ("selection_share must be below 1",)),
    ("share 2", None, {"selection_share": "2"}, ("selection_share must be below 1",)),
    ("share text", None, {"selection_share": "half"}, ("selection_share is 'half'", "Give a decimal")),
    ("share published", None, {"selection_share": "1/2", "selection": "published"}, ("remove selection_share",)),
    ("cells 0", None, {"max_cells": "0"}, ("--max-cells is '0'", "greater than or equal to 1")),
    ("cells 1", None, {"max_cells": "1"}, ("max_cells is 1", "Set it to 2 or more")),
    ("cells text", None, {"max_cells": "few"}, ("--max-cells is 'few'", "integer")),
    (
        "too many leaves",
        None,
        {"leaves": True, "max_cells": "39"},
        ("40 cells, more than max_cells = 39", "Raise --max-cells", "'age' with 10 values"),
    ),
    ("leaves with rounds", None, {"leaves": True, "rounds": "2"}, ("leaves selects no splits", "remove")),
    ("empty dataset name", None, {"dataset": ""}, ("'' is not a valid name of a dataset", "Give 1 to 200")),
    (
        "unprintable dataset name",
        None,
        {"dataset": "a\nb"},
        ("'a\\nb' is not a valid name of a dataset", "Give 1 to 200"),
    ),
    ("unknown option", None, {"colour": "red"}, ("No such option: --colour", "`scumble release --help`")),
    ("no --out", None, {"out": None}, ("--out", "`scumble release --help`")),
    ("no --schema", None, {"schema": None}, ("--schema", "`scumble release --help`")),
]

PLACES: list[Case] = [
    ("a folder", None, {"out": "first"}, ("first exists already, and is never overwritten", "Give another --out")),
    ("a file", None, {"out": "people.csv"}, ("people.csv exists already", "Give another --out")),
    (
        "a link to nowhere",
        lambda folder: (folder / "link").symlink_to("nowhere"),
        {"out": "link"},
        ("link exists already", "Give another --out"),
    ),
    ("here", None, {"out": "."}, ("exists already", "Give another --out")),
]

MACHINE: list[Case] = [
    ("no disk", None, {"out": "/proc/scumble/out"}, ("/proc/scumble/out", "Nothing was charged", "another --out")),
    (
        "read-only",
        None,
        {"out": "/proc/out"},
        ("Cannot create the folder /proc/out", "Nothing was charged", "another --out"),
    ),
    ("below a file", None, {"out": "people.csv/out"}, ("people.csv/out", "Nothing was charged", "another --out")),
    ("too long", None, {"out": "new/" + "x" * 300}, ("File name too long", "Nothing was charged", "another --out")),
    ("no ledger", None, {"ledger": "/proc/scumble/l.db"}, ("/proc/scumble/l.db cannot be created", "--ledger")),
]


def named(cases: list[Case]) -> Any:
    return pytest.mark.parametrize(
        ("change", "options", "says"), [case[1:] for case in cases], ids=[c[0] for c in cases]
    )


def refused(folder: Path, change: Change | None, options: dict[str, Any]) -> Ended:
    if change is not None:
        change(folder)
    with nothing_happens(folder, folder / "ledger.db"):
        return release(**options)


@named(FILES + SCHEMAS + EPSILONS + PARAMETERS + PLACES)
def test_bad_input_is_refused_before_anything_is_charged(
    folder: Path, change: Change | None, options: dict[str, Any], says: tuple[str, ...]
) -> None:
    ended = refused(folder, change, options)
    assert ended.code == 2
    for words in says:
        assert words in ended.error
    assert ".." not in ended.error.replace("...", "")


@named(MACHINE)
def test_a_machine_that_fails_before_the_charge_charges_nothing(
    folder: Path, change: Change | None, options: dict[str, Any], says: tuple[str, ...]
) -> None:
    ended = refused(folder, change, options)
    assert ended.code == 1
    for words in says:
        assert words in ended.error


def test_where_the_header_is_missing_the_first_record_is_not_repeated(folder: Path) -> None:
    secret = "987654321,Zebra-tamer,yes"
    ended = refused(folder, write("people.csv", f"{secret}\n1,Lawyer,no\n"), {})
    assert ended.code == 2
    assert "people.csv: its first line has none of the schema's columns. Does the file have a header?" in ended.error
    assert not any(cell in ended.error for cell in secret.split(","))


def test_folders_made_for_a_release_that_is_refused_are_taken_away_again(folder: Path, ledger: Path) -> None:
    with nothing_happens(folder, ledger):
        assert release(dataset="others", out="new/deep/out").code == 3
    assert release(out="new/deep/out").code == 0


# --------------------------------------------------------------------------------------------------------- the ledger


@contextmanager
def broken(ledger: Path) -> Iterator[None]:
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER entries_stay")
        connection.execute("UPDATE entries SET body = replace(body, '0.5', '0.4') WHERE kind = 'reserve'")
    yield


@contextmanager
def locked(ledger: Path) -> Iterator[None]:
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait half a second for a locked ledger, not ten seconds."""
    patient = Ledger.open
    monkeypatch.setattr(Ledger, "open", lambda path=None, **how: patient(path, **how, busy_seconds=0.5))


@pytest.mark.usefixtures("impatient")
def test_a_locked_ledger_charges_nothing(folder: Path, ledger: Path) -> None:
    with nothing_happens(folder, ledger):
        with locked(ledger):
            ended = release()
        assert ended.code == 1
        assert f"The ledger {ledger} has been locked by another process" in ended.error
        assert "Nothing was written to it. Wait until that process has finished" in ended.error


def test_a_ledger_that_was_edited_takes_no_charge(folder: Path, ledger: Path) -> None:
    with broken(ledger):
        before = contents(folder, ledger)
        for words in (["verify"], ["show"]):
            ended = scumble("ledger", *words)
            assert ended.code == 4
            assert "Entry 3 of the ledger is not valid" in ended.error
        ended = release()
    assert ended.code == 4
    assert "Entry 3 of the ledger is not valid" in ended.error
    assert "Restore it from a backup" in ended.error
    assert contents(folder, ledger) == before
    with closing(sqlite3.connect(ledger)) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (5,)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: path.mkdir(), "is not a file"),
        (lambda path: path.write_text("dear diary, " * 100), "is not a ledger of scumble"),
        (lambda path: path.write_text("x"), "is not a ledger of scumble"),
    ],
    ids=["a folder", "a text", "a letter"],
)
def test_other_files_are_not_used_as_a_ledger(folder: Path, ledger: Path, make: Change, says: str) -> None:
    place = folder / "diary"
    make(place)
    with nothing_happens(folder, ledger):
        ended = release(ledger="diary")
    assert ended.code == 2
    assert says in ended.error
    assert "--ledger" in ended.error


def test_another_programs_database_is_not_used_as_a_ledger(folder: Path, ledger: Path) -> None:
    with closing(sqlite3.connect(folder / "other.db")) as connection:
        connection.execute("CREATE TABLE diary (day TEXT)")
    with nothing_happens(folder, ledger):
        ended = release(ledger="other.db")
    assert ended.code == 2
    assert "other.db is not a ledger of scumble, but another program's database" in ended.error


@pytest.mark.parametrize("words", [["grant", "others", "3", "--reason", "more"], ["verify"]], ids=["grant", "verify"])
def test_a_mistyped_ledger_is_not_created(folder: Path, ledger: Path, words: list[str]) -> None:
    with nothing_happens(folder, ledger):
        ended = scumble("ledger", *words, "--ledger", "leger.db")
    assert ended.code == 2
    assert "The ledger leger.db does not exist" in ended.error


def test_showing_a_missing_ledger_creates_none(folder: Path, ledger: Path) -> None:
    with nothing_happens(folder, ledger):
        assert scumble("ledger", "show", "--json", "--ledger", "none.db").json == {"datasets": []}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["others", "0.1", "--reason", "x"], "has already spent 0.5, and nothing is ever refunded"),
        (["others", "0", "--reason", "x"], "the ceiling is 0, but must be above zero"),
        (["others", "nan", "--reason", "x"], "the ceiling is 'nan', not a finite number"),
        (["others", "2", "--reason", " "], "needs a reason"),
        (["others", "2"], "--reason"),
        (["nobody", "2", "--reason", "x"], "no dataset 'nobody'. Available: 'others'"),
    ],
)
def test_a_grant_that_makes_no_sense_is_refused(folder: Path, ledger: Path, words: list[str], says: str) -> None:
    with nothing_happens(folder, ledger):
        ended = scumble("ledger", "grant", *words)
    assert ended.code == 2
    assert says in ended.error


# ----------------------------------------------------------------------- faults that only show when the rows are read


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (
            write("people.csv.gz", gzip.compress(people(5000).encode())[:-4000]),
            {"data": "people.csv.gz"},
            "people.csv.gz cannot be read: it is not a complete gzip file",
        ),
        (
            schema(("target:", "unit: replace\nrows: 51\ntarget:")),
            {},
            "The schema states `rows: 51`",
        ),
    ],
    ids=["gzip cut short", "other rows than the public number"],
)
def test_a_fault_found_after_the_charge_says_that_the_charge_stands(
    folder: Path, ledger: Path, change: Change, options: dict[str, Any], says: str
) -> None:
    change(folder)
    before = contents(folder, ledger)
    ended = release(**options)
    assert ended.code == 2
    assert says in ended.error
    account = accounts(ledger)["people"]
    assert (account["spent"], kinds(account)) == ("1", ["open", "reserve"])
    assert f"The charge stands: ledger entry {account['entries'][1]['hash'][:12]}. No release was made." in ended.error
    assert contents(folder, ledger) == before


# ------------------------------------------------------------------------------------------------------ the other verbs


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["verify", "nowhere"], "nowhere has no release.json"),
        (["verify", "people.csv"], "people.csv"),
        (["evaluate", "nowhere", "--test", "people.csv"], "nowhere has no release.json"),
        (["evaluate", "first", "--test", "none.csv"], "The file none.csv does not exist"),
        (["evaluate", "first", "--test", "people.csv", "--train", "none.csv"], "The file none.csv does not exist"),
        (["evaluate", "first", "--test", "people.csv", "--table", "coarse"], "no coarse.csv"),
        (["evaluate", "first", "--test", "schema.yaml"], "schema.yaml: its first line has none"),
        (["evaluate", "first"], "--test"),
        (["plan", "--schema", "none.yaml", "--epsilon", "1"], "The schema file none.yaml does not exist"),
        (["plan", "--schema", "schema.yaml"], "--epsilon is missing"),
        (["plan", "--schema", "schema.yaml", "--epsilon", "0"], "must be above zero"),
        (["schema", "check", "none.yaml"], "The schema file none.yaml does not exist"),
        (["schema", "check", "schema.yaml", "none.csv"], "The file none.csv does not exist"),
        (["schema", "draft", "none.csv"], "The file none.csv does not exist"),
        (["schema", "draft", "people.csv", "--target", "wage"], "no column 'wage'"),
        (["schema", "draft", "people.csv", "--out", "schema.yaml"], "schema.yaml exists already"),
        (["schema", "hierarchy", "schema.yaml", "age", "--out", "age.csv"], "'age' is numeric"),
        (["schema", "hierarchy", "schema.yaml", "none", "--out", "age.csv"], "no attribute 'none'"),
        (["paint"], "No such command 'paint'"),
        (["--colour"], "No such option: --colour"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_verb_refuses_bad_input_in_one_line(folder: Path, ledger: Path, words: list[str], says: str) -> None:
    with nothing_happens(folder, ledger):
        ended = scumble(*words)
    assert ended.code == 2
    assert says in ended.error


def test_a_machine_that_cannot_write_says_where(folder: Path, ledger: Path) -> None:
    with nothing_happens(folder, ledger):
        ended = scumble("schema", "draft", "people.csv", "--out", "/proc/scumble/schema.yaml")
    assert ended.code == 1
    assert "/proc/scumble/schema.yaml" in ended.error


def test_bare_scumble_prints_its_help(folder: Path) -> None:
    ended = scumble()
    assert ended.code == 2
    assert ended.err == ""
    assert "release" in ended.out
