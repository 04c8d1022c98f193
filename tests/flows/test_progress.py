"""A release reports its progress: labels in the order of the work, never more done than there is."""

from pathlib import Path

from command_line import SCHEMA, people

from scumble.flows.progress import Progress
from scumble.flows.release import release
from scumble.methods.diffgen.detail.spends import MOST_COMBINATIONS


def test_progress_of_a_release(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "people.csv").write_text(people(300), encoding="utf-8")
    seen: list[tuple[str, int, int | None]] = []
    progress: Progress = lambda label, done, total: seen.append((label, done, total))  # noqa: E731
    made = release(
        tmp_path / "people.csv",
        schema=tmp_path / "schema.yaml",
        epsilon=1,
        out=tmp_path / "release",
        ledger=tmp_path / "ledger.db",
        progress=progress,
    )
    labels = list(dict.fromkeys(label for label, _, _ in seen))
    assert (labels[0], labels[-1]) == ("reading rows", "writing table.csv")
    assert len(labels) > 3
    assert all(total is None or 0 <= done <= total for _, done, total in seen)
    answered = [(done, total) for label, done, total in seen if label not in (labels[0], labels[-1])]
    assert [done for done, _ in answered] == list(range(1, len(answered) + 1))
    planned = sum(spend.times for spend in made.release.plan.spends)
    assert answered[-1][1] == planned
    assert planned - len(answered) in range(MOST_COMBINATIONS), "further combinations are chosen only after a first"
