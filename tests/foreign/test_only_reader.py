"""Nothing reads a file, a document or a number from elsewhere except by `scumble.foreign`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "scumble"
READERS = ("foreign/", "sources/")
"""`sources` reads the private rows, which the data owner names."""
OPENERS = {"Ledger", "DuckDBEngine", "MemoryEngine", "SparkEngine", "archive"}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if not str(path.relative_to(PACKAGE)).startswith(READERS)]


def other_readers(source: str) -> Iterator[str]:
    """Calls that read a file, parse a document, or turn an entry of a document into an exact number."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _reads(node):
            yield f"line {node.lineno}: {ast.unparse(node)}"


def _reads(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="open" | "YAML"):
            return not any(word.arg is None for word in call.keywords) and ast.unparse(call) != "YAML()"
        case ast.Attribute(attr="read_text" | "read_bytes"):
            return True
        case ast.Attribute(value=ast.Name(id="json" | "yaml" | "pickle"), attr="load" | "loads" | "safe_load"):
            return True
        case ast.Attribute(value=ast.Name(id="pacsv"), attr="read_csv" | "open_csv"):
            return ast.unparse(call.args[0]) != "file"  # as `open_file` gave it
        case ast.Attribute(value=ast.Name(id="os"), attr="open"):
            return "O_WRONLY" not in ast.unparse(call) and "O_CREAT" not in ast.unparse(call) and not _of_folder(call)
        case ast.Attribute(attr="open", value=place):
            return ast.unparse(place) not in OPENERS and not _writes(call)
        case ast.Name(id="Fraction" | "Decimal"):
            return any(isinstance(each, ast.Subscript) and _is_entry(each.slice) for each in call.args)
    return False


def _is_entry(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _of_folder(call: ast.Call) -> bool:
    """A descriptor of a folder or of a file of our own, to lock it or to flush it: its content is not read."""
    return ast.unparse(call.args[0]) in ("folder", "path")


def _writes(call: ast.Call) -> bool:
    mode = call.args[0] if call.args else None
    if isinstance(mode, ast.Constant):
        return any(letter in str(mode.value) for letter in "wxa+")
    return mode is not None  # not a path's `open`, whose first argument is the mode


def test_the_rule_finds_readers() -> None:
    for source in (
        "open(path)",
        "path.open()",
        "path.open('rb')",
        "path.open(encoding='utf-8')",
        "path.read_text()",
        "(folder / 'a').read_bytes()",
        "json.loads(text)",
        "json.load(file)",
        "YAML(typ='safe').load(text)",
        "os.open(name, os.O_RDONLY)",
        "pacsv.read_csv(path)",
        "Fraction(data['epsilon'])",
    ):
        assert list(other_readers(source)), source
    for source in ("path.open('w')", "Ledger.open(path)", "read_text(path)", "json.dumps(data)", "Fraction(1, 3)"):
        assert not list(other_readers(source)), source


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(PACKAGE)) for path in MODULES])
def test_no_module_reads_otherwise(path: Path) -> None:
    assert list(other_readers(path.read_text(encoding="utf-8"))) == []
