"""Builds the wheel twice, compares both byte by byte, and adds its bill of materials; used by `make wheel`.

    python benchmarks/build_wheel.py [FOLDER]

Both builds start from a copy of the files that git knows, in folders of different names. They differ in what must not
matter: file times, permissions, hash seed, time zone and language. `SOURCE_DATE_EPOCH` is the time of the last commit
unless it is set.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bill_of_materials import bill_of_materials

ROOT = Path(__file__).parent.parent
DIFFERENCES: tuple[dict[str, str], ...] = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"},
)


def source_files(root: Path) -> list[Path]:
    """The files of the project, relative to its folder: those that git knows or does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted({Path(name) for name in listed.stdout.split("\0") if name and (root / name).is_file()})


def moment_of(root: Path) -> int:
    """Seconds since 1970: `SOURCE_DATE_EPOCH`, or the time of the last commit."""
    if stated := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(stated)
    asked = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=True)
    return int(asked.stdout)


def build(root: Path, folder: Path, moment: int, number: int) -> Path:
    """The wheel of a copy of the files in a folder of its own."""
    copy = folder / f"copy-{'x' * (1 + 8 * number)}"
    for name in source_files(root):
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, target)
        target.chmod(0o600 if number else 0o644)
        os.utime(target, (number * 10**9, number * 10**9))
    made = folder / f"wheel-{number}"
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(made)],
        cwd=copy,
        env=os.environ | DIFFERENCES[number] | {"SOURCE_DATE_EPOCH": str(moment)},
        capture_output=True,
        check=True,
    )
    (wheel,) = made.glob("*.whl")
    return wheel


def build_twice(root: Path, out: Path) -> Path:
    """Build, compare, and write the wheel. Ends the program if the two differ."""
    moment = moment_of(root)
    with tempfile.TemporaryDirectory(prefix="scumble-wheel-") as name:
        first, second = (build(root, Path(name), moment, number) for number in range(2))
        if first.name != second.name or first.read_bytes() != second.read_bytes():
            raise SystemExit(f"The two builds of {first.name} differ: the wheel is not reproducible.")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(first, out / first.name))


def main(folder: str = "dist") -> None:
    wheel = build_twice(ROOT, Path(folder))
    document = bill_of_materials(wheel, ROOT / "requirements.lock", moment_of(ROOT))
    bill = wheel.with_name(wheel.name.removesuffix(".whl") + ".cdx.json")
    bill.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    digest = document["metadata"]["component"]["hashes"][0]["content"]
    print(f"{wheel}: built twice, the same bytes, SHA-256 {digest}")
    print(f"{bill}: {len(document['components'])} packages")


if __name__ == "__main__":
    main(*sys.argv[1:])
