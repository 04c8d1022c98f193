"""Builds the wheel and the source package, installs each into an empty environment, and runs the demo from it.

    python benchmarks/clean_install.py                    the wheel with the versions of requirements.lock, the source
                                                          package with the oldest allowed ones, and the wheel with the
                                                          newest allowed ones
    python benchmarks/clean_install.py --versions locked  both with the versions of requirements.lock
    python benchmarks/clean_install.py --versions newest  the newest allowed versions
    python benchmarks/clean_install.py --versions oldest  the oldest allowed versions of the declared packages
    python benchmarks/clean_install.py --python newer     the wheel on every newer Python that is found; or
                                                          --python PROGRAM, once for each
    python benchmarks/clean_install.py --sizes            only the wheel, and the table of docs/install.md

Used by `make test-install`. It fails if the core needs more than 25 packages, if an optional package came along, or if
the demo, `scumble verify` of its release or `scumble doctor` fails. If this happens only with the newest versions, the
exit code is 5 and the message names the packages that are newer than in requirements.lock.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_PACKAGES = 25
OWN = {"scumble", "pip", "setuptools"}
NEWER = ("python3.12", "python3.13", "python3.14")
"""Versions of Python that are tried beside the one that the lock is made with."""
NEWEST_FAILS = 5
"""The exit code if everything passes except the newest versions of the dependencies."""


class FailedError(Exception):
    """An installed package does not do what it should."""


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


def pinned() -> dict[str, str]:
    """The versions of requirements.lock, by the names of packages."""
    lines = (line.split("==") for line in constraints("locked"))
    return {canonical(name): version for name, version in lines}


def canonical(name: str) -> str:
    """The one spelling of a package's name.

    >>> canonical("ruamel.yaml") == canonical("Ruamel_Yaml")
    True
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def found_programs(names: Sequence[str]) -> list[str]:
    """Those of these interpreters that start; prints the others."""
    found = []
    for name in names:
        program = shutil.which(name)
        if program and not subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode:
            found.append(program)
        else:
            print(f"{name}: not found, not run")
    return found


def install(package: Path, folder: Path, versions: str, python: str) -> Path:
    """An environment with this package alone; the path of its folder for programs."""
    fixed = folder / "constraints.txt"
    fixed.write_text("\n".join(constraints(versions)) + "\n", encoding="utf-8")
    environment = folder / "environment"
    subprocess.run([python, "-m", "venv", "--clear", str(environment)], check=True)
    programs = environment / "bin"
    pip = [str(programs / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input"]
    output(*pip, "-c", str(fixed), package, cwd=folder)
    return programs


def output(*command: object, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
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


def check(package: Path, folder: Path, versions: str, *, python: str, sizes: bool = False) -> None:
    """Install a package and run it. Raises `FailedError`."""
    began = time.perf_counter()
    programs = install(package, folder, versions, python)
    installed = packages(programs, folder)
    took = time.perf_counter() - began
    total = sum(size for _, size in installed.values())
    size = f"{package.stat().st_size / 1e6:.2f} MB"
    version = output(programs / "python", "-c", "import platform; print(platform.python_version())", cwd=folder).strip()
    print(
        f"{package.name} ({size}), Python {version}, {versions} versions: {len(installed)} packages, {total:.0f} MB, "
        f"{took:.0f} s"
    )
    if versions == "newest":
        print("newer than requirements.lock:", newer_text(installed))
    if len(installed) > MOST_PACKAGES:
        raise FailedError(f"The core needs {len(installed)} packages, more than {MOST_PACKAGES}: {sorted(installed)}")
    if sizes:
        for name, (version, size) in sorted(installed.items(), key=lambda item: -item[1][1]):
            print(f"| {name} | {version} | {size:.1f} |")
        return
    print(output(programs / "scumble", "--version", cwd=folder).strip())
    run_demo(programs, folder)


def newer_text(installed: Mapping[str, tuple[str, float]]) -> str:
    """The packages with another version than in requirements.lock, each with both."""
    before = pinned()
    pairs = [(name, before.get(canonical(name), "-"), version) for name, (version, _) in sorted(installed.items())]
    return ", ".join(f"{name} {old} -> {new}" for name, old, new in pairs if old != new) or "none"


def run_demo(programs: Path, folder: Path) -> None:
    """Run `doctor`, the demo and `verify` of an installed package. Raises `FailedError`."""
    found = json.loads(output(programs / "scumble", "doctor", "--json", cwd=folder))
    along = [name for name, extra in found["extras"].items() if extra["installed"]]
    if along:
        raise FailedError(f"Optional packages came along with the core: {along}")
    shutil.rmtree(folder / "demo", ignore_errors=True)
    began = time.perf_counter()
    demo = json.loads(output(programs / "scumble", "demo", "--json", "--out", "demo", cwd=folder))
    accuracy = demo["evaluation"]["c45"]["accuracy"]
    print(f"demo: {len(demo['checks'])} checks, accuracy {accuracy:.3f}, {time.perf_counter() - began:.0f} s")
    print(output(programs / "scumble", "verify", "demo/release", cwd=folder).splitlines()[-1])


def chosen(options: argparse.Namespace, wheel: Path, source: Path) -> list[tuple[Path, str, str]]:
    """What to install: packages, versions of their dependencies, and interpreters."""
    own = sys.executable
    if options.sizes:
        return [(wheel, options.versions or "locked", own)]
    if options.python:
        programs = found_programs([name for each in options.python for name in (NEWER if each == "newer" else (each,))])
        return [(wheel, options.versions or "newest", program) for program in programs]
    if options.versions:
        return [(wheel, options.versions, own), (source, options.versions, own)]
    return [(wheel, "locked", own), (source, "oldest", own), (wheel, "newest", own)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", choices=["locked", "newest", "oldest"])
    parser.add_argument("--python", action="append", help="'newer', or an interpreter; can be repeated")
    parser.add_argument("--sizes", action="store_true")
    options = parser.parse_args()
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="scumble-install-") as name:
        folder = Path(name)
        wheel, source = build(folder / "dist")
        for package, versions, python in chosen(options, wheel, source):
            try:
                check(package, folder, versions, python=python, sizes=options.sizes)
            except FailedError as error:
                failed.append(versions)
                print(f"FAILED with the {versions} versions: {error}", file=sys.stderr)
    return exit_code(failed)


def exit_code(failed: Sequence[str]) -> int:
    """Distinguishes a failure of ours from one that only newer versions of other packages cause."""
    if set(failed) == {"newest"}:
        print(
            "Only the newest allowed versions fail. If the pinned ones pass, a new version of one of the packages "
            "above is the cause: adapt to it, or bound it in pyproject.toml.",
            file=sys.stderr,
        )
        return NEWEST_FAILS
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
