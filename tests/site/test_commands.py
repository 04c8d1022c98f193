"""The code of the pages is run and prints what they show, or says why it is not run. `make test-docs` runs it."""

import subprocess
import sys
from pathlib import Path

import pytest
from commands import BEGIN, DEMO, END, Demo, StalePageError, recorded, run_all, run_example, run_page
from pages import ROOT, UnmarkedCodeError, blocks, pages


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


def run(page: Path, *, write: bool = False, demo: Demo | None = None) -> int:
    return run_page(page, page.parent, write=write, demo=demo, root=page.parent)


def test_output_is_renewed_and_commands_share_a_folder(page: Path) -> None:
    page.write_text("# P\n\n```console\n$ echo 3 > a\n$ cat \\\n  a\nold\n```\n\n```console lines=1\n$ seq 3\n```\n")
    assert run(page, write=True) == 3
    assert page.read_text() == (
        "# P\n\n```console\n$ echo 3 > a\n$ cat \\\n  a\n3\n```\n\n```console lines=1\n$ seq 3\n1\n...\n```\n"
    )
    assert run(page) == 3


@pytest.mark.parametrize(
    ("noise", "shown", "passes"),
    [
        ("", "a 12\nb 0.5\n", True),
        ("", "a 13\nb 0.5\n", False),
        ("", "a 12\n", False),
        ("", "a 12\nb 0.5\nc\n", False),
        (" noise=numbers", "a 99\nb 1,000.7 %\n", True),
        (" noise=numbers", "b 99\na 1\n", False),
        (" noise=numbers", "a 99\n", False),
        (" noise=numbers", "a 99\nb 1\nb 2\n", False),
        (" noise=choices", "a 1\nb 2\n", True),
        (" noise=choices", "a 1\n", False),
        (" noise=lines", "b 9\na 9\n", True),
        (" noise=lines", "a 9\nc 9\n", False),
        (" noise=lines", "a 9\n", False),
        (" noise=all", "red\n", True),
    ],
)
def test_output_is_compared_as_strictly_as_its_noise_allows(page: Path, noise: str, shown: str, passes: bool) -> None:
    page.write_text(f"```console{noise}\n$ printf 'a 12\\nb 0.5\\n'\n{shown}```\n")
    if passes:
        assert run(page) == 1
    else:
        with pytest.raises(StalePageError, match="prints something else"):
            run(page)


def test_a_choice_in_parentheses_may_differ_and_the_words_around_it_may_not(page: Path) -> None:
    page.write_text("```console noise=choices\n$ echo 'yes 3 measured (4 tables)'\nyes 9 measured (ward by sex)\n```\n")
    assert run(page) == 1
    page.write_text("```console noise=numbers\n$ echo 'yes 3 measured (4 tables)'\nyes 9 measured (ward by sex)\n```\n")
    with pytest.raises(StalePageError):
        run(page)
    page.write_text("```console noise=choices\n$ echo 'yes 3 rows'\nyes 9 measured (ward by sex)\n```\n")
    with pytest.raises(StalePageError):
        run(page)


def test_a_changed_number_of_files_is_found(page: Path) -> None:
    page.write_text("```console\n$ touch a b; ls\na\n```\n")
    with pytest.raises(StalePageError, match=r"\+b"):
        run(page)


def test_output_that_looks_like_a_command_is_not_run_and_not_doubled(page: Path) -> None:
    text = "```console commands=1\n$ echo '$ exit 3'\n$ exit 3\n```\n"
    page.write_text(text)
    assert run(page) == 1
    assert run(page, write=True) == 1
    assert page.read_text() == text


def test_output_that_looks_like_a_command_has_to_be_declared(page: Path) -> None:
    page.write_text("```console lines=1\n$ echo '$ true'\n```\n")
    with pytest.raises(StalePageError, match="commands=1"):
        run(page, write=True)
    assert page.read_text() == "```console lines=1\n$ echo '$ true'\n```\n"


def test_warnings_are_shown_on_request(page: Path) -> None:
    page.write_text("```console stderr=yes\n$ echo advice >&2\nadvice\n```\n```console\n$ echo advice >&2\n```\n")
    assert run(page) == 2


@pytest.mark.parametrize("option", ["varies=yes", "noise=some", "lines=few", "lines", "commands=2"])
def test_an_unknown_option_of_a_block_is_found(page: Path, option: str) -> None:
    page.write_text(f"\n```console {option}\n$ true\n```\n")
    with pytest.raises(UnmarkedCodeError, match=r"page\.md:2: no option"):
        run(page)


@pytest.mark.parametrize(
    "body",
    [
        "console\n$ exit 3\n",
        "console exit=3\n$ true\n",
        "python\nraise ValueError\n",
        "sh\ntrue\nfalse   # and why\n",
        "sh\nfalse; true\n",
    ],
)
def test_a_failing_command_or_snippet_is_found(page: Path, body: str) -> None:
    page.write_text(f"```{body}```\n")
    with pytest.raises(StalePageError, match=r"page\.md:1: the exit code"):
        run(page)


def test_an_expected_exit_code_passes_and_its_message_is_shown(page: Path) -> None:
    page.write_text("```console exit=3\n$ echo refused >&2; exit 3\nrefused\n```\n")
    assert run(page) == 1


def test_files_and_hidden_steps_come_in_the_order_of_the_page(page: Path) -> None:
    page.write_text(
        "```yaml file=a.yaml\nx: 1\n```\n<!-- first: cp a.yaml b.yaml -->\n```yaml file=a.yaml\nx: 2\n```\n"
        "<!-- first:\ncat >> b.yaml <<END\ny: 3\nEND\n-->\n```console\n$ cat a.yaml b.yaml\nx: 2\nx: 1\ny: 3\n```\n"
    )
    assert run(page) == 1
    assert (page.parent / "b.yaml").read_text() == "x: 1\ny: 3\n"


def test_a_failing_hidden_step_is_found(page: Path) -> None:
    page.write_text("<!-- first: false -->\n```sh\ntrue\n```\n")
    with pytest.raises(StalePageError, match="exit code"):
        run(page)


def test_a_marked_block_is_not_run_and_keeps_its_reason(page: Path) -> None:
    page.write_text(
        "<!-- not run: takes hours -->\n```sh\nfalse\n```\n\n<!-- not run: needs R -->\n```r\nstop()\n```\n"
    )
    assert run(page) == 0
    assert [block.reason for block in blocks(page, page.parent)] == ["takes hours", "needs R"]


@pytest.mark.parametrize(
    "body", ["```\nscumble plan\n```", "```bash\nls\n```", "```r\nx <- 1\n```", "  ```sh\n  ls\n  ```"]
)
def test_code_that_is_neither_run_nor_marked_is_an_error(page: Path, body: str) -> None:
    page.write_text(f"# P\n\n{body}\n")
    with pytest.raises(UnmarkedCodeError, match=r"page\.md:3"):
        run(page)


def test_the_demo_is_run_once_for_all_pages(page: Path, tmp_path: Path) -> None:
    demo = Demo(folder=tmp_path / "shared", output=("made before",))
    (tmp_path / "shared" / "demo").mkdir(parents=True)
    (tmp_path / "shared" / "demo" / "a").write_text("x\n")
    page.write_text(f"```console\n$ {DEMO}\nmade before\n$ cat demo/a\nx\n```\n")
    assert run(page, demo=demo) == 2


def test_an_example_must_end_well_and_say_something(tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text("")
    (tmp_path / "broken.py").write_text("print('begun')\nraise ValueError\n")
    with pytest.raises(StalePageError, match="prints nothing"):
        run_example(tmp_path / "silent.py", tmp_path)
    with pytest.raises(StalePageError, match="exit code"):
        run_example(tmp_path / "broken.py", tmp_path)


def test_the_program_counts_what_was_run_and_lists_what_was_not(tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "docs" / "site" / "commands.py")]
    done = subprocess.run([*program, str(ROOT / "docs" / "zoo.md")], capture_output=True, text=True, check=True)
    assert "Not run (1 blocks):\n  docs/zoo.md:" in done.stdout and "takes hours" in done.stdout
    assert "0 commands and snippets of 1 pages and 0 examples were run; " in done.stdout
    assert " links were checked; 0 failed." in done.stdout


def test_the_figures_of_a_run_are_written_between_the_marks_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "record.md"
    page.write_text(f"# R\n\n{BEGIN}\nold\n{END}\n\nafter\n")
    assert run_all([ROOT / "docs" / "zoo.md"], write=False, jobs=1, record=page) == 0
    lines = page.read_text().splitlines()
    assert lines[3].startswith("0 commands and snippets of 1 pages and 0 examples were run; ")
    assert lines[5:8:2] == ["Not run, 1 blocks:", "- `docs/zoo.md`: takes hours"]
    assert lines[-3:] == [END, "", "after"] and "old" not in lines
    with pytest.raises(StalePageError, match="has no"):
        recorded("# R\n", [])


def test_every_block_of_our_pages_is_run_or_says_why_not() -> None:
    found = [block for page in pages() for block in blocks(page)]
    assert sum(block.runs for block in found) > 80
    assert all(len(block.reason.split()) >= 2 for block in found if block.reason)
