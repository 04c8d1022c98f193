"""Runs all commands and snippets of README, CONTRIBUTING, the pages in docs/, and all examples: `make test-docs`.

What a page states about its code is described in `pages`. The code of a page runs in order in one new folder, with a
ledger in it. Pages that begin with the demo share one run of it.

What a command prints must be what the page shows, character by character unless the page states that it is noisy
(`printed`). `python docs/site/commands.py --write PAGE...` runs pages and renews the output they show;
`--record docs/examples.md` writes there how much was run, what was not run and why.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from assemble import assemble  # noqa: E402
from pages import ROOT, Block, UnmarkedCodeError, blocks, logical_lines, pages  # noqa: E402
from printed import CUT, differences  # noqa: E402

SECONDS = 300
PROMPT = "$ "
BEGIN, END = "<!-- begin: what was run -->", "<!-- end -->"
"""Marks around what `--record` writes."""
DEMO = "scumble demo --out demo"


class StalePageError(Exception):
    """A command of a page fails, or its output is not what the page shows."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of a page, with the exit code and the output that the page states."""

    place: str
    text: str
    code: int = 0
    lines: int | None = None
    shown: tuple[str, ...] = ()
    noise: str = "none"
    only: bool = False
    stderr: bool = False

    def run(self, folder: Path) -> tuple[str, ...]:
        """Run it; returns its output, as the page shows it. Raises `StalePageError` for another exit code."""
        done = subprocess.run(
            ["bash", "-ec", self.text],
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if done.returncode != self.code:
            raise StalePageError(
                f"{self.place}: the exit code of {self.text!r} is {done.returncode}, not {self.code}.\n{done.stderr}"
            )
        printed = (done.stdout + (done.stderr if self.code or self.stderr else "")).replace(f"{folder}/", "")
        return tuple(line.rstrip() for line in printed.splitlines())

    def cut(self, output: tuple[str, ...]) -> tuple[str, ...]:
        return output if self.lines is None or len(output) <= self.lines else (*output[: self.lines], CUT)

    def compare(self, found: Sequence[str]) -> None:
        """Raise `StalePageError` if the output is not what the page shows, up to the noise that the page states."""
        if differing := differences(self.shown, found, self.noise):
            page = self.place.partition(":")[0]
            raise StalePageError(
                f"{self.place}: {self.text!r} prints something else. Renew the page: "
                f"python docs/site/commands.py --write {page}\n" + "\n".join(differing[:20])
            )

    def refuse_prompts(self, found: Sequence[str]) -> None:
        """Raise `StalePageError` if a reader of the page would take output for a command: the block must say so."""
        if not self.only and any(line.startswith(PROMPT) for line in found):
            raise StalePageError(
                f"{self.place}: {self.text!r} prints lines that look like commands. Write ```console commands=1 and "
                f"keep this command alone in its block."
            )


@dataclass(kw_only=True)
class Demo:
    """One run of the demo, whose tables many pages use: the others copy its folder."""

    folder: Path
    output: tuple[str, ...] | None = None
    lock: Lock = field(default_factory=Lock)

    def copy(self, folder: Path) -> tuple[str, ...]:
        with self.lock:
            if self.output is None:
                self.folder.mkdir()
                self.output = Command(place="the demo", text=DEMO).run(self.folder)
        shutil.copytree(self.folder / "demo", folder / "demo")
        return self.output


def environment(folder: Path) -> Mapping[str, str]:
    """That of a new user in this folder, who has scumble on the path."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        "SCUMBLE_LEDGER": str(folder / "ledger.db"),
        "SCUMBLE_WITNESS": str(folder / "witness.db"),
        "COLUMNS": "110",
        "NO_COLOR": "1",
        "LANG": "C.UTF-8",
        "TMPDIR": str(folder),
        "OMP_NUM_THREADS": "1",  # several pages run at a time
    }


def commands(block: Block) -> list[Command]:
    """The commands of a block, or its snippet as one command."""
    code = int(block.options.get("exit", 0))
    if block.language == "first":
        return [Command(place=block.place, text=block.body.strip())]
    if block.language == "python":
        return [Command(place=block.place, text=f"python - <<'END'\n{block.body}END")]
    if block.language == "sh":
        return [Command(place=block.place, text=text, code=code) for text in logical_lines(block.body)]
    only = "commands" in block.options
    found: list[tuple[str, list[str]]] = []
    going_on = False
    for line in block.body.splitlines():
        if going_on:
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        elif line.startswith(PROMPT) and not (only and found):
            found.append((line.removeprefix(PROMPT), []))
        elif found:
            found[-1][1].append(line)
        going_on = line.endswith("\\") and bool(found) and not found[-1][1]
    lines = int(block.options["lines"]) if "lines" in block.options else None
    return [
        Command(
            place=block.place,
            text=text,
            code=code,
            lines=lines,
            shown=tuple(shown),
            noise=block.options.get("noise", "none"),
            only=only,
            stderr="stderr" in block.options,
        )
        for text, shown in found
    ]


def run_page(page: Path, folder: Path, *, write: bool = False, demo: Demo | None = None, root: Path = ROOT) -> int:
    """Run all commands and snippets of a page in a folder; returns how many of them the page shows."""
    text, count = page.read_text("utf-8"), 0
    for block in blocks(page, root):
        if "file" in block.options:
            (folder / block.options["file"]).write_text(block.body, "utf-8")
        if not block.runs:
            continue
        renewed: list[str] = []
        for command in commands(block):
            output = demo.copy(folder) if demo and command.text == DEMO else command.run(folder)
            found = command.cut(output)
            if block.language == "console":
                command.refuse_prompts(found)
                if not write:
                    command.compare(found)
            renewed += [f"{PROMPT}{command.text}", *found]
            count += block.language != "first"
        if block.language == "console":
            opening = block.text.partition("\n")[0]
            text = text.replace(block.text, "\n".join([opening, *renewed, "```"]))
    if write:
        page.write_text(text, encoding="utf-8")
    return count


def run_example(script: Path, folder: Path) -> int:
    """Run an example in a folder; returns 1. It must say something."""
    if not Command(place=script.name, text=f"python {script}").run(folder):
        raise StalePageError(f"{script.name} prints nothing.")
    return 1


def examples(root: Path = ROOT) -> list[Path]:
    return sorted((root / "examples").glob("*.py"))


def recorded(page: str, lines: Sequence[str]) -> str:
    """The page with these lines between its marks. Raises `StalePageError` if it has none."""
    begin, end = page.find(BEGIN), page.find(END)
    if not 0 <= begin < end:
        raise StalePageError(f"The page to record in has no {BEGIN} and {END}.")
    return "\n".join([page[: begin + len(BEGIN)], *lines, page[end:]])


def run_all(paths: Sequence[Path], *, write: bool, jobs: int, record: Path | None = None) -> int:
    """Run pages and examples, some at a time, print what was run and what was not; returns the exit code."""
    failures: list[str] = []

    with tempfile.TemporaryDirectory() as place:
        demo = Demo(folder=Path(place) / "demo")

        def run(number: int, path: Path) -> int:
            folder, begin, count = Path(place) / str(number), time.perf_counter(), 0
            folder.mkdir()
            try:
                count = (
                    run_example(path, folder)
                    if path.suffix == ".py"
                    else run_page(path, folder, write=write, demo=demo)
                )
            except (StalePageError, UnmarkedCodeError, subprocess.TimeoutExpired) as error:
                failures.append(str(error))
                print(f"FAILED {path.name}", flush=True)
            else:
                if count:
                    print(f"{path.name}: {count} run in {time.perf_counter() - begin:.0f} s", flush=True)
            shutil.rmtree(folder)
            return count

        with ThreadPoolExecutor(jobs) as pool:
            counts = list(pool.map(run, range(len(paths)), paths))
        links = assemble(ROOT, Path(place) / "site")
    scripts = sum(path.suffix == ".py" for path in paths)
    total = (
        f"{sum(counts) - scripts} commands and snippets of {len(paths) - scripts} pages and {scripts} examples "
        f"were run; {links} links were checked; {len(failures)} failed."
    )
    if not failures:
        left = [block for path in paths if path.suffix == ".md" for block in blocks(path) if block.reason]
        print(f"\nNot run ({len(left)} blocks):", *(f"  {block.place}: {block.reason}" for block in left), sep="\n")
        if record is not None:
            lines = [
                total,
                "",
                f"Not run, {len(left)} blocks:",
                "",
                *(f"- `{each.page}`: {each.reason}" for each in left),
            ]
            record.write_text(recorded(record.read_text("utf-8"), lines), encoding="utf-8")
    print(f"\n{total}")
    print(*failures, sep="\n\n", file=sys.stderr)
    return 1 if failures else 0


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("pages", nargs="*", type=Path, help="pages or examples (default: all)")
    reader.add_argument("--write", action="store_true", help="renew the output that the pages show")
    reader.add_argument("--jobs", type=int, default=1, help="how many pages run at a time")
    reader.add_argument("--record", type=Path, help="a page in which the figures of this run are written")
    given = reader.parse_args()
    chosen = [path.resolve() for path in given.pages] or [*examples(), *pages()]
    return run_all(chosen, write=given.write, jobs=given.jobs, record=given.record)


if __name__ == "__main__":
    sys.exit(main())
