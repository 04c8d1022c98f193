"""People at the page: whose noise is independent of whose, and what a person may choose at a question."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page
from survey_page import ANSWERS, TRUE, address_of, begin, blur, fill, kept, python_report, send, sent_by, stored_secret
from survey_server import health_survey, served

from scumble.files.schema_file import schema_from
from scumble.flows.perturb import noise_model
from scumble.survey.definition import Survey, SurveyTexts
from scumble.survey.submission import new_token, token_digest

pytestmark = pytest.mark.studio
SURVEY = health_survey()
WIDE = schema_from(
    {
        "scumble": "schema/1",
        "target": "b0",
        "attributes": {
            **{f"a{place}": {"numeric": {"low": 0, "high": 200, "step": 1}} for place in range(12)},
            "b0": {"classes": ["no", "yes"]},
        },
    }
)
"""With 10 as the epsilon of each number, independent reports of one answer are equal with a probability of about 1.3 %,
and those of seven questions out of twelve with one below 1e-10."""


def wide_survey(title: str) -> Survey:
    return Survey(noise=noise_model(WIDE, epsilon=130), texts=SurveyTexts(title=title))


def answer_wide(page: Page) -> dict[str, str]:
    """The blurred numbers of a person who answers 77 everywhere."""
    for place in range(12):
        page.fill(f"#question-{place}", "77")
    page.check("input[name=question-12][value='1']")
    record = blur(page)
    return {name: text for name, text in record.items() if name != "b0"}


def agreement(left: dict[str, str], right: dict[str, str]) -> int:
    return sum(left[name] == right[name] for name in left)


def test_two_surveys_with_the_same_questions_get_independent_noise(page: Page, tmp_path: Path) -> None:
    """The same browser and server address, the same questions and noise, the same answers, no token."""
    records = {}
    with served(tmp_path / "one", wide_survey("One")) as (client, _):
        begin(page, address_of(client))
        records["one"] = answer_wide(page)
        storage = page.evaluate("JSON.stringify(localStorage)")
    with served(tmp_path / "two", wide_survey("Two")) as (client, _):
        page.goto(address_of(client))
        page.evaluate("(text) => localStorage.setItem('scumble-survey', JSON.parse(text)['scumble-survey'])", storage)
        begin(page, address_of(client))
        records["two"] = answer_wide(page)
        assert stored_secret(page).hex() == json.loads(json.loads(storage)["scumble-survey"])["secret"]
        assert len(kept(page)["surveys"]) == 2
    assert agreement(records["one"], records["two"]) <= 6


def test_another_person_gets_independent_noise_and_a_second_visit_the_same(page: Page, tmp_path: Path) -> None:
    with served(tmp_path / "c", wide_survey("One")) as (client, collected):
        begin(page, address_of(client))
        first = answer_wide(page)
        send(page)
        begin(page, address_of(client))
        assert answer_wide(page) == first
        send(page)
        page.click("#another")
        assert page.locator("#rows *").count() == 0, "the answers of the last person are gone"
        page.check("#agree")
        page.click("#begin")
        second = answer_wide(page)
        assert agreement(first, second) <= 6
        send(page)
        assert len(collected) == 2
        begin(page, address_of(client))
        assert answer_wide(page) == second, "without a token, the page goes on with the last person"


def test_withholding_and_true_answers_are_choices(page: Page, tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY) as (client, collected):
        begin(page, address_of(client))
        fill(page, {**ANSWERS, "salary": None, "job": None})
        assert page.is_disabled("#question-1")
        record = blur(page)
        assert record == python_report(page, SURVEY, {**TRUE, "salary": None, "job": None})
        assert page.locator("#rows input[type=checkbox]").count() == 1, "only the age may be sent truthfully"
        page.check("#truth-0")
        assert json.loads(page.text_content("#message") or "")["truths"] == {"age": "41"}
        page.uncheck("#truth-0")
        assert json.loads(page.text_content("#message") or "")["truths"] == {}
        page.check("#truth-0")
        send(page)
        (stored,) = collected.close()
    assert stored.truths == {"age": 26}


def test_a_required_answer_cannot_be_withheld(page: Page, tmp_path: Path) -> None:
    schema = schema_from(
        {
            "scumble": "schema/1",
            "target": "sick",
            "attributes": {
                "age": {"numeric": {"low": 15, "high": 95, "step": 1}, "missing": "-999"},
                "salary": {"numeric": {"low": 0, "high": 120, "step": 5}, "missing": "-999"},
                "sick": {"classes": ["no", "yes"]},
            },
        }
    )
    survey = Survey(noise=noise_model(schema, epsilon=6), required=("age",), truths=("age", "salary"))
    with served(tmp_path / "c", survey) as (client, _):
        begin(page, address_of(client))
        assert page.locator("#question-0-withheld").count() == 0
        assert page.locator("#question-1-withheld").count() == 1
        page.fill("#question-0", "-999")
        page.fill("#question-1", "-999")
        page.check("input[name=question-2][value='1']")
        page.click("#questions button")
        assert page.inner_text("#question-0-error") == "This question needs an answer."
        page.fill("#question-0", "40")
        assert blur(page) == python_report(page, survey, {"age": 40, "salary": None, "sick": "yes"})
        row = page.inner_text("#rows tr:nth-child(2)")
        assert "(not answered)" in row
        assert "That you did not answer is blurred like any answer." in row
        assert page.locator("#truth-0").count() == 1
        assert page.locator("#truth-1").count() == 0, "there is no true answer to send"
        assert "did not answer" not in page.inner_text("#rows tr:nth-child(3)")


def test_people_of_one_browser_get_independent_noise_and_tokens_stay_out_of_addresses(
    page: Page, tmp_path: Path
) -> None:
    survey = health_survey(invited=True)
    tokens = [new_token() for _ in range(2)]
    sent = sent_by(page)
    with served(tmp_path / "c", survey, invitations=map(token_digest, tokens)) as (client, collected):
        page.goto(address_of(client))
        assert "for people with an invitation" in page.inner_text("#problem")
        secrets = set()
        for token in tokens:
            page.goto("about:blank")
            begin(page, f"{address_of(client)}#{token}")
            assert page.evaluate("location.href") == address_of(client)
            fill(page, ANSWERS)
            record = blur(page)
            secrets.add(stored_secret(page))
            assert record == python_report(page, survey, TRUE, token)
            send(page)
        assert len(secrets) == 1
        assert len(collected) == 2
        page.goto("about:blank")
        begin(page, f"{address_of(client)}#{new_token()}")
        fill(page, ANSWERS)
        blur(page)
        page.click("#send")
        page.wait_for_selector("#problem:visible")
        assert "No invitation has this token" in page.inner_text("#problem")
    assert not any(token in url for token in tokens for _, url, _ in sent)
