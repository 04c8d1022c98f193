"""The JavaScript perturber draws the same words and reports as the Python one: in node and in a real browser."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from browser import chromium
from chi_square import chi_square_rejects
from survey_models import EVERY_CHANNEL, PERTURBER, RECORDS, SECRET, node

from scumble.model.local.channel import transition
from scumble.model.local.noise_law import TOTAL
from scumble.model.schema import Outside
from scumble.model.values import code_of, texts_of
from scumble.privacy.noise import KeyedWords
from scumble.privacy.perturber import Perturber
from scumble.survey.description import describe

VECTORS = json.loads((Path(__file__).parent / "keyed_words.json").read_text("utf-8"))
DESCRIPTION = describe(EVERY_CHANNEL)
pytestmark = pytest.mark.studio


class Runner(Protocol):
    """Runs JavaScript, where `scumble` is perturber.js and `given` has the values, and returns its result."""

    def __call__(self, script: str, **values: Any) -> Any: ...


@pytest.fixture(scope="module")
def browser_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    page_file = tmp_path_factory.mktemp("page") / "empty.html"
    page_file.write_text("<!doctype html><title>empty</title>", "utf-8")
    with chromium() as browser:
        page = browser.new_page()
        page.goto(page_file.as_uri())
        page.add_script_tag(path=PERTURBER)

        def run(script: str, **values: Any) -> Any:
            return page.evaluate(f"async (given) => {{ {script} }}", values)

        yield run


@pytest.fixture(params=["node", "browser"])
def run(request: pytest.FixtureRequest) -> Runner:
    return node if request.param == "node" else request.getfixturevalue("browser_runner")


def test_the_stored_words_are_those_of_python() -> None:
    assert len(VECTORS) >= 12
    for each in VECTORS:
        words = KeyedWords(bytes.fromhex(each["secret"]))
        drawn = words.draw(
            bytes.fromhex(each["context"]), [each["entity"]], np.array([each["code"]]), np.array([each["occurrence"]])
        )
        assert str(int(drawn[0])) == each["word"]


def test_words_are_those_of_python(run: Runner) -> None:
    script = """
        const words = [];
        for (const each of given.vectors) {
            const word = await scumble.keyedWords(scumble.bytesOfHex(each.secret));
            words.push(String(await word(each.context, each.code, each.entity, each.occurrence)));
        }
        return words;
    """
    assert run(script, vectors=VECTORS) == [each["word"] for each in VECTORS]


PERTURB = """
    const perturber = await scumble.Perturber.from(given.description, scumble.bytesOfHex(given.secret));
    const reports = [];
    for (const record of given.records) {
        const codes = {};
        for (const each of given.description.attributes) {
            codes[each.name] = scumble.codeOf(each.answer, record[each.name]);
        }
        reports.push(await perturber.perturb(codes, given.entity));
    }
    return reports;
"""


def python_value(name: str, value: Any) -> Any:
    """The raw value of a record that means the answer of the page."""
    answer = next(each["answer"] for each in DESCRIPTION["attributes"] if each["name"] == name)
    return answer["texts"][value] if answer["kind"] == "category" and value is not None else value


@pytest.mark.parametrize("entity", ["", "2be69ee14a131bda43af8e5e8b94c103 kR3vJw0bQm2Zs9xTfYhN4A", "Zoë 🙂"])
def test_reports_are_those_of_python(run: Runner, entity: str) -> None:
    perturber = Perturber(EVERY_CHANNEL, secret=SECRET)
    records = [{name: python_value(name, value) for name, value in record.items()} for record in RECORDS]
    wanted = [perturber.perturb(record, entity=entity) for record in records]
    assert run(PERTURB, description=DESCRIPTION, secret=SECRET.hex(), records=RECORDS, entity=entity) == wanted


def test_every_weight_is_that_of_python(run: Runner) -> None:
    script = """
        return given.description.attributes.map((each) => each.answer.texts.map((_, code) =>
            each.reports.map((_, report) => Number(scumble.weightOf(each.channel, code, report)))));
    """
    for name, table in zip(EVERY_CHANNEL.reported, run(script, description=DESCRIPTION), strict=True):
        randomized = EVERY_CHANNEL[name]
        channel = randomized.channel
        codes, reports = np.arange(channel.inputs + 1), np.arange(channel.outputs + 1)
        wanted = transition(channel, codes, reports).T
        found = np.array(table) / TOTAL
        assert np.allclose(found[: channel.inputs, : channel.outputs], wanted, rtol=1e-9, atol=1e-15), name
        assert np.allclose(found.sum(axis=1), 1)
        assert found.shape == (randomized.attribute.domain.size, randomized.published.domain.size)


def test_answers_are_coded_as_in_python(run: Runner) -> None:
    numbers = [-1e9, -1, 0, 0.1, 0.7999999, 0.8, 1.1, 1.2, 1.7000000000000002, 2.3, 2.4, 15, 39.9, 40, 62.5, 300, 1e300]
    script = "return given.attributes.map((each) => given.numbers.map((number) => scumble.codeOf(each.answer, number)))"
    described = [each for each in DESCRIPTION["attributes"] if each["answer"]["kind"] == "number"]
    found = run(script, attributes=described, numbers=numbers)
    for each, codes in zip(described, found, strict=True):
        attribute = EVERY_CHANNEL.schema[each["name"]]
        assert codes == [code_of(attribute, number) for number in numbers], each["name"]
    assert run("return scumble.codeOf(given.answer, NaN)", answer=described[0]["answer"]) is None


def test_conclusions_are_those_of_a_readable_twin(run: Runner) -> None:
    script = """
        return given.description.attributes.map((each) => each.reports.map((_, report) => {
            const likely = scumble.posterior(each, report);
            return [likely, scumble.shortestRun(likely, 0.95)];
        }));
    """
    for name, found in zip(EVERY_CHANNEL.reported, run(script, description=DESCRIPTION), strict=True):
        channel = EVERY_CHANNEL[name].channel
        table = transition(channel, np.arange(channel.inputs + 1), np.arange(channel.outputs + 1))
        for report, (likely, (low, high)) in enumerate(found[: channel.outputs]):
            if table[report].sum() < 1e-6:
                continue  # floats cannot resolve the far tail, and steps below a cell never reach the last of them
            wanted = table[report] / table[report].sum()
            assert np.allclose(likely[: channel.inputs], wanted, atol=1e-9)
            sums = np.concatenate([[0], np.cumsum(likely)])
            runs = [
                j - i for i in range(len(sums)) for j in range(i + 1, len(sums)) if sums[j] - sums[i] >= 0.95 - 1e-9
            ]
            assert high - low == min(runs), (name, report)
            assert sums[high] - sums[low] >= 0.95 - 1e-9


DRAWS = """
    const perturber = await scumble.Perturber.from(given.description, scumble.bytesOfHex(given.secret));
    const attribute = given.description.attributes.find((each) => each.name === given.name);
    const counts = {};
    for (let start = 0; start < given.draws; start += 2000) {
        const people = Array.from({ length: 2000 }, (_, place) => String(start + place));
        const reports = await Promise.all(people.map((person) => perturber.report(attribute, given.code, person)));
        for (const report of reports) counts[report] = (counts[report] || 0) + 1;
    }
    return counts;
"""


def expected(name: str, code: int) -> dict[int, float]:
    channel = EVERY_CHANNEL[name].channel
    table = transition(channel, np.arange(channel.inputs + 1), np.arange(channel.outputs + 1))
    return dict(enumerate(table[:, code].tolist()))


def draws(run: Runner, name: str, code: int, number: int, description: Any = DESCRIPTION) -> Counter[int]:
    counts = run(DRAWS, description=description, secret=SECRET.hex(), name=name, code=code, draws=number)
    return Counter({int(report): count for report, count in counts.items()})


CASES = [
    ("age", 26, 240_000),
    ("salary", 3, 200_000),
    ("height", 0, 240_000),
    ("job", 1, 200_000),
    ("town", 2, 120_000),
]


def test_a_million_draws_in_the_browser_have_the_law_of_the_model(browser_runner: Runner) -> None:
    assert sum(number for _, _, number in CASES) == 1_000_000
    for name, code, number in CASES:
        counts = draws(browser_runner, name, code, number)
        assert counts.total() == number
        assert not chi_square_rejects(counts, expected(name, code)), name


@pytest.mark.parametrize("name", ["age", "height", "job", "town"])
@pytest.mark.parametrize("direction", [1, -1])
def test_a_planted_bias_is_caught_in_either_direction(browser_runner: Runner, name: str, direction: int) -> None:
    """The true category 3 % too likely or too unlikely; a tenth of the noise on one side moved to the other.

    With 60,000 draws the statistic exceeds its mean by n sum(d^2 / p): 126 on 2 degrees of freedom for `job`, 600
    on about 300 for `age`; for `town`, with 200,000 draws, 245 on 2. All are far beyond the bound of one in a million.
    """
    description = json.loads(json.dumps(DESCRIPTION))
    channel = next(each for each in description["attributes"] if each["name"] == name)["channel"]
    code = 2
    if channel["kind"] == "additive":
        middle = len(channel["weights"]) // 2
        for distance in range(1, middle + 1):
            low, high = int(channel["weights"][middle - distance]), int(channel["weights"][middle + distance])
            moved = direction * (low // 10)
            channel["weights"][middle - distance] = str(low - moved)
            channel["weights"][middle + distance] = str(high + moved)
    else:
        truth = int(channel["truth"]) * (100 + 3 * direction) // 100
        channel["truth"], channel["other"] = str(truth), str(-(-(TOTAL - truth) // (channel["size"] - 1)))
    counts = draws(browser_runner, name, code, 200_000 if name == "town" else 60_000, description)
    assert chi_square_rejects(counts, expected(name, code))


def test_weights_that_do_not_sum_to_the_total_are_refused(run: Runner) -> None:
    channel = {"kind": "additive", "weights": ["1", "2", "1"], "cells": 3, "refine": 1, "margin": 0}
    script = "try { scumble.applyChannel(given.channel, 0, 1n); return 'drawn' } catch (error) { return error.message }"
    assert run(script, channel=channel) == "The weights do not sum to 2^62."


def test_clamped_covered_values_and_dropped_others() -> None:
    described = {each["name"]: each["answer"]["clamp"] for each in DESCRIPTION["attributes"]}
    assert described == {n: EVERY_CHANNEL.schema[n].outside is Outside.CLAMP for n in EVERY_CHANNEL.reported}
    assert not described["weight"]
    local = replace(EVERY_CHANNEL, randomizers={**EVERY_CHANNEL.randomizers, **_local()})
    answers = {each["name"]: each["answer"]["clamp"] for each in describe(local)["attributes"]}
    assert answers["weight"] is True
    assert answers["sick"] is (local.schema["sick"].outside is Outside.CLAMP)


def _local() -> dict[str, Any]:
    town = EVERY_CHANNEL.randomizers["town"]
    height = EVERY_CHANNEL.randomizers["height"]
    return {"age": height, "salary": town, "weight": town, "job": town}


def test_texts_of_answers_and_reports_are_those_of_the_domains() -> None:
    for each in DESCRIPTION["attributes"]:
        randomized = EVERY_CHANNEL[each["name"]]
        assert each["answer"]["texts"] == texts_of(randomized.attribute.domain)
        assert each["reports"] == texts_of(randomized.published.domain)
