"""The commands of a survey, from its beginning to its release."""

import hashlib
import json
import sys
from pathlib import Path

import pytest
from command_line import scumble
from survey_server import submission

import scumble as api
from scumble.mining.tree_model import TreeModel
from scumble.survey.beginning import begin_survey
from scumble.survey.records import CollectedRecords, collecting_folder
from scumble.survey.submission import new_token

SCHEMA = """\
scumble: schema/1
target: sick
attributes:
  age: {numeric: {low: 15, high: 95, step: 1}}
  job: {taxonomy: {Any: {White: {Engineer: , Lawyer: }, Blue: {Dancer: , Writer: }}}}
  sick: {classes: ["no", "yes"]}
"""
BUILD = ("survey", "build", "--out", "blurred", "--page", "page")
BEGIN = (*BUILD, "--schema", "schema.yaml", "--epsilon", "6")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "schema.yaml").write_text(SCHEMA, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def message(**record: str) -> str:
    survey = CollectedRecords(collecting_folder(Path("blurred"))).survey
    made = {**submission(survey, new_token()), "record": {"age": "40", "job": "Dancer", "sick": "no", **record}}
    return json.dumps(made)


def test_a_static_survey_from_its_pages_to_its_release() -> None:
    built = scumble(*BEGIN, "--optional-truth", "age", "--json").json
    assert built["files"] == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in Path("page").iterdir()
    }
    names = [f"record-{place}.json" for place in range(12)]
    for place, name in enumerate(names):
        Path(name).write_text(message(age=str(20 + 5 * place), sick="yes" if place > 6 else "no"), "utf-8")
    Path("forged.json").write_text(message(age="7"), "utf-8")
    added = scumble("survey", "add", "blurred", *names, "forged.json", "absent.json", "--json").json
    assert (added["stored"], added["records"], sorted(added["refused"])) == (12, 12, ["absent.json", "forged.json"])
    assert scumble("survey", "status", "blurred", "--json").json == {"records": 12, "state": "open"}
    closed = scumble("survey", "close", "blurred", "--json").json
    assert (closed["records"], closed["truths"]) == (12, None)
    assert closed["guarantee"]["kind"] == "LocalDP"
    assert scumble("survey", "status", "blurred", "--json").json == {"records": 0, "state": "closed"}
    assert scumble("verify", "blurred").code == 0
    assert scumble("reconstruct", "blurred", "--out", "found").code == 0
    assert scumble("mine", "train", "blurred", "--out", "tree.json").code == 0
    manifest = json.loads(Path("blurred/release.json").read_text("utf-8"))
    assert manifest["parameters"] == {"epsilon": "6", "keyed": "hmac-sha256/2"}
    # The tree is served back with the pages, also of a closed survey.
    assert scumble("survey", "build", "--out", "blurred", "--page", "with-tree", "--tree", "tree.json").code == 0
    assert {"apply.html", "model.js", "tree.js"} <= {path.name for path in Path("with-tree").iterdir()}


def test_the_owner_withdraws_records_by_their_tokens() -> None:
    scumble(*BEGIN)
    tokens = ["-" + "A" * 21, "--" + "B" * 20, "C" * 22]
    for place, token in enumerate(tokens):
        Path(f"record-{place}.json").write_text(json.dumps({**json.loads(message()), "token": token}), "utf-8")
    scumble("survey", "add", "blurred", *(f"record-{place}.json" for place in range(3)))
    ended = scumble("survey", "withdraw", "blurred", tokens[0])
    assert (ended.code, ended.out) == (0, "1 of 1 records deleted. The survey has 2 records.\n")
    partly = scumble("survey", "withdraw", "blurred", *tokens[:2], "--json")
    assert partly.json == {"withdrawn": 1, "unknown": [tokens[0]], "records": 1}
    assert "There is no record with such a token" in scumble("survey", "withdraw", "blurred", tokens[0]).error
    wrong = scumble("survey", "withdraw", "blurred", tokens[2], "short")
    assert (wrong.code, "is not one of this survey" in wrong.error) == (2, True)
    assert scumble("survey", "close", "blurred", "--json").json["records"] == 1
    late = scumble("survey", "withdraw", "blurred", tokens[2])
    assert (late.code, "without their tokens" in late.error) == (2, True)


def test_the_owner_says_which_answers_cannot_be_withheld() -> None:
    Path("schema.yaml").write_text(SCHEMA.replace("step: 1}}", "step: 1}, missing: '?'}"), "utf-8")
    scumble(*BEGIN, "--required", "age,job")
    survey = CollectedRecords(collecting_folder(Path("blurred"))).survey
    assert survey.required == ("age", "job")
    assert '"required": ["age", "job"]' in Path("page/description.js").read_text("utf-8")
    refused = scumble(*BEGIN[:4], "--page", "p", *BEGIN[6:], "--required", "age")
    assert "other settings" in refused.error


def test_help_says_how_long_the_server_runs() -> None:
    text = " ".join(scumble("survey", "serve", "--help").out.split())
    assert "until the server is stopped" in text
    assert "or the survey closes" not in text


def test_a_survey_continues_only_with_the_settings_that_people_agreed_to() -> None:
    assert scumble(*BEGIN).code == 0
    again = (*BEGIN[:4], "--page", "page2", *BEGIN[6:])
    assert scumble(*again).code == 0
    refused = scumble(
        "survey", "build", "--out", "blurred", "--page", "p3", "--schema", "schema.yaml", "--epsilon", "7"
    )
    assert (refused.code, "other settings" in refused.error) == (2, True)
    assert scumble("survey", "build", "--out", "blurred", "--page", "page4").code == 0
    assert not Path("p3").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("survey", "build", "--out", "new", "--page", "p"), "Give --schema"),
        ((*BUILD, "--schema", "schema.yaml"), "leave all of them possible"),
        ((*BUILD, "--schema", "schema.yaml", "--retain", "job=70%"), "--accept interval"),
        ((*BUILD, "--schema", "schema.yaml", "--epsilon", "6", "--closes", "soon"), "is not a date"),
        ((*BUILD, "--schema", "schema.yaml", "--epsilon", "6", "--texts", "none.yaml"), "cannot be read"),
        (
            (*BUILD, "--schema", "schema.yaml", "--epsilon", "6", "--optional-truth", "wage"),
            "not a perturbed attribute",
        ),
        ((*BUILD, "--schema", "schema.yaml", "--epsilon", "6", "--required", "wage"), "but it is not asked"),
        (("survey", "close", "nothing"), "has no survey"),
        (("survey", "withdraw", "nothing", "A" * 22), "has no survey"),
        (("survey", "status", "nothing"), "has no survey"),
        (("survey", "invite", "0", "--out", "tokens"), "above zero"),
        (
            ("survey", "serve", "--out", "new", "--schema", "schema.yaml", "--epsilon", "6", "--invitations", "x"),
            "read",
        ),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(folder: Path, words: tuple[str, ...], problem: str) -> None:
    ended = scumble(*words)
    assert ended.code == 2
    assert problem in ended.error
    assert [path.name for path in folder.iterdir()] == ["schema.yaml"]


def test_a_missing_web_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "scumble.survey.serving", raising=False)
    ended = scumble("survey", "serve", "--out", "blurred", "--schema", "schema.yaml", "--epsilon", "6")
    assert "pip install 'scumble[studio]'" in ended.error
    assert not Path("blurred.collected").exists()


def test_persons_with_several_rows_are_refused() -> None:
    Path("schema.yaml").write_text(f"person: name\nrows_each_at_most: 3\n{SCHEMA}", "utf-8")
    assert "takes one record of each person" in scumble(*BEGIN).error


def test_a_law_too_long_for_a_page_is_refused() -> None:
    Path("schema.yaml").write_text(SCHEMA.replace("high: 95, step: 1", "high: 2015, step: 0.01"), "utf-8")
    assert "too many for a web page" in scumble(*BEGIN).error


def test_a_release_is_never_overwritten() -> None:
    Path("blurred").mkdir()
    assert "exists already" in scumble(*BEGIN).error


def test_invitations_are_new_secret_and_never_overwritten() -> None:
    assert scumble("survey", "invite", "5", "--out", "links", "--address", "https://survey.example/").code == 0
    links = Path("links").read_text("utf-8").split()
    assert len(set(links)) == 5
    assert all(link.startswith("https://survey.example/#") for link in links)
    assert Path("links").stat().st_mode & 0o077 == 0
    assert "exists already" in scumble("survey", "invite", "5", "--out", "links").error
    Path("more").write_text("nonsense\n", "utf-8")
    begun = begin_survey(Path("asked"), schema=Path("schema.yaml"), strength={"epsilon": 6}, invitations=Path("links"))
    assert begun.survey.invited
    with pytest.raises(api.InputError, match="not an invitation"):
        begin_survey(Path("asked"), invitations=Path("more"))
    open_to_all = begin_survey(Path("open"), schema=Path("schema.yaml"), strength={"epsilon": 6})
    with pytest.raises(api.InputError, match="began without invitations"):
        open_to_all.invite([b"x"])


def test_the_tree_of_another_survey_is_refused() -> None:
    Path("other.yaml").write_text(SCHEMA.replace("Dancer: , Writer:", "Baker:"), "utf-8")
    Path("people.csv").write_text("age,job,sick\n" + "20,Baker,no\n70,Lawyer,yes\n" * 30, "utf-8")
    assert scumble("perturb", "people.csv", "--schema", "other.yaml", "--epsilon", "6", "--out", "other").code == 0
    assert scumble("mine", "train", "other", "--out", "tree.json").code == 0
    assert TreeModel.read(Path("tree.json")).features
    ended = scumble(*BEGIN, "--tree", "tree.json")
    assert "does not ask in this form" in ended.error
