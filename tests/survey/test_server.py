"""The server takes what its noise model can have produced and nothing else, and keeps no address."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from survey_server import Client, health_survey, served, submission

from scumble.errors import InputError
from scumble.model.values import texts_of
from scumble.survey.rate_limit import WINDOW, RateLimit
from scumble.survey.server import LARGEST_BODY
from scumble.survey.submission import SubmissionReader, new_token, token_digest

SURVEY = health_survey()


def test_a_record_is_stored_replaced_and_withdrawn(tmp_path: Path) -> None:
    token, other = new_token(), new_token()
    with served(tmp_path / "c", SURVEY) as (client, collected):
        assert client.post("/records", submission(SURVEY, token)).json == {"replaced": False}
        assert client.post("/records", submission(SURVEY, other, age="15")).json == {"replaced": False}
        assert client.post("/records", submission(SURVEY, token, age="42")).json == {"replaced": True}
        assert len(collected) == 2
        withdrawal = {"survey": SURVEY.identity, "token": other}
        assert client.post("/withdrawals", withdrawal).json == {"withdrawn": True}
        assert client.post("/withdrawals", withdrawal).status == 403
        (left,) = collected.close()
        assert left.reports == (27, 7, 2, 0)
        for path, message in (
            ("/records", submission(SURVEY, other)),
            ("/withdrawals", {**withdrawal, "token": token}),
        ):
            refused = client.post(path, message)
            assert (refused.status, refused.json["error"]) == (410, "This survey is closed.")
        assert b'"open": false' in client.get("/description.js").body


def forged(message: dict[str, Any]) -> dict[str, Any]:
    """Messages that no browser with this survey makes, by what is wrong with them."""
    record = message["record"]
    changed = {
        "a value between the cells": {"record": {**record, "age": "41.5"}},
        "a value beyond the range": {"record": {**record, "age": "95"}},
        "another spelling": {"record": {**record, "age": "041"}},
        "a number instead of a text": {"record": {**record, "age": 41}},
        "a category that is none": {"record": {**record, "job": "Blue"}},
        "nothing": {"record": {**record, "sick": None}},
        "a list": {"record": {**record, "sick": ["no"]}},
        "an attribute too many": {"record": {**record, "name": "Ann"}},
        "an attribute too few": {"record": {k: v for k, v in record.items() if k != "age"}},
        "no record": {"record": [record]},
        "another survey": {"survey": "0" * 32},
        "a short token": {"token": "abc"},
        "a token with other characters": {"token": "ä" * 22},
        "a token that is a number": {"token": 7},
        "a truth that is not asked for": {"truths": {"job": "Dancer"}},
        "a truth outside the domain": {"truths": {"age": "3"}},
        "truths that are a list": {"truths": []},
        "an entry too many": {"address": "127.0.0.1"},
    }
    return {what: {**message, **change} for what, change in changed.items()} | {"a list of records": [message]}


def test_forged_records_are_refused(tmp_path: Path) -> None:
    message = submission(SURVEY, new_token())
    with served(tmp_path / "c", SURVEY) as (client, collected):
        for what, changed in forged(message).items():
            answer = client.post("/records", changed)
            assert answer.status == 422, what
            assert answer.json["error"].endswith("."), what
        assert len(collected) == 0
        assert client.post("/records", message).status == 200


MESSAGE = submission(SURVEY, "A" * 22)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.just("41"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["age", "job", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
READER = SubmissionReader(SURVEY)


@given(
    changes=st.dictionaries(st.sampled_from([*MESSAGE, "other"]), VALUES, max_size=3),
    record=st.dictionaries(st.sampled_from([*MESSAGE["record"], "other"]), VALUES, max_size=3),
)
def test_a_changed_message_is_refused_or_means_what_it_says(changes: dict[str, Any], record: dict[str, Any]) -> None:
    message = {**MESSAGE, "record": {**MESSAGE["record"], **record}, **changes}
    try:
        read = READER.read(message)
    except InputError:
        return
    published = SURVEY.noise.published
    assert {name: texts_of(published[name].domain)[code] for name, code in read.reports.items()} == message["record"]


def test_bodies_are_bounded_and_must_be_json(tmp_path: Path) -> None:
    good = json.dumps(submission(SURVEY, new_token())).encode()
    as_json = {"Content-Type": "application/json"}
    with served(tmp_path / "c", SURVEY) as (client, collected):
        assert client.ask("POST", "/records", b" " * (LARGEST_BODY + 1), as_json).status == 413
        stated = {**as_json, "Content-Length": str(100 << 20)}
        assert client.ask("POST", "/records", good, stated).status == 413
        chunked = {**as_json, "Transfer-Encoding": "chunked"}
        parts = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
        assert client.ask("POST", "/records", parts * 3 + b"0\r\n\r\n", chunked).status == 413
        for body in (b"", b"{", b"\xff", b"NaN", b"[" * 50_000):
            assert client.ask("POST", "/records", body, as_json).status == 400
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            assert client.ask("POST", "/records", good, {"Content-Type": kind}).status == 415
        assert client.ask("GET", "/records").status == 404
        assert client.ask("PUT", "/records", good, as_json).status == 405
        assert len(collected) == 0


@pytest.mark.parametrize(
    "path", ["/survey.json", "/records.db", "/..%2fsurvey.json", "/../survey.json", "/page/page.js"]
)
def test_no_file_beside_the_pages_is_served(tmp_path: Path, path: str) -> None:
    with served(tmp_path / "c", SURVEY) as (client, _):
        assert client.get(path).status == 404


def test_every_answer_has_the_headers_that_protect(tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY) as (client, _):
        answers = [client.get(path) for path in ("/", "/page.js", "/description.js", "/nothing")]
        answers.append(client.post("/records", {}))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")
        assert policy.endswith("frame-ancestors 'none'")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers
        assert "set-cookie" not in answer.headers
    assert b"<script>" not in answers[0].body
    assert b"<style" not in answers[0].body
    assert b" style=" not in answers[0].body


def test_invitations_admit_one_record_each(tmp_path: Path) -> None:
    survey = health_survey(invited=True)
    invited, stranger = new_token(), new_token()
    with served(tmp_path / "c", survey, invitations=[token_digest(invited)]) as (client, collected):
        refused = client.post("/records", submission(survey, stranger))
        assert refused.status == 403
        for age in ("40", "41"):
            assert client.post("/records", submission(survey, invited, age=age)).status == 200
        assert len(collected) == 1


def test_senders_are_limited_and_leave_no_address(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with served(tmp_path / "c", SURVEY, posts_each_minute=2) as (client, collected):
        one, two = (Client(port=client.port, source=f"127.91.82.7{place}") for place in (1, 2))
        statuses = [one.post("/records", submission(SURVEY, new_token())).status for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert two.post("/records", submission(SURVEY, new_token())).status == 200
        one.post("/records", {"wrong": True})
        files = b"".join(path.read_bytes() for path in (tmp_path / "c").iterdir())
        assert len(collected) == 3
    assert b"127.91" not in files
    assert "127.91" not in caplog.text


def test_behind_a_proxy_the_last_forwarded_address_counts(tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY, posts_each_minute=1, behind_proxy=True) as (client, _):
        statuses = [
            client.post("/records", submission(SURVEY, new_token()), X_Forwarded_For=each).status
            for each in ("192.0.2.1", "9.9.9.9, 192.0.2.1", "192.0.2.1, 192.0.2.2")
        ]
    assert statuses == [200, 429, 200]


def test_a_limit_forgets_everything_after_its_window() -> None:
    now = [0.0]
    limit = RateLimit(1, clock=lambda: now[0])
    assert [limit.allows("a"), limit.allows("a"), limit.allows("b")] == [True, False, True]
    before = set(limit._posts)
    now[0] = WINDOW
    assert limit.allows("a")
    assert len(limit._posts) == 1
    assert not before & set(limit._posts), "the digests of two windows must not be comparable"


def test_a_failing_disk_is_reported_without_details(tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY) as (client, _):
        (tmp_path / "c" / "records.db").unlink()
        answer = client.post("/records", submission(SURVEY, new_token()))
    assert answer.status == 503
    assert str(tmp_path) not in answer.json["error"]


def test_texts_of_the_owner_cannot_become_markup(tmp_path: Path) -> None:
    texts = SURVEY.texts.model_copy(update={"title": "<script>alert(1)</script>", "consent": "</p><img src=x>"})
    with served(tmp_path / "c", health_survey(texts=texts)) as (client, _):
        body = client.get("/").body.decode()
    assert "<script>alert" not in body
    assert "<img" not in body
