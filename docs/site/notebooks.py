"""Writes scripts with `# %%` cells as Jupyter notebooks: `python docs/site/notebooks.py --out FOLDER SCRIPT...`.

Most notebook programs open such scripts themselves; this is for those that do not. Cells have no outputs.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

CELL = re.compile(r"^# %%(?P<kind> \[markdown\])?\n", re.M)


def notebook(script: str) -> dict[str, Any]:
    """The notebook (format 4.5) of a script.

    >>> made = notebook("# %% [markdown]\\n# # A title\\n#\\n# Text.\\n\\n# %%\\nx = 1\\n")
    >>> [cell["source"] for cell in made["cells"]]
    ['# A title\\n\\nText.', 'x = 1']
    """
    begins = list(CELL.finditer(script))
    ends = [each.start() for each in begins[1:]] + [len(script)]
    cells: list[dict[str, Any]] = []
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        body = script[begin.end() : end].strip()
        cell: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}}
        if begin["kind"]:
            cell |= {"cell_type": "markdown", "source": re.sub(r"^# ?", "", body, flags=re.M)}
        else:
            cell |= {"cell_type": "code", "source": body, "outputs": [], "execution_count": None}
        cells.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("scripts", nargs="+", type=Path)
    reader.add_argument("--out", type=Path, required=True, help="the folder for the notebooks")
    given = reader.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for script in given.scripts:
        made = given.out / f"{script.stem}.ipynb"
        made.write_text(json.dumps(notebook(script.read_text("utf-8")), indent=1, ensure_ascii=False), "utf-8")
        print(made)


if __name__ == "__main__":
    main()
