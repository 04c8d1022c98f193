"""The fault harness finds what it looks for: a command without faults passes, and planted bugs do not."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults.campaign import ALL, Case, Group, planned
from faults.invariants import LEFTOVER, LOST, TORN, UNTRUE
from faults.shim import compile_shim
from faults.world import Launcher, World, launcher

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    with launcher(compile_shim(tmp_path_factory.mktemp("shim"))) as made:
        yield made


@pytest.mark.parametrize("command", ["release", "grant", "perturb"])
def test_without_a_fault_all_is_well_and_all_kinds_of_calls_are_counted(
    ready: Launcher, tmp_path: Path, command: str
) -> None:
    for kind in ALL:
        findings, ended = Group(command=command, fault="none", cases=()).run(
            World(tmp_path / "world", ready), Case(how=planned(kinds=(kind,)))
        )
        assert (findings.found, ended["code"]) == ([], 0)
        assert ended["calls"] > 0 or (command, kind) == ("perturb", "step")


@pytest.mark.parametrize(
    ("bug", "category", "fault"),
    [
        ("published_file_by_file", TORN, {"kinds": ("open",), "action": "kill"}),
        ("ledger_deleted", LOST, {"kinds": ("open",)}),
        ("rows_left_behind", LEFTOVER, {"kinds": ("sync",), "action": "kill"}),
        ("charge_denied", UNTRUE, {"kinds": ("sync",), "action": "fail", "error": errno.EIO}),
    ],
)
def test_planted_bugs_are_found(
    ready: Launcher, tmp_path: Path, bug: str, category: str, fault: dict[str, Any]
) -> None:
    world = World(tmp_path / "world", ready)
    places = world.run(*world.release_words()[1], planted=bug, **planned(kinds=fault["kinds"]))["calls"]
    for at in range(places, 0, -1):  # the last calls first: there most is at stake
        world = World(tmp_path / "world", ready)
        findings, _ = world.release(look_first=False, planted=bug, **planned(**fault, at=at))
        if category in [found for found, _ in findings.found]:
            return
    pytest.fail(f"{bug} was not found at any of {places} places")
