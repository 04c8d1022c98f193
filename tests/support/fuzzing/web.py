"""Targets of the web pages: the run file of the studio; definition, texts and submissions of a survey."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from survey_models import EVERY_CHANNEL

from fuzzing import mutation
from fuzzing.documents import file_reader
from fuzzing.plain_yaml_changes import plain_or_text
from fuzzing.target import Run, Target
from scumble.files.run_file import RunFile, read_run
from scumble.foreign.documents import parse_json
from scumble.survey.definition import Survey, SurveyTexts, read_texts
from scumble.survey.submission import SubmissionReader, possible_reports

TOKEN = "A" * 22
TEXTS = """\
title: How are you?
introduction: |
  Your answers are blurred in the browser.
consent: I take part voluntarily.
questions: {age: How old are you?, sick: "Were you ill: yes or no?"}
"""


def runs() -> list[bytes]:
    """Run files with few entries, and with all."""
    short = RunFile(data="../people.csv")
    full = short.changed(
        method="diffgen",
        parameters={"epsilon": "1/3", "rounds": "4"},
        dataset="people",
        ledger="ledger.db",
        witness="witness.db",
        engine="stream",
        table=False,
        accept=["k-anonymity"],
        delimiter=";",
        encoding="latin-1",
        multiline=True,
    )
    return [each.text().encode() for each in (short, full)]


def survey() -> Survey:
    """A survey with every kind of noise, and with answers that may be sent as they are."""
    return Survey(noise=EVERY_CHANNEL, texts=SurveyTexts(questions={"age": "How old are you?"}), truths=("age", "job"))


def submissions(asked: Survey) -> list[bytes]:
    """Messages that the survey accepts: the first and the last possible report of every attribute."""
    noise = asked.noise
    possible = {name: list(possible_reports(noise[name])) for name in noise.reported}
    return [
        json.dumps(
            {
                "survey": asked.identity,
                "token": TOKEN,
                "record": {name: texts[place] for name, texts in possible.items()},
                "truths": truths,
            }
        ).encode()
        for place, truths in ((0, {}), (-1, {"job": "Lawyer"}))
    ]


def _submission() -> Run:
    reader = SubmissionReader(survey())

    def run(data: bytes) -> None:
        try:
            message: Any = parse_json(data)
        except ValueError:
            return  # the server answers that it is not JSON
        reader.read(message)

    return run


def _read_survey(path: Path) -> None:
    read = Survey.read(path)
    SubmissionReader(read)


def web_targets() -> Iterator[Target]:
    """The targets."""
    asked = survey()
    yield Target(
        name="run",
        reads="run.yaml of the studio",
        seeds=runs(),
        mutate=plain_or_text,
        prepare=file_reader("run.yaml", read_run),
    )
    yield Target(
        name="survey",
        reads="survey.json, and what it accepts",
        seeds=[json.dumps(asked.to_json()).encode()],
        mutate=mutation.json_or_text,
        prepare=file_reader("survey.json", _read_survey),
    )
    yield Target(
        name="survey-texts",
        reads="texts of a survey",
        seeds=[TEXTS.encode()],
        mutate=mutation.text,
        prepare=file_reader("texts.yaml", read_texts),
    )
    yield Target(
        name="submission",
        reads="records that browsers send to a survey",
        seeds=submissions(asked),
        mutate=mutation.json_or_text,
        prepare=_submission,
    )
