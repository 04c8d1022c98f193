"""Times `scumble audit` with its default options for every method, and writes the table into docs/audit.md.

    python benchmarks/audit_times.py docs/audit.md

The first answer is the exact loss of transcripts; the seconds in all include the sampling. Both are by the clock on the
wall, because that is what a user waits for, and include starting Python. A method that needs parameters gets those that
it lists as `audited`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scumble.auditing.laws.cases import declared_epsilon, parameters_for, served_schema, settings_of
from scumble.methods import METHODS
from scumble.methods.method import Method
from scumble.methods.persons import plan_release

BEGIN, END = "<!-- begin: made by `python benchmarks/audit_times.py docs/audit.md` -->", "<!-- end of times -->"
HEAD = "| method | options | first answer, s | in all, s | result |\n|---|---|---|---|---|"


def options(method: Method) -> list[str] | None:
    """The options that the method cannot do without; None if it declares no epsilon."""
    needed = {name for name, field in method.parameters.model_fields.items() if field.is_required()}
    settings = {name: value for name, value in next(iter(settings_of(method)), {}).items() if name in needed}
    parameters = parameters_for(method, 1, settings)
    if declared_epsilon(plan_release(method, served_schema(method, parameters), parameters).guarantee) is None:
        return None
    return [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def timed(method: Method, more: list[str], state: Path) -> str:
    words = [sys.executable, "-m", "scumble", "audit", "--method", method.name, "--epsilon", "1", *more]
    began = time.monotonic()
    with subprocess.Popen(
        [*words, "--state", str(state)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as command:
        assert command.stdout is not None
        first = command.stdout.readline()
        answered = time.monotonic() - began
        text = first + command.stdout.read()
    ended = time.monotonic() - began
    found = "refuted" if "REFUTED" in text else text.partition("the lower bound is ")[2].partition(" (")[0]
    if not found:
        raise SystemExit(f"{method.name}: {text}")
    sys.stderr.write(f"{method.name}: {answered:.0f} s, {ended:.0f} s\n")
    result = found if found == "refuted" else f"lower bound {found}"
    return f"| {method.name} | {' '.join(more)} | {answered:.0f} | {ended:.0f} | {result} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the default audit of every method.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--rows", type=Path, help="keep the rows so far in this file, and resume from it")
    given = parser.parse_args()
    kept = given.rows or Path(tempfile.mkdtemp()) / "rows.json"
    rows: dict[str, str] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for method in METHODS:
        more = options(method)
        if more is not None and method.name not in rows:
            rows[method.name] = timed(method, more, kept.with_name(f"{method.name}.json"))
            kept.write_text(json.dumps(rows), encoding="utf-8")
    before, mark, rest = given.page.read_text("utf-8").partition(BEGIN)
    if not mark or END not in rest:
        raise SystemExit(f"{given.page} has no place for the table. Add the lines {BEGIN} and {END} to it.")
    table = "\n".join([HEAD, *rows.values()])
    given.page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
