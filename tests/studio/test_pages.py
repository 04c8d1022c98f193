"""The pages without a browser: the main path by forms alone, errors at their fields, and hostile names."""

import re
import time
from html import unescape
from itertools import product
from pathlib import Path

import pytest
from command_line import SCHEMA, people
from studio_client import Answer, StudioClient

from scumble.files.run_file import read_run
from scumble.files.schema_file import parse_schema, read_schema
from scumble.studio.app import application
from scumble.studio.commands import line
from scumble.studio.jobs import JobState, jobs_of
from scumble.studio.pages import FormFields
from scumble.studio.pictures import tree_picture
from scumble.studio.projects import Workspace
from scumble.studio.screens import SCREENS
from scumble.studio.screens.attribute import ACTIONS
from scumble.studio.screens.audit import AUDIT
from scumble.studio.screens.budget import PRESETS
from scumble.studio.screens.compare import MOST_COMPARED
from scumble.studio.screens.domains import LIGHTS, Light
from scumble.studio.screens.join import JOIN
from scumble.studio.screens.ledger import grant
from scumble.studio.screens.method import SHOWN_EPSILON
from scumble.studio.screens.publish import RELEASE
from scumble.studio.screens.releases import PAGE_ROWS
from scumble.studio.screens.start import create
from scumble.studio.screens.table import ROLES
from scumble.studio.server import Studio, warm_up
from scumble.studio.views import release_view

PROJECT = "/projects/people-project"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(people(300), encoding="utf-8")
    return tmp_path


@pytest.fixture
def studio(home: Path) -> StudioClient:
    client = StudioClient(folder=home)
    assert client.post("/", {"data": "people.csv"}).location == f"{PROJECT}/table"
    (home / "people-project" / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    Workspace(folder=home.resolve()).project("people-project").change(ledger="ledger.db", witness="witness.db")
    return client


def text_of(answer: Answer) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def finished(studio: StudioClient, home: Path) -> None:
    project = Workspace(folder=home.resolve()).project("people-project")
    until = time.monotonic() + 120
    while jobs_of(project)[0].state is JobState.RUNNING and time.monotonic() < until:
        time.sleep(0.1)


def test_every_screen_answers(studio: StudioClient) -> None:
    studio.post(f"{PROJECT}/budget", {"epsilon": "1"})
    for place in (
        "table",
        "domains",
        "domains/age",
        "domains/job",
        "method",
        "budget",
        "publish",
        "releases",
        "ledger",
    ):
        answer = studio.get(f"{PROJECT}/{place}")
        assert answer.status == 200, place
        assert "The same on the command line" in answer.text, place
    assert studio.get("/static/htmx.min.js").headers["content-type"].startswith("text/javascript")


@pytest.mark.studio
def test_a_table_becomes_a_verified_release_by_forms_alone(home: Path) -> None:
    """Without a script: draft, roles, reasons, method, budget, release, question, zip."""
    studio = StudioClient(folder=home)
    studio.post("/", {"data": "people.csv"})
    begun = studio.post(
        f"{PROJECT}/table", {"job": "1", "role:0": "predictor", "role:1": "predictor", "role:2": "class"}
    )
    assert begun.location == f"{PROJECT}/jobs/1"
    finished(studio, home)
    assert "To the domains" in studio.get(f"{PROJECT}/jobs/1").text
    schema_path = home / "people-project" / "schema.yaml"
    assert read_schema(schema_path).target == "income"
    assert "3 domains are not confirmed" in studio.get(f"{PROJECT}/domains").text
    assert "unconfirmed" in text_of(studio.get(f"{PROJECT}/publish"))
    empty = studio.post(f"{PROJECT}/domains/age", {"action": "confirm", "because": " "})
    assert empty.status == 422
    assert 'id="confirm-wrong"' in empty.text
    for name in ("age", "job", "income"):
        sent = studio.post(f"{PROJECT}/domains/{name}", {"action": "confirm", "because": "the form of the office"})
        assert sent.status == 303
    assert read_schema(schema_path)["job"].public_because == "the form of the office"
    studio.post(f"{PROJECT}/method", {"method": "histograms"})
    studio.post(f"{PROJECT}/budget", {"epsilon": "1/2"})
    run_path = home / "people-project" / "run.yaml"
    assert read_run(run_path).parameters == {"epsilon": "1/2"}
    Workspace(folder=home.resolve()).project("people-project").change(ledger="ledger.db", witness="witness.db")
    (shown,) = re.findall(r'name="shown" value="([0-9a-f]{64})"', studio.get(f"{PROJECT}/publish").text)
    unconfirmed = studio.post(f"{PROJECT}/publish", {"job": "2", "shown": shown})
    assert (unconfirmed.status, 'id="confirmed-wrong"' in unconfirmed.text) == (422, True)
    form = {"job": "2", "confirmed": "yes", "dataset": "", "shown": shown}
    assert studio.post(f"{PROJECT}/publish", form).location == f"{PROJECT}/jobs/2"
    assert studio.post(f"{PROJECT}/publish", form).location == f"{PROJECT}/jobs/2", "sent twice, it is one job"
    finished(studio, home)
    folder = home / "people-project" / "release"
    while release_view(folder) is None:
        time.sleep(0.05)
    shown = text_of(studio.get(f"{PROJECT}/releases/release?sort=age&order=down"))
    assert "checks passed" in shown
    asked = text_of(studio.get(f"{PROJECT}/releases/release?where=age+%3C+50&by=income"))
    assert "95 % interval" in asked
    wrong = studio.get(f"{PROJECT}/releases/release?where=height+%3C+50")
    assert 'id="where-wrong"' in wrong.text
    zipped = studio.get(f"{PROJECT}/releases/release/zip")
    assert zipped.body[:2] == b"PK"
    report = studio.get(f"{PROJECT}/releases/release/report")
    assert "sandbox" in report.headers["content-security-policy"]
    assert "unsafe-inline" not in report.headers["content-security-policy"]
    refused = studio.post(f"{PROJECT}/publish", {**form, "job": "3"})
    assert refused.status == 422
    assert "has spent 0.5 of its ceiling" in text_of(refused)
    ledger = studio.post(f"{PROJECT}/ledger", {"dataset": "people", "ceiling": "1", "reason": ""})
    assert (ledger.status, 'id="reason-wrong"' in ledger.text) == (422, True)
    granted = studio.post(f"{PROJECT}/ledger", {"dataset": "people", "ceiling": "1", "reason": "the board agreed"})
    assert granted.status == 303
    assert "the board agreed" in studio.get(f"{PROJECT}/ledger?verify=1").text


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": "1e999999999"}, "epsilon"),
        ({"epsilon": ""}, "epsilon"),
    ],
)
def test_a_wrong_budget_is_explained_at_its_field(studio: StudioClient, form: dict[str, str], field: str) -> None:
    before = (studio.folder / "people-project" / "run.yaml").read_text("utf-8")
    answer = studio.post(f"{PROJECT}/budget", form)
    assert answer.status == 422
    assert f'id="{field}-wrong"' in answer.text
    assert re.search(rf'name="{field}"[^>]*aria-invalid="true"', answer.text)
    assert (studio.folder / "people-project" / "run.yaml").read_text("utf-8") == before


def test_the_meaning_of_epsilon_while_it_is_typed(studio: StudioClient) -> None:
    assert "73.1" in studio.get(f"{PROJECT}/budget/meaning?epsilon=1").text
    assert "much" in studio.get(f"{PROJECT}/budget/meaning?epsilon=much").text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"action": "add", "label": "Painter", "below": "Blue"}, "Painter"),
        ({"action": "rename", "node": "Blue", "label": "Arts"}, "Arts"),
        ({"action": "move", "node": "Writer", "below": "White"}, "Writer"),
        ({"action": "group", "nodes": ["Dancer", "Writer"], "label": "Stage"}, "Stage"),
        ({"action": "remove", "node": "Blue"}, "Dancer"),
        ({"action": "set", "kind": "ordered", "labels": "low\nmiddle\nhigh"}, "middle"),
        ({"action": "set", "kind": "prefix", "levels": "1, 2", "pattern": "[A-C][0-9]"}, "codes"),
        ({"action": "set", "kind": "boolean", "true": "ja", "false": "nein"}, "boolean"),
        ({"action": "set", "kind": "date", "from": "2020-01-01", "to": "2022-01-01", "date_step": "month"}, "date"),
        ({"action": "set", "kind": "numeric", "low": "0", "high": "10", "step": "1"}, "number"),
        ({"action": "set", "kind": "edges", "edges": "0, 1; 5 10"}, "number"),
    ],
)
def test_the_editors(studio: StudioClient, form: dict[str, object], words: str) -> None:
    assert set(ACTIONS) >= {str(form["action"])}
    sent = studio.post(f"{PROJECT}/domains/job", form)
    assert sent.status == 303, text_of(sent)
    attribute = read_schema(studio.folder / "people-project" / "schema.yaml")["job"]
    assert attribute.unconfirmed
    shown = studio.get(f"{PROJECT}/domains/job")
    assert shown.status == 200
    assert LIGHTS[Light.DRAFT] in shown.text
    assert words in attribute.kind + text_of(shown)


def test_a_refused_edit_is_explained_and_changes_nothing(studio: StudioClient) -> None:
    path = studio.folder / "people-project" / "schema.yaml"
    before = path.read_text("utf-8")
    for form in (
        {"action": "add", "label": "Lawyer", "below": "Blue"},
        {"action": "set", "kind": "numeric", "low": "5", "high": "1", "step": "1"},
        {"action": "set", "kind": "none"},
        {"action": "import", "file": "../../people.csv"},
        {"action": "explode"},
    ):
        assert studio.post(f"{PROJECT}/domains/job", form).status == 422, form
    assert path.read_text("utf-8") == before


def test_roles_are_saved_and_contradictions_refused(studio: StudioClient) -> None:
    assert {role for role, _ in ROLES} == {"predictor", "class", "identifier", "person"}
    two = studio.post(f"{PROJECT}/table", {"job": "1", "role:0": "class", "role:1": "class"})
    assert (two.status, 'id="roles-wrong"' in two.text) == (422, True)
    form = {"job": "1", "role:0": "predictor", "role:1": "class", "role:2": "identifier", "rows_at_most": "1000"}
    assert studio.post(f"{PROJECT}/table", form).location == f"{PROJECT}/domains"
    schema = read_schema(studio.folder / "people-project" / "schema.yaml")
    assert (schema.target, schema.identifiers, schema.rows_at_most) == ("job", ("income",), 1000)
    wrong = studio.post(f"{PROJECT}/table", {**form, "rows_at_most": "many"})
    assert 'id="rows_at_most-wrong"' in wrong.text


def test_a_wanted_accuracy_needs_a_public_table_in_the_folder(studio: StudioClient) -> None:
    studio.post(f"{PROJECT}/budget", {"epsilon": "1"})
    form = {"job": "1", "sweep": "yes", "wanted": "80%", "like": "people.csv"}
    wrong = studio.post(f"{PROJECT}/rehearsal", {**form, "wanted": "much"})
    assert (wrong.status, 'id="wanted-wrong"' in wrong.text) == (422, True)
    for screen, like in product(("rehearsal", "budget"), ("", "../other.csv", "none.csv")):
        wrong = studio.post(f"{PROJECT}/{screen}", {**form, "like": like})
        assert (wrong.status, 'id="like-wrong"' in wrong.text) == (422, True)
    assert jobs_of(Workspace(folder=studio.folder.resolve()).project("people-project")) == []
    for place in ("rehearsal", "audit", "compare", "join"):
        assert "The same on the command line" in studio.get(f"{PROJECT}/{place}").text
    assert (AUDIT, JOIN, MOST_COMPARED > 1) == ("audit", "join", True)


def test_method_options_are_checked(studio: StudioClient) -> None:
    studio.post(f"{PROJECT}/method", {"method": "diffgen"})
    wrong = studio.post(f"{PROJECT}/method", {"action": "options", "option:rounds": "-1"})
    assert (wrong.status, 'id="options-wrong"' in wrong.text) == (422, True)
    assert studio.post(f"{PROJECT}/method", {"action": "options", "option:rounds": "3"}).status == 303
    assert read_run(studio.folder / "people-project" / "run.yaml").parameters["rounds"] == "3"
    assert studio.post(f"{PROJECT}/method", {"method": "none"}).status == 422


def test_names_with_markup_are_text(home: Path) -> None:
    evil = "<script>alert(1)</script>\"'&"
    (home / "evil.csv").write_text('"' + evil.replace('"', '""') + '",income\na,no\nb,yes\n', encoding="utf-8")
    studio = StudioClient(folder=home)
    studio.post("/", {"data": "evil.csv"})
    schema = (
        f'scumble: schema/1\nattributes:\n  {evil!r}: {{taxonomy: {{Any: {{a: , b: , "<img src=x onerror=1>": }}}}}}\n'
    )
    schema = schema.replace(repr(evil), "'" + evil.replace("'", "''") + "'")
    (home / "evil-project" / "schema.yaml").write_text(schema, encoding="utf-8")
    for place in (
        "table",
        "domains",
        "method",
        "budget",
        "publish",
        f"domains/{'%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%27%26'}",
    ):
        answer = studio.get(f"/projects/evil-project/{place}")
        assert answer.status == 200, (place, text_of(answer))
        assert "<script>alert" not in answer.text, place
        assert "<img src=x" not in answer.text, place


def test_the_parts_fit_together(tmp_path: Path) -> None:
    assert {address for address, _, _ in SCREENS} >= {"/", "/projects/{project}/publish"}
    assert application(Workspace(folder=tmp_path)).routes
    assert line("release", "a b") == "scumble release 'a b'"
    assert FormFields(values={"a": [" 1,000 "]}).number("a") == 1000
    assert (RELEASE, SHOWN_EPSILON, PAGE_ROWS > 0, PRESETS[0] < PRESETS[-1]) == ("release", "1", True, True)
    assert tree_picture(parse_schema(SCHEMA)["job"].domain).leaves == 4
    assert callable(create)
    assert callable(grant)


def test_the_server_listens_on_the_loopback_alone(tmp_path: Path) -> None:
    warm_up()
    with Studio.listening(tmp_path) as opened, Studio.listening(tmp_path) as other:
        assert opened.listener.getsockname()[0] == "127.0.0.1"
        assert opened.address.startswith(f"http://127.0.0.1:{opened.port}/?token=")
        assert len(opened.token) == 64
        assert opened.token != other.token
        assert opened.guarded.token == opened.token


def test_the_documentation_links_every_picture() -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    linked = set(re.findall(r"\(studio/([\w-]+\.png)\)", (docs / "studio.md").read_text("utf-8")))
    assert linked == {path.name for path in (docs / "studio").glob("*.png")}
