"""Printing: names and paths are not changed, and progress is never written to standard output."""

import io
import json
import time

import pytest
from rich.console import Console

from scumble.cli import output


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    text = io.StringIO()
    console = Console(file=text, highlight=False, markup=False, emoji=False, soft_wrap=True, width=40)
    monkeypatch.setattr(output, "out", console)
    return text


def test_markup_in_names_is_printed_as_it_is(printed: io.StringIO) -> None:
    output.print_table("[bold]Title", ["[red]name", "value"], [["a[/]b :smile:", "1"]])
    assert "[bold]Title" in printed.getvalue()
    assert "[red]name" in printed.getvalue()
    assert "a[/]b :smile:" in printed.getvalue()


def test_prose_is_one_line_in_a_pipe_and_broken_on_a_terminal() -> None:
    sentence = "word " * 30
    for terminal, lines in ((False, 1), (True, 4)):
        text = io.StringIO()
        output.print_text(sentence.strip(), Console(file=text, width=40, force_terminal=terminal, soft_wrap=True))
        assert len(text.getvalue().splitlines()) == lines


def test_json_is_one_object_with_its_letters(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"name": "Zoë", "epsilon": "1/3"})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"name": "Zoë", "epsilon": "1/3"}
    assert "Zoë" in printed


@pytest.mark.parametrize(
    ("terminal", "patience", "shown"), [(True, -1.0, True), (True, 60.0, False), (False, -1.0, False)]
)
def test_progress_is_shown_on_a_terminal_when_the_work_lasts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, patience: float, shown: bool
) -> None:
    text = io.StringIO()
    monkeypatch.setattr(output, "err", Console(file=text, force_terminal=terminal, width=80))
    monkeypatch.setattr(output, "QUIET_SECONDS", patience)
    with output.progress_bar() as progress:
        progress("reading rows", 1, 2)
        deadline = time.monotonic() + 20
        while shown and "so far" not in text.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        progress("writing", 1, None)
    assert ("writing" in text.getvalue()) is shown
    assert capsys.readouterr().out == ""
