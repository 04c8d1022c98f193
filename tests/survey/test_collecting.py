"""Collected records: stored durably, forgotten when withdrawn, and published once as a release of perturbed records."""

import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing as closing_file
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from chi_square import chi_square_rejects
from survey_server import Client, health_survey, submission

import scumble
from scumble.errors import InputError
from scumble.files.perturbed_table import published_blocks
from scumble.survey import closing, records
from scumble.survey.beginning import withdraw_records
from scumble.survey.closing import close_survey, shuffle
from scumble.survey.definition import parse_closing
from scumble.survey.records import ClosedSurvey, CollectedRecords, UnknownToken, collecting_folder
from scumble.survey.submission import Submission, new_token, token_digest

SURVEY = health_survey()


def stored(collected: CollectedRecords, *, age: int, truths: dict[str, int] | None = None) -> bytes:
    token = token_digest(new_token())
    reports = {"age": age, "salary": 3, "job": 1, "sick": 0}
    collected.put(Submission(token=token, reports=reports, truths=truths or {}))
    return token


def test_a_closed_survey_is_a_release_of_perturbed_records(tmp_path: Path) -> None:
    out = tmp_path / "blurred"
    collected = CollectedRecords.create(collecting_folder(out), SURVEY)
    for age in range(60):
        stored(collected, age=age, truths={"age": 5} if age % 20 == 0 else None)
    closed = close_survey(out)
    assert closed.release.records == 60
    assert scumble.verify(out)
    (block,) = published_blocks(out / "table.csv", SURVEY.noise)
    assert sorted(block["age"].tolist()) == list(range(60))
    assert block["age"].tolist() != list(range(60))
    notes = " ".join(closed.release.plan.notes)
    assert "browsers" in notes
    assert "same id" not in notes
    assert closed.truths is not None
    assert closed.truths.read_text("utf-8") == "age\n20\n20\n20\n"
    assert len(collected) == 0
    assert collected.is_closed
    with pytest.raises(ClosedSurvey):
        stored(collected, age=1)


def test_the_order_of_rows_is_uniform() -> None:
    orders = Counter("".join(shuffle(list("abc"))) for _ in range(6000))
    assert not chi_square_rejects(orders, {"".join(each): 1 / 6 for each in permutations("abc")})
    assert chi_square_rejects(orders + Counter({"abc": 300}), {"".join(each): 1 / 6 for each in permutations("abc")})


def test_an_interrupted_closing_is_repeated_without_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "blurred"
    collected = CollectedRecords.create(collecting_folder(out), SURVEY)
    for age in range(7):
        stored(collected, age=age)
    with monkeypatch.context() as broken:
        broken.setattr(closing, "write_perturbed", _fail)
        with pytest.raises(OSError, match="disk"):
            close_survey(out)
    assert not out.exists()
    with monkeypatch.context() as broken:
        broken.setattr(CollectedRecords, "forget", _fail)
        with pytest.raises(OSError, match="disk"):
            close_survey(out)
    table = (out / "table.csv").read_bytes()
    assert len(collected) == 7
    assert close_survey(out).release.records == 7
    assert (out / "table.csv").read_bytes() == table
    assert len(collected) == 0
    assert close_survey(out).release.records == 7


def _fail(*_: object) -> None:
    raise OSError("the disk is full")


def test_another_folder_at_the_place_of_the_release_is_never_replaced(tmp_path: Path) -> None:
    out = tmp_path / "blurred"
    other = CollectedRecords.create(collecting_folder(out), health_survey())
    stored(other, age=3)
    stored(other, age=4)
    close_survey(out)
    again = CollectedRecords.create(collecting_folder(out), SURVEY)
    stored(again, age=3)
    with pytest.raises(InputError, match="is not the release of this survey"):
        close_survey(out)
    assert len(again) == 1


def test_withdrawn_and_replaced_records_are_overwritten(tmp_path: Path) -> None:
    collected = CollectedRecords.create(tmp_path / "c", SURVEY)
    token = token_digest("A" * 22)
    reports = {"age": 77, "salary": 17, "job": 2, "sick": 1}
    collected.put(Submission(token=token, reports=reports, truths={}))
    assert b"[77, 17, 2, 1]" in (tmp_path / "c" / "records.db").read_bytes()
    collected.put(Submission(token=token, reports={**reports, "age": 66}, truths={}))
    assert b"[77, 17, 2, 1]" not in everything(tmp_path)
    collected.withdraw(token)
    assert b"[66, 17, 2, 1]" not in everything(tmp_path)
    assert token not in everything(tmp_path)


def test_the_owner_withdraws_until_the_survey_is_closed_for_good(tmp_path: Path) -> None:
    """Also after the closing date, when the page no longer takes withdrawals."""
    ends = datetime.now(UTC) + timedelta(seconds=0.5)
    collected = CollectedRecords.create(collecting_folder(tmp_path / "blurred"), health_survey(closes=ends))
    tokens = [new_token() for _ in range(3)]
    for token in tokens:
        reports = {"age": 77, "salary": 17, "job": 2, "sick": 1}
        collected.put(Submission(token=token_digest(token), reports=reports, truths={}))
    while not collected.survey.is_over():
        time.sleep(0.05)
    with pytest.raises(ClosedSurvey):
        collected.withdraw(token_digest(tokens[0]))
    with pytest.raises(InputError, match="not one of this survey"):
        withdraw_records(collected, [tokens[0], "no token"])
    assert len(collected) == 3
    stranger = new_token()
    assert withdraw_records(collected, [tokens[0], stranger, tokens[1]]) == [stranger]
    assert close_survey(tmp_path / "blurred").release.records == 1
    with pytest.raises(InputError, match="without their tokens"):
        withdraw_records(collected, [tokens[2]])


def test_the_number_of_records_follows_every_change(tmp_path: Path) -> None:
    collected = CollectedRecords.create(tmp_path / "c", SURVEY)
    tokens = [stored(collected, age=age) for age in range(5)]
    reports = {"age": 77, "salary": 17, "job": 2, "sick": 1}
    collected.put(Submission(token=tokens[0], reports=reports, truths={}))
    collected.withdraw(tokens[1])
    with pytest.raises(UnknownToken):
        collected.withdraw(tokens[1])
    assert len(collected) == len(collected.close()) == 4
    collected.forget()
    assert len(collected) == 0


def test_the_largest_number_of_records_is_not_exceeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_RECORDS", 2)
    collected = CollectedRecords.create(tmp_path / "c", SURVEY)
    tokens = [stored(collected, age=age) for age in range(2)]
    with pytest.raises(InputError, match="largest number"):
        stored(collected, age=3)
    collected.put(Submission(token=tokens[0], reports={"age": 9, "salary": 1, "job": 0, "sick": 0}, truths={}))
    collected.withdraw(tokens[0])
    stored(collected, age=4)
    assert len(collected) == 2


def test_no_record_costs_a_reading_of_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By SQLite's own plan of every statement: it searches records and invitations by token, and scans neither."""
    tokens = [token_digest(new_token()) for _ in range(2)]
    collected = CollectedRecords.create(tmp_path / "c", health_survey(invited=True), tokens)
    statements: list[str] = []
    connect = sqlite3.connect

    def tracing(*arguments: Any, **options: Any) -> sqlite3.Connection:
        file = connect(*arguments, **options)
        file.set_trace_callback(statements.append)
        return file

    with monkeypatch.context() as changed:
        changed.setattr(records.sqlite3, "connect", tracing)
        for token in (tokens[0], tokens[1], tokens[0]):
            reports = {"age": 5, "salary": 3, "job": 1, "sick": 0}
            collected.put(Submission(token=token, reports=reports, truths={}))
        assert len(collected) == 2
        collected.withdraw(tokens[0])
    with closing_file(connect(tmp_path / "c" / "records.db")) as file:
        planned = [each for each in statements if each.startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))]
        steps = [row[3] for each in planned for row in file.execute(f"EXPLAIN QUERY PLAN {each}")]
    assert any(step.startswith("SEARCH records") for step in steps)
    assert {step for step in steps if step.startswith("SCAN")} == {"SCAN state"}


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    CollectedRecords.create(tmp_path / "c", SURVEY)
    assert (tmp_path / "c").stat().st_mode & 0o077 == 0
    assert (tmp_path / "c" / "records.db").stat().st_mode & 0o077 == 0


def test_every_acknowledged_record_survives_a_killed_server(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(
        "scumble: schema/1\ntarget: sick\nattributes:\n  age: {numeric: {low: 15, high: 95, step: 1}}\n"
        "  sick: {classes: ['no', 'yes']}\n",
        "utf-8",
    )
    out = tmp_path / "blurred"
    command = [sys.executable, "-m", "scumble", "survey", "serve", "--out", str(out), "--port", "0"]
    command += ["--posts-each-minute", "100000"]
    acknowledged = 0
    for start in (["--schema", str(tmp_path / "schema.yaml"), "--epsilon", "4"], []):
        server = subprocess.Popen([*command, *start], stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        try:
            line = next(line for line in server.stderr if "The survey is at" in line)
            client = Client(port=int(line.split(":")[2].split("/")[0]))
            survey = CollectedRecords(collecting_folder(out)).survey
            ends = time.monotonic() + 1.5
            while time.monotonic() < ends:
                message = {**submission(survey, new_token()), "record": {"age": "44", "sick": "yes"}}
                assert client.post("/records", message).status == 200
                acknowledged += 1
        finally:
            server.send_signal(signal.SIGKILL)
            server.communicate()
    assert acknowledged > 10
    assert len(CollectedRecords(collecting_folder(out))) == acknowledged
    assert close_survey(out).release.records == acknowledged


def test_a_survey_ends_at_its_closing_date(tmp_path: Path) -> None:
    over = health_survey(closes=datetime.now(UTC) - timedelta(seconds=1))
    collected = CollectedRecords.create(tmp_path / "c", over)
    with pytest.raises(ClosedSurvey):
        stored(collected, age=1)
    assert not health_survey(closes=datetime.now(UTC) + timedelta(days=1)).is_over()
    assert parse_closing("2026-12-31T18:00+01:00") == datetime(2026, 12, 31, 17, tzinfo=UTC)
    for text in ("soon", "2026-12-31T18:00", "2026-13-01"):
        with pytest.raises(InputError):
            parse_closing(text)
