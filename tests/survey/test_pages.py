"""The files of the pages: complete, self-contained, and the same for a server and for a folder."""

import json
import re
import socket
from pathlib import Path

import pytest
from survey_server import health_survey

from scumble.errors import InputError
from scumble.survey.pages import page_files
from scumble.survey.records import CollectedRecords
from scumble.survey.serving import serve_survey

SURVEY = health_survey()


@pytest.mark.parametrize("served", [True, False])
def test_pages_use_only_files_that_are_there(served: bool) -> None:
    files = page_files(SURVEY, served=served)
    html = files["index.html"].decode()
    used = set(re.findall(r'(?:src|href)="([^"#]+)"', html)) - {"data:,"}
    assert used <= set(files)
    assert {name for name in files if name.endswith(".js")} <= used
    for name, content in files.items():
        addresses = [each for each in re.findall(r"https?://[^\s\"'`)]+", content.decode()) if "w3.org" not in each]
        assert not addresses, name


def test_scripts_never_make_markup_from_texts() -> None:
    for name, content in page_files(SURVEY, served=True).items():
        if name.endswith(".js"):
            text = content.decode()
            for risky in (
                "innerHTML",
                "outerHTML",
                "insertAdjacent",
                "document.write",
                "eval(",
                "new Function",
                "onclick",
            ):
                assert risky not in text, (name, risky)


def test_only_one_script_can_send() -> None:
    senders = ("fetch(", "XMLHttpRequest", "sendBeacon", "WebSocket", "EventSource", "RTCPeer", "importScripts")
    for name, content in page_files(SURVEY, served=True).items():
        found = [sender for sender in senders if name.endswith(".js") and sender in content.decode()]
        assert found == (["fetch("] if name == "page.js" else []), name


def test_the_description_is_data() -> None:
    texts = SURVEY.texts.model_copy(update={"questions": {"age": "</script>\u2028<b>"}})
    script = page_files(health_survey(texts=texts), served=False)["description.js"].decode()
    assert script.isascii()
    data = json.loads(script.removeprefix("globalThis.surveyDescription = ").removesuffix(";\n"))
    assert data["questions"] == {"age": "</script>\u2028<b>"}
    assert (data["served"], data["open"], data["truths"]) == (False, True, ["age"])


def test_the_page_states_the_guarantee_and_what_it_means() -> None:
    html = page_files(SURVEY, served=True)["index.html"].decode()
    assert "8-locally differentially private" in html
    assert "a 50 % suspicion that somebody&#39;s true values are these and not those can rise to at most" in html


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    collected = CollectedRecords.create(tmp_path / "c", SURVEY)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InputError, match="Choose another"):
        serve_survey(
            collected,
            host="127.0.0.1",
            port=taken.getsockname()[1],
            behind_proxy=False,
            posts_each_minute=1,
            tree=None,
            ready=lambda _: None,
        )
