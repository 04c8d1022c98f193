"""Releases on the command line: what is printed, what is charged, what the folder contains."""

import gzip
import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from command_line import (
    HEADER,
    SCHEMA,
    accounts,
    complaints,
    contents,
    kinds,
    leftovers,
    nothing_happens,
    people,
    process,
    release,
    release_words,
    scumble,
)

import scumble as api


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a table, test rows, a schema, and the path of a ledger that does not exist yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(300))
    (tmp_path / "test.csv").write_text(people(60, seed=2))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def ledger(folder: Path) -> Path:
    return folder / "ledger.db"


@pytest.fixture
def released(folder: Path) -> Path:
    assert release().code == 0
    return folder / "out"


def check_scores(scores: dict[str, Any]) -> None:
    assert set(scores) == {"accuracy", "auc", "balanced_accuracy", "balanced_accuracy_weighted", "recall"}
    for name in ("accuracy", "balanced_accuracy", "balanced_accuracy_weighted"):
        assert 0 <= scores[name] <= 1
    assert scores["balanced_accuracy"] == pytest.approx(sum(scores["recall"].values()) / len(scores["recall"]))
    assert scores["auc"] is None or 0 <= scores["auc"] <= 1


# ---------------------------------------------------------------------------------------------------------------- plan


def test_a_plan_needs_no_data_and_touches_no_ledger(folder: Path) -> None:
    (folder / "people.csv").unlink()
    planned = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1", "--detail", "no", "--json").json
    assert planned["method"] == "diffgen"
    assert planned["guarantee"] == {"kind": "PureDP", "epsilon": "1", "unit": "add-remove"}
    assert [(spend["label"], spend["epsilon"], spend["times"]) for spend in planned["spends"]] == [
        ("choose a split", "0.0625", 8),
        ("count the cells", "0.5", 1),
    ]
    assert planned["cells_at_most"] >= 2
    assert sorted(path.name for path in folder.iterdir()) == ["schema.yaml", "test.csv"]


@pytest.mark.parametrize(
    "options",
    [["--epsilon", "1/3"], ["--epsilon", "0.1"], ["--epsilon", "1", "--selection", "published", "--rounds", "7"]],
    ids=["a third", "a tenth", "published"],
)
def test_the_spends_of_a_plan_add_up_exactly(folder: Path, options: list[str]) -> None:
    planned = scumble("plan", "--schema", "schema.yaml", *options, "--json").json
    total = sum(Fraction(spend["epsilon"]) * spend["times"] for spend in planned["spends"])
    assert total == Fraction(planned["guarantee"]["epsilon"]) == Fraction(options[1])


def test_a_plan_in_words_numbers_its_spends(folder: Path) -> None:
    ended = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1", "--selection", "published")
    assert ended.code == 0
    assert [line[0] for line in ended.out.splitlines() if re.match(r"\d  ", line)] == ["1", "2", "3", "4"]
    assert "Guarantee: 1-differentially private" in ended.out
    assert max(map(len, ended.out.splitlines()[:12])) <= 80


# ------------------------------------------------------------------------------------------------------------- release


def zipped(folder: Path) -> None:
    (folder / "people.csv.gz").write_bytes(gzip.compress((folder / "people.csv").read_bytes()))


def in_parquet(folder: Path) -> None:
    pq.write_table(pacsv.read_csv(folder / "people.csv"), folder / "people.parquet")


def by_semicolons(folder: Path) -> None:
    (folder / "people.csv").write_text(people(300).replace(",", ";"))


def by_tabs_from_windows(folder: Path) -> None:
    (folder / "people.csv").write_bytes(b"\xef\xbb\xbf" + people(300).replace(",", "\t").replace("\n", "\r\n").encode())


def in_utf16(folder: Path) -> None:
    (folder / "people.csv").write_bytes(people(300).encode("utf-16"))


def in_an_archive(folder: Path) -> None:
    with zipfile.ZipFile(folder / "people.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "people.csv", "folder/people.csv")


WAYS: list[tuple[str, Callable[[Path], None] | None, dict[str, Any]]] = [
    ("default", None, {}),
    ("together max", None, {"score": "max"}),
    ("together gini", None, {"score": "gini", "selection_share": "2/3", "rounds": "3"}),
    ("published max", None, {"selection": "published", "score": "max", "rounds": "4"}),
    ("published infogain", None, {"selection": "published", "score": "infogain", "rounds": "4"}),
    ("leaves", None, {"leaves": True}),
    ("without the table", None, {"no_table": True}),
    ("Parquet", in_parquet, {"data": "people.parquet"}),
    ("gzip", zipped, {"data": "people.csv.gz"}),
    ("semicolons", by_semicolons, {"delimiter": ";"}),
    ("tabs", by_tabs_from_windows, {"delimiter": "tab"}),
    ("UTF-16", in_utf16, {"encoding": "utf-16"}),
    ("zip", in_an_archive, {"data": "people.zip"}),
    ("values with line breaks", None, {"multiline": True}),
]


def test_what_was_found_in_the_header_is_printed(folder: Path, ledger: Path) -> None:
    by_semicolons(folder)
    line = "people.csv was read as CSV separated by ';', in UTF-8.\n"
    assert complaints(release(json=True)) == line
    assert complaints(release(json=True, delimiter=";", out="again", dataset="again", ledger="other.db")) == ""
    assert scumble("schema", "check", "schema.yaml", "people.csv").err == line
    assert scumble("evaluate", "out", "--test", "people.csv", "--json").err.startswith(line)
    perturbed = scumble("perturb", "people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--out", "own", "--json")
    assert perturbed.err.startswith(line)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(("change", "options"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_a_release_prints_what_it_made(
    folder: Path,
    ledger: Path,
    engine: str,
    change: Callable[[Path], None] | None,
    options: dict[str, Any],
) -> None:
    if change is not None:
        change(folder)
    ended = release(engine=engine, epsilon="400", json=True, **options)
    assert complaints(ended) == ""
    printed = ended.json
    assert list(printed) == ["release", "guarantee", "spends", "cells", "recommended", "warnings", "ledger", "seconds"]
    assert printed["release"] == "out"
    assert printed["guarantee"] == {"kind": "PureDP", "epsilon": "400", "unit": "add-remove"}
    assert all({"label", "epsilon", "times"} <= set(spend) for spend in printed["spends"])
    assert all(isinstance(spend["epsilon"], str) for spend in printed["spends"])
    assert sum(Fraction(spend["epsilon"]) * spend["times"] for spend in printed["spends"]) == 400
    assert printed["seconds"] > 0
    loaded = api.load_release(folder / "out")
    assert printed["cells"] == len(loaded.count)
    assert printed["cells"] == 40 if "leaves" in options else printed["cells"] > 1
    # With detail, the cells get 3 % of epsilon, half of it for counts: noise of scale 1/5 or less on at most 80 counts.
    assert abs(int(loaded.measured.sum()) / loaded.resolution - 300) < 60
    table = folder / "out" / "table.csv"
    assert table.exists() is ("no_table" not in options)
    recommended = f"{loaded.recommended}.csv" if table.exists() else "counts.csv"
    assert json.loads((folder / "out" / "release.json").read_text())["recommended"] == recommended
    assert printed["recommended"] == recommended
    assert scumble("verify", "out", "--json").json["held"]
    account = accounts(ledger)["people"]
    assert (account["spent"], account["ceiling"], account["unit"]) == ("400", "400", "add-remove")
    assert kinds(account) == ["open", "reserve", "rows", "settle"]
    assert leftovers(folder) == []


def test_a_release_in_words_says_what_was_made_promised_and_charged(folder: Path) -> None:
    ended = release()
    assert (ended.code, complaints(ended)) == (0, "")
    assert re.search(r"^out: \d+ cells? x 2 classes\. Recommended for training: fine\.csv\.$", ended.out, re.MULTILINE)
    assert "Guarantee: 1-differentially private" in ended.out
    assert re.search(r"^Charged 1: 1 of 1 spent, ledger entry [0-9a-f]{12}\.", ended.out, re.MULTILINE)


def test_a_release_in_words_says_what_it_is_good_for_and_not(folder: Path) -> None:
    ended = release()
    assert re.search(r"^  what can be learned from about [\d,]+ counted records \(noisy\): ", ended.out, re.MULTILINE)
    assert re.search(r"^fine\.csv is good for: .*\. Not for: .*; single rows\.$", ended.out, re.MULTILINE)
    assert "good for" not in release(out="cells", detail="no", ledger="other.db").out


def test_too_few_records_are_named_before_the_charge_and_after(folder: Path, ledger: Path) -> None:
    before = "warning, before the charge: what can be learned from 50 records: nothing but the class shares (class"
    with nothing_happens(folder, ledger):
        refused = release(epsilon="0.01", records=50, data="no.csv")
        assert refused.code != 0 and before in refused.err
        assert (
            "Warning: what can be learned from 50 records"
            in scumble("plan", "--schema", "schema.yaml", "--epsilon", "0.01", "--records", "50").out
        )
    ended = release(epsilon="0.01", records=50)
    assert ended.code == 0 and before in ended.err
    assert re.search(r"^warning: What can be learned from about [\d,]+ counted records", ended.err, re.MULTILINE)


def test_names_that_look_like_markup_are_printed_as_they_are(folder: Path) -> None:
    assert "[red]out[/red] :cat:: " in release(out="[red]out[/red] :cat:", dataset="[b]x[/b] :dog:").out
    grant = scumble("ledger", "grant", "[b]x[/b] :dog:", "2", "--reason", "[i]why[/i] :owl:")
    assert "[b]x[/b] :dog:: the ceiling is now 2" in grant.out
    shown = scumble("ledger", "show").out
    assert "[b]x[/b] :dog:" in shown
    assert ":owl:" in shown


def test_the_folder_holds_what_the_design_says(released: Path) -> None:
    assert {path.name for path in released.iterdir()} == {
        "release.json", "schema.yaml", "counts.csv", "table.csv", "fine.csv", "fine.schema.yaml", "detail.json",
        "report.html", "README.md", "croissant.json", "datapackage.json", "values.csv", "read.R", "deployment.yaml",
    }  # fmt: skip
    header = (released / "counts.csv").read_text().splitlines()[0]
    assert header.replace('"', "") == f"{HEADER},count,measured,variance"
    assert (released / "table.csv").read_text().splitlines()[0].replace('"', "") == HEADER
    assert "scumble: schema/1" in (released / "schema.yaml").read_text()
    manifest = json.loads((released / "release.json").read_text())
    assert next(iter(manifest)) == "guarantee"
    assert set(manifest["receipt"]) == {"entry", "charged", "spent", "ceiling"}
    assert released.stat().st_mode & 0o777 == 0o755


def test_a_real_process_prints_json_on_stdout_alone_and_says_no_in_its_exit_code(folder: Path) -> None:
    first = process(*release_words(json=True))
    assert complaints(first) == ""
    assert first.json["release"] == "out"
    second = process(*release_words(out="again"))
    assert second.code == 3
    assert 'scumble ledger grant people 2 --reason "..."' in second.error
    assert not (folder / "again").exists()


# ------------------------------------------------------------------------------------------------ the ledger, and no


def test_a_second_release_is_refused_until_the_command_in_the_refusal_was_run(folder: Path, ledger: Path) -> None:
    assert release(dataset="my people").code == 0
    with nothing_happens(folder, ledger):
        ended = release(dataset="my people", out="again", epsilon="1/3")
    assert ended.code == 3
    assert "'my people' has spent 1 of its ceiling of 1, and this release needs 1/3" in ended.error
    command = shlex.split(ended.error.splitlines()[-1])
    assert command == ["scumble", "ledger", "grant", "my people", "4/3", "--reason", "..."]
    assert scumble(*command[1:]).code == 0
    assert release(dataset="my people", out="again", epsilon="1/3").code == 0
    account = accounts(ledger)["my people"]
    assert (account["spent"], account["ceiling"]) == ("4/3", "4/3")


def test_the_command_in_the_refusal_names_a_ledger_that_is_not_the_usual_one(folder: Path, ledger: Path) -> None:
    options = {"ledger": "an other.db", "json": True}
    assert release(**options).code == 0
    command = shlex.split(release(out="again", **options).error.splitlines()[-1])
    assert scumble(*command[1:]).code == 0
    assert release(out="again", **options).code == 0
    assert not ledger.exists()
    assert accounts(folder / "an other.db")["people"]["spent"] == "2"


@pytest.mark.parametrize("form", [None, in_parquet, zipped], ids=["same file", "Parquet", "gzip"])
def test_the_same_rows_under_another_name_are_refused_and_the_charge_stands(
    released: Path, ledger: Path, form: Callable[[Path], None] | None
) -> None:
    folder = released.parent
    if form is not None:
        form(folder)
    data = {None: "people.csv", in_parquet: "people.parquet", zipped: "people.csv.gz"}[form]
    ended = release(data, dataset="strangers", out="again")
    assert ended.code == 3
    assert "These rows are recorded in the ledger as the dataset 'people', not 'strangers'" in ended.error
    assert "the charge to 'strangers' stands" in ended.error
    assert "--dataset people" in ended.error
    stranger = accounts(ledger)["strangers"]
    assert (stranger["spent"], kinds(stranger)) == ("1", ["open", "reserve"])
    assert not (folder / "again").exists()
    assert leftovers(folder) == []


def under_replace(folder: Path) -> None:
    (folder / "replace.yaml").write_text(SCHEMA.replace("target:", "unit: replace\nrows: 300\ntarget:"))


def test_a_replace_schema_is_refused_on_an_add_remove_account(released: Path, ledger: Path) -> None:
    folder = released.parent
    under_replace(folder)
    assert scumble("ledger", "grant", "people", "9", "--reason", "room").code == 0
    with nothing_happens(folder, ledger):
        ended = release(schema="replace.yaml", out="again")
    assert ended.code == 2
    assert "account is kept under add-remove" in ended.error
    assert "Release with `unit: add-remove` in the schema" in ended.error


def test_an_add_remove_release_counts_double_on_a_replace_account(folder: Path, ledger: Path) -> None:
    under_replace(folder)
    assert release(schema="replace.yaml", json=True).json["guarantee"]["unit"] == "replace"
    assert "needs 2" in release(out="again").error
    assert scumble("ledger", "grant", "people", "3", "--reason", "room").code == 0
    assert release(out="again").code == 0
    account = accounts(ledger)["people"]
    assert (account["unit"], account["spent"]) == ("replace", "3")


def test_the_ledger_option_goes_before_the_environment_and_the_environment_before_the_default(
    folder: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    monkeypatch.setenv("HOME", str(folder / "home"))
    assert release(ledger="mine.db", out="1").code == 0
    assert not ledger.exists()
    assert release(out="2").code == 0
    assert accounts(ledger)["people"]["spent"] == "1"
    monkeypatch.delenv("SCUMBLE_LEDGER")
    assert release(out="3").code == 0
    made = [path.relative_to(folder).parts[0] for path in folder.rglob("ledger.db")]
    assert sorted(made) == ["data" if os.name == "posix" and os.uname().sysname == "Linux" else "home", "ledger.db"]


def test_the_ledger_as_json(released: Path, ledger: Path) -> None:
    granted = scumble("ledger", "grant", "people", "2.50", "--reason", "a second wave", "--json").json
    assert granted == {"dataset": "people", "ceiling": "2.5", "reason": "a second wave"}
    shown = scumble("ledger", "show", "--json").json
    assert list(shown) == ["datasets", "ledger"]
    assert [event["event"] for event in shown["ledger"]] == ["created"]
    (account,) = shown["datasets"]
    assert {name: account[name] for name in ("name", "unit", "spent", "ceiling")} == {
        "name": "people",
        "unit": "add-remove",
        "spent": "1",
        "ceiling": "2.5",
    }
    assert kinds(account) == ["open", "reserve", "rows", "settle", "grant"]
    assert "fingerprint" not in json.dumps(shown)
    receipt = json.loads((released / "release.json").read_text())["receipt"]
    assert receipt == {"entry": account["entries"][1]["hash"], "charged": "1", "spent": "1", "ceiling": "1"}
    verified = scumble("ledger", "verify", "--json").json
    assert (verified["entries"], verified["valid"], len(verified["checks"]), verified["notices"]) == (6, True, 2, [])


def test_the_ledger_in_words(released: Path) -> None:
    shown = scumble("ledger", "show")
    assert "people (add-remove): 1 of 1 spent" in shown.out
    assert "diffgen, charged 1" in shown.out
    assert max(map(len, shown.out.splitlines()[1:])) <= 80
    first, second = scumble("ledger", "verify").out.splitlines()
    assert first == "ok  5 entries: the hash chain and the arithmetic are valid"
    assert second.startswith("ok  the ledger contains what the witness")


# ------------------------------------------------------------------------------------------------------------- verify


def rewritten(name: str, before: str, after: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert before in text
        (folder / name).write_text(text.replace(before, after, 1))

    return change


def one_count_more(folder: Path) -> None:
    lines = (folder / "counts.csv").read_text().splitlines(keepends=True)
    cells = lines[1].split(",")
    cells[-3] = str(int(cells[-3]) + 1)
    (folder / "counts.csv").write_text("".join([lines[0], ",".join(cells), *lines[2:]]))


@pytest.mark.parametrize(
    "tamper",
    [
        one_count_more,
        lambda folder: (folder / "table.csv").unlink(),
        lambda folder: (folder / "notes.txt").write_text("hello"),
        lambda folder: (folder / "README.md").write_text("trust me"),
        rewritten("release.json", '"epsilon": "1"', '"epsilon": "0.1"'),
        rewritten("release.json", "1-differentially private", "0.1-differentially private"),
        rewritten("release.json", '"times": ', '"times": 1'),
        rewritten("release.json", '"files": {', '"flies": {'),
        rewritten("release.json", '"guarantee": {', '"guarantee": 1, "was": {'),
        rewritten("schema.yaml", "income", "wage"),
    ],
    ids=[
        "a count", "no table", "one file more", "a changed page", "the guarantee", "its sentence", "the spends",
        "no list of files", "no guarantee", "the schema",
    ],
)  # fmt: skip
def test_a_folder_that_was_changed_does_not_verify(released: Path, tamper: Callable[[Path], None]) -> None:
    assert scumble("verify", released).code == 0
    tamper(released)
    ended = scumble("verify", released)
    assert ended.code == 4
    assert ended.error


# ------------------------------------------------------------------------------------------------------------ evaluate


def test_an_evaluation_as_json(released: Path) -> None:
    alone = scumble("evaluate", "out", "--test", "test.csv", "--json")
    assert set(alone.json) == {
        *("notice", "table", "test_rows", "tree", "boosting", "majority", "commonest", "pruning", "fidelity")
    }
    beside = scumble("evaluate", "out", "--test", "test.csv", "--train", "people.csv", "--json").json
    assert set(beside) == {*alone.json, "raw"}
    for scores in (beside["tree"], beside["boosting"], beside["raw"]["tree"], beside["raw"]["boosting"]):
        check_scores(scores)
    for judged, of in ((alone.json, "release"), (beside, "train")):
        about = {name: judged["commonest"].pop(name) for name in ("of", "class")}
        assert about["of"] == of
        check_scores(judged["commonest"])
        assert judged["majority"] == judged["commonest"]["accuracy"]
        assert judged["commonest"]["recall"] == {"no": about["class"] == "no", "yes": about["class"] == "yes"}
    same = set(alone.json) - {"majority", "commonest", "fidelity"}
    assert {name: beside[name] for name in same} == {name: alone.json[name] for name in same}


def test_the_commonest_class_is_that_of_the_raw_rows_if_they_are_given(folder: Path) -> None:
    """Noise can make the rarer class the commonest of a release; here other raw rows stand for this."""
    (folder / "people.csv").write_text(rows(*["1,Lawyer,yes"] * 300, "2,Dancer,no"))
    (folder / "others.csv").write_text(rows(*["1,Lawyer,no"] * 3, "2,Dancer,yes"))
    (folder / "test.csv").write_text(rows(*["1,Lawyer,no"] * 9, "2,Dancer,yes"))
    assert release().code == 0
    alone = scumble("evaluate", "out", "--test", "test.csv", "--json").json
    beside = scumble("evaluate", "out", "--test", "test.csv", "--train", "others.csv", "--json").json
    assert (alone["commonest"]["of"], alone["commonest"]["class"], alone["majority"]) == ("release", "yes", 0.1)
    assert (beside["commonest"]["of"], beside["commonest"]["class"], beside["majority"]) == ("train", "no", 0.9)
    assert beside["commonest"]["balanced_accuracy"] == 0.5
    assert "The commonest class of the release is 'yes'" in scumble("evaluate", "out", "--test", "test.csv").out


def test_an_evaluation_in_words_is_for_the_owner_alone(released: Path) -> None:
    ended = scumble("evaluate", "out", "--test", "test.csv", "--train", "people.csv")
    assert ended.code == 0
    for line in (
        "pruned tree on the release",
        "boosting on the raw rows",
        "always the commonest class",
        "The commonest class of the raw rows is",
        "balanced",
        "Recall of each class",
    ):
        assert line in ended.out
    tables, _, _ = ended.out.partition("Balanced:")
    assert max(map(len, tables.splitlines())) <= 80
    assert "Do not publish them" in ended.err


# ------------------------------------------------- private values are never at fault: these are all ordinary releases


def rows(*lines: str) -> str:
    return "\n".join([HEADER, *lines]) + "\n"


PRIVATE = {
    "text in a numeric column": rows(
        "old,Lawyer,yes", "12,Dancer,no", "1e999,Dancer,no", "٣,Writer,no", "+5.,Writer,no"
    ),
    "huge numbers": rows(
        "1e300,Lawyer,yes", "-1e300,Dancer,no", "1.7976931348623157e308,Dancer,no", "1e-320,Writer,no"
    ),
    "no rows": rows(),
    "no rows, no end of line": HEADER,
    "one row": rows("33,Lawyer,yes"),
    "one class": rows(*[f"{age},Lawyer,yes" for age in range(0, 100, 5)]),
    "constant columns": rows(*["50,Dancer,no"] * 40 + ["50,Dancer,yes"] * 40),
    "all outside the domain": rows(*["-7,Pilot,maybe", "1000,Sailor,perhaps"] * 20),
    "nulls everywhere": rows(*[",,"] * 30),
    "quotes and line breaks": rows('"12","Lawyer","yes"', '"a\nb","c ""d"" e",no', "1,Dancer,yes"),
    "spaces": rows(" 12 , Lawyer, yes", "\t13,Lawyer,yes"),
}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("text", list(PRIVATE.values()), ids=list(PRIVATE))
def test_whatever_the_rows_hold_is_an_ordinary_release(folder: Path, ledger: Path, engine: str, text: str) -> None:
    (folder / "people.csv").write_text(text)
    ended = release(engine=engine, json=True)
    assert complaints(ended) == ""
    assert ended.json["guarantee"]["epsilon"] == "1"
    assert scumble("verify", "out").code == 0
    assert kinds(accounts(ledger)["people"]) == ["open", "reserve", "rows", "settle"]


@pytest.mark.parametrize("text", list(PRIVATE.values()), ids=list(PRIVATE))
def test_whatever_the_rows_hold_a_release_of_them_can_be_judged(folder: Path, text: str) -> None:
    (folder / "people.csv").write_text(text)
    assert release().code == 0
    judged = scumble("evaluate", "out", "--test", "test.csv", "--train", "people.csv", "--json").json
    for scores in (judged["tree"], judged["boosting"], judged["raw"]["tree"], judged["raw"]["boosting"]):
        check_scores(scores)


def test_a_test_table_of_one_class_has_no_auc(released: Path) -> None:
    (released.parent / "test.csv").write_text(rows("1,Lawyer,yes", "2,Dancer,yes"))
    judged = scumble("evaluate", "out", "--test", "test.csv", "--json").json
    assert judged["tree"]["auc"] is None
    assert scumble("evaluate", "out", "--test", "test.csv").code == 0


@pytest.mark.parametrize("text", [rows(), rows("1,Lawyer,perhaps")], ids=["no rows", "no known class"])
def test_a_test_table_without_a_row_to_judge_on_is_refused(released: Path, text: str) -> None:
    (released.parent / "test.csv").write_text(text)
    ended = scumble("evaluate", "out", "--test", "test.csv")
    assert ended.code == 2
    assert "The test table has no records to score. Give a test file" in ended.error


def test_columns_of_no_type_and_odd_types_are_ordinary_too(folder: Path) -> None:
    frame = pd.DataFrame({"age": [None, None], "job": pd.Categorical(["Lawyer", None]), "income": ["yes", "no"]})
    frame.to_parquet(folder / "odd.parquet")
    assert release("odd.parquet").code == 0
    dates = pl.DataFrame({"age": pl.Series(["2020-01-01"]).str.to_date(), "job": [True], "income": [b"\xff"]})
    dates.write_parquet(folder / "dates.parquet")
    assert release("dates.parquet", out="dates").code == 0
    assert scumble("verify", "dates").code == 0


# ------------------------------------------------------------------------------------------------- demo and Python API


def test_the_demo_runs_every_time_in_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "never.db"))
    first = scumble("demo")
    assert (first.code, "Do not publish them" in first.err) == (0, True)
    assert "refused, exit code 3" in first.out
    before = contents(tmp_path / "scumble-demo", tmp_path / "scumble-demo" / "ledger.db")
    second = scumble("demo", "--out", "scumble-demo", "--json").json
    assert Path(second["folder"]).name == "scumble-demo-2"
    assert set(second) == {"folder", "release", "evaluation", "refused", "checks"}
    assert contents(tmp_path / "scumble-demo", tmp_path / "scumble-demo" / "ledger.db") == before
    for folder in ("scumble-demo", "scumble-demo-2"):
        assert scumble("verify", f"{folder}/release").code == 0
    assert not (tmp_path / "never.db").exists()


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_the_python_verbs_take_frames(folder: Path, ledger: Path, library: Any) -> None:
    frame, test = library.read_csv(folder / "people.csv"), library.read_csv(folder / "test.csv")
    planned = api.plan(schema=folder / "schema.yaml", epsilon="0.5")
    assert planned.guarantee.epsilon == Fraction(1, 2)
    made = api.release(frame, schema=folder / "schema.yaml", epsilon="0.5", dataset="frames", out=folder / "out")
    assert made.release.plan.guarantee == planned.guarantee
    assert made.release.plan.spends[0] == planned.spends[0], "what is counted first divides the rest"
    loaded = api.load_release(made.folder)
    assert np.array_equal(loaded.count, made.release.count)
    assert loaded.schema == made.release.schema
    assert api.verify(made.folder)
    judged = api.evaluate(made.folder, test=test, train=frame)
    check_scores(judged["raw"]["tree"])
    rows = len(test)
    assert judged["test_rows"] == {"read": rows, "in_domain": rows}
    assert accounts(ledger)["frames"]["spent"] == "0.5"
    # The same rows from the file they came from, under another name.
    with pytest.raises(api.BudgetError, match="as the dataset 'frames'"):
        api.release(folder / "people.csv", schema=folder / "schema.yaml", epsilon="0.5", out=folder / "again")


def test_the_python_verbs_say_what_they_do_not_take(folder: Path) -> None:
    with pytest.raises(api.InputError, match="A dict is not a table"):
        api.release({"age": [1]}, schema=folder / "schema.yaml", epsilon=1, out=folder / "out")
    with pytest.raises(api.InputError, match="it has no parameter 'epsilom'"):
        api.plan(schema=folder / "schema.yaml", epsilon=1, epsilom=2)
    with pytest.raises(api.InputError, match="epsilon is nan"):
        api.plan(schema=folder / "schema.yaml", epsilon=float("nan"))


# --------------------------------------------------------------------------------------------------- nothing leaks out


def test_nothing_in_the_folder_reveals_the_owner_or_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is searched for planted names and numbers. A noisy count may happen to equal the number of rows, so
    that number must be absent from one of three releases; a leak would be in all."""
    home = tmp_path / "OkapiHome"
    home.mkdir()
    monkeypatch.chdir(home)
    for name in ("USER", "LOGNAME", "USERNAME", "HOSTNAME"):
        monkeypatch.setenv(name, "QuaggaUser")
    number = 1237
    ages = np.linspace(123.40625, 876.59375, number)
    table = [f"{age!r},{'Dancer' if age < 400 else 'Lawyer'},{'yes' if age < 400 else 'no'}" for age in ages.tolist()]
    (home / "ZebraClinic.csv").write_text(rows(*table))
    (home / "GnuSchema.yaml").write_text(SCHEMA.replace("high: 100,", "high: 1000,"))
    words = release_words(
        "ZebraClinic.csv", schema="GnuSchema.yaml", dataset="KuduData", epsilon="0.5", out="BongoFolder"
    )
    shows_the_number = []
    for attempt in range(3):
        ledger = home / f"ElandLedger{attempt}.db"
        if attempt == 0:
            assert process(*words, "--ledger", ledger).code == 0
        else:
            assert scumble(*words, "--ledger", ledger).code == 0
        with closing(sqlite3.connect(ledger)) as connection:
            key = bytes.fromhex(Path(f"{ledger}.key").read_text().split()[1])
            ((body,),) = connection.execute("SELECT body FROM entries WHERE kind = 'rows'")
        texts = {path.name: path.read_text() for path in (home / "BongoFolder").iterdir()}
        everything = "\n".join(texts.values())
        planted = [
            "Okapi", "Quagga", "Zebra", "GnuSchema", "Kudu", "Bongo", "Eland", "123.40625", "876.59375",
            key.hex(), json.loads(body)["fingerprint"],
            time.strftime("%Y-%m-%d"), time.strftime("%d.%m.%Y"), time.strftime("%d %b %Y"), "dc:date",
        ]  # fmt: skip
        if len(socket.gethostname()) > 5:
            planted.append(socket.gethostname())
        assert [word for word in planted if word.lower() in everything.lower()] == []
        manifest = json.loads(texts["release.json"])
        assert not {"seed", "seconds", "time", "date", "rows", "dataset", "engine"} & set(manifest)
        shows_the_number.append(re.search(rf"(?<![\d.]){number:,}?(?![\d.])|(?<![\d.]){number}(?![\d.])", everything))
        shutil.rmtree(home / "BongoFolder")
    assert not all(shows_the_number)


def test_an_evaluation_says_how_many_test_rows_were_scored(folder: Path, ledger: Path) -> None:
    assert release(json=True).code == 0
    good = (folder / "people.csv").read_text()
    (folder / "others.csv").write_text(f"{good}one field too few\none field too few\n")
    read = len(good.splitlines()) + 1
    found = scumble("evaluate", "out", "--test", "others.csv", "--json").json
    assert found["test_rows"] == {"read": read, "in_domain": read - 2}
    printed = scumble("evaluate", "out", "--test", "others.csv").out
    assert f"{read - 2:,} of {read:,} test rows are in the domain." in printed
