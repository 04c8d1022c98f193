"""The verbs of `scumble join` that only print: costs of phases, and transcripts."""

from pathlib import Path

import pytest
from command_line import scumble

from scumble.cli.rehearse import print_phases


def test_the_costs_of_phases_are_printed_with_their_sum(capsys: pytest.CaptureFixture[str]) -> None:
    phase = {"name": "connect", "seconds": 1.5, "rounds": 2000, "bytes_sent": 3_000_000, "bytes_received": 500}
    print_phases([phase, {**phase, "name": "counts [1]"}], "hospital")
    title, head, *lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert title == ["Cost", "for", "hospital"]
    assert head == ["phase", "seconds", "rounds", "MB", "sent", "MB", "received"]
    assert lines[0] == ["connect", "1.50", "2,000", "3.000", "0.001"]
    assert lines[1][:2] == ["counts", "[1]"]
    assert lines[2] == ["total", "3.00", "4,000", "6.000", "0.001"]


def test_a_transcript_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    refused = scumble("join", "transcript", "verify", str(tmp_path / "none.jsonl"))
    assert refused.code == 2
    assert "none.jsonl" in refused.err
