"""The transcript check of one method from Python: on a built-in schema, or on one that is given."""

import pytest
from planted_transcript_bugs import HistogramsOneTooFew

from scumble.auditing.transcripts.audit import check_transcripts
from scumble.auditing.transcripts.cases import WIDE
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods import Histograms
from scumble.model.guarantee import Unit


def test_a_method_is_named_or_given_with_its_parameters() -> None:
    by_name = check_transcripts("histograms", epsilon="1/2", transcripts=10)
    by_parameters = check_transcripts(Histograms(epsilon="1/2"), transcripts=10)
    for finding in (by_name, by_parameters):
        assert finding.transcripts == 10
        assert finding.largest == pytest.approx(0.5)
        assert finding.unit is Unit.ADD_REMOVE
        assert "No violation: histograms declares epsilon 0.5" in finding.sentence


def test_a_schema_can_be_given_and_progress_is_reported() -> None:
    seen: list[tuple[str, int, int | None]] = []
    finding = check_transcripts(
        HistogramsOneTooFew(),
        schema=parse_schema(WIDE),
        epsilon="1",
        transcripts=30,
        progress=lambda *step: seen.append(step),
    )
    assert "has a privacy loss of 1.14286" in finding.violation, "eight tables, noise for seven"
    assert seen == [("comparing transcripts", place + 1, 30) for place in range(finding.transcripts)]
    assert finding.to_json()["refuted"] is True


def test_no_transcripts_are_refused() -> None:
    with pytest.raises(InputError, match="Give 1 or more"):
        check_transcripts("histograms", epsilon="1", transcripts=0)
