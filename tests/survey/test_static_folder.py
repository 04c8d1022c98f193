"""The survey as a static folder: where it works, and what it says that works there."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser import axe_violations
from playwright.sync_api import Page
from survey_page import ANSWERS, begin, blur, fill, send, sent_by
from survey_server import health_survey

from scumble.survey.beginning import add_records, build_pages, withdraw_records
from scumble.survey.closing import close_survey
from scumble.survey.records import CollectedRecords, collecting_folder

pytestmark = pytest.mark.studio


class QuietFiles(SimpleHTTPRequestHandler):
    """Serves the files of a folder, as any web server does."""

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def opened_from(folder: Path, place: str) -> Iterator[str]:
    """The address of the page: a file, or the folder from a web server on this machine, by one of its names."""
    if place == "file":
        yield (folder / "index.html").as_uri()
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietFiles, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://{place}:{server.server_address[1]}/index.html"
        finally:
            server.shutdown()
            thread.join()


def built(folder: Path) -> CollectedRecords:
    survey = health_survey(closes=datetime.now(UTC) + timedelta(days=30))
    collected = CollectedRecords.create(collecting_folder(folder / "blurred"), survey)
    build_pages(collected, folder / "page")
    return collected


def saved_record(page: Page, path: Path) -> Path:
    """The record that the page has made, saved by its link."""
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(path)
    assert path.read_text("utf-8") == page.input_value("#record-text")
    return path


@pytest.mark.parametrize("place", ["file", "localhost", "127.0.0.1"])
def test_a_static_folder_works(page: Page, tmp_path: Path, place: str) -> None:
    collected = built(tmp_path)
    sent = sent_by(page)
    with opened_from(tmp_path / "page", place) as address:
        begin(page, address)
        assert page.evaluate("isSecureContext")
        fill(page, ANSWERS)
        record = blur(page)
        send(page)
        saved = saved_record(page, tmp_path / "record.json")
        assert json.loads(saved.read_text("utf-8"))["record"] == record
        begin(page, address)
        fill(page, ANSWERS)
        assert blur(page) == record, "the secret is kept here, too"
    assert {method for method, _, _ in sent} == {"GET"}
    elsewhere = {"data", "blob"}
    visited = {urlsplit(url).netloc for _, url, _ in sent if urlsplit(url).scheme not in elsewhere}
    assert visited == {urlsplit(address).netloc}
    forged = tmp_path / "forged.json"
    forged.write_text(saved.read_text("utf-8").replace('"yes"', '"perhaps"').replace('"no"', '"perhaps"'), "utf-8")
    assert list(add_records(collected, [saved, forged])) == [str(forged)]
    assert close_survey(tmp_path / "blurred").release.records == 1


def test_a_static_page_says_only_what_works_there(page: Page, tmp_path: Path) -> None:
    """It cannot withdraw. The owner can, by the token that the page shows."""
    collected = built(tmp_path)
    address = (tmp_path / "page" / "index.html").as_uri()
    said = []
    for place in range(2):
        begin(page, address)
        said.append(page.inner_text("#problem"))
        page.goto(address)
        said.append(page.inner_text("body"))
        page.check("#agree")
        page.click("#begin")
        fill(page, {**ANSWERS, "age": str(30 + place)})
        blur(page)
        said.append(page.inner_text("body"))
        send(page)
        said.append(page.inner_text("body"))
        assert axe_violations(page) == []
    assert page.locator("button", has_text="ithdraw").count() == 0
    offers = [line for text in said for line in text.splitlines() if "withdraw" in line.lower()]
    assert {line.partition(".")[0] for line in offers} == {"This page cannot withdraw a record"}
    assert not any("You sent" in text for text in said), "the page cannot know whether a record was sent"
    assert "ask them to delete it" in said[1]
    token = page.inner_text("#token")
    assert json.loads(page.input_value("#record-text"))["token"] == token
    add_records(collected, [saved_record(page, tmp_path / "record.json")])
    assert len(collected) == 1
    assert withdraw_records(collected, [token]) == []
    assert len(collected) == 0


def test_two_people_at_one_static_page_make_two_records(page: Page, tmp_path: Path) -> None:
    collected = built(tmp_path)
    begin(page, (tmp_path / "page" / "index.html").as_uri())
    files = []
    for place in range(2):
        fill(page, ANSWERS)
        blur(page)
        send(page)
        files.append(saved_record(page, tmp_path / f"record-{place}.json"))
        page.click("#another")
        page.check("#agree")
        page.click("#begin")
    assert add_records(collected, files) == {}
    assert len(collected) == 2
