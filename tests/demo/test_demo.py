"""The demo shows every step, leaves a verified release and a refused one, and never writes over an earlier run."""

from pathlib import Path
from typing import Any

import pytest

from scumble.demo import demo
from scumble.demo.demo import run_demo


class Shown:
    """Keeps what the demo shows."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.results: list[Any] = []

    def command(self, text: str) -> None:
        self.commands.append(text.split(" --", maxsplit=1)[0].split("/", maxsplit=1)[0])

    def text(self, text: str) -> None: ...

    def plan(self, planned: Any) -> None:
        self.results.append(planned)

    def published(self, published: Any) -> None:
        self.results.append(published)

    def evaluation(self, result: dict[str, Any]) -> None:
        self.results.append(result)


def test_the_demo_from_plan_to_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Training classifiers takes most of the demo's time; the tests of the command line run it as a whole.
    monkeypatch.setattr(demo, "evaluate", lambda folder, **tables: {"majority": 0.5})
    shown = Shown()
    first = run_demo(tmp_path / "demo", output=shown)
    assert [each.split()[1] for each in shown.commands] == [
        "plan",
        "release",
        "evaluate",
        "release",
        "verify",
        "ledger",
    ]
    planned, published, evaluation = shown.results
    assert published.release.plan.guarantee == planned.guarantee
    assert evaluation == first.evaluation == {"majority": 0.5}
    assert len(first.checks) > 3
    assert first.refused
    assert not (first.folder / "again").exists()
    assert (first.release / "report.html").exists()
    second = run_demo(tmp_path / "demo")
    assert second.folder == tmp_path / "demo-2"
    assert second.to_json()["release"] == str(tmp_path / "demo-2" / "release")
