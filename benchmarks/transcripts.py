"""Runs the transcript check on every method in each mode and under each unit, and prints the table of docs/audit.md.

With a delta, losses are rhos, and the largest one is divided by the rho that epsilon and delta allow.

python benchmarks/transcripts.py [--epsilon 1] [--transcripts 200]
"""

import argparse
import sys
import time
from itertools import chain

from scumble.auditing.neighbours import candidate_pairs
from scumble.auditing.transcripts.audit import TRANSCRIPTS_PER_PAIR
from scumble.auditing.transcripts.cases import TranscriptCase, transcript_cases
from scumble.auditing.transcripts.check import TranscriptCheck
from scumble.auditing.transcripts.tables import random_pairs
from scumble.model.zcdp import rho_within
from scumble.privacy.noise import simulation

COLUMNS = ("method", "unit", "transcripts", "largest loss / eps", "largest answer / its price", "CPU seconds")
SMALL = 3


def line(case: TranscriptCase, epsilon: str, transcripts: int) -> tuple[str, bool]:
    """A line of the table, and whether a proved guarantee was violated."""
    execution = case.execution(epsilon)
    pairs = chain(
        candidate_pairs(case.method, case.schema, execution.parameters), random_pairs(case.schema, simulation())
    )
    start = time.process_time()
    found = TranscriptCheck(execution).check(pairs, transcripts=TRANSCRIPTS_PER_PAIR, at_most=transcripts)
    seconds = time.process_time() - start
    mark = " **refuted**" if found.violation else ""
    name, unit = str(case).split(" attributes, ")
    allowed = found.epsilon if found.delta is None else rho_within(found.epsilon, found.delta)
    share = float(found.largest / allowed)
    cells = (
        f"{name} attributes",
        unit,
        f"{found.transcripts:,}",
        f"{share:.3f}{mark}",
        f"{float(found.largest_share):.3f}",
    )
    return f"| {' | '.join(cells)} | {seconds:.1f} |", bool(found.violation) and found.proved


def main() -> None:
    parser = argparse.ArgumentParser(description="Check the exact privacy loss of transcripts of every method.")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--transcripts", type=int, default=200, help="transcripts of each line")
    parser.add_argument("--small", action="store_true", help="leave out the schema with six attributes")
    parser.add_argument("--method", help="only this method")
    given = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    refuted = False
    for case in transcript_cases():
        if (given.small and len(case.schema.attributes) > SMALL) or given.method not in (None, case.method.name):
            continue
        text, wrong = line(case, given.epsilon, given.transcripts)
        print(text, flush=True)
        refuted |= wrong
    if refuted:
        sys.exit("A proved guarantee is violated.")


if __name__ == "__main__":
    main()
