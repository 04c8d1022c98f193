"""Examples are scripts of cells, and become notebooks with the same code."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import examples
from notebooks import notebook
from pages import ROOT

EXAMPLES = examples()


def test_the_examples_are_found_and_the_page_names_each() -> None:
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    assert len(EXAMPLES) == 5
    assert [script.name for script in EXAMPLES if f"(../examples/{script.name})" not in page] == []


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_a_notebook_has_the_code_of_its_script_in_order(script: Path) -> None:
    text = script.read_text("utf-8")
    cells = notebook(text)["cells"]
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(text))
    assert cells[0]["cell_type"] == "markdown" and cells[0]["source"].startswith("# ")
    assert len({cell["id"] for cell in cells}) == len(cells) > 6


def test_notebooks_are_written(tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "docs" / "site" / "notebooks.py"), "--out", str(tmp_path / "made")]
    subprocess.run([*program, str(EXAMPLES[0])], check=True, capture_output=True)
    assert json.loads((tmp_path / "made" / f"{EXAMPLES[0].stem}.ipynb").read_text("utf-8"))["nbformat"] == 4
