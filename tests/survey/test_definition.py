"""What a survey is: stored and read back, refused where it is wrong, and which reports it can have produced."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from survey_models import EVERY_CHANNEL
from survey_server import health_survey

from scumble.errors import InputError
from scumble.model.local.randomizers import Truthful
from scumble.model.values import texts_of
from scumble.survey.definition import Survey, parse_closing, read_texts
from scumble.survey.submission import SubmissionReader, new_token, possible_reports

SURVEY = health_survey()


def test_a_survey_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    survey = health_survey(
        closes=parse_closing("2026-12-31"), invited=True, parameters={"epsilon": "8"}, required=("salary",)
    )
    survey.write(tmp_path / "survey.json")
    again = Survey.read(tmp_path / "survey.json")
    assert again == survey
    assert again.identity == survey.identity
    assert health_survey().identity != survey.identity


@pytest.mark.parametrize("changes", [{"truths": ("name",)}, {"truths": ("age", "wage")}])
def test_optional_truths_are_perturbed_attributes(changes: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(InputError, match="not a perturbed attribute"):
        health_survey(**changes)


@pytest.mark.parametrize(
    "text", ["title: ''", "titel: x", "questions: [a]", "questions: {age: [a]}", "{", "consent: ''", "- a"]
)
def test_wrong_texts_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "texts.yaml").write_text(text, "utf-8")
    with pytest.raises(InputError):
        read_texts(tmp_path / "texts.yaml")


def test_a_question_about_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="which is not asked"):
        health_survey(texts=SURVEY.texts.model_copy(update={"questions": {"shoe": "Which size?"}}))


def test_a_required_answer_cannot_arrive_as_a_withheld_one() -> None:
    """A report that only a withheld answer gives is refused. One that noise can give, too, is not."""
    names = ("salary", "town", "stay", "sick")
    free, strict = (SubmissionReader(Survey(noise=EVERY_CHANNEL, required=each)) for each in ((), names))
    for name in EVERY_CHANNEL.reported:
        every, left = (set(reader._possible[name]) for reader in (free, strict))
        assert every - left == ({"-1"} if name == "salary" else set()), name
    # Without noise, the category of missing values comes from a withheld answer alone.
    told = replace(EVERY_CHANNEL, randomizers={**EVERY_CHANNEL.randomizers, "town": Truthful()})
    assert set(possible_reports(told["town"])) - set(possible_reports(told["town"], required=True)) == {"no answer"}


def test_required_answers_are_asked() -> None:
    assert health_survey(required=("salary", "age")).required == ("salary", "age")
    with pytest.raises(InputError, match="An answer to 'shoe' is required, but it is not asked"):
        health_survey(required=("shoe",))


def test_possible_reports_are_those_with_a_positive_weight() -> None:
    survey = Survey(noise=EVERY_CHANNEL)
    reader = SubmissionReader(survey)
    record = {name: texts_of(EVERY_CHANNEL.published[name].domain)[0] for name in EVERY_CHANNEL.reported}
    message = {"survey": survey.identity, "token": new_token(), "record": record, "truths": {}}
    assert reader.read(message).reports == dict.fromkeys(EVERY_CHANNEL.reported, 0)
    # Noise in steps of a fifth of a cell is added to the lower edge of a cell, so the last steps are never reached.
    randomized = EVERY_CHANNEL["age"]
    impossible = set(texts_of(randomized.published.domain)) - set(possible_reports(randomized))
    assert impossible
    for text in impossible:
        with pytest.raises(InputError, match="never reports such a value of 'age'"):
            reader.read({**message, "record": {**record, "age": text}})
    reached = np.flatnonzero(randomized.channel.possible)
    assert len(reached) == len(possible_reports(randomized))
