"""Builds the wheel and the source package, installs each into an empty environment, and runs the demo from it.

    python benchmarks/clean_install.py                    the wheel with the versions of requirements.lock, the source
                                                          package with the oldest allowed ones
    python benchmarks/clean_install.py --versions locked  both with the versions of requirements.lock
    python benchmarks/clean_install.py --versions newest  the newest allowed versions
    python benchmarks/clean_install.py --versions oldest  the oldest allowed versions of the declared packages
    python benchmarks/clean_install.py --sizes            only the wheel, and the table of docs/install.md

Used by `make test-install`. It fails if the core needs more than 25 packages, if an optional package came along, or if
the demo or `scumble doctor` fails.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_PACKAGES = 25
OWN = {"scumble", "pip", "setuptools"}


def build(folder: Path) -> list[Path]:
    """The wheel and the source package."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]


def constraints(versions: str) -> list[str]:
    """A line for each package whose version is fixed."""
    if versions == "newest":
        return []
    if versions == "locked":
        return re.findall(r"^[\w.-]+==[^ \\]+", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    bounds = (re.fullmatch(r"([\w.-]+)>=([\w.]+).*", line) for line in declared)
    # 2.10 means any 2.10.x: the oldest line, with its corrections.
    return [f"{found[1]}=={found[2]}.*" for found in bounds if found is not None]


def install(package: Path, folder: Path, versions: str) -> Path:
    """An environment with this package alone; the path of its folder for programs."""
    fixed = folder / "constraints.txt"
    fixed.write_text("\n".join(constraints(versions)) + "\n", encoding="utf-8")
    environment = folder / f"environment-{package.suffix.lstrip('.')}"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    programs = environment / "bin"
    pip = [str(programs / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input"]
    subprocess.run([*pip, "-c", str(fixed), str(package)], check=True)
    return programs


def output(*command: object, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def packages(programs: Path, cwd: Path) -> dict[str, tuple[str, float]]:
    """The installed packages with their versions and sizes in megabytes, without pip and scumble itself."""
    program = (
        "import importlib.metadata as m, json; "
        "print(json.dumps([[d.name, d.version, sum(f.locate().stat().st_size for f in d.files or [] "
        "if f.locate().is_file())] for d in m.distributions()]))"
    )
    found = json.loads(output(programs / "python", "-c", program, cwd=cwd))
    return {name: (version, size / 1e6) for name, version, size in found if name.lower() not in OWN}


def check(package: Path, folder: Path, versions: str, *, sizes: bool) -> None:
    began = time.perf_counter()
    programs = install(package, folder, versions)
    installed = packages(programs, folder)
    took = time.perf_counter() - began
    total = sum(size for _, size in installed.values())
    size = f"{package.stat().st_size / 1e6:.1f} MB"
    print(f"{package.name} ({size}), {versions} versions: {len(installed)} packages, {total:.0f} MB, {took:.0f} s")
    if len(installed) > MOST_PACKAGES:
        raise SystemExit(f"The core needs {len(installed)} packages, more than {MOST_PACKAGES}: {sorted(installed)}")
    if sizes:
        for name, (version, size) in sorted(installed.items(), key=lambda item: -item[1][1]):
            print(f"| {name} | {version} | {size:.1f} |")
        return
    print(output(programs / "scumble", "--version", cwd=folder).strip())
    found = json.loads(output(programs / "scumble", "doctor", "--json", cwd=folder))
    along = [name for name, extra in found["extras"].items() if extra["installed"]]
    if along:
        raise SystemExit(f"Optional packages came along with the core: {along}")
    began = time.perf_counter()
    demo = json.loads(output(programs / "scumble", "demo", "--json", "--out", f"demo-{package.suffix}", cwd=folder))
    accuracy = demo["evaluation"]["c45"]["accuracy"]
    print(f"demo: {len(demo['checks'])} checks, accuracy {accuracy:.3f}, {time.perf_counter() - began:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", choices=["locked", "newest", "oldest"])
    parser.add_argument("--sizes", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scumble-install-") as name:
        folder = Path(name)
        for package in build(folder / "dist"):
            if not options.sizes or package.suffix == ".whl":
                usual = "locked" if package.suffix == ".whl" else "oldest"
                check(package, folder, options.versions or usual, sizes=options.sizes)


if __name__ == "__main__":
    main()
