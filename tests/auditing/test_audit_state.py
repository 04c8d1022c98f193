"""The state of an audit: it is read as it was written, that of another audit is refused; the bound so far."""

from fractions import Fraction
from pathlib import Path

import pytest

from scumble.auditing.audit_state import AuditState, FixedTest, identity_of
from scumble.auditing.bounds import Confidence
from scumble.auditing.distinguisher import ANY_PATH, Event, Part
from scumble.auditing.search import Effort, search_and_test
from scumble.auditing.single_answers import one_count
from scumble.errors import InputError


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    pair = one_count(Fraction(1)).pairs[0]
    part = Part(place=0, edges=(1.0, 2.0), values=(-0.5, 0.0, 0.5))
    event = Event(words="a count is large", threshold=0.25, steps={("a", "b"): 1.5}, parts={ANY_PATH: (part,)})
    test = FixedTest(pair=pair, event=event, test_runs=900, looked=70, hits=(3, 1), runs=10)
    for state in (
        AuditState(identity="one"),
        AuditState(identity="one", screening_runs=50, screened=(((0.5, 0.1), pair), ((0.0, -0.1), pair))),
        AuditState(identity="one", test=test),
    ):
        state.write(tmp_path / "state.json")
        assert AuditState.read(tmp_path / "state.json", "one") == state
        assert [path.name for path in tmp_path.iterdir()] == ["state.json"]
        with pytest.raises(InputError, match="another audit"):
            AuditState.read(tmp_path / "state.json", "two")
    assert AuditState.read(tmp_path / "none.json", "one") == AuditState(identity="one")


def test_the_identity_changes_with_every_fact() -> None:
    assert len({identity_of("a", 1), identity_of("a", 2), identity_of("b", 1), identity_of("a1")}) == 4


def test_the_bound_so_far_allows_for_the_declared_delta() -> None:
    """The last one that the progress shows is the bound of the result."""
    audited, shown = one_count(Fraction(2)), list[str]()
    effort, confidence = Effort(test_runs=400, variations=0, delta=0.2), Confidence()
    found = search_and_test(
        audited.mechanism,
        audited.pairs,
        effort,
        confidence=confidence,
        progress=lambda label, done, total: shown.append(label),
    )
    assert shown[-1].endswith(f"lower bound so far {found.bound(confidence, 0.2):.3f}")
    assert found.bound(confidence, 0.2) < found.bound(confidence)
