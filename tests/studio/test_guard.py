"""Requests that the studio refuses, each before it reaches a page."""

import re
from pathlib import Path

import pytest
from studio_client import COOKIE, HOST, TOKEN, StudioClient

from scumble.studio.guard import LARGEST_BODY


@pytest.fixture
def studio(tmp_path: Path) -> StudioClient:
    return StudioClient(folder=tmp_path)


def test_the_printed_address_gives_a_cookie_that_other_sites_cannot_send(studio: StudioClient) -> None:
    answer = studio.get(f"/?token={TOKEN}", cookie=None)
    assert (answer.status, answer.location) == (303, "/")
    assert answer.headers["set-cookie"] == f"{COOKIE}; HttpOnly; SameSite=Strict; Path=/"
    assert studio.get("/").status == 200


@pytest.mark.parametrize(
    "cookie", [None, "", "scumble-studio-8000=", "scumble-studio-8000=5ec2e", f"other={TOKEN}", "ä=1"]
)
def test_without_the_token_nothing_is_shown(studio: StudioClient, cookie: str | None) -> None:
    for address in ("/", "/?token=wrong", "/static/studio.css", "/projects/demo/table"):
        answer = studio.get(address, cookie=cookie)
        assert answer.status == 403
        assert "token" in answer.text
        assert "<" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "127.0.0.1:8000.evil.example", ""]
)
def test_another_host_is_refused(studio: StudioClient, host: str) -> None:
    assert studio.get("/", host=host or None).status == 421


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", f"https://{HOST}", f"http://{HOST}.evil.example"]
)
def test_a_form_of_another_page_is_refused(studio: StudioClient, tmp_path: Path, origin: str | None) -> None:
    assert studio.post("/", {"demo": "yes"}, origin=origin).status == 403
    assert list(tmp_path.iterdir()) == []


def test_a_request_that_the_browser_calls_foreign_is_refused(studio: StudioClient) -> None:
    assert studio.get("/", **{"sec-fetch-site": "cross-site"}).status == 403
    assert studio.get("/", **{"sec-fetch-site": "same-site"}).status == 403
    assert studio.get("/", **{"sec-fetch-site": "same-origin"}).status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(studio: StudioClient, method: str) -> None:
    assert studio.send(method, "/").status == 405


def test_a_body_of_100_megabytes_is_refused_unread(studio: StudioClient) -> None:
    headers = {"origin": f"http://{HOST}"}
    announced = studio.send("POST", "/", headers={**headers, "content-length": str(100 << 20)})
    assert announced.status == 413
    hidden = studio.send("POST", "/", body=b"x" * (LARGEST_BODY + 1), headers={**headers, "content-length": None})
    assert hidden.status == 413
    assert studio.send("POST", "/", headers={**headers, "content-length": "many"}).status == 413


def test_a_form_that_is_not_text_is_refused(studio: StudioClient) -> None:
    answer = studio.send("POST", "/", body=b"data=%ff\xff", headers={"origin": f"http://{HOST}"})
    assert answer.status == 400


def test_every_answer_carries_a_strict_policy(studio: StudioClient) -> None:
    for answer in (studio.get("/"), studio.get("/nowhere"), studio.get("/", cookie=None)):
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_no_template_needs_inline_script_or_style() -> None:
    templates = Path(__file__).resolve().parents[2] / "src" / "scumble" / "studio" / "templates"
    for path in templates.glob("*.html"):
        text = path.read_text("utf-8")
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script(?! src=\"/static/)", text), path.name
        assert not re.search(r"https?://", text), path.name


def test_unknown_pages_and_projects(studio: StudioClient) -> None:
    assert studio.get("/nowhere").status == 404
    assert studio.get("/projects/none/table").status == 404
