"""The tree that a survey taught goes back to the people: applied in the browser, to true values that stay there."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from browser import axe_violations
from playwright.sync_api import Page
from survey_page import address_of, begin, blur, fill, send, sent_by
from survey_server import HEALTH, health_survey, served

from scumble.errors import InputError
from scumble.files.schema_file import schema_from
from scumble.flows.mine import predict, reconstruct, train
from scumble.flows.perturb import noise_model
from scumble.mining.tree_model import LEAF, Feature, TreeModel
from scumble.model.values import texts_of
from scumble.survey.closing import close_survey
from scumble.survey.definition import Survey
from scumble.survey.pages import check_tree
from scumble.survey.records import collecting_folder

pytestmark = pytest.mark.studio
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
    survey = health_survey(noise=noise_model(HEALTH, privacy="25%", noise="uniform", retain={"job": "80%"}), truths=())
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


MISSING = schema_from(
    {
        "scumble": "schema/1",
        "target": "sick",
        "attributes": {
            "age": {"numeric": {"low": 15, "high": 95, "step": 1}, "missing": "-999"},
            "salary": {"numeric": {"low": 0, "high": 120, "step": 5}, "missing": "unknown"},
            "job": {"taxonomy": {"Any": {"Engineer": None, "Lawyer": None, "Dancer": None}}, "missing": "none"},
            "sick": {"classes": ["no", "yes"]},
        },
    }
)


def hand_made_tree() -> TreeModel:
    """Tests one attribute at each of three levels, so that each of eight leaves has a class of its own.

    A missing number goes where a small one does not go. The missing category is a value like the others, as in trees of
    `mine train`, and goes where the values before it do not go; a value that is no category goes the other way.
    """
    features = (
        Feature(name="age", missing="-999"),
        Feature(name="salary", missing="unknown"),
        Feature(name="job", values=MISSING["job"].domain.labels),
    )
    labels = MISSING["job"].domain.labels
    levels = [(0, 40.0, False), (1, 60.0, False), (2, float(labels.index("none")), True)]
    inner = [levels[(node + 1).bit_length() - 1] for node in range(7)]
    return TreeModel(
        features=features,
        classes=tuple(f"class {place}" for place in range(8)),
        target="sick",
        feature=np.array([each[0] for each in inner] + [LEAF] * 8),
        threshold=np.array([each[1] for each in inner] + [0.0] * 8),
        missing_left=np.array([each[2] for each in inner] + [False] * 8),
        left=np.array([2 * node + 1 for node in range(7)] + [LEAF] * 8),
        right=np.array([2 * node + 2 for node in range(7)] + [LEAF] * 8),
        shares=np.vstack([np.full((7, 8), 1 / 8), np.eye(8)]),
    )


AGES = {"20": "20", "70": "70", "-999": "-999", "-999.0": "-999", "withheld": "-999"}
"""What is typed, and what the table of true rows has."""
SALARIES = {"20": "20", "100": "100", "withheld": "unknown"}
PLACES = {"Engineer": "Engineer", "Dancer": "Dancer", "withheld": "none"}


def test_missing_values_reach_the_leaf_that_predict_reaches(page: Page, tmp_path: Path) -> None:
    tree = hand_made_tree()
    survey = Survey(noise=noise_model(MISSING, epsilon=6))
    people = list(product(AGES, SALARIES, PLACES))
    rows = tmp_path / "rows.csv"
    table = [f"{AGES[age]},{SALARIES[salary]},{PLACES[job]}\n" for age, salary, job in people]
    rows.write_text("age,salary,job\n" + "".join(table), "utf-8")
    wanted = [label for labels, _ in predict(tree, rows) for label in labels]
    assert len(set(wanted)) == 8
    labels = texts_of(MISSING["job"].domain)
    found = []
    with served(tmp_path / "c", survey, tree=tree) as (client, _):
        page.goto(address_of(client) + "apply.html")
        for person in people:
            for place, text in enumerate(person):
                page.set_checked(f"#question-{place}-withheld", text == "withheld")
                if text != "withheld" and place < 2:
                    page.fill(f"#question-{place}", text)
                elif text != "withheld":
                    page.check(f"input[name=question-2][value='{labels.index(text)}']")
            page.click("#values button")
            found.append(page.inner_text("#result").partition(": ")[2])
    assert found == wanted


def test_a_tree_over_other_values_is_refused() -> None:
    """Also one that names the cells of numbers, as classifiers of published tables do: the page has no cells."""
    survey = Survey(noise=noise_model(MISSING, epsilon=6))
    tree = hand_made_tree()
    check_tree(tree, survey)
    cells = Feature(name="age", values=MISSING["age"].domain.labels)
    for wrong in (cells, Feature(name="job"), Feature(name="job", values=("a",)), Feature(name="shoe")):
        with pytest.raises(InputError, match="does not ask in this form"):
            check_tree(replace(tree, features=(wrong, *tree.features[1:])), survey)
