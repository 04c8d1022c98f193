"""Slow libraries are imported by the verbs that need them: `import scumble`, `scumble --help` and `scumble plan` do not
wait for them."""

import ast
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import SCHEMA, process, scumble

import scumble as package
from scumble.cli.verbs import VERBS

SLOW = (
    "cryptography",
    "duckdb",
    "jinja2",
    "matplotlib",
    "narwhals",
    "numba",
    "opendp",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
)
NOT_FOR_HELP = (*SLOW, "numpy", "ruamel.yaml", "scumble.flows.plan", "scumble.methods")
NOT_FOR_PLAN = (
    "numpy.random",
    "scumble.engines",
    "scumble.flows.release",
    "scumble.methods.diffgen.detail.rows",
    "scumble.methods.histograms.rows",
    "scumble.sources",
)
NOT_FOR_IMPORT = (*NOT_FOR_HELP, "pydantic", "rich", "typer", "scumble.errors", "scumble.model")


def imported(program: str, names: tuple[str, ...]) -> list[str]:
    """Those of `names` that a fresh interpreter has imported after running the program."""
    report = f"import sys\ntry:\n    {program}\nexcept SystemExit as end:\n    assert not end.code\n"
    report += f"print('\\n' + repr([name for name in {names} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    found: list[str] = ast.literal_eval(done.stdout.splitlines()[-1])
    return found


def command(*words: object) -> str:
    return f"sys.argv = {['scumble', *map(str, words)]}; import scumble.cli; scumble.cli.main()"


def test_the_package_imports_no_library() -> None:
    assert imported("import scumble", NOT_FOR_IMPORT) == []


def test_help_imports_no_method_and_no_slow_library() -> None:
    assert imported(command("--help"), NOT_FOR_HELP) == []


def test_a_plan_imports_no_slow_library(tmp_path: Path) -> None:
    schema = tmp_path / "schema.yaml"
    schema.write_text(SCHEMA)
    words = ("plan", "--schema", schema, "--epsilon", "1")
    assert imported(command(*words), (*SLOW, *NOT_FOR_PLAN)) == []
    assert "numpy" in imported(command(*words), ("numpy",))  # the check sees what is imported


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_each_says_of_itself(name: str) -> None:
    loaded = VERBS[name].load(name)
    assert inspect.cleandoc(loaded.help).split("\n\n")[0].replace("\n", " ") == VERBS[name].help


def test_help_lists_every_verb_and_each_has_its_own() -> None:
    listed = scumble("--help")
    assert listed.code == 0
    for name, verb in VERBS.items():
        assert f"│ {name} " in listed.out
        assert verb.help.split()[0] in listed.out
    assert "--records" in scumble("plan", "--help").out
    assert "transcript" in scumble("join", "--help").out


def test_an_unknown_verb_is_an_error_with_a_suggestion() -> None:
    ended = scumble("relaese")
    assert ended.code == 2
    assert "'release'" in ended.error


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("scumble re", {"rehearse", "report", "release", "reconstruct", "reproduce"}),
        ("scumble plan --sch", {"--schema"}),
        ("scumble ledger ", {"show", "grant", "verify"}),
        ("scumble join transcript v", {"verify"}),
    ],
)
def test_the_shell_completes_verbs_and_options(words: str, expected: set[str]) -> None:
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


def test_every_public_name_is_found_where_type_checkers_find_it() -> None:
    tree = ast.parse(inspect.getsource(package))
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("scumble")
        for alias in node.names
    }
    table = {name: f"scumble.{module}" for name, module in package._MODULE_OF_NAME.items()}
    assert table == {**seen, "datasets": "scumble.datasets"}
    assert sorted(table) == sorted(package.__all__)
    for name in package.__all__:
        module = sys.modules[table[name]] if getattr(package, name) else None
        assert getattr(package, name) is (module if name == "datasets" else getattr(module, name))
        assert name in dir(package)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = package.nonsense  # type: ignore[attr-defined]


def test_a_verb_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    schema = tmp_path / "schema.yaml"
    schema.write_text(SCHEMA)
    ended = process("plan", "--schema", schema, "--epsilon", "1", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["method"] == "diffgen"
