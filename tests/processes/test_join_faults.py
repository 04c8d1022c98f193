"""Interrupted joint runs: whatever happens to one party, the others soon end with a message that names it. Every owner
is charged once, the run can be resumed from the stored answers, and no noise is drawn twice."""

import json
import signal
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from command_line import accounts, kinds, leftovers, scumble
from joint_parties import LOST_SECONDS, OWNERS, Launcher, agree, answers, launcher, run_words, same_release

from scumble.privacy.ledger import Ledger

pytestmark = pytest.mark.joint

LIFE = ["open", "reserve", "rows", "settle"]
KEEP = "scumble.joint.session.state:State.keep"
EXCHANGE = "scumble.joint.network.tls_mesh:TlsMesh.exchange"

# Where a party is killed, from its first action to its last. After the answers, the others can still finish.
BEFORE_ANSWERS = {
    "connected": {"at": "scumble.joint.session.attempt:Attempt.exchange_status"},
    "statuses exchanged": {"at": "scumble.joint.session.attempt:Attempt.exchange_status", "when": "after"},
    "before it says that it can pay": {"at": "scumble.joint.session.attempt:agree_to_charge"},
    "all can pay": {"at": "scumble.joint.session.attempt:agree_to_charge", "when": "after"},
    "before the charge": {"at": "scumble.privacy.ledger:Ledger.reserve"},
    "after the charge": {"at": "scumble.privacy.ledger:Ledger.reserve", "when": "after"},
    "rows read": {"at": "scumble.privacy.ledger:Ledger.record_rows", "when": "after"},
    "before keys are stored": {"at": "scumble.joint.session.state:State.keep_keys"},
    "after keys are stored": {"at": "scumble.joint.session.state:State.keep_keys", "when": "after"},
    "keys settled": {"at": "scumble.joint.session.attempt:JointHolder"},
}
UNCHARGED = ("connected", "statuses exchanged", "before it says that it can pay")
AMID_ANSWERS = {
    **{f"exchange {call}": {"at": EXCHANGE, "call": call} for call in (4, 9, 25, 60)},
    "first answer, before it is recorded": {"at": KEEP},
    "first answer, recorded": {"at": KEEP, "when": "after"},
    "last answer, before it is recorded": {"at": KEEP, "call": 2},
    "last answer, recorded": {"at": KEEP, "call": 2, "when": "after"},
    "before parting": {"at": "scumble.joint.session.attempt:wait_for_all"},
}
AFTER_ANSWERS = {
    "parted": {"at": "scumble.joint.session.attempt:wait_for_all", "when": "after"},
    "before writing": {"at": "scumble.flows.join:write_release"},
    "before publishing": {"at": "scumble.files.atomic_folder:Staging.publish"},
    "published": {"at": "scumble.files.atomic_folder:Staging.publish", "when": "after"},
    "settled": {"at": "scumble.privacy.ledger:Ledger.settle", "when": "after"},
}


@pytest.fixture(scope="module")
def processes() -> Iterator[Launcher]:
    with launcher() as ready:
        yield ready


def party(name: str, *more: object, do: str = "", **how: Any) -> dict[str, Any]:
    """A party of a scenario, with what happens to it."""
    options = how.pop("options", {})
    late = {"late": how.pop("late")} if "late" in how else {}
    trap = {"trap": {**how["trap"], "do": do.split()}} if "trap" in how else {}
    return {"name": name, "words": run_words(name, *more, **options), **late, **trap}


def resume(processes: Launcher, folder: Path, names: tuple[str, ...] = OWNERS) -> dict[str, dict[str, Any]]:
    return processes.play(folder, *(party(name, "--resume") for name in names))


def check_resumed(folder: Path, ended: dict[str, dict[str, Any]], before: list[list[dict[str, Any]]]) -> None:
    """All parties have the same release and one charge each, and no stored answer has changed."""
    assert {name: (end["code"], end["err"]) for name, end in ended.items() if end["code"]} == {}
    check_finished(folder, tuple(ended))
    for recorded in before:
        for name in ended:
            assert answers(folder, name)[: len(recorded)] == recorded


def check_finished(folder: Path, names: tuple[str, ...]) -> None:
    assert same_release([folder / f"out-{name}" for name in names])
    for name in names:
        if name != "aggregator":
            account = accounts(folder / f"{name}.db")[name]
            assert (account["spent"], kinds(account)) == ("1", LIFE)
        assert not (folder / f"out-{name}.state" / "keys.json").exists()


def check_lost(folder: Path, ended: dict[str, dict[str, Any]], lost: str) -> None:
    """The other parties ended soon, named the lost party, and wrote no release."""
    for name, end in ended.items():
        if name != lost:
            assert end["code"] == 1, end
            assert lost in end["err"].splitlines()[-1], end
            assert "Traceback" not in end["err"], end
            assert "--resume" in end["err"]
            assert not (folder / f"out-{name}").exists()
            if ended[lost]["code"] == -signal.SIGKILL:
                assert end["seconds"] - ended[lost]["seconds"] < LOST_SECONDS


def killed(processes: Launcher, folder: Path, place: dict[str, Any], who: str) -> dict[str, dict[str, Any]]:
    trap = {"trap": place, "do": "kill"}
    ended = processes.play(folder, *(party(name, **(trap if name == who else {})) for name in OWNERS))
    assert ended[who]["code"] == -signal.SIGKILL, ended
    return ended


@pytest.mark.parametrize(("place", "who"), [*zip([*BEFORE_ANSWERS, *AMID_ANSWERS], cycle(OWNERS), strict=False)])
def test_killing_a_party_before_the_end_stops_all_and_the_run_can_be_resumed(
    processes: Launcher, tmp_path: Path, place: str, who: str
) -> None:
    agree(tmp_path)
    ended = killed(processes, tmp_path, (BEFORE_ANSWERS | AMID_ANSWERS)[place], who)
    check_lost(tmp_path, ended, who)
    before = [answers(tmp_path, name) for name in OWNERS]
    assert place in AMID_ANSWERS or before == [[], [], []]
    for name in OWNERS:
        if place in UNCHARGED:
            assert accounts(tmp_path / f"{name}.db") == {}
            assert name == who or "Nothing was charged." in ended[name]["err"], ended
        elif name != who and place != "all can pay":
            assert "The charge stands" in ended[name]["err"], ended
    check_resumed(tmp_path, resume(processes, tmp_path), before)


@pytest.mark.parametrize("place", AFTER_ANSWERS)
def test_a_party_killed_after_the_last_answer_finishes_alone(processes: Launcher, tmp_path: Path, place: str) -> None:
    agree(tmp_path, deadlines={"start": 3})
    ended = killed(processes, tmp_path, AFTER_ANSWERS[place], "south")
    for name in ("north", "east"):
        assert ended[name]["code"] == 0, ended
    before = [answers(tmp_path, name) for name in OWNERS]
    (again,) = resume(processes, tmp_path, ("south",)).values()
    assert again["code"] == 0, again
    check_finished(tmp_path, OWNERS)
    assert [answers(tmp_path, name) for name in OWNERS] == before


def test_an_answer_that_was_opened_but_not_stored_is_reproduced_exactly(processes: Launcher, tmp_path: Path) -> None:
    for call in (0, 2):
        folder = tmp_path / str(call)
        folder.mkdir()
        agree(folder)
        trap = {"trap": {"at": KEEP, "call": call}, "do": "note kill"}
        ended = processes.play(folder, *(party(name, **trap) for name in OWNERS))
        assert {end["code"] for end in ended.values()} == {-signal.SIGKILL}
        seen = [json.loads((folder / f"{name}.note").read_text()) for name in OWNERS]
        assert [len(answers(folder, name)) for name in OWNERS] == [call] * 3
        check_resumed(folder, resume(processes, folder), [])
        for name in OWNERS:
            recorded = answers(folder, name)[call]
            assert [recorded["step"], recorded["label"], recorded["answer"]] == seen[0] == seen[1] == seen[2]


def test_a_party_that_lacks_an_answer_receives_it(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    killed(processes, tmp_path, {"at": KEEP, "call": 2}, "north")
    before = [answers(tmp_path, name) for name in OWNERS]
    assert [len(each) for each in before] == [2, 3, 3]
    check_resumed(tmp_path, resume(processes, tmp_path), before)


def test_a_run_that_is_interrupted_repeatedly_finishes_under_one_charge(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    before: list[list[dict[str, Any]]] = []
    for number, call in enumerate((6, 12, 45, 30, 6)):
        who = OWNERS[number % 3]
        trap = {"trap": {"at": EXCHANGE, "call": call}, "do": "kill"}
        played = [party(name, "--resume", **(trap if name == who else {})) for name in OWNERS]
        ended = processes.play(tmp_path, *played)
        if ended[who]["code"] == -signal.SIGKILL:
            check_lost(tmp_path, ended, who)
        before += [answers(tmp_path, name) for name in OWNERS]
    check_resumed(tmp_path, resume(processes, tmp_path), before)


@pytest.mark.parametrize("call", [2, 3, 6, 20, 45, 75])
def test_a_flipped_bit_ends_the_run_everywhere_and_it_can_be_resumed(
    processes: Launcher, tmp_path: Path, call: int
) -> None:
    """A fault after TLS: all parties end, no answer of the step is stored, and another attempt succeeds."""
    agree(tmp_path)
    trap = {"trap": {"at": EXCHANGE, "call": call, "when": "after"}, "do": "flip"}
    ended = processes.play(tmp_path, party("north"), party("south", **trap), party("east"))
    for name, end in ended.items():
        assert end["code"] == 1, ended
        assert "Traceback" not in end["err"]
        assert "--resume" in end["err"] and "The charge stands" in end["err"]
        assert not (tmp_path / f"out-{name}").exists()
    words = "Nothing was shared" if call < 4 else "No answer of this step was used"
    assert any(words in end["err"] for end in ended.values()), ended
    before = [answers(tmp_path, name) for name in OWNERS]
    check_resumed(tmp_path, resume(processes, tmp_path), before)


def test_parties_that_would_publish_different_releases_publish_none(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    trap = {"trap": {"at": "scumble.joint.session.attempt:content_digest", "when": "after"}, "do": "flip"}
    ended = processes.play(tmp_path, party("north"), party("south"), party("east", **trap))
    for name, end in ended.items():
        assert end["code"] == 1, ended
        assert "made different releases of them: east differs from north and south" in end["err"]
        assert not (tmp_path / f"out-{name}").exists()
    check_resumed(tmp_path, resume(processes, tmp_path), [answers(tmp_path, name) for name in OWNERS])


def test_aggregators_and_submitters_can_fail_too(processes: Launcher, tmp_path: Path) -> None:
    names = ("north", "south", "west", "aggregator")
    agree(tmp_path, owners=("north", "south"), submitters=("west",), aggregator=True)
    for who, call in (("aggregator", 9), ("west", 5)):
        trap = {"trap": {"at": EXCHANGE, "call": call}, "do": "kill"}
        ended = processes.play(tmp_path, *(party(n, "--resume", **(trap if n == who else {})) for n in names))
        check_lost(tmp_path, ended, who)
    before = [answers(tmp_path, name) for name in names]
    check_resumed(tmp_path, resume(processes, tmp_path, names), before)


def test_a_frozen_party_is_lost_within_seconds(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    trap = {"trap": {"at": KEEP, "call": 1}, "do": "stop"}
    ended = processes.play(tmp_path, party("north"), party("south", **trap), party("east"))
    check_lost(tmp_path, ended, "south")
    for name in ("north", "east"):
        assert "no heartbeat" in ended[name]["err"] or "was lost" in ended[name]["err"]
        assert ended[name]["seconds"] < 5 + LOST_SECONDS
    before = [answers(tmp_path, name) for name in OWNERS]
    check_resumed(tmp_path, resume(processes, tmp_path), before)


def test_a_party_that_stalls_is_given_up_at_the_agreed_deadline(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path, deadlines={"stall": 6})
    trap = {"trap": {"at": KEEP, "call": 1}, "do": "sleep"}
    ended = processes.play(tmp_path, party("north"), party("south", **trap), party("east"))
    check_lost(tmp_path, ended, "south")
    for name in ("north", "east"):
        assert "south stalled" in ended[name]["err"]
    check_resumed(tmp_path, resume(processes, tmp_path), [answers(tmp_path, name) for name in OWNERS])


def test_a_full_disk_while_storing_an_answer_costs_nothing_more(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    trap = {"trap": {"at": KEEP, "call": 1}, "do": "note fill"}
    ended = processes.play(tmp_path, party("north", **trap), party("south"), party("east"))
    assert ended["north"]["code"] == 1
    assert "The run failed" in ended["north"]["err"]
    assert "The charge stands" in ended["north"]["err"]
    assert len(answers(tmp_path, "north")) == 1
    check_lost(tmp_path, ended, "north")
    before = [answers(tmp_path, name) for name in OWNERS]
    check_resumed(tmp_path, resume(processes, tmp_path), before)
    step, label, answer = json.loads((tmp_path / "north.note").read_text())
    recorded = answers(tmp_path, "north")[1]
    assert (recorded["step"], recorded["label"], recorded["answer"]) == (step, label, answer)


def test_an_interrupt_reports_that_the_charge_stands(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    trap = {"trap": {"at": KEEP, "call": 1}, "do": "interrupt"}
    ended = processes.play(tmp_path, party("north", **trap), party("south"), party("east"))
    assert ended["north"]["code"] == 5
    assert "Interrupted. The charge stands" in ended["north"]["err"]
    check_lost(tmp_path, ended, "north")
    check_resumed(tmp_path, resume(processes, tmp_path), [answers(tmp_path, name) for name in OWNERS])


def test_a_late_starter_is_waited_for(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    ended = processes.play(tmp_path, party("north", late=4), party("south", late=2), party("east"))
    assert {end["code"] for end in ended.values()} == {0}, ended
    check_finished(tmp_path, OWNERS)
    assert leftovers(tmp_path) == []


def test_a_party_that_never_connects_is_named_and_nothing_is_charged(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path, deadlines={"start": 2})
    ended = processes.play(tmp_path, party("north"), party("east"))
    for name, end in ended.items():
        assert end["code"] == 1
        assert "south did not connect" in end["err"]
        assert accounts(tmp_path / f"{name}.db") == {}
        assert not (tmp_path / f"out-{name}").exists()


def test_one_full_ledger_costs_nobody_anything(processes: Launcher, tmp_path: Path) -> None:
    """All ledgers are asked before the first one is charged."""
    agree(tmp_path, aggregator=True)
    names = (*OWNERS, "aggregator")
    first = ["release", tmp_path / "south.csv", "--schema", tmp_path / "schema.yaml", "--epsilon", "1"]
    assert scumble(*first, "--ledger", tmp_path / "south.db", "--out", tmp_path / "first").code == 0
    ended = processes.play(tmp_path, *(party(name) for name in names))
    assert ended["south"]["code"] == 3
    assert "raise the ceiling" in ended["south"]["err"] and "No other owner was charged" in ended["south"]["err"]
    for name in ("north", "east", "aggregator"):
        assert ended[name]["code"] == 1
        assert "south cannot be charged for this release" in ended[name]["err"], ended
        assert "owner was charged in this attempt." in ended[name]["err"]
        assert name == "aggregator" or accounts(tmp_path / f"{name}.db") == {}
    assert accounts(tmp_path / "south.db")["south"]["spent"] == "1"
    assert scumble("ledger", "grant", "south", "2", "--reason", "x", "--ledger", tmp_path / "south.db").code == 0
    again = processes.play(tmp_path, *(party(name) for name in names))
    assert {end["code"] for end in again.values()} == {0}, again
    assert [accounts(tmp_path / f"{name}.db")[name]["spent"] for name in OWNERS] == ["1", "2", "1"]
    assert same_release([tmp_path / f"out-{name}" for name in names])


def test_other_rows_are_refused_when_a_run_is_resumed(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    killed(processes, tmp_path, {"at": KEEP, "call": 1}, "east")
    table = tmp_path / "north.csv"
    rows = table.read_text()
    table.write_text(rows + "10,Lawyer,yes\n")
    ended = resume(processes, tmp_path)
    assert ended["north"]["code"] == 3
    assert "was already spent on a table, and these rows are not the same" in ended["north"]["err"]
    check_lost(tmp_path, ended, "north")
    table.write_text(rows)
    check_resumed(tmp_path, resume(processes, tmp_path), [answers(tmp_path, name) for name in OWNERS])


def test_other_sources_are_refused_when_a_run_is_resumed(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    killed(processes, tmp_path, {"at": KEEP, "call": 1}, "east")
    path = tmp_path / "out-north.state" / "state.json"
    text = path.read_text()
    path.write_text(text.replace(json.loads(text)["sources"], "0" * 64))
    ended = resume(processes, tmp_path)
    assert (ended["north"]["code"], "other sources than these" in ended["north"]["err"]) == (2, True), ended
    check_lost(tmp_path, ended, "north")
    path.write_text(text)
    check_resumed(tmp_path, resume(processes, tmp_path), [answers(tmp_path, name) for name in OWNERS])


def test_a_table_that_lacks_a_column_is_refused_before_connecting(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    lines = (tmp_path / "south.csv").read_text().splitlines()
    (tmp_path / "south.csv").write_text("".join(line.split(",", 1)[1] + "\n" for line in lines))
    ended = processes.play(tmp_path, party("south"))["south"]
    assert (ended["code"], "different columns of the same people" in ended["err"]) == (2, True), ended
    assert ended["seconds"] < 20 and accounts(tmp_path / "south.db") == {}


def test_another_ledger_is_refused_when_a_run_is_resumed(processes: Launcher, tmp_path: Path) -> None:
    """Another ledger does not know which rows were shared before, and the run would be charged twice."""
    agree(tmp_path)
    killed(processes, tmp_path, {"at": KEEP, "call": 1}, "east")
    before = [answers(tmp_path, name) for name in OWNERS]
    other = {"options": {"ledger": "another.db"}}
    ended = processes.play(tmp_path, *(party(n, "--resume", **(other if n == "north" else {})) for n in OWNERS))
    assert (ended["north"]["code"], "charged to another ledger" in ended["north"]["err"]) == (3, True)
    assert accounts(tmp_path / "another.db") == {}
    check_resumed(tmp_path, resume(processes, tmp_path), before)


def lose_state(folder: Path, *names: str) -> None:
    for name in names:
        for path in (folder / f"out-{name}.state").iterdir():
            path.unlink()


def test_a_party_that_lost_its_disk_gets_keys_and_answers_again(processes: Launcher, tmp_path: Path) -> None:
    """Its ledger must be the one that was charged, because that identifies the rows."""
    agree(tmp_path)
    killed(processes, tmp_path, {"at": KEEP, "call": 1}, "east")
    before = [answers(tmp_path, name) for name in OWNERS]
    lose_state(tmp_path, "east")
    other = {"options": {"ledger": "another.db"}}
    ended = processes.play(tmp_path, *(party(n, "--resume", **(other if n == "east" else {})) for n in OWNERS))
    assert (ended["east"]["code"], "charged to another ledger" in ended["east"]["err"]) == (3, True), ended
    assert accounts(tmp_path / "another.db") == {}
    check_resumed(tmp_path, resume(processes, tmp_path), before)


def test_a_run_whose_states_are_lost_is_not_computed_again(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path)
    killed(processes, tmp_path, {"at": KEEP, "call": 1}, "east")
    lose_state(tmp_path, "east", "south")
    ended = resume(processes, tmp_path)
    assert "already charged to this ledger" in ended["east"]["err"]
    assert all(end["code"] for end in ended.values()), ended
    (tmp_path / "east.db").unlink()
    ended = resume(processes, tmp_path)
    assert (ended["east"]["code"], "is missing, but the witness" in ended["east"]["err"]) == (4, True), ended


def test_an_abandoned_run_finds_its_ledger(processes: Launcher, tmp_path: Path) -> None:
    """Without --ledger, the ledger is the one that the run used; with another one, the run is not closed."""
    agree(tmp_path)
    killed(processes, tmp_path, {"at": KEEP, "call": 1}, "east")
    entry = accounts(tmp_path / "north.db")["north"]["entries"][1]["hash"][:12]
    with Ledger.open(tmp_path / "empty.db"):
        pass
    for other in ("absent.db", "empty.db"):
        ended = processes.play(tmp_path, party("north", "--abandon", options={"ledger": other}))["north"]
        assert (ended["code"], "The run was not closed" in ended["err"]) == (2, True), ended
    assert not (tmp_path / "absent.db").exists()
    ended = processes.play(tmp_path, party("north", "--abandon", options={"ledger": None}))["north"]
    assert (ended["code"], f"The charge stands: ledger entry {entry}" in ended["out"]) == (0, True), ended


def test_an_abandoned_run_keeps_its_charge_and_cannot_be_resumed(processes: Launcher, tmp_path: Path) -> None:
    agree(tmp_path, deadlines={"start": 3})
    killed(processes, tmp_path, {"at": KEEP, "call": 1}, "east")
    ended = processes.play(tmp_path, party("north", "--abandon"))
    entry = accounts(tmp_path / "north.db")["north"]["entries"][1]["hash"][:12]
    assert (ended["north"]["code"], f"The charge stands: ledger entry {entry}" in ended["north"]["out"]) == (0, True)
    assert not (tmp_path / "out-north.state" / "keys.json").exists()
    ended = resume(processes, tmp_path)
    assert (ended["north"]["code"], "abandoned" in ended["north"]["err"]) == (2, True)
    for name in ("south", "east"):
        assert (ended[name]["code"], "north" in ended[name]["err"]) == (1, True)
    assert accounts(tmp_path / "north.db")["north"]["spent"] == "1"
