"""What somebody meets first: `--version`, `-h`, examples, completion of values, spelling, advice, `doctor`."""

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from command_line import SCHEMA, Ended, people, scumble
from command_tree import COMMANDS

from scumble import __version__
from scumble.cli.examples import EXAMPLES
from scumble.compiled.store import folders
from scumble.engines.counting_kernels import set_digit
from scumble.mining.c45.tree import become_leaf


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text(people(50))
    return tmp_path


def test_version() -> None:
    assert scumble("--version") == Ended(code=0, out=f"scumble {__version__}\n", err="")


@pytest.mark.parametrize("words", [(), ("plan",), ("ledger",), ("ledger", "show"), ("join", "transcript", "verify")])
def test_both_names_of_help_work_everywhere_and_show_no_type_of_flags(words: tuple[str, ...]) -> None:
    short, long = scumble(*words, "-h"), scumble(*words, "--help")
    assert short == long
    assert short.code == 0
    assert "<bool>" not in short.out
    assert "-h" in short.out


def test_every_command_has_examples_and_nothing_else_has() -> None:
    assert set(EXAMPLES) == set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS)
def test_examples_are_accepted_by_the_parser_and_shown(words: str) -> None:
    help_text = scumble(*words.split(), "--help").out
    assert "<bool>" not in help_text
    for example in EXAMPLES[words]:
        first, *rest = shlex.split(example)
        assert first == "scumble"
        assert rest[: len(words.split())] == words.split()
        command = COMMANDS[words]
        assert isinstance(command, typer.core.TyperCommand)
        command.make_context(words, rest[len(words.split()) :])  # raises for unknown or missing options
        assert example.split()[-1] in help_text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evalute", "No such command 'evalute'. Did you mean 'evaluate'? See `scumble --help`."),
        ("ledger sho", "No such command 'sho'. Did you mean 'show'? See `scumble ledger --help`."),
        ("plan --metod x", "No such option: --metod. Did you mean --method? See `scumble plan --help`."),
        ("plan --qqq", "No such option: --qqq. See `scumble plan --help`."),
        ("plan", "Missing option '--schema'. See `scumble plan --help`."),
    ],
)
def test_a_wrong_word_is_corrected_once(words: str, message: str) -> None:
    assert scumble(*words.split()).error == message


@pytest.mark.parametrize(("verb", "extra"), [("plan", ()), ("release", ("people.csv", "--out", "r"))])
def test_a_misspelled_value_is_corrected(folder: Path, verb: str, extra: tuple[str, ...]) -> None:
    ended = scumble(verb, *extra, "--schema", "schema.yaml", "--method", "difgen", "--epsilon", "1")
    assert ended.error.startswith("Unknown method 'difgen'. Did you mean 'diffgen'? Available: diffgen, ")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("scumble plan --method diffg", {"diffgen"}),
        ("scumble release --engine ", {"memory", "duckdb", "spark"}),
        ("scumble plan --selection ", {"together", "published"}),
        ("scumble plan --detail ", {"auto", "yes", "no"}),
        ("scumble release --encoding utf-16", {"utf-16", "utf-16-le", "utf-16-be"}),
        ("scumble release --accept k", {"k-anonymity"}),
        ("scumble mine train --algorithm by", {"byclass"}),
        ("scumble reproduce micro-fig", {"micro-fig4", "micro-fig5", "micro-fig6"}),
    ],
)
def test_the_shell_completes_values(words: str, expected: set[str]) -> None:
    settings = {
        "_SCUMBLE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    program = "import sys; sys.argv = ['scumble']; from scumble.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    assert {line.strip() for line in done.stdout.splitlines()} == expected, done.stderr


def test_every_option_that_lists_its_values_completes_them() -> None:
    listed = {
        f"{words} {parameter.opts[0]}": parameter
        for words, command in COMMANDS.items()
        for parameter in command.params  # type: ignore[attr-defined]
        if (getattr(parameter, "help", None) or "").startswith("One of: ")
    }
    assert {"report --audience", "export --format", "plan --method"} <= set(listed)
    context = typer.Context(next(iter(COMMANDS.values())))  # type: ignore[arg-type]
    for name, parameter in listed.items():
        values = parameter.help.removeprefix("One of: ").split(" (")[0].rstrip(".").split(", ")
        assert [item.value for item in parameter.shell_complete(context, "")] == values, name


def test_a_plan_says_what_its_epsilon_means_and_a_large_one_is_advised_against(folder: Path) -> None:
    usual = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1")
    assert "A 50 % suspicion that a given record is in the table can rise to at most 73.1 %." in usual.out
    assert usual.err == ""
    large = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1000")
    assert "warning: epsilon 1000 promises little" in large.err
    assert "practically 100 %" in large.out
    made = scumble("release", "people.csv", "--schema", "schema.yaml", "--epsilon", "1000", "--out", "made")
    assert made.code == 0
    assert "warning, before the charge: epsilon 1000 promises little" in made.err
    assert "practically 100 %" in made.out
    assert "a 50 % suspicion can rise to at most practically 100 %." in scumble("ledger", "show").out


def test_doctor_reports_places_settings_and_extras(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCUMBLE_CONFIG", str(folder / "config.toml"))
    (folder / "config.toml").write_text('data = "/srv/tables"\n')
    monkeypatch.delenv("SCUMBLE_DATA", raising=False)
    found = scumble("doctor", "--json").json
    assert found["version"] == __version__
    assert found["places"]["ledger"] == {"path": str(folder / "ledger.db"), "state": "does not exist yet"}
    assert found["settings"]["ledger"]["from"] == "environment"
    assert found["settings"]["data"] | {"help": ""} == {
        "variable": "SCUMBLE_DATA",
        "value": "/srv/tables",
        "from": "file",
        "help": "",
    }
    assert found["extras"]["charts"]["install"] == "pip install 'scumble[charts]'"
    assert all(found["packages"].values())
    text = scumble("doctor").out
    assert str(folder / "ledger.db") in text
    assert "SCUMBLE_WITNESS" in text
    assert not (folder / "ledger.db").exists()  # it only looks


def test_doctor_says_how_to_install_what_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scumble.cli.doctor.is_installed", lambda extra: extra != "charts")
    assert "pip install 'scumble[charts]'" in scumble("doctor").out.replace("\n", " ")


@pytest.mark.parametrize("named", [True, False])
def test_doctor_names_every_place_of_compiled_code(folder: Path, monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    if named:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "machine-code"))
    found = scumble("doctor", "--json").json["places"]
    stated = [Path(place["path"]) for name, place in found.items() if name.startswith("compiled code")]
    used = [each for function in (set_digit, become_leaf) for each in folders(function)]
    assert all(any(each.is_relative_to(place) for place in stated) for each in used)
    assert all(any(each.is_relative_to(place) for each in used) for place in stated)


def test_no_color_is_honoured(folder: Path) -> None:
    program = "import sys; sys.argv = ['scumble', 'plan', '--qqq']; from scumble.cli import main; main()"
    coloured = {}
    for value in ("", "1"):
        environment = {**os.environ, "FORCE_COLOR": "1", "NO_COLOR": value}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
        coloured[value] = b"\x1b[1;31m" in done.stderr
    assert coloured == {"": True, "1": False}


def test_json_of_a_plan_is_unchanged_by_advice(folder: Path) -> None:
    ended = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1000", "--json")
    assert json.load(io.StringIO(ended.out))["guarantee"]["epsilon"] == "1000"
