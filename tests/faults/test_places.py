"""Which places the long run of the fault harness tries, and how its results are kept."""

import json
from pathlib import Path

import pytest
from faults.__main__ import PIECE, pieces
from faults.campaign import ALL, CHANGES, SPARSE, SYSTEM, Case, Group, system_calls
from faults.joint import CALLS
from faults.joint import groups as joint_groups

from faults import page
from fuzzing import tally

NUMBERS = {**dict.fromkeys(ALL, 10), " ".join(ALL): 70, " ".join(SYSTEM): 60}


def test_kills_happen_where_files_change_and_one_signal_everywhere() -> None:
    places = {group.fault: len(group.cases) for group in system_calls("release", NUMBERS)}
    killed = ", ".join(CHANGES)
    assert places[f"killed before the n-th {killed}"] == 10 * len(CHANGES)
    assert places["SIGINT at the n-th call of any kind"] == 70
    assert places[f"SIGHUP at the n-th call of any kind; 1 place in {SPARSE}"] == -(-70 // SPARSE)


def test_faults_in_one_folder_are_tried_at_system_calls_there() -> None:
    for group in system_calls("release", NUMBERS, below="scratch"):
        assert "in the folder of temporary files" in group.fault
        for case in group.cases:
            assert case.how["below"] == "scratch"
            assert "step" not in case.how["plan"]["kinds"]


def test_a_joint_release_fails_at_calls_that_can_fail() -> None:
    groups = list(joint_groups({CALLS: 9, CHANGES: 4}))
    assert {len(group.cases) for group in groups} == {4, 9}
    assert all("step" not in case.how["plan"]["kinds"] for group in groups for case in group.cases)
    assert all(group.waits for group in groups)


def test_results_are_kept_in_pieces_and_by_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = Group(command="release", fault="x", cases=tuple(Case(at=at) for at in range(50)))
    path = tmp_path / "tallies.json"
    kept = page.read(path)
    work = list(pieces([group], kept, 1))
    assert [len(places) for _, places in work] == [PIECE, PIECE, 10]
    page.add(path, kept, group, {"tried": PIECE, "codes": {"0": PIECE}, "violations": {}, "places": work[0][1]})
    assert [len(places) for _, places in pieces([group], page.read(path), 1)] == [PIECE, 10]
    assert list(json.loads(path.read_text())) == [tally.version()]
    monkeypatch.setattr(page, "version", lambda: "another")
    assert page.read(path) == {}
    page.add(path, {}, group, {"tried": 1, "codes": {}, "violations": {}, "places": [0]})
    table = tmp_path / "page.md"
    table.write_text(f"{page.BEGIN}\n{page.END}\n")
    page.write(table, path)
    assert "Version of the source (a digest, as in [fuzzing](fuzzing.md)): another." in table.read_text()
    assert "| `release` | x | 50 | 1 | 1 |" in table.read_text()
