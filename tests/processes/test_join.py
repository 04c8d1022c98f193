"""Joint releases that succeed: real processes over real connections, and the files that each party writes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA, accounts, contents, kinds, leftovers, people, process, scumble
from joint_parties import OWNERS, Launcher, agree, answers, launcher, run_words, same_release

from scumble.files.release_folder import read_manifest
from scumble.files.schema_file import parse_schema
from scumble.flows.load import load_release
from scumble.joint.session.agreement import read_agreement
from scumble.joint.session.transcript import compare_transcripts, read_transcript
from scumble.model.guarantee import JointDP
from scumble.model.persons import Persons
from scumble.model.release import CellRelease

pytestmark = pytest.mark.joint

LIFE = ["open", "reserve", "rows", "settle"]


@pytest.fixture(scope="module")
def processes() -> Iterator[Launcher]:
    with launcher() as ready:
        yield ready


def run(
    processes: Launcher, folder: Path, names: tuple[str, ...] = OWNERS, *more: str, **options: Any
) -> dict[str, dict[str, Any]]:
    return processes.play(folder, *({"name": name, "words": run_words(name, *more, **options)} for name in names))


def succeed(
    processes: Launcher, folder: Path, names: tuple[str, ...] = OWNERS, **options: Any
) -> dict[str, dict[str, Any]]:
    """What every party printed, once all are through."""
    ended = run(processes, folder, names, "--json", **options)
    assert {name: end["err"] for name, end in ended.items() if end["code"]} == {}
    return {name: json.loads(ended[name]["out"]) for name in names}


TOWNS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "three owners": ({}, OWNERS),
    "two owners and an aggregator": (
        {"owners": ("north", "south"), "aggregator": True},
        ("north", "south", "aggregator"),
    ),
    "three who compute and two who only submit": (
        {"owners": ("north", "south"), "submitters": ("west", "isle"), "aggregator": True},
        ("north", "south", "west", "isle", "aggregator"),
    ),
    "five owners, of whom any two may collude": (
        {"owners": (*OWNERS, "west", "isle")},
        (*OWNERS, "west", "isle"),
    ),
}


@pytest.mark.parametrize("town", TOWNS)
def test_all_parties_write_the_same_release_and_each_owner_pays_once(
    processes: Launcher, tmp_path: Path, town: str
) -> None:
    settings, names = TOWNS[town]
    agree(tmp_path, **settings)
    results = succeed(processes, tmp_path, names)
    assert same_release([tmp_path / f"out-{name}" for name in names])
    threshold = read_agreement(tmp_path / "agreed" / "agreement.yaml").threshold
    entries = set()
    for name in names:
        folder = tmp_path / f"out-{name}"
        assert scumble("verify", folder).code == 0
        guarantee = load_release(folder).plan.guarantee
        assert isinstance(guarantee, JointDP)
        assert (guarantee.epsilon, guarantee.coalition, 0 < guarantee.delta < 1e-15) == (1, threshold, True)
        assert results[name]["guarantee"]["kind"] == "JointDP"
        receipt = read_manifest(folder)["receipt"]
        if name == "aggregator":
            assert receipt == {}
        else:
            account = accounts(tmp_path / f"{name}.db")[name]
            assert (account["spent"], kinds(account)) == ("1", LIFE)
            assert receipt["entry"] == account["entries"][1]["hash"]
            entries.add(receipt["entry"])
        assert [line["label"] for line in answers(tmp_path, name)] == ["choose a split"] * 2 + ["count the cells"]
    assert len(entries) == len([name for name in names if name != "aggregator"])
    assert leftovers(tmp_path) == []


def test_a_release_does_not_name_the_parties(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    succeed(processes, tmp_path)
    for path in (tmp_path / "out-north").iterdir():
        text = path.read_text()
        assert not re.search("north|south|east|127.0.0.1", text), path.name
    report = (tmp_path / "out-north" / "report.html").read_text()
    assert "Several data owners made this release together" in report


def test_owners_may_use_different_engines(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    engines = dict(zip(OWNERS, ("memory", "duckdb", "memory"), strict=True))
    ended = processes.play(tmp_path, *({"name": n, "words": run_words(n, engine=engines[n])} for n in OWNERS))
    assert {end["code"] for end in ended.values()} == {0}, ended
    assert same_release([tmp_path / f"out-{name}" for name in OWNERS])


def test_transcripts_of_all_pairs_agree(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    results = succeed(processes, tmp_path)
    paths = [tmp_path / results[name]["transcript"] for name in OWNERS]
    transcripts = [read_transcript(path) for path in paths]
    for one, other in ((0, 1), (1, 2), (2, 0)):
        assert compare_transcripts(transcripts[one], transcripts[other]) > 50
    for name, transcript in zip(OWNERS, transcripts, strict=True):
        assert transcript.end == "finished"
        assert [transcript.opened[step][1] for step in range(3)] == [line["answer"] for line in answers(tmp_path, name)]
    checked = scumble("join", "transcript", "verify", paths[0], paths[1], "--json").json
    assert (checked["party"], checked["opened"], checked["messages_in_both"] > 50) == ("north", 3, True)
    lines = paths[0].read_text().splitlines(keepends=True)
    paths[0].write_text("".join(lines[:5] + lines[6:]))
    assert scumble("join", "transcript", "verify", paths[0]).code == 4


def test_phases_add_up_to_what_was_sent(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    results = succeed(processes, tmp_path)
    sent = {name: sum(phase["bytes_sent"] for phase in results[name]["phases"]) for name in OWNERS}
    received = {name: sum(phase["bytes_received"] for phase in results[name]["phases"]) for name in OWNERS}
    assert sum(sent.values()) == sum(received.values()) > 0
    names = [phase["name"] for phase in results["north"]["phases"]]
    assert names == [
        "connecting", "meeting", "reading rows", "keys", "choose a split", "count the cells", "parting", "publishing",
    ]  # fmt: skip


def test_a_finished_run_is_not_run_again_and_a_second_release_is_refused(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path, deadlines={"start": 2})
    succeed(processes, tmp_path)
    before = contents(tmp_path / "out-north", tmp_path)
    ended = run(processes, tmp_path)
    for end in ended.values():
        assert (end["code"], "--resume" in end["err"]) == (2, True)
    ended = processes.play(tmp_path, *({"name": n, "words": run_words(n, state=f"{n}.state")} for n in OWNERS))
    for end in ended.values():
        assert (end["code"], "exists already" in end["err"]) == (2, True)
    ended = processes.play(
        tmp_path, *({"name": n, "words": run_words(n, out=f"again-{n}", state=f"again-{n}.state")} for n in OWNERS)
    )
    for name, end in ended.items():
        assert end["code"] in (1, 3), ended
        assert accounts(tmp_path / f"{name}.db")[name]["spent"] == "1"
    assert any("already charged to this ledger" in end["err"] for end in ended.values())
    ended = run(processes, tmp_path, OWNERS, "--resume")
    assert {end["code"] for end in ended.values()} == {0}, ended
    assert contents(tmp_path / "out-north", tmp_path) == before
    assert kinds(accounts(tmp_path / "north.db")["north"]) == LIFE


def test_an_owner_whose_budget_is_spent_ends_all_and_can_be_granted_more(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    first = ["release", tmp_path / "south.csv", "--schema", tmp_path / "schema.yaml", "--epsilon", "1"]
    assert scumble(*first, "--ledger", tmp_path / "south.db", "--out", tmp_path / "first").code == 0
    ended = run(processes, tmp_path)
    assert (ended["south"]["code"], "ceiling" in ended["south"]["err"]) == (3, True)
    for name in ("north", "east"):
        assert (ended[name]["code"], "south cannot be charged" in ended[name]["err"]) == (1, True), ended
        assert not (tmp_path / f"out-{name}").exists()
    assert scumble("ledger", "grant", "south", "2", "--reason", "jointly", "--ledger", tmp_path / "south.db").code == 0
    ended = run(processes, tmp_path, OWNERS, "--resume")
    assert {end["code"] for end in ended.values()} == {0}, ended
    assert [accounts(tmp_path / f"{name}.db")[name]["spent"] for name in OWNERS] == ["1", "2", "1"]


PERSONS = SCHEMA.replace("target", "person: patient-id\nrows_each_at_most: 3\ntarget")


def add_ids(folder: Path, name: str, people: int) -> None:
    """Give each row of an owner the id of one of so many persons, in turn."""
    header, *rows = (folder / f"{name}.csv").read_text().splitlines()
    numbered = [f"{row},secret-{number % people}" for number, row in enumerate(rows)]
    (folder / f"{name}.csv").write_text("\n".join([f"{header},patient-id", *numbered]) + "\n")


def test_each_owner_bounds_the_rows_of_its_persons(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path, schema=PERSONS, epsilon="24")
    for name in OWNERS:
        add_ids(tmp_path, name, people=20)
    results = succeed(processes, tmp_path)
    assert same_release([tmp_path / f"out-{name}" for name in OWNERS])
    for name in OWNERS:
        folder = tmp_path / f"out-{name}"
        assert scumble("verify", folder).code == 0
        guarantee = load_release(folder).plan.guarantee
        assert isinstance(guarantee, JointDP)
        assert guarantee.protects == Persons(column="patient-id", rows_each_at_most=3)
        assert (guarantee.epsilon, 0 < guarantee.delta < 1e-9) == (24, True)
        assert results[name]["guarantee"]["protects"] == {"person": "patient-id", "rows_each_at_most": 3}
        account = accounts(tmp_path / f"{name}.db")[name]
        assert (account["spent"], account["person"]) == ("24", "patient-id")
        texts = {path.name: path.read_text() for path in folder.iterdir()}
        assert not [name for name, text in texts.items() if "secret-" in text]
        assert "at each data owner" in texts["report.html"]
    made = load_release(tmp_path / "out-north")
    assert isinstance(made, CellRelease)
    # The same 20 ids at three owners: 180 rows, and little noise.
    assert abs(int(made.count.sum()) - 180) <= 20
    # A release by one owner with the same ledger keeps the same rows, so it is recognized under another name.
    alone = ["release", tmp_path / "north.csv", "--schema", tmp_path / "schema.yaml", "--epsilon", "1"]
    again = scumble(*alone, "--dataset", "alone", "--ledger", tmp_path / "north.db", "--out", tmp_path / "alone")
    assert "recorded in the ledger as the dataset 'north'" in again.error


def test_a_joint_release_of_records_is_refused_in_an_account_of_persons_before_anybody_is_charged(
    processes: Launcher, tmp_path: Path
) -> None:
    agree(tmp_path)
    add_ids(tmp_path, "south", people=20)
    (tmp_path / "persons.yaml").write_text(PERSONS)
    first = ["release", tmp_path / "south.csv", "--schema", tmp_path / "persons.yaml", "--epsilon", "1"]
    assert scumble(*first, "--ledger", tmp_path / "south.db", "--out", tmp_path / "first").code == 0
    ended = run(processes, tmp_path, ("south",))["south"]
    assert (ended["code"], "account protects persons by the column 'patient-id'" in ended["err"]) == (2, True), ended
    assert ended["seconds"] < 10, "it does not connect first"
    account = accounts(tmp_path / "south.db")["south"]
    assert (account["spent"], kinds(account)) == ("1", LIFE)
    assert not (tmp_path / "out-south").exists()


def test_different_agreements_are_detected_before_anything_is_charged(processes: Launcher, tmp_path: Path) -> None:
    path = agree(tmp_path)
    text = path.read_text()
    (tmp_path / "agreed" / "other.yaml").write_text(text.replace("rows_at_most: 10000", "rows_at_most: 20000"))
    parties = [
        {"name": name, "words": run_words(name, agreement=f"agreed/{file}")}
        for name, file in zip(OWNERS, ("agreement.yaml", "other.yaml", "agreement.yaml"), strict=True)
    ]
    ended = processes.play(tmp_path, *parties)
    assert "differs from ours in `rows_at_most`" in ended["south"]["err"]
    for name in OWNERS:
        assert ended[name]["code"] in (1, 2)
        assert accounts(tmp_path / f"{name}.db") == {}
    results = succeed(processes, tmp_path)
    assert same_release([tmp_path / f"out-{name}" for name in results])


def test_empty_tables_and_single_rows_are_allowed(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    (tmp_path / "north.csv").write_text(people(0))
    (tmp_path / "south.csv").write_text(people(1))
    succeed(processes, tmp_path)
    assert same_release([tmp_path / f"out-{name}" for name in OWNERS])


def test_more_rows_than_the_public_bound_are_clipped_and_no_message_depends_on_it(
    processes: Launcher, tmp_path: Path
) -> None:
    """One record can decide whether a table exceeds its bound. Warnings follow from the opened counts alone."""
    agree(tmp_path, rows_at_most=1_000)
    for name in OWNERS:
        (tmp_path / f"{name}.csv").write_text(people(1_001))
    ended = run(processes, tmp_path)
    assert [each["code"] for each in ended.values()] == [0, 0, 0], ended
    warnings = [each["err"].partition("warning:")[2].replace("\n", " ") for each in ended.values()]
    assert warnings[0] and len(set(warnings)) == 1
    assert all("close to 3,000, the sum of the owners' bounds" in each["err"] for each in ended.values())
    assert same_release([tmp_path / f"out-{name}" for name in OWNERS])


def test_a_rehearsal_reports_what_every_party_would_need(tmp_path: Path) -> None:
    folder = tmp_path / "rehearsed"
    rehearsed = process(
        "join", "rehearse", "--parties", "3", "--rows", "300", "--rounds", "2", "--out", folder, "--json"
    ).json
    assert set(rehearsed["parties"]) == {"owner-1", "owner-2", "owner-3"}
    for party in rehearsed["parties"].values():
        assert sum(phase["rounds"] for phase in party["phases"]) > 50
    assert same_release([folder / name for name in rehearsed["parties"]])
    again = process("join", "rehearse", "--parties", "3", "--out", folder)
    assert again.code == 2


def test_a_rehearsal_with_delays_takes_longer(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    words = ["join", "rehearse", "--parties", "2", "--aggregator", "--rows", "50", "--rounds", "1", "--delay-ms", "20"]
    rehearsed = process(*words, "--schema", tmp_path / "schema.yaml", "--json").json
    assert set(rehearsed["parties"]) == {"owner-1", "owner-2", "aggregator"}
    for party in rehearsed["parties"].values():
        (choice,) = [phase for phase in party["phases"] if phase["name"] == "choose a split"]
        assert choice["rounds"] > 10
        assert choice["seconds"] > 10 * 0.02


def test_uniform_rows_fit_their_schema(tmp_path: Path) -> None:
    from scumble.demo.rehearsal import uniform_rows

    table = uniform_rows(parse_schema(SCHEMA), 100, seed=1)
    assert set(table.column_names) == {"age", "job", "income"}
    assert set(table["job"].to_pylist()) == {"Engineer", "Lawyer", "Dancer", "Writer"}
    persons = uniform_rows(parse_schema(PERSONS), 90, seed=1)["patient-id"].to_pylist()
    assert set(persons) <= set(range(30)) and len(set(persons)) > 20, "three rows each on average"
