"""The cases of the transcript check: every method that declares an epsilon, in each mode, under each unit it serves.

Transcripts cost milliseconds, so that more modes and a schema with more attributes can be checked than in a sampling
audit: those that a method lists in its optional attribute `transcribed`, beside `audited`. The wide schema has so many
attributes that `diffgen` selects the tables of its detail privately.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from scumble.auditing.laws.cases import declared_epsilon, parameters_for, settings_of, small_schemas, under_replace
from scumble.auditing.transcripts.check import CentralExecution
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods import METHODS
from scumble.methods.method import Method
from scumble.methods.persons import plan_release
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema

OF_PERSONS: dict[str, Any] = {"person": "patient-id", "rows_each_at_most": 3}

WIDE = """\
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 12, step: 1}}
  region: {taxonomy: {Any: {north: {n1: , n2: }, south: {s1: , s2: }}}}
  smoker: {taxonomy: {Any: {yes_: , no_: }}}
  urban: {taxonomy: {Any: {u: , v: }}}
  insured: {taxonomy: {Any: {i: , j: }}}
  partner: {taxonomy: {Any: {k: , l: }}}
  garden: {taxonomy: {Any: {g: , h: }}}
  night: {taxonomy: {Any: {d: , e: }}}
  class: {classes: [x, y, z]}
"""


@dataclass(frozen=True, kw_only=True)
class TranscriptCase:
    """A method in one mode on one schema."""

    method: Method
    settings: dict[str, Any]
    schema: Schema

    def execution(self, epsilon: object) -> CentralExecution:
        parameters = parameters_for(self.method, epsilon, self.settings)
        return CentralExecution(method=self.method, schema=self.schema, parameters=parameters)

    def __str__(self) -> str:
        words = [f"{name} {value}" for name, value in self.settings.items()]
        mode = f" ({', '.join(words)})" if words else ""
        persons = "" if self.schema.persons is None else ", persons"
        return f"{self.method.name}{mode}, {len(self.schema.attributes)} attributes, {self.schema.unit.value}{persons}"


def transcript_schemas() -> list[Schema]:
    """The small schemas of the audits and a wide one, under both units and with persons who have several rows, all with
    a public limit on the rows."""
    wide = parse_schema(WIDE, name="the wide schema")
    schemas = [replace(each, rows_at_most=each.rows or 100) for each in (*small_schemas(), wide, under_replace(wide))]
    several = [replace(each, **OF_PERSONS) for each in schemas if each.unit is Unit.ADD_REMOVE]
    return [*schemas, *several]


def transcript_cases() -> Iterator[TranscriptCase]:
    """Every method that declares an epsilon, in each mode, on each schema that it accepts."""
    for method in METHODS:
        more: tuple[dict[str, Any], ...] = getattr(method, "transcribed", ())
        for settings in (*settings_of(method), *more):
            parameters = parameters_for(method, 1, settings)
            for schema in transcript_schemas():
                try:
                    guarantee = plan_release(method, schema, parameters).guarantee
                except InputError:
                    continue
                if declared_epsilon(guarantee) is not None:
                    yield TranscriptCase(method=method, settings=settings, schema=schema)
