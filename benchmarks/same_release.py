"""Whether two clones of the repository write the same release, byte for byte, if they are given the same noise.

    python benchmarks/same_release.py --before CLONE DATA.parquet SCHEMA.yaml [PARAMETER=VALUE ...] [--engine duckdb]

The noise is drawn by a seeded generator that knows only how many answers were given before, so this is for testing. The
files of counts, rows and documents are compared by their hashes.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
COMPARED = ("counts.csv", "table.csv", "fine.csv", "detail.json", "schema.yaml", "fine.schema.yaml")


class RepeatedNoise:
    """The same noise in every run: rounded Laplace noise, and the best score after Gumbel noise."""

    def __init__(self) -> None:
        from scumble.privacy.noise import simulation

        self._generator = simulation(2011)

    def laplace(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> Any:
        noise = self._generator.laplace(scale=float(sensitivity / epsilon), size=values.shape)
        return values + noise.round().astype(values.dtype)

    def select(self, scores: Any, *, sensitivity: int, epsilon: Fraction, **_: Any) -> int:
        noise = self._generator.gumbel(scale=float(2 * sensitivity / epsilon), size=len(scores))
        return int((scores + noise).argmax())


def hashes(data: Path, schema_path: Path, engine_name: str, parameters: dict[str, str], folder: Path) -> list[str]:
    """The hash of each compared file of a release, written by the scumble that is imported here."""
    from scumble.engines import ENGINES
    from scumble.files.release_folder import write_release
    from scumble.files.schema_file import read_schema
    from scumble.flows.release import run
    from scumble.methods import method_named
    from scumble.sources import open_source

    schema = read_schema(schema_path)
    method = method_named("diffgen")
    chosen = method.parameters(**{"epsilon": "1", **parameters})
    engine = ENGINES[engine_name].open(open_source(data).batches(schema.columns), schema)
    plan = method.plan(schema, chosen)
    write_release(run(method, schema, chosen, engine, RepeatedNoise(), plan=plan), folder, {}, table=True)  # type: ignore[arg-type]
    engine.close()
    found = [folder / name for name in COMPARED if (folder / name).exists()]
    return [f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.name}" for path in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("schema", type=Path)
    parser.add_argument("parameters", nargs="*", help="of diffgen, as NAME=VALUE")
    parser.add_argument("--before", type=Path, help="the other clone")
    parser.add_argument("--engine", default="memory")
    options = parser.parse_args()
    if options.before is None:
        parameters = dict(each.split("=", 1) for each in options.parameters)
        with tempfile.TemporaryDirectory() as made:
            print("\n".join(hashes(options.data, options.schema, options.engine, parameters, Path(made))))
        return 0
    words = [sys.executable, __file__, str(options.data), str(options.schema), *options.parameters]
    printed = []
    for clone in (options.before, ROOT):
        environment = {**os.environ, "PYTHONPATH": str(clone.resolve() / "src")}
        done = subprocess.run([*words, "--engine", options.engine], env=environment, check=True, capture_output=True)
        printed.append(done.stdout.decode())
    same = printed[0] == printed[1]
    print("The same files:" if same else f"Before:\n{printed[0]}Now:", printed[1], sep="\n")
    return 0 if same else 4


if __name__ == "__main__":
    sys.exit(main())
