"""The proof of perturbed reports names only what exists."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROOF = ROOT / "src" / "scumble" / "privacy" / "PROOF.md"
# Words of the text itself and of Python; every other name in backticks must be defined in the package.
NOT_OURS = {"truth", "other", "missing", "repr"}


def defined_names() -> set[str]:
    names = set()
    for path in (ROOT / "src" / "scumble").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    names.add(name)
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    names.add(name)
        names.add(path.stem)
        names.add(path.parent.name)
    return names


def test_every_function_and_test_that_the_proof_names_exists() -> None:
    known = defined_names()
    spans = set(re.findall(r"`([^`\n]+)`", PROOF.read_text(encoding="utf-8")))
    files = {span for span in spans if span.endswith(".py")}
    assert files and all(list((ROOT / "tests").rglob(name)) for name in files)
    names = {span for span in spans - files if re.fullmatch(r"[A-Za-z_][\w.]*", span)} - NOT_OURS
    assert len(names) > 20
    assert {part for name in names for part in name.split(".")} <= known
