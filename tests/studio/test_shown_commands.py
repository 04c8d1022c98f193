"""Every command on every page is one that the command line accepts; those that only look are run."""

import re
import shlex
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA, people, scumble
from studio_client import StudioClient
from typer import Exit

from scumble.cli.verbs import VERBS
from scumble.flows.join_plan import write_agreement
from scumble.flows.release import release
from scumble.flows.schema_edit import state_reason
from scumble.studio.commands import BLANKS, has_blanks
from scumble.studio.jobs import JobState, jobs_of, start
from scumble.studio.joint_runs import parties_from
from scumble.studio.pages import KEPT, STEPS, TOOLS
from scumble.studio.projects import Project, Workspace
from scumble.studio.screens import SCREENS

NO_PAGES = ("/report", "/zip", "/contents", "/progress", "/meaning")
"""Addresses that answer with something else than a page of the studio."""
LOOKS = ("plan", "verify", "query", "schema check", "schema roles", "ledger show", "ledger verify", "rehearse")
"""Commands that a test can run for each page: they take moments, and change nothing that the page shows."""
HELP = ("perturb", "survey")
"""Verbs of which a page may show the help: they are another way to collect data."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with everything that pages show: reasons and drafts, a release, jobs, an agreement, a ledger."""
    home = tmp_path_factory.mktemp("home")
    (home / "people.csv").write_text(people(200), encoding="utf-8")
    StudioClient(folder=home).post("/", {"data": "people.csv"})
    made = Workspace(folder=home.resolve()).project("people-project")
    (made.folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    made.change(method="diffgen", parameters={"epsilon": "1/2", "rounds": "2", "detail": "no"})
    made.change(ledger="ledger.db", witness="witness.db", dataset="the people")
    files: dict[str, Any] = {"ledger": made.folder / "ledger.db", "witness": made.folder / "witness.db"}
    settings = {"method": "diffgen", "epsilon": "1/2", "rounds": 2, "detail": "no", "dataset": "the people"}
    release(home / "people.csv", schema=made.schema_path, out=made.folder / "my release", **files, **settings)
    state_reason(made.schema_path, "age", "it's in the law; nobody's age is above 99")
    parties = parties_from(["north=north.example:7001", "south=south.example:7001"], "centre.example:7001")
    parameters = {"epsilon": "1", "detail": "no"}
    write_agreement(
        made.folder / "agreed", schema=made.schema_path, parties=parties, parameters=parameters, rows_at_most=100
    )
    job = start(made, 1, kind="plan", title="Planning", arguments=["plan", "--schema", "schema.yaml", "--epsilon", "1"])
    until = time.monotonic() + 60
    while job.state is JobState.RUNNING and time.monotonic() < until:
        time.sleep(0.05)
    return made


def addresses(project: Project) -> Iterator[str]:
    """The address of every page, by the routes of the application."""
    names = [project.schema_or_raise().names, [folder.name for folder in project.releases]]
    for address, shown, _ in SCREENS:
        if shown is None or address.endswith(NO_PAGES):
            continue
        found = address.replace("{project}", project.name)
        for name in names[0] if "{attribute:path}" in found else [""]:
            for number in [str(job.number) for job in jobs_of(project)] if "{number:int}" in found else [""]:
                for folder in names[1] if "{release}" in found else [""]:
                    filled = found.replace("{attribute:path}", name).replace("{number:int}", number)
                    yield filled.replace("{release}", folder.replace(" ", "%20"))


def commands_in(page: str) -> list[str]:
    return [unescape(each) for each in re.findall(r"<code>(scumble .*?)</code>", page, re.DOTALL)]


def parse(command: str) -> str:
    """Let the command line read a command, without running it. Returns its verb. Raises what it reports."""
    words = shlex.split(command)[1:]
    name, rest = words[0], words[1:]
    found = VERBS[name].load(name)
    while (below := getattr(found, "commands", None)) is not None and rest:
        if rest[0].startswith("-"):
            break
        assert rest[0] in below, f"no such command: {command}"
        found, name, rest = below[rest[0]], f"{name} {rest[0]}", rest[1:]
    try:
        found.make_context(name, list(rest))
    except Exit:
        assert name in HELP, f"{command} only shows help"
    return name


def test_every_command_on_every_page_is_accepted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    studio = StudioClient(folder=project.home)
    monkeypatch.chdir(project.folder)
    run: set[str] = set()
    pages = [*addresses(project)]
    assert len(pages) > 15
    for address in pages:
        page = studio.get(address)
        assert page.status == 200, address
        found = commands_in(page.text)
        assert found, address
        assert "..." not in " ".join(found), address
        for command in found:
            name = parse(command)
            blank = has_blanks(command)
            assert not blank or "Words in capitals stand for what you type." in page.text, address
            if name in LOOKS and not blank and "--wanted-accuracy" not in command and command not in run:
                run.add(command)
                ended = scumble(*shlex.split(command)[1:])
                assert ended.code == 0, (address, command, ended.err)
    assert {name for name in LOOKS if any(each.startswith(f"scumble {name}") for each in run)} == set(LOOKS)


def test_a_command_that_lacks_something_is_noticed() -> None:
    for wrong in ("report release", "verify", "plan --schema s --epsilom 1", "schema no"):
        with pytest.raises(Exception, match=r"(?i)missing|no such"):
            parse(f"scumble {wrong}")
    assert has_blanks("scumble ledger grant people CEILING --reason REASON")
    assert all(blank == blank.upper() or blank.endswith(".csv") for blank in BLANKS)


@pytest.mark.parametrize("name", ["age", "job"])
def test_the_commands_of_a_column_do_what_its_forms_do(
    project: Project, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each on a copy of the schema, with the blanks filled in."""
    page = StudioClient(folder=project.home).get(f"{project.address}/domains/{name}").text
    (tmp_path / "wards.csv").write_text("a;x;Any\nb;x;Any\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = commands_in(page)
    assert len(commands) == {"age": 2, "job": 8}[name]
    filled = {"LABEL": "new", "REASON": "known", "FILE": "wards.csv"}
    for command in commands:
        (tmp_path / "schema.yaml").write_text(project.schema_path.read_text("utf-8"), encoding="utf-8")
        ended = scumble(*(filled.get(word, word) for word in shlex.split(command)[1:]))
        assert ended.code == 0, (command, ended.err)


def test_the_page_says_where_its_choices_are_kept(project: Project) -> None:
    studio = StudioClient(folder=project.home)
    for place, sentence in KEPT.items():
        page = studio.get(f"{project.address}/{place}").text
        assert sentence.format(schema="schema.yaml") in page, place
        assert "Whatever you choose here" not in page
    assert set(KEPT) < {address for address, _ in (*STEPS, *TOOLS)}


def test_lights_and_summary_of_domains_agree(project: Project) -> None:
    studio = StudioClient(folder=project.home)
    page = studio.get(f"{project.address}/domains").text
    assert page.count("no reason stated") == 2
    assert "2 domains have no stated reason" in page
    for name in ("job", "income"):
        state_reason(project.schema_path, name, "the form")
    page = studio.get(f"{project.address}/domains").text
    assert "For every domain, a reason is stated" in page
    assert "no reason stated" not in page
