"""A person at the page of a survey, in a real browser: the answers to `health_survey`, and what is sent."""

import json
from typing import Any

from playwright.sync_api import Page
from survey_server import HEALTH, Client

from scumble.model.values import texts_of
from scumble.privacy.perturber import Perturber
from scumble.survey.definition import Survey

ANSWERS = {"age": "41", "salary": "33.5", "job": "Dancer", "sick": "yes"}
TRUE = {"age": 41, "salary": 33.5, "job": "Dancer", "sick": "yes"}
"""The same answers as Python reads them."""


def sent_by(page: Page) -> list[tuple[str, str, Any]]:
    """Everything that the page sends from now on: method, address and body."""
    sent: list[tuple[str, str, Any]] = []
    page.on("request", lambda request: sent.append((request.method, request.url, request.post_data)))
    return sent


def begin(page: Page, address: str) -> None:
    page.goto(address)
    page.check("#agree")
    page.click("#begin")


def fill(page: Page, answers: dict[str, str | None]) -> None:
    for place, (name, value) in enumerate(answers.items()):
        kind = HEALTH[name].domain
        if value is None:
            page.check(f"#question-{place}-withheld")
        elif name in ("age", "salary"):
            page.fill(f"#question-{place}", value)
        else:
            page.check(f"input[name=question-{place}][value='{texts_of(kind).index(value)}']")


def blur(page: Page) -> dict[str, str]:
    """Show what leaves the machine, and return the record that the page says it will send."""
    page.click("#questions button")
    page.wait_for_selector("#review:visible")
    return json.loads(page.text_content("#message") or "")["record"]


def send(page: Page) -> None:
    page.click("#send")
    page.wait_for_selector("#done:visible")


def stored_secret(page: Page) -> bytes:
    return bytes.fromhex(page.evaluate("JSON.parse(localStorage.getItem('scumble-survey')).secret"))


def address_of(client: Client) -> str:
    return f"http://127.0.0.1:{client.port}/"


def kept(page: Page) -> Any:
    return json.loads(page.evaluate("localStorage.getItem('scumble-survey')"))


def python_report(page: Page, survey: Survey, answers: dict[str, Any], token: str | None = None) -> dict[str, str]:
    """What Python reports with the secret that the browser keeps, for a token, or for the last person."""
    person = token or kept(page)["surveys"][survey.identity]["people"][-1]["token"]
    return dict(
        Perturber(survey.noise, secret=stored_secret(page)).perturb(answers, entity=f"{survey.identity} {person}")
    )
