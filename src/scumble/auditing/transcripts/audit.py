"""`scumble audit --transcripts`: the transcript check of one method, on synthetic tables of a schema."""

from itertools import chain
from pathlib import Path
from typing import Any

from scumble.auditing.laws.cases import served_schema
from scumble.auditing.neighbours import candidate_pairs
from scumble.auditing.transcripts.check import CentralExecution, TranscriptCheck
from scumble.auditing.transcripts.finding import TranscriptFinding
from scumble.auditing.transcripts.tables import random_pairs
from scumble.errors import InputError
from scumble.flows.plan import schema_of
from scumble.flows.progress import Progress
from scumble.methods import Params, method_and_parameters
from scumble.methods.method import Method
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation

TRANSCRIPTS_PER_PAIR = 4


def check_transcripts(
    method: str | Params | Method = "diffgen",
    *,
    schema: Schema | str | Path | None = None,
    transcripts: int = 1_000,
    seconds: float | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> TranscriptFinding:
    """Compare this many transcripts of a method, first on chosen pairs of neighbouring tables, then on random ones.

    With `seconds`, no further transcript is begun after that time. Without `schema` the tables have a small built-in
    one. No private data is read, and no ledger is charged.
    """
    if transcripts < 1:
        raise InputError(f"The number of transcripts is {transcripts}. Give 1 or more.")
    if isinstance(method, str | Params):
        chosen, settings = method_and_parameters(method, parameters)
    else:
        chosen, settings = method, method.parameters(**parameters)
    public = served_schema(chosen, settings) if schema is None else schema_of(schema)
    check = TranscriptCheck(CentralExecution(method=chosen, schema=public, parameters=settings))
    pairs = chain(candidate_pairs(chosen, public, settings), random_pairs(public, simulation()))
    return check.check(pairs, transcripts=TRANSCRIPTS_PER_PAIR, at_most=transcripts, seconds=seconds, progress=progress)
