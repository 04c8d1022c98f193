"""Makes what the inputs of the fuzzer start from: small releases of every kind, a model, an agreement, a ledger.

`python -m fuzzing.seeds FOLDER` fills an empty folder. It is a process of its own, because a release starts threads.
"""

import os
import subprocess
import sys
from pathlib import Path

from command_line import SCHEMA, people

import scumble
from scumble.flows.join_plan import write_agreement
from scumble.flows.mine import train
from scumble.joint.session.transcript import Transcript

RETAINED = {"job": "70%", "income": "80%"}


def make(folder: Path) -> None:
    """Fill an empty folder."""
    os.environ["XDG_DATA_HOME"] = str(folder / "data")
    (folder / "people.csv").write_text(people(60))
    (folder / "schema.yaml").write_text(SCHEMA)
    table, schema, ledger = folder / "people.csv", folder / "schema.yaml", folder / "ledger" / "ledger.db"
    key = folder / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
    key.chmod(0o600)
    scumble.release(table, schema=schema, epsilon=1, out=folder / "cells", ledger=ledger)
    with scumble.Ledger.open(ledger) as opened:
        opened.grant("people", 5, "a second release")
    scumble.release(table, schema=schema, epsilon=1, out=folder / "cells-signed", sign=key, ledger=ledger)
    for name, method in (("tables", "explore"), ("records", "histograms"), ("averages", "microaggregate")):
        other = folder / "others" / f"{name}.db"
        scumble.release(table, schema=schema, method=method, epsilon=1, out=folder / name, ledger=other)
    fixed = folder / "fixed.yaml"
    fixed.write_text(SCHEMA.replace("target:", "unit: replace\nrows: 60\ntarget:"))
    other = folder / "others" / "groups.db"
    scumble.release(
        table, schema=fixed, method="mdav", k=5, accept=["k-anonymity"], out=folder / "groups", ledger=other
    )
    scumble.perturb(
        table,
        schema=schema,
        out=folder / "perturbed",
        accept=["interval"],
        retain=RETAINED,
    )
    scumble.perturb(table, schema=schema, out=folder / "perturbed-local", epsilon=2)
    train(folder / "perturbed").write(folder / "model.json")
    write_agreement(
        folder / "agreed",
        schema=schema,
        parties={
            name: {"address": f"127.0.0.1:{7000 + number}", "owner": True, "computes": True}
            for number, name in enumerate(("north", "south", "east"))
        },
        parameters={"epsilon": "1"},
        rows_at_most=1000,
    )
    (folder / "agreed" / "agreement.yaml").rename(folder / "agreement.yaml")
    transcript = Transcript(
        folder / "transcript.jsonl", party="north", names=("north", "south", "east"), agreement=bytes(32)
    )
    transcript.attempt("first")
    for number in range(3):
        transcript.sent(1, number, b"message", bytes(32))
        transcript.received(2, number, b"message", bytes(32))
        transcript.opened(number, "count the cells", b"answer")
    transcript.close(finished=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
