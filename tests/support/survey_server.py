"""A survey and its server in this process, and requests to it."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from scumble.files.schema_file import schema_from
from scumble.flows.perturb import noise_model
from scumble.survey.definition import Survey, SurveyTexts
from scumble.survey.server import survey_app

HEALTH = schema_from(
    {
        "scumble": "schema/1",
        "target": "sick",
        "attributes": {
            "age": {"numeric": {"low": 15, "high": 95, "step": 1}},
            "salary": {"numeric": {"low": 0, "high": 120, "step": 5}, "missing": "no answer"},
            "job": {
                "taxonomy": {"Any": {"White": {"Engineer": None, "Lawyer": None}, "Blue": {"Dancer": None}}},
                "missing": "no answer",
            },
            "sick": {"classes": ["no", "yes"]},
        },
    }
)
QUESTIONS = {
    "age": "How old are you?",
    "salary": "What do you earn in a year, in thousands?",
    "job": "What is your occupation?",
    "sick": "Were you ill for more than a week this year?",
}


def health_survey(**changes: Any) -> Survey:
    """A survey with local differential privacy, in which a person may also send their true age."""
    texts = SurveyTexts(title="Work and health", questions=QUESTIONS)
    given = {"noise": noise_model(HEALTH, epsilon=8), "texts": texts, "truths": ("age",), **changes}
    return Survey(**given)


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Client:
    """Sends requests to a server on this machine, if wanted from another address of it."""

    port: int
    source: str = "127.0.0.1"

    def ask(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30, source_address=(self.source, 0))
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(status=answer.status, headers=dict(answer.getheaders()), body=answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, message: Any, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("POST", path, json.dumps(message).encode(), {"Content-Type": "application/json", **named})


@contextmanager
def served(folder: Path, survey: Survey, **options: Any) -> Iterator[tuple[Client, Any]]:
    """A server of a new survey in another thread: a client, and the collected records."""
    from scumble.survey.records import CollectedRecords

    collected = CollectedRecords.create(folder, survey, options.pop("invitations", ()))
    config = uvicorn.Config(
        survey_app(collected, **{"posts_each_minute": 100_000, **options}),
        port=0,
        access_log=False,
        log_level="warning",
        lifespan="off",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield Client(port=server.servers[0].sockets[0].getsockname()[1]), collected
    finally:
        server.should_exit = True
        thread.join()


def submission(survey: Survey, token: str, **changes: str) -> dict[str, Any]:
    """A message as a browser makes it."""
    record = {"age": "41", "salary": "35", "job": "Dancer", "sick": "no", **changes}
    return {"survey": survey.identity, "token": token, "record": record, "truths": {}}
