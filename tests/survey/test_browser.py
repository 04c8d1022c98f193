"""The survey in a real browser: what people see, what leaves their machine, and what arrives."""

import json
from pathlib import Path
from typing import Any

import pytest
from browser import axe_violations
from playwright.sync_api import Browser, Page
from survey_page import ANSWERS, TRUE, address_of, begin, blur, fill, python_report, send, sent_by
from survey_server import health_survey, served

from scumble.files.schema_file import schema_from
from scumble.flows.perturb import noise_model
from scumble.model.values import texts_of
from scumble.survey.definition import Survey, SurveyTexts

pytestmark = pytest.mark.studio
SURVEY = health_survey()


def test_what_is_shown_is_what_is_sent_and_what_python_would_report(page: Page, tmp_path: Path) -> None:
    sent = sent_by(page)
    with served(tmp_path / "c", SURVEY) as (client, collected):
        begin(page, address_of(client))
        fill(page, ANSWERS)
        assert [method for method, _, _ in sent if method != "GET"] == []
        record = blur(page)
        assert record == python_report(page, SURVEY, TRUE)
        shown = page.locator("#rows td:nth-child(3) .value").all_text_contents()
        assert shown == list(record.values())
        message = page.text_content("#message")
        send(page)
        (stored,) = collected.close()
    posts = [(url, body) for method, url, body in sent if method == "POST"]
    assert posts == [(address_of(client) + "records", json.dumps(json.loads(message or ""), separators=(",", ":")))]
    assert {url.rpartition("/")[0] for _, url, _ in sent if not url.startswith("data:")} == {address_of(client)[:-1]}
    texts = {name: texts_of(SURVEY.noise.published[name].domain) for name in record}
    assert stored.reports == tuple(texts[name].index(text) for name, text in record.items())
    kept = page.evaluate("JSON.stringify(localStorage)")
    assert "33.5" not in kept, "true answers are never kept"
    assert page.context.cookies() == []


def test_a_second_visit_sends_the_same_and_a_changed_answer_is_pointed_out(page: Page, tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY) as (client, collected):
        begin(page, address_of(client))
        fill(page, ANSWERS)
        first = blur(page)
        assert page.is_hidden("#changed")
        send(page)
        assert page.inner_text("#done-text") == "One record is stored for you."
        begin(page, address_of(client))
        fill(page, ANSWERS)
        assert blur(page) == first
        assert "this one is the same" in page.inner_text("#changed")
        assert "link the two visits" in page.inner_text("#changed")
        send(page)
        assert page.inner_text("#done-text") == "It replaced the record that you sent before."
        page.click("#again")
        changes = 0
        for age in range(42, 60):
            page.fill("#question-0", str(age))
            record = blur(page)
            assert {n: v for n, v in record.items() if n != "age"} == {n: v for n, v in first.items() if n != "age"}
            if record["age"] != first["age"]:
                changes += 1
                assert "differs from the one you sent before in: How old are you?" in page.inner_text("#changed")
            page.click("#back")
        assert changes > 5
        assert len(collected) == 1
        page.reload()
        page.click("#withdraw-before")
        page.wait_for_selector("#withdrawal:visible")
        assert len(collected) == 0


def test_wrong_answers_are_explained_at_their_field(page: Page, tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY) as (client, _):
        page.goto(address_of(client))
        page.click("#begin")
        assert "unless you agree" in page.inner_text("#agree-error")
        begin(page, address_of(client))
        page.click("#questions button")
        assert page.locator("#mistakes li").count() == 4
        assert page.inner_text("#question-0-error") == "Give a number."
        assert page.evaluate("document.activeElement.id") == "question-0"
        fill(page, {**ANSWERS, "age": "120"})
        assert page.inner_text("#question-0-error") == ""
        blur(page)
        assert ", counts as 94" in page.inner_text("#rows tr:first-child")


def test_without_javascript_there_is_nothing_to_send(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    with served(tmp_path / "c", SURVEY) as (client, _):
        page = context.new_page()
        page.goto(address_of(client))
        assert "needs JavaScript" in page.inner_text("noscript")
        assert page.locator("#fields *").count() == 0
        assert page.is_hidden("#begin")
    context.close()


def test_over_plain_http_from_elsewhere_the_page_refuses(page: Page, tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY) as (client, _):
        page.goto(f"http://survey.example:{client.port}/")
        page.wait_for_selector("#problem:visible")
        assert page.evaluate("isSecureContext") is False
        assert "Ask for an https address" in page.inner_text("#problem")
        assert page.is_hidden("#consent")


def test_a_closed_survey_asks_nothing(page: Page, tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY) as (client, collected):
        collected.close()
        page.goto(address_of(client))
        page.wait_for_selector("#problem:visible")
        assert page.inner_text("#problem").startswith("This survey is closed.")
        assert page.is_hidden("#consent")


HOSTILE = "<img src=x onerror=alert(1)>"


def test_markup_in_names_stays_text(page: Page, tmp_path: Path) -> None:
    schema = schema_from(
        {
            "scumble": "schema/1",
            "target": "sick",
            "attributes": {
                HOSTILE: {"taxonomy": {"Any": {f"{HOSTILE}{place}": None for place in range(3)}}},
                "sick": {"classes": ["no", "<b>yes</b>"]},
            },
        }
    )
    texts = SurveyTexts(title=HOSTILE, consent=HOSTILE, introduction=HOSTILE)
    survey = Survey(noise=noise_model(schema, epsilon=4), texts=texts)
    dialogs: list[Any] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog) or dialog.dismiss())
    with served(tmp_path / "c", survey) as (client, collected):
        begin(page, address_of(client))
        page.check("input[name=question-0][value='1']")
        page.check("input[name=question-1][value='1']")
        blur(page)
        send(page)
        assert page.locator("img, #rows b").count() == 0
        assert len(collected) == 1
    assert dialogs == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 1100), ("light", 340), ("dark", 340)])
def test_every_screen_passes_axe_and_fits(browser: Browser, tmp_path: Path, scheme: Any, width: int) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page = context.new_page()

    def check() -> None:
        assert axe_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    with served(tmp_path / "c", SURVEY) as (client, _):
        page.goto(address_of(client))
        page.click("summary")
        check()
        begin(page, address_of(client))
        page.click("#questions button")
        check()
        fill(page, {**ANSWERS, "salary": None})
        blur(page)
        page.click("#review summary")
        check()
        send(page)
        check()
        page.click("#withdraw")
        page.wait_for_selector("#withdrawal:visible")
        check()
    context.close()


def test_the_keyboard_is_enough(page: Page, tmp_path: Path) -> None:
    keyboard = page.keyboard

    def tab_to(selector: str) -> None:
        for _ in range(40):
            keyboard.press("Tab")
            if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"{selector} cannot be reached")

    with served(tmp_path / "c", SURVEY) as (client, collected):
        page.goto(address_of(client))
        page.wait_for_selector("#begin:visible")
        for selector, key in (("#agree", "Space"), ("#begin", "Enter")):
            tab_to(selector)
            keyboard.press(key)
        assert page.evaluate("document.activeElement.id") == "answers-heading"
        tab_to("#question-0")
        keyboard.type("41")
        tab_to("#question-1-withheld")
        keyboard.press("Space")
        tab_to("[name=question-2]")
        keyboard.press("ArrowDown")
        tab_to("[name=question-3]")
        keyboard.press("Space")
        tab_to("#questions button")
        keyboard.press("Enter")
        page.wait_for_selector("#review:visible")
        assert page.evaluate("document.activeElement.id") == "review-heading"
        tab_to("#send")
        keyboard.press("Enter")
        page.wait_for_selector("#done:visible")
        assert len(collected) == 1
