"""docs/threat-model.md names every file that scumble leaves on a disk, and every hazard has one status."""

import re
from pathlib import Path

import pytest

from scumble.engines import duckdb
from scumble.files import atomic_folder
from scumble.joint.network import certificates
from scumble.joint.session import state

PAGE = (Path(__file__).parents[1] / "docs" / "threat-model.md").read_text("utf-8")
STATUSES = {"met", "not met", "partly", "not applicable", "the owner's part", "the operator's part"}


@pytest.mark.parametrize(
    "name",
    [
        atomic_folder.PREFIX,
        duckdb.PREFIX,
        certificates.KEY_FILE,
        certificates.CERTIFICATE_FILE,
        state.KEYS,
        state.ANSWERS,
        "ledger.db",
        "agreement.yaml",
        "transcript-N.jsonl",
        "evaluation.json",
    ],
)
def test_files_on_disk_are_listed(name: str) -> None:
    table = PAGE.split("## What each file is worth to a thief")[1].split("\n## ")[0]
    assert any(name in line.split("|")[1] or name in line.split("|")[4] for line in table.splitlines() if "| " in line)


def test_every_hazard_has_a_status_and_a_reason() -> None:
    table = PAGE.split("## The hazards of NIST SP 800-226")[1]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines() if "| " in line][1:]
    sections = [row[0] for row in rows]
    assert sections == sorted(sections) and {section[0] for section in sections} == {"2", "3", "4"}
    for section, hazard, status, reason in rows:
        assert re.sub(r"\*\*|, .*", "", status) in STATUSES, (section, hazard, status)
        assert len(reason) > 20
