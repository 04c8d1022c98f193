#!/usr/bin/env python3
"""Creates the peers' environments in `.venv` next to this file, from their pinned requirements.

    python3 benchmarks/peers/install.py                all of them, with Python 3.11
    python3 benchmarks/peers/install.py diffprivlib    one of them

They need separate environments: pip finds no versions that suit all, and none of them runs with the packages that
scumble uses. scumble imports none of them; `scumble compare` exchanges files with `fit.py`.
"""

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = {
    "dpmm": "from dpmm.models.aim import AIMGM",
    "diffprivlib": "import diffprivlib.models",
    "interpret": "from interpret.privacy import DPExplainableBoostingClassifier",
    "mpyc": "from mpyc.runtime import mpc",
}
"""For each environment a statement that only runs if the installation works."""


def main() -> int:
    wanted = sys.argv[1:] or list(ENVIRONMENTS)
    unknown = [name for name in wanted if name not in ENVIRONMENTS]
    if unknown:
        print(f"Unknown environment {unknown[0]!r}. Available: {', '.join(ENVIRONMENTS)}.", file=sys.stderr)
        return 2
    if sys.version_info[:2] != (3, 11):
        print("The peers' pinned packages need Python 3.11 (dpmm none above it). Run this with it.", file=sys.stderr)
        return 2
    for name in wanted:
        folder = HERE / ".venv" / name
        print(f"{name}: {folder}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        install = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input"]
        subprocess.run([*install, "-r", HERE / f"requirements-{name}.txt"], check=True)
        subprocess.run([python, "-c", ENVIRONMENTS[name]], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
