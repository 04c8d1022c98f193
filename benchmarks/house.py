"""The structure of the package in figures: how many roofs one idea has.

    python benchmarks/house.py                        this tree
    python benchmarks/house.py --before OLDER         beside the tree of another clone
    python benchmarks/house.py --details              with every place that was counted

All figures but the first three are read from the syntax trees of the modules, never from their paths, so that trees of
different layouts can be compared. `RULES` states what each figure counts. Rules about syntax are approximations: the
list that `--details` prints is there to be read.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOLDER_SURFACE = {"choose", "choose_apart", "measure", "disclose", "divide"}
RELEASE_KINDS = {"CellRelease", "RecordRelease", "BlurredRelease", "FineRows"}
DIALECT = {"told", "tell", "tells", "heard", "asked"}
Function = ast.FunctionDef | ast.AsyncFunctionDef

RULES = {
    "modules loaded by a release": "modules of the package in `sys.modules` after `scumble.release` on a small CSV",
    "modules that run in a release": "of these, modules with a function that a second release in one process calls",
    "plans computed in a release": "calls of `plan` of the chosen method",
    "value codecs": "functions outside `model/values.py`, `engines/coding.py` and the domains in `model/taxonomy.py` "
    "and `model/grid.py` that find the code of a value themselves: they search in `edge_floats`, look a label up in "
    "the `codes` of a domain, or call Arrow's `index_in`",
    "schema codecs": "modules that both write a taxonomy as plain data (`to_nested`) and build one from it (`nested`); "
    "the module that defines them is left out",
    "holder surfaces": f"classes that define all of {', '.join(sorted(HOLDER_SURFACE))}",
    "questions about the kind of a release": f"`isinstance` and `case` with {', '.join(sorted(RELEASE_KINDS))}, "
    "outside the module that defines them and outside `files/kinds`",
    "public names of several modules": "classes and type aliases without a leading underscore that two modules define",
    "modules that no test imports": "modules that no file under tests imports by name; `__init__` modules that hold "
    "only a docstring and imports are left out",
    "identifiers of the private dialect": f"names, attributes, parameters and functions with a word of "
    f"{', '.join(sorted(DIALECT))}",
    "modules": "modules of the package",
    "lines of the longest module": "",
}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure and the places that were counted."""

    value: int
    places: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Source:
    """The modules of a package, and the imports of its tests."""

    modules: Mapping[str, str]
    """Text by path, relative to the folder of the package."""
    tests: Mapping[str, str]
    package: str = "scumble"

    @classmethod
    def read(cls, package: Path, tests: Path) -> "Source":
        return cls(modules=_texts(package), tests=_texts(tests), package=package.name)

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        return {path: ast.parse(text) for path, text in self.modules.items()}

    def name(self, path: str) -> str:
        parts = Path(self.package, path).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _texts(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))}


def functions(tree: ast.AST) -> Iterator[Function]:
    """Functions and methods; one inside another is part of the outer one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield node
        else:
            yield from functions(node)


def attributes(tree: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def value_codecs(source: Source) -> Figure:
    homes = {path for path, tree in source.trees.items() if _defines(tree, {"Tree", "Grid"})}
    homes |= {path for path in source.modules if path in {"model/values.py", "engines/coding.py"}}
    return _figure(
        f"{path}:{function.lineno} {function.name}"
        for path, tree in source.trees.items()
        if path not in homes
        for function in functions(tree)
        if _finds_codes(function)
    )


def _finds_codes(function: Function) -> bool:
    used = attributes(function)
    searches = "index_in" in used or {"searchsorted", "edge_floats"} <= used
    return searches or any(_looks_up_label(node) for node in ast.walk(function))


def _looks_up_label(node: ast.AST) -> bool:
    """`x.codes[label]`, with a name that is not an array of places, or `x.codes.get(label)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Attribute(attr="codes"))):
            return True
        case ast.Subscript(value=ast.Attribute(attr="codes"), slice=ast.Name(id="label" | "text" | "value")):
            return True
    return False


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def schema_codecs(source: Source) -> Figure:
    return _figure(
        path
        for path, tree in source.trees.items()
        if {"to_nested", "nested"} <= attributes(tree) and not _defines(tree, {"Tree"})
    )


def holder_surfaces(source: Source) -> Figure:
    return _figure(
        f"{path}:{node.lineno} {node.name}"
        for path, tree in source.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and {each.name for each in node.body if isinstance(each, Function)} >= HOLDER_SURFACE
    )


def release_kinds(source: Source) -> Figure:
    return _figure(
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path, tree in source.trees.items()
        if not _defines(tree, {"CellRelease"}) and not path.startswith("files/kinds/")
        for node in _questions(tree)
    )


def _questions(tree: ast.AST) -> Iterator[ast.Call | ast.MatchClass]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]) if _names(kinds) & RELEASE_KINDS:
                yield node
            case ast.MatchClass(cls=kind) if _names(kind) & RELEASE_KINDS:
                yield node


def name_collisions(source: Source) -> Figure:
    found = defaultdict(list)
    for path, tree in source.trees.items():
        for node in tree.body:
            name = _public_name(node)
            if name is not None:
                found[name].append(path)
    return _figure(f"{name}: {', '.join(paths)}" for name, paths in sorted(found.items()) if len(paths) > 1)


def _public_name(node: ast.stmt) -> str | None:
    match node:
        case ast.ClassDef(name=name):
            pass
        # A type alias is written like a class, a constant in capitals.
        case ast.Assign(targets=[ast.Name(id=name)]) if name != name.upper() and name[0].isupper():
            pass
        case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
            pass
        case _:
            return None
    return None if name.startswith("_") else name


def untested_modules(source: Source) -> Figure:
    wanted = {source.name(path) for path, tree in source.trees.items() if not _only_a_door(path, tree)}
    for text in source.tests.values():
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Import(names=names):
                    wanted -= {each.name for each in names}
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    wanted -= {module, *(f"{module}.{each.name}" for each in names)}
    return _figure(sorted(wanted))


def _only_a_door(path: str, tree: ast.Module) -> bool:
    passive = (ast.Import, ast.ImportFrom, ast.Expr)
    return path.endswith("__main__.py") or (
        path.endswith("__init__.py") and all(isinstance(node, passive) for node in tree.body)
    )


def dialect(source: Source) -> Figure:
    return _figure(
        f"{path}:{line} {name}"
        for path, tree in source.trees.items()
        for line, name in _identifiers(tree)
        if DIALECT & set(name.lower().split("_"))
    )


def _identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name)
                | ast.Attribute(attr=name)
                | ast.arg(arg=name)
                | ast.keyword(arg=str(name))
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield node.lineno, name


def _defines(tree: ast.Module, names: set[str]) -> bool:
    return names <= {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def _figure(places: Iterator[str] | list[str]) -> Figure:
    found = tuple(places)
    return Figure(value=len(found), places=found)


PROBE = """
import functools, json, sys
from pathlib import Path
import scumble
from scumble.methods import METHODS

folder, package = Path(sys.argv[1]), str(Path(scumble.__file__).parent)
calls, ran = [], set()
for kind in {type(method) for method in METHODS if method.name == "diffgen"}:
    @functools.wraps(kind.plan)
    def plan(*arguments, _plan=kind.plan, **options):
        calls.append(1)
        return _plan(*arguments, **options)
    kind.plan = plan

def called(frame, event, value):
    if event == "call" and frame.f_code.co_filename.startswith(package):
        ran.add(frame.f_code.co_filename)

def released(name):
    scumble.release(folder / "people.csv", schema=folder / "schema.yaml", epsilon="1", rounds=2, dataset="people",
                    out=folder / name, ledger=folder / f"{name}.db")

released("first")  # imports what it needs, so that the second release runs functions and no module's body
calls.clear()
sys.setprofile(called)
released("second")
sys.setprofile(None)
loaded = sorted(name for name in sys.modules if name.split(".")[0] == "scumble")
print(json.dumps({"loaded": loaded, "ran": sorted(Path(name).relative_to(package).as_posix() for name in ran),
                  "plans": len(calls)}))
"""
SCHEMA = """scumble: schema/1
unit: add-remove
target: class
attributes:
  age: {numeric: {low: 0, high: 40, step: 10}}
  colour: {taxonomy: {Any: {red: , blue: , green: }}}
  class: {classes: ["no", "yes"]}
"""


def release_path(package: Path) -> dict[str, Figure]:
    """What a small release loads, runs and plans, in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
        rows = [f"{row % 40},{('red', 'blue', 'green')[row % 3]},{('no', 'yes')[row % 2]}" for row in range(60)]
        (folder / "people.csv").write_text("\n".join(["age,colour,class", *rows]) + "\n", encoding="utf-8")
        command = [sys.executable, "-c", PROBE, str(folder)]
        environment = {**os.environ, "PYTHONPATH": str(package.resolve().parent)}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {
        "modules loaded by a release": _figure(found["loaded"]),
        "modules that run in a release": _figure(found["ran"]),
        "plans computed in a release": Figure(value=found["plans"]),
    }


def structure(source: Source) -> dict[str, Figure]:
    """The figures that are read from the syntax trees."""
    lengths = {path: len(text.splitlines()) for path, text in source.modules.items()}
    longest = max(lengths, key=lambda path: (lengths[path], path))
    return {
        "value codecs": value_codecs(source),
        "schema codecs": schema_codecs(source),
        "holder surfaces": holder_surfaces(source),
        "questions about the kind of a release": release_kinds(source),
        "public names of several modules": name_collisions(source),
        "modules that no test imports": untested_modules(source),
        "identifiers of the private dialect": dialect(source),
        "modules": Figure(value=len(source.modules)),
        "lines of the longest module": Figure(value=lengths[longest], places=(longest,)),
    }


def measured(package: Path, tests: Path) -> dict[str, Figure]:
    return {**release_path(package), **structure(Source.read(package, tests))}


def table(columns: Mapping[str, Mapping[str, Figure]]) -> str:
    """The figures as a table of Markdown, one column for each tree."""
    head = ["figure", *columns]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for what in RULES:
        values = [str(figures[what].value) for figures in columns.values()]
        lines.append(f"| {what} | {' | '.join(values)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=ROOT / "src" / "scumble", help="folder of the package")
    parser.add_argument("--tests", type=Path, help="folder of its tests (default: tests beside src)")
    parser.add_argument("--before", type=Path, help="root of another clone, shown in a column before this one")
    parser.add_argument("--details", action="store_true", help="list every place that was counted, and the rules")
    options = parser.parse_args()
    columns = {}
    if options.before is not None:
        columns["before"] = measured(options.before / "src" / "scumble", options.before / "tests")
    tests = options.tests or options.source.resolve().parents[1] / "tests"
    columns["after" if columns else "now"] = measured(options.source, tests)
    print(table(columns))
    if options.details:
        for heading, figures in columns.items():
            for what, figure in figures.items():
                print(f"\n{heading}, {what}: {RULES[what]}", *figure.places, sep="\n  ")


if __name__ == "__main__":
    main()
