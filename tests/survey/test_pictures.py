"""The screens of a survey of the demo's patients, as docs/survey.md shows them.

With SCUMBLE_SCREENSHOTS=docs/survey in the environment, the pictures are taken on the way. Secret and token are fixed,
so that the same pictures are taken again.
"""

import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from survey_page import address_of, begin, blur, send
from survey_server import served

from scumble.demo.patients import write_patients
from scumble.files.schema_file import schema_from
from scumble.flows.mine import train
from scumble.flows.perturb import noise_model, perturb
from scumble.mining.tree_model import TreeModel
from scumble.survey.beginning import build_pages
from scumble.survey.definition import Survey, SurveyTexts, parse_closing
from scumble.survey.records import CollectedRecords

SCREENSHOTS = os.environ.get("SCUMBLE_SCREENSHOTS")
PICTURES = ("narrow", "answers", "leaves", "sent", "static", "apply")
DOCS = Path(__file__).parents[2] / "docs"
SECRET, TOKEN = bytes([2]) * 32, "kR3vJw0bQm2Zs9xTfYhN4A"
EPSILON = 2
SCHEMA = schema_from(
    {
        "scumble": "schema/1",
        "target": "readmitted",
        "attributes": {
            "age": {"numeric": {"low": 0, "high": 100, "step": 1}},
            "stay": {"numeric": {"low": 1, "high": 61, "step": 1}, "missing": "?"},
            "earlier-stays": {"numeric": {"edges": [0, 1, 2, 3, 5, 10, 20]}},
            "readmitted": {"classes": ["no", "yes"]},
        },
    }
)
"""Four columns of the demo's patients."""
TEXTS = SurveyTexts(
    title="Your stay",
    introduction="We would like to know who is admitted again, without knowing whether you were.",
    consent="I take part voluntarily. The blurred answers may be published.",
    questions={
        "age": "How old are you?",
        "stay": "How many days did you stay?",
        "earlier-stays": "How often had you been in hospital in the year before?",
        "readmitted": "Were you admitted again within a month?",
    },
)
KEEP = "([place, kept]) => localStorage.setItem(place, kept)"


def patients_survey() -> Survey:
    closes = parse_closing(f"{datetime.now(UTC).year + 1}-12-31")
    return Survey(noise=noise_model(SCHEMA, epsilon=EPSILON), texts=TEXTS, truths=("age",), closes=closes)


def picture(page: Page, name: str, *, full: bool = True) -> None:
    assert name in PICTURES
    if SCREENSHOTS:
        page.evaluate("document.activeElement.blur()")
        page.mouse.move(0, 0)
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=full)


@contextmanager
def window(browser: Browser, **options: Any) -> Iterator[Page]:
    context = browser.new_context(**{"viewport": {"width": 860, "height": 720}, **options})
    try:
        yield context.new_page()
    finally:
        context.close()


def answer(page: Page, survey: Survey, address: str) -> None:
    """The answers of a patient who does not say how long they stayed."""
    person = {"token": TOKEN, "sent": None}
    kept = {"secret": SECRET.hex(), "surveys": {survey.identity: {"people": [person]}}}
    page.goto(address)
    page.evaluate(KEEP, ["scumble-survey", json.dumps(kept)])
    begin(page, address)
    page.fill("#question-0", "67")
    page.check("#question-1-withheld")
    page.fill("#question-2", "3")
    page.check("input[name=question-3][value='1']")


def learned_tree(folder: Path) -> TreeModel:
    """What 20,000 patients teach under the epsilon of the survey."""
    write_patients(folder)
    data, out = folder / "patients.csv", folder / "blurred"
    perturb(data, schema=SCHEMA, out=out, secret=SECRET, entity="name", epsilon=EPSILON)
    return train(out, algorithm="local")


@pytest.mark.studio
def test_the_screens_of_a_served_survey(browser: Browser, tmp_path: Path) -> None:
    survey = patients_survey()
    with served(tmp_path / "c", survey) as (client, collected):
        with window(browser, viewport={"width": 390, "height": 844}, color_scheme="dark") as page:
            page.goto(address_of(client))
            assert "can rise to at most 88.1 %" in page.inner_text("#consent")
            assert "but not yours" not in page.inner_text("#consent")
            picture(page, "narrow", full=False)
        with window(browser) as page:
            answer(page, survey, address_of(client))
            picture(page, "answers")
            blur(page)
            row = page.inner_text("#rows tr:nth-child(2)")
            assert "(not answered)" in row
            assert "That you did not answer is blurred like any answer." in row
            assert page.locator("#rows", has_text="would be blurred").count() == 0
            assert "3, counts as 3 to below 5" in page.inner_text("#rows tr:nth-child(3)")
            assert "“[" not in page.inner_text("#rows")
            picture(page, "leaves")
            send(page)
            assert page.inner_text("#token") == TOKEN
            picture(page, "sent")
        assert len(collected) == 1


@pytest.mark.studio
def test_the_last_screen_of_a_static_page(browser: Browser, tmp_path: Path) -> None:
    survey = patients_survey()
    build_pages(CollectedRecords.create(tmp_path / "c", survey), tmp_path / "page")
    with window(browser) as page:
        answer(page, survey, (tmp_path / "page" / "index.html").as_uri())
        blur(page)
        send(page)
        assert json.loads(page.input_value("#record-text"))["token"] == TOKEN
        picture(page, "static")


@pytest.mark.studio
def test_a_tree_of_the_patients_is_applied(browser: Browser, tmp_path: Path) -> None:
    """It says what the demo made: who was often in hospital comes back more often."""
    tree = learned_tree(tmp_path)
    used = [tree.features[place].name for place in sorted(set(tree.feature.tolist()) - {-1})]
    answers = {"age": "67", "stay": "12", "earlier-stays": "4"}
    with served(tmp_path / "c", patients_survey(), tree=tree) as (client, _), window(browser) as page:
        page.goto(address_of(client) + "apply.html")
        for place, name in enumerate(used):
            page.fill(f"#question-{place}", answers[name])
        page.click("#values button")
        assert page.inner_text("#result") == "Were you admitted again within a month? yes"
        shares = [
            float(text.split(": ")[1].removesuffix(" %")) for text in page.locator("#shares li").all_inner_texts()
        ]
        assert 50 < shares[1] < 99
        page.click("summary")
        picture(page, "apply")


def test_the_page_shows_every_picture_in_a_readable_size() -> None:
    page = (DOCS / "survey.md").read_text("utf-8")
    files = {path.stem: path for path in (DOCS / "survey").glob("*.png")}
    assert set(files) == set(PICTURES)
    for name, path in files.items():
        assert f"](survey/{name}.png)" in page
        _, height = struct.unpack(">II", path.read_bytes()[16:24])
        assert height <= 1700, name
