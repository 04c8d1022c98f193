"""Hygiene of the repository, kept by reading it: imports, sizes, randomness, budgets, hosts and paths, the lock."""

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytest_plugins = ("pytester",)

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "scumble"
MODULES = sorted(PACKAGE.rglob("*.py"))

# The rooms of the package and what each may import besides itself. `scumble` is the package's own __init__.
BELOW_PRIVACY = {
    "compiled",
    "errors",
    "foreign",
    "installation",
    "interrupts",
    "locked_folders",
    "model",
    "portable",
    "settings",
}
BELOW_METHODS = BELOW_PRIVACY | {"privacy"}
BELOW_FLOWS = BELOW_METHODS | {"sources", "engines", "mining", "querying", "files", "methods", "joint"}
ABOVE_FLOWS = BELOW_FLOWS | {"flows", "charts", "datasets", "scumble"}
ALLOWED_ROOMS: dict[str, set[str]] = {
    "compiled": {"errors", "foreign", "portable", "settings"},
    "errors": set(),
    "portable": set(),
    "foreign": {"errors", "portable"},
    "installation": {"errors"},
    "settings": {"errors", "foreign"},
    "interrupts": {"errors", "portable"},
    "locked_folders": {"interrupts", "portable"},
    "picture_style": set(),
    "charts": {"installation", "picture_style"},
    "model": {"errors", "foreign"},
    "sources": BELOW_PRIVACY,
    "engines": BELOW_PRIVACY | {"sources"},
    "mining": BELOW_PRIVACY | {"picture_style"},
    "files": {
        "compiled",
        "errors",
        "foreign",
        "installation",
        "interrupts",
        "locked_folders",
        "model",
        "portable",
        "sources",
    },
    "privacy": BELOW_PRIVACY,
    "querying": BELOW_PRIVACY | {"mining"},
    "methods": BELOW_METHODS,
    "joint": BELOW_METHODS | {"files"},
    "datasets": {"errors", "foreign", "model", "files", "settings"},
    "flows": BELOW_FLOWS | {"charts"},
    "auditing": BELOW_FLOWS | {"flows"},
    "scumble": BELOW_FLOWS | {"flows", "datasets", "auditing"},
    "demo": ABOVE_FLOWS,
    "comparison": ABOVE_FLOWS | {"demo", "auditing"},
    "reproductions": ABOVE_FLOWS | {"comparison"},
    "studio": ABOVE_FLOWS | {"auditing", "comparison", "demo"},
    "survey": ABOVE_FLOWS,
    "cli": ABOVE_FLOWS | {"auditing", "comparison", "demo", "reproductions", "studio", "survey"},
    "__main__": {"cli"},
}

MOST_LINES = 400
NOISE = "privacy/noise.py"
RANDOM_MODULES = {"random", "secrets", "numpy.random"}
RANDOM_NAMES = {
    "os.urandom",
    "os.getrandom",
    "np.random",
    "numpy.random",
    "default_rng",
    "SystemRandom",
    "uuid.uuid1",
    "uuid.uuid4",
}
ENGINE_LIBRARIES = {"duckdb", "pyspark", "py4j", "adbc_driver_postgresql", "adbc_driver_manager"}
ENGINE_MODULES = {f"scumble.engines.{name}" for name in ("chunked_counts", "duckdb", "spark")}
ENGINE_MODULES |= {f"scumble.sources.{name}" for name in ("databases", "spark", "spark_batches", "spark_csv")}
RELEASE_KINDS = {
    "CellRelease",
    "RecordRelease",
    "BlurredRelease",
    "ClassifierRelease",
    "FineRows",
}
TEXT_METHODS = {"startswith", "endswith", "find", "index", "count", "match", "search", "fullmatch", "findall", "split"}
TEXT_METHODS |= {"partition", "rpartition"}
# DuckDB states these facts nowhere but in the text of its own errors; a law of methods is about the text.
COMPARED_ON_PURPOSE = {"engines/duckdb.py": 1, "auditing/laws/methods.py": 1}
# Written as expressions that do not match themselves, so this file is read like every other one.
HOSTS_AND_PATHS = re.compile(
    r"pypi\.org|files\.pythonhosted|--(?:extra-index-url|index-url|trusted-host|find-links)"
    r"|(?<![\w.~-])/(?:work|home|root|Users)/"
)


def module_name(path: str) -> str:
    parts = Path("scumble", path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    names = module.split(".")
    return names[1] if len(names) > 1 else "scumble"


def imported_modules(tree: ast.AST, path: str) -> Iterator[tuple[int, str]]:
    """Every module named by an import, relative ones resolved, wherever in the file it stands."""
    package = ["scumble", *Path(path).parts[:-1]]
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package[: len(package) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                for name in names:
                    yield node.lineno, f"{base}.{name.name}"
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def import_violations(source: str, path: str) -> list[str]:
    """Imports against the table. In `from scumble import name`, name is a room or else something of the root."""
    here = room_of(module_name(path))
    if here not in ALLOWED_ROOMS:
        return [f"{path}: '{here}' is no room of the table; give it a row in ALLOWED_ROOMS"]
    found = []
    for line, module in imported_modules(ast.parse(source), path):
        if module.split(".")[0] != "scumble":
            continue
        there = room_of(module)
        there = there if there in ALLOWED_ROOMS else "scumble"
        if there != here and there not in ALLOWED_ROOMS[here]:
            found.append(f"{path}:{line}: {here} may not import {there}")
    return found


def randomness(source: str, path: str) -> list[str]:
    tree = ast.parse(source)
    found = [
        f"{path}:{line}: imports {module}"
        for line, module in imported_modules(tree, path)
        if any(module == name or module.startswith(name + ".") for name in RANDOM_MODULES | RANDOM_NAMES)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            words = ast.unparse(node)
            if words in RANDOM_NAMES or words.split(".")[-1] in RANDOM_NAMES:
                found.append(f"{path}:{node.lineno}: uses {words}")
    return found


def engine_libraries(source: str, path: str) -> list[str]:
    """Engines' own libraries and modules, wanted anywhere but in their room; numba's one door is `by_numba.py`."""
    return [
        f"{path}:{line}: imports {module}"
        for line, module in imported_modules(ast.parse(source), path)
        if any(module == name or module.startswith(name + ".") for name in ENGINE_LIBRARIES | ENGINE_MODULES)
        or (module.split(".")[0] == "numba" and path != "compiled/by_numba.py")
    ]


def float_budgets(source: str, path: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.arg(arg=name, annotation=annotation) if annotation is not None:
                pass
            case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), annotation=annotation):
                pass
            case _:
                continue
        if "epsilon" in name.lower() and re.search(r"\bfloat\d*\b", ast.unparse(annotation)):
            found.append(f"{path}:{node.lineno}: {name} is a float; budgets are Fractions")
    return found


def questions_of_kind(source: str, path: str) -> list[str]:
    """Code that branches on the kind of a release: `isinstance` or a class pattern, by name or by a module's attribute.

    Such code must be changed for every new kind. Methods of `Release` and of `ReleaseKind` replace it.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                pass
            case ast.MatchClass(cls=kinds):
                pass
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=[kinds]):
                pass
            case _:
                continue
        names = {each.id for each in ast.walk(kinds) if isinstance(each, ast.Name)}
        names |= {each.attr for each in ast.walk(kinds) if isinstance(each, ast.Attribute)}
        found += [f"{path}:{node.lineno}: asks for {name}" for name in sorted(names & RELEASE_KINDS)]
    return found


def compared_messages(source: str, path: str) -> list[str]:
    """Places where the text of a caught exception decides something. What code needs to know is an attribute."""
    found = []
    for handler in ast.walk(ast.parse(source)):
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None:
            continue
        for node in ast.walk(handler):
            match node:
                case ast.Compare(left=left, comparators=others):
                    parts: list[ast.AST] = [left, *others]
                case ast.Match(subject=subject):
                    parts = [subject]
                case ast.Call(func=ast.Attribute(value=text, attr=name), args=arguments) if name in TEXT_METHODS:
                    parts = [text, *arguments]
                case _:
                    continue
            if any(_is_text_of(inner, handler.name) for part in parts for inner in ast.walk(part)):
                found.append(f"{path}:{node.lineno}: {ast.unparse(node)[:80]}")
    return found


def _is_text_of(node: ast.AST, name: str) -> bool:
    """Whether a node is the text of an exception: str(error), repr(error), an f-string of it, error.args."""
    match node:
        case ast.Call(func=ast.Name(id="str" | "repr" | "format"), args=[ast.Name(id=found), *_]):
            return found == name
        case ast.Attribute(value=ast.Name(id=found), attr="args" | "msg" | "message" | "__str__"):
            return found == name
        case ast.FormattedValue(value=ast.Name(id=found)):
            return found == name
    return False


def hosts_and_paths(text: str, path: str) -> list[str]:
    return [
        f"{path}:{number}: {match.group()}"
        for number, line in enumerate(text.splitlines(), start=1)
        for match in HOSTS_AND_PATHS.finditer(line)
    ]


def modules_under(folder: str = "") -> list[Path]:
    return [path for path in MODULES if path.relative_to(PACKAGE).as_posix().startswith(folder)]


def check_modules(check: Callable[[str, str], list[str]], modules: list[Path]) -> None:
    assert modules, "no module was read: the check would hold of nothing"
    found = [line for path in modules for line in check(path.read_text("utf-8"), path.relative_to(PACKAGE).as_posix())]
    assert not found, "\n".join(found)


def repository_files() -> list[Path]:
    """Tracked files and those that would be, so that the tests also hold before a commit."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    return sorted({ROOT / name for name in names if name and (ROOT / name).is_file()})


def locked_requirements(name: str) -> dict[str, list[str]]:
    """The requirements of a lock file, each with the hashes of its files."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {requirement: hashes for requirement, *hashes in lines}


def pinned_versions() -> dict[str, str]:
    requirements = [Requirement(line) for line in locked_requirements("requirements.lock")]
    pins = {}
    for requirement in requirements:
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", f"{requirement} is not pinned: run `make lock`"
        assert requirement.url is None, f"{requirement} names a place: run `make lock`"
        pins[canonicalize_name(requirement.name)] = specifier.version
    return pins


def test_imports_point_one_way() -> None:
    check_modules(import_violations, MODULES)


def test_the_table_of_rooms_has_no_cycle() -> None:
    remaining = {room: set(allowed) for room, allowed in ALLOWED_ROOMS.items()}
    while free := [room for room, allowed in remaining.items() if not allowed & remaining.keys()]:
        for room in free:
            del remaining[room]
    assert not remaining


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("model/schema.py", "import scumble.privacy.noise"),
        ("model/schema.py", "from scumble.privacy import noise"),
        ("model/schema.py", "from scumble import privacy"),
        ("model/schema.py", "from scumble import release"),
        ("model/schema.py", "from ..privacy import noise"),
        ("model/__init__.py", "from ..flows import release"),
        ("methods/diffgen/method.py", "from ...engines.memory import MemoryEngine"),
        ("methods/diffgen/method.py", "def f():\n    from scumble.engines.memory import MemoryEngine"),
        ("engines/spark.py", "import importlib\nimportlib.import_module('scumble.privacy')"),
        ("mining/tree.py", "if TYPE_CHECKING:\n    from scumble.files.release import read"),
        ("privacy/holder.py", "from scumble.engines.memory import MemoryEngine"),
        ("flows/release.py", "from scumble.cli import main"),
        ("__init__.py", "from scumble.cli import main"),
        ("studio/page.py", "from scumble.cli import main"),
        ("errors.py", "from scumble.model import plan"),
        ("utils.py", ""),
    ],
)
def test_a_planted_import_is_caught(path: str, source: str) -> None:
    assert len(import_violations(source, path)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("model/schema.py", "import numpy\nfrom scumble.errors import InputError\nfrom scumble.model.cut import Cut"),
        ("methods/diffgen/method.py", "from scumble.privacy.query import Query\nfrom ..plain import method"),
        ("flows/join.py", "from scumble.files import folder\nfrom scumble.joint.holder import JointHolder"),
        ("cli.py", "import scumble\nfrom scumble.flows import release\nfrom scumble.comparison.compare import compare"),
        ("__init__.py", "from scumble.flows.release import release"),
    ],
)
def test_a_rightful_import_passes(path: str, source: str) -> None:
    assert import_violations(source, path) == []


def test_modules_stay_short() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {path: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}


def test_randomness_lives_in_noise_alone() -> None:
    check_modules(randomness, [path for path in MODULES if path != PACKAGE / NOISE])


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import secrets as s",
        "from secrets import token_bytes",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import os\nkey = os.urandom(32)",
        "from os import urandom",
        "import numpy as np\nx = np.random.laplace()",
        "import numpy\ngenerator = numpy.random.Generator",
        "def draw(default_rng):\n    return default_rng()",
    ],
)
def test_planted_randomness_is_caught(source: str) -> None:
    assert randomness(source, "methods/diffgen/method.py")


def test_words_about_randomness_pass() -> None:
    assert randomness('"""No np.random here."""\nrandom_sources = 4\nself.random', "model/plan.py") == []


def test_engines_stay_in_their_room() -> None:
    check_modules(
        engine_libraries, [path for path in MODULES if path.parent not in {PACKAGE / "engines", PACKAGE / "sources"}]
    )


@pytest.mark.parametrize(
    "source",
    [
        "import duckdb",
        "def f():\n    from pyspark.sql import SparkSession",
        "from adbc_driver_postgresql import dbapi",
        "from scumble.engines.spark import SparkEngine",
        "from scumble.engines import duckdb",
        "import importlib\nimportlib.import_module('py4j.protocol')",
        "import numba",
    ],
)
def test_a_planted_engine_is_caught(source: str) -> None:
    assert len(engine_libraries(source, "sources/opening.py")) == 1


def test_the_front_of_the_engines_passes() -> None:
    front = "from scumble.engines import ENGINES\nfrom scumble.sources import scan\nimport pyarrow"
    assert engine_libraries(front, "sources/opening.py") == []


def test_no_float_is_called_epsilon_where_budgets_are_spent() -> None:
    check_modules(float_budgets, modules_under("privacy/"))


@pytest.mark.parametrize(
    "source",
    [
        "def spend(epsilon: float): ...",
        "def spend(*, step_epsilon: Fraction | float = 1): ...",
        "class Spend:\n    epsilon: 'float'",
        "self.epsilon: np.float64 = x",
    ],
)
def test_a_planted_float_budget_is_caught(source: str) -> None:
    assert len(float_budgets(source, "privacy/holder.py")) == 1


def test_exact_budgets_and_other_floats_pass() -> None:
    assert float_budgets("def f(epsilon: Fraction, scale: float, x): ...", "privacy/noise.py") == []


def test_only_the_kinds_of_release_ask_for_the_kind() -> None:
    kinds = modules_under("files/kinds/")
    assert kinds
    check_modules(questions_of_kind, [path for path in MODULES if path not in {PACKAGE / "model/release.py", *kinds}])


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(release, CellRelease)",
        "assert not isinstance(made, RecordRelease | Schema)",
        "isinstance(rows, (Schema, model.release.FineRows))",
        "issubclass(type(made), BlurredRelease)",
        "if type(made) is CellRelease: ...",
        "match made:\n    case CellRelease(): ...",
        "match made:\n    case Schema() | release.BlurredRelease(records=n): ...",
    ],
)
def test_a_planted_question_of_kind_is_caught(source: str) -> None:
    assert len(questions_of_kind(source, "flows/evaluate.py")) == 1


def test_other_uses_of_the_kinds_pass() -> None:
    source = "def f(x: CellRelease) -> None:\n    isinstance(x, Release)\n    return CellRelease(count=x.cells.count)"
    assert questions_of_kind(source, "flows/evaluate.py") == []


def test_no_module_compares_the_text_of_an_exception() -> None:
    ours = [path for path in MODULES if path.relative_to(PACKAGE).as_posix() not in COMPARED_ON_PURPOSE]
    check_modules(compared_messages, ours)
    for path, times in COMPARED_ON_PURPOSE.items():
        assert len(compared_messages((PACKAGE / path).read_text("utf-8"), path)) == times


@pytest.mark.parametrize(
    "body",
    [
        'if "stands" not in str(error): raise',
        'if str(error) == "no": raise',
        'if error.args[0].startswith("no"): raise',
        'if str(error).lower().endswith("x"): raise',
        'if re.search("no .*", str(error)): raise',
        'if "x" in f"{error}": raise',
        'match str(error):\n        case "no": raise',
        'if error.args == ("no",): raise',
    ],
)
def test_a_planted_comparison_of_a_message_is_caught(body: str) -> None:
    source = f"try:\n    f()\nexcept ValueError as error:\n    {body}"
    assert compared_messages(source, "flows/charge.py")


@pytest.mark.parametrize(
    "body",
    [
        'raise InputError(f"wrong: {error}") from error',
        "if error.charge is None: raise",
        "if error.errno == 2: raise",
        'problem = str(error) or "out of memory"',
        'if "x" in str(other): raise',
    ],
)
def test_attributes_and_quoted_messages_pass(body: str) -> None:
    source = f"try:\n    f()\nexcept ValueError as error:\n    {body}"
    assert compared_messages(source, "flows/charge.py") == []


def test_no_package_host_and_no_machine_path() -> None:
    found = []
    for path in repository_files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue  # a picture or an archive
        found += hosts_and_paths(text, path.relative_to(ROOT).as_posix())
    assert not found, "\n".join(found)


def test_planted_hosts_and_paths_are_caught() -> None:
    planted = ["https://pypi" + ".org/simple", "https://files" + ".pythonhosted.org", "--index" + "-url x"]
    planted += [f"open('/{folder}/me')" for folder in ("work", "home", "root")]
    for line in planted:
        assert len(hosts_and_paths(line, "docs/x.md")) == 1, line
    for line in ("../shared/data", "docs/home/page.md", "#!/usr/bin/env bash", "homework/root/work/x"):
        assert hosts_and_paths(line, "docs/x.md") == [], line


def test_the_listing_of_files_sees_this_one() -> None:
    assert Path(__file__).resolve() in repository_files()


LOCK_FILES = sorted(path.name for path in ROOT.glob("requirements*.lock"))


@pytest.mark.parametrize("name", LOCK_FILES)
def test_every_locked_package_has_the_hashes_of_its_files(name: str) -> None:
    for requirement, hashes in locked_requirements(name).items():
        assert hashes, f"{requirement} has no hash: run `make lock`"
        assert all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", each) for each in hashes), requirement


def test_lock_files_are_installed_by_hash_only() -> None:
    """Every `-r` of pip stands behind `--require-hashes`, and every lock file is installed by some target."""
    recipes = (ROOT / "Makefile").read_text("utf-8") + (ROOT / ".ci" / "run").read_text("utf-8")
    by_file = [line for line in recipes.splitlines() if re.search(r"\s-r(\s|$)", line)]
    assert by_file == ["PIP_INSTALL_LOCK := $(PIP_INSTALL) --require-hashes -r"]
    assert sorted(set(re.findall(r"\$\(PIP_INSTALL_LOCK\) (\S+\.lock)", recipes))) == LOCK_FILES


def test_the_lock_pins_every_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = pinned_versions()
    for line in project["dependencies"] + project["optional-dependencies"]["dev"]:
        requirement = Requirement(line)
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned is not None, f"{requirement.name} is not in requirements.lock: run `make lock`"
        assert requirement.specifier.contains(pinned), f"{line} does not allow the pinned {pinned}: run `make lock`"


def test_the_project_file_names_what_exists() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    patterns = [*tool["ruff"]["lint"]["per-file-ignores"], *tool["pytest"]["ini_options"]["testpaths"]]
    patterns += [pattern.removeprefix("/") for pattern in tool["hatch"]["build"]["targets"]["sdist"]["include"]]
    assert [pattern for pattern in patterns if not any(ROOT.glob(pattern))] == []


def test_make_clean_removes_caches_and_nothing_else(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    folders = {path.relative_to(ROOT).parts[0] for path in repository_files() if path.parent != ROOT}
    for folder in folders:
        (tmp_path / folder / "__pycache__").mkdir(parents=True)
        (tmp_path / folder / "kept.py").touch()
    done = subprocess.run(["make", "clean"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not any((tmp_path / folder / "__pycache__").exists() for folder in ("src", "tests", "benchmarks"))
    assert all((tmp_path / folder / "kept.py").exists() for folder in folders)


def test_every_target_of_ci_has_a_budget_and_all_fit_into_the_stated_time() -> None:
    targets = re.findall(r"^make (\S+)", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)
    rows = re.findall(r"^\| `make (\S+)` \|.*\| (\d+) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert [target for target, _ in rows] == targets
    assert targets
    assert sum(int(minutes) for _, minutes in rows) <= 60


def test_every_mark_that_is_left_out_has_a_target_that_runs_it() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]["addopts"]
    left_out = set(re.findall(r"not (\w+)", options[options.index("-m") + 1]))
    recipes = re.findall(
        r"^\t\$\(BIN\)/pytest -m (?:\"([^\"]+)\"|(\w+))", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    run = {word for recipe in recipes for part in recipe for word in part.split(" or ") if word}
    assert left_out == run


def missing_files(text: str, path: str) -> list[str]:
    """Modules and linked files that a page names and that do not exist. `verify.py` may be in any folder."""
    known = [file.relative_to(ROOT).as_posix() for file in repository_files()]
    named = re.findall(r"`([\w./-]+\.py)\b", text)
    found = [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in known)]
    links = [link for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) if "{" not in link]
    found += [link for link in links if not (ROOT / path).parent.joinpath(link).exists()]
    return [f"{path}: {name}" for name in found]


def test_pages_name_files_that_exist() -> None:
    pages = [path for path in repository_files() if path.suffix == ".md" and "templates" not in path.parts]
    assert len(pages) > 10
    names = {path: path.relative_to(ROOT).as_posix() for path in pages if path.name != "CHANGELOG.md"}
    found = [line for path, name in names.items() for line in missing_files(path.read_text("utf-8"), name)]
    assert not found, "\n".join(found)


def test_a_planted_missing_file_is_caught() -> None:
    text = "`verify.py`, `files/verify.py` and [the map](architecture.md#rooms), [elsewhere](https://example.org/x.md)"
    assert missing_files(text, "docs/x.md") == []
    assert len(missing_files("`flow.py` and `files/holder.py`, [a page](nowhere.md)", "docs/x.md")) == 3


@pytest.mark.parametrize(
    ("figure", "most"),
    [
        ("schema_codecs", 1),
        ("holder_surfaces", 1),
        ("release_kinds", 0),
        ("name_collisions", 0),
        ("untested_modules", 0),
    ],
)
def test_every_idea_has_one_place(monkeypatch: pytest.MonkeyPatch, figure: str, most: int) -> None:
    """What each figure counts is said in `benchmarks/house.py`, whose own tests plant offenders."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import house

    found = getattr(house, figure)(house.Source.read(PACKAGE, ROOT / "tests"))
    assert found.value <= most, "\n".join(found.places)


REAL_DATA_TESTS = """
    import pytest

    @pytest.mark.real_data
    def test_marked():
        pass

    def test_with_the_fixture(data_folder):
        assert data_folder.is_dir()

    @pytest.mark.real_data
    def test_that_skips_itself():
        pytest.skip("not today")

    def test_without_data():
        pytest.skip("anyone may")
"""


@pytest.mark.parametrize(
    ("data", "required", "outcomes"),
    [
        (None, False, {"skipped": 4}),
        (None, True, {"failed": 3, "skipped": 1}),
        ("there", False, {"passed": 2, "skipped": 2}),
        ("there", True, {"passed": 2, "failed": 1, "skipped": 1}),
        ("missing", False, {"failed": 3, "skipped": 1}),
    ],
)
def test_absent_real_data_skips_or_fails(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    data: str | None,
    required: bool,
    outcomes: dict[str, int],
) -> None:
    for variable in ("SCUMBLE_DATA", "SCUMBLE_REAL_DATA_REQUIRED"):
        monkeypatch.delenv(variable, raising=False)
    if data is not None:
        monkeypatch.setenv("SCUMBLE_DATA", str(pytester.path / data))
    if required:
        monkeypatch.setenv("SCUMBLE_REAL_DATA_REQUIRED", "1")
    pytester.mkdir("there")
    pytester.makeini("[pytest]\nmarkers = real_data: as in pyproject.toml")
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text("utf-8"))
    pytester.makepyfile(REAL_DATA_TESTS)
    result = pytester.runpytest_inprocess("--strict-markers", "-p", "no:cacheprovider")
    counted = result.parseoutcomes()
    assert {"failed" if kind == "errors" else kind: number for kind, number in counted.items()} == outcomes
