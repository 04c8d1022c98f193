"""The survey in a real browser: what people see, what leaves their machine, and what arrives."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import axe_violations, chromium
from playwright.sync_api import Browser, Page
from survey_server import Client, health_survey, served

from scumble.files.schema_file import schema_from
from scumble.flows.mine import predict, reconstruct, train
from scumble.flows.perturb import noise_model
from scumble.mining.tree_model import TreeModel
from scumble.model.values import texts_of
from scumble.privacy.perturber import Perturber
from scumble.survey.beginning import add_records, build_pages
from scumble.survey.closing import close_survey
from scumble.survey.definition import Survey, SurveyTexts
from scumble.survey.records import CollectedRecords, collecting_folder
from scumble.survey.submission import new_token, token_digest

pytestmark = pytest.mark.studio
SURVEY = health_survey()
ANSWERS = {"age": "41", "salary": "33.5", "job": "Dancer", "sick": "yes"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium("--host-resolver-rules=MAP survey.example 127.0.0.1") as opened:
        yield opened


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    yield opened
    context.close()
    assert problems == []


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
        kind = SURVEY.noise.schema[name].domain
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


def test_what_is_shown_is_what_is_sent_and_what_python_would_report(page: Page, tmp_path: Path) -> None:
    sent = sent_by(page)
    with served(tmp_path / "c", SURVEY) as (client, collected):
        begin(page, address_of(client))
        fill(page, ANSWERS)
        assert [method for method, _, _ in sent if method != "GET"] == []
        record = blur(page)
        wanted = Perturber(SURVEY.noise, secret=stored_secret(page)).perturb(
            {"age": 41, "salary": 33.5, "job": "Dancer", "sick": "yes"}
        )
        assert record == wanted
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


def test_withholding_and_true_answers_are_choices(page: Page, tmp_path: Path) -> None:
    with served(tmp_path / "c", SURVEY) as (client, collected):
        begin(page, address_of(client))
        fill(page, {**ANSWERS, "salary": None, "job": None})
        assert page.is_disabled("#question-1")
        record = blur(page)
        wanted = Perturber(SURVEY.noise, secret=stored_secret(page)).perturb(
            {"age": 41, "salary": None, "job": None, "sick": "yes"}
        )
        assert record == wanted
        assert page.locator("#rows input[type=checkbox]").count() == 1, "only the age may be sent truthfully"
        page.check("#truth-0")
        assert json.loads(page.text_content("#message") or "")["truths"] == {"age": "41"}
        page.uncheck("#truth-0")
        assert json.loads(page.text_content("#message") or "")["truths"] == {}
        page.check("#truth-0")
        send(page)
        (stored,) = collected.close()
    assert stored.truths == {"age": 26}


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
        for place, token in enumerate(tokens):
            page.goto("about:blank")
            begin(page, f"{address_of(client)}#{token}")
            assert page.evaluate("location.href") == address_of(client)
            fill(page, ANSWERS)
            entity = "" if place == 0 else "person 2"
            record = blur(page)
            secrets.add(stored_secret(page))
            true = {"age": 41, "salary": 33.5, "job": "Dancer", "sick": "yes"}
            assert record == Perturber(survey.noise, secret=stored_secret(page)).perturb(true, entity=entity)
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


def test_a_static_folder_works_from_a_file(browser: Browser, page: Page, tmp_path: Path) -> None:
    out = tmp_path / "blurred"
    collected = CollectedRecords.create(collecting_folder(out), SURVEY)
    build_pages(collected, tmp_path / "page")
    address = (tmp_path / "page" / "index.html").as_uri()
    sent = sent_by(page)
    begin(page, address)
    assert page.evaluate("isSecureContext")
    fill(page, ANSWERS)
    record = blur(page)
    page.click("#send")
    page.wait_for_selector("#done:visible")
    text = page.input_value("#record-text")
    assert json.loads(text)["record"] == record
    with page.expect_download() as download:
        page.click("#download")
    saved = tmp_path / "record.json"
    download.value.save_as(saved)
    assert saved.read_text("utf-8") == text
    begin(page, address)
    fill(page, ANSWERS)
    assert blur(page) == record, "the secret is kept for pages from files, too"
    assert {url.partition(":")[0] for _, url, _ in sent} <= {"file", "data", "blob"}
    (tmp_path / "forged.json").write_text(text.replace('"yes"', '"perhaps"').replace('"no"', '"perhaps"'), "utf-8")
    assert list(add_records(collected, [saved, tmp_path / "forged.json"])) == [str(tmp_path / "forged.json")]
    assert close_survey(out).release.records == 1


BY_HAND = 20
JOBS = ["Engineer", "Lawyer", "Dancer"]
FILL_IN = """async (people) => {
    const at = (id) => document.getElementById(id);
    const shown = async (id) => { while (at(id).hidden) await new Promise((done) => setTimeout(done, 1)); };
    for (const [age, job] of people) {
        for (const place of [0, 1]) {
            at(`question-${place}`).value = age;
            at(`question-${place}`).dispatchEvent(new Event("input", { bubbles: true }));
        }
        document.querySelector(`[name=question-2][value="${job}"]`).click();
        document.querySelector(`[name=question-3][value="${age >= 55 ? 1 : 0}"]`).click();
        document.querySelector("#questions button").click();
        await shown("review");
        at("send").click();
        await shown("done");
        at("another").click();
        await shown("consent");
        at("agree").click();
        at("begin").click();
    }
}"""
"""Fills in the page as a person does, without waiting for pointers and keys: the first people use those."""


def test_three_hundred_people_answer_and_a_tree_comes_back(page: Page, tmp_path: Path) -> None:
    """People are ill from 55 years on. From 300 blurred ages the distribution and the rule are found again."""
    survey = health_survey(
        noise=noise_model(SURVEY.noise.schema, privacy="25%", noise="uniform", retain={"job": "80%"}), truths=()
    )
    out = tmp_path / "blurred"
    people = [(15 + (place * 37) % 80, JOBS[place % 3]) for place in range(300)]
    with served(collecting_folder(out), survey) as (client, collected):
        begin(page, address_of(client))
        for age, job in people[:BY_HAND]:
            fill(page, {"age": str(age), "salary": str(age), "job": job, "sick": "yes" if age >= 55 else "no"})
            blur(page)
            send(page)
            page.click("#another")
            assert page.input_value("#question-0") == ""
            page.check("#agree")
            page.click("#begin")
        page.evaluate(FILL_IN, [[age, JOBS.index(job)] for age, job in people[BY_HAND:]])
        assert len(collected) == 300
    assert close_survey(out).release.records == 300
    ages = next(each for each in reconstruct(out) if each.attribute == "age" and each.group is None)
    below = sum(
        share for share, edge in zip(ages.reconstructed.shares, ages.reconstructed.edges[1:], strict=True) if edge <= 55
    )
    assert abs(below - sum(age < 55 for age, _ in people) / 300) < 0.12
    tree = train(out, algorithm="byclass")
    with served(tmp_path / "again", survey, tree=tree) as (client, collected):
        collected.close()
        page.goto(address_of(client) + "apply.html")
        assert axe_violations(page) == []
        sent = sent_by(page)
        found = [apply_tree(page, tree, age, job) for age, job in people[:40]]
        assert axe_violations(page) == []
        assert sent == [], "nothing leaves the machine when the tree is applied"
    rows = tmp_path / "rows.csv"
    rows.write_text("age,salary,job\n" + "".join(f"{age},{age},{job}\n" for age, job in people[:40]), "utf-8")
    wanted = [label for labels, _ in predict(tree, rows) for label in labels]
    assert found == wanted
    assert sum((label == "yes") == (age >= 55) for label, (age, _) in zip(found, people, strict=False)) >= 32


def apply_tree(page: Page, tree: TreeModel, age: int, job: str) -> str:
    used = [feature.name for place, feature in enumerate(tree.features) if place in tree.feature.tolist()]
    answers = {"age": str(age), "salary": str(age), "job": job}
    fill(page, {name: answers[name] for name in answers if name in used})
    page.click("#values button")
    return page.inner_text("#result").rpartition(" ")[2]
