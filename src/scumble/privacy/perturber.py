"""Perturbs records: a block of a table at a time, or one record on its owner's machine.

Each value gets one 62-bit word from a source in `scumble.privacy.noise`. The channel of its attribute computes the
reported code from the true code and the word, in integer arithmetic, so the reports have exactly the distribution of
the noise model. The values of a record get independent words, so the epsilons of its attributes add up. Proof:
`privacy/PROOF.md`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.guarantee import LocalDP
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.raw_value import Value
from scumble.model.schema import Attribute, Outside
from scumble.model.values import code_of, read_value, text_of
from scumble.privacy.noise import KeyedWords, Keying, RowNumbers, SystemWords, Words


def perturb_block(
    model: NoiseModel,
    columns: Mapping[str, npt.NDArray[np.integer]],
    *,
    words: Words | None = None,
    entities: Sequence[str] | None = None,
    occurrences: Integers | None = None,
) -> dict[str, Integers]:
    """Perturb coded columns of true values into coded columns of the published schema, without withheld attributes.

    By default every call draws new noise, and each call costs privacy again. With `KeyedWords` and the `entities` of
    the rows, a repetition returns the same reports. The rows of one entity are numbered and get independent noise; a
    row with a blank entity gets fresh noise. If the columns are a block of a larger table, give the `occurrences` of
    its rows from one `RowNumbers`.
    """
    source = words or SystemWords()
    if isinstance(source, KeyedWords) and entities is None:
        raise InputError(
            "A secret fixes the noise of each entity, but no entities are given. Give a column that identifies them."
        )
    if entities is not None and occurrences is None:
        occurrences = RowNumbers().number(entities)
    result = {}
    for name in model.reported:
        codes = columns[name]
        names = entities if entities is not None else [""] * len(codes)
        result[name] = _perturb_codes(model[name], codes, source, names, occurrences)
    return result


def _perturb_codes(
    randomized: RandomizedAttribute,
    codes: npt.NDArray[np.integer],
    words: Words,
    entities: Sequence[str],
    occurrences: Integers | None,
) -> Integers:
    true = codes.astype(np.int64)
    return randomized.apply(true, words.draw(_context(randomized, words), entities, true, occurrences))


def _context(randomized: RandomizedAttribute, words: Words) -> bytes:
    older = isinstance(words, KeyedWords) and words.keying is Keying.BLAKE2B
    return _older_context(randomized) if older else randomized.context


def _older_context(randomized: RandomizedAttribute) -> bytes:
    """The context of `Keying.BLAKE2B`. It leaves out the missing value and the weights of the channel."""
    grid = randomized.attribute.domain
    edges = [str(edge) for edge in grid.edges] + [str(grid.step)] if isinstance(grid, Grid) else list(grid.labels)
    return json.dumps([randomized.attribute.name, edges, repr(randomized.randomizer)]).encode()


@dataclass(frozen=True, kw_only=True)
class _Field:
    """What a perturber needs for one reported attribute, prepared once."""

    attribute: Attribute
    """With the rule by which its values are read."""
    randomized: RandomizedAttribute
    published: Domain
    word: Callable[[str, int], int]
    texts: dict[int, str] = field(default_factory=dict)

    def text(self, code: int) -> str:
        if code not in self.texts:
            self.texts[code] = text_of(self.published, code)
        return self.texts[code]


class Perturber:
    """Perturbs one record at a time on its owner's machine. It stores only the noise model and the owner's secret.

    The noise of an entity is fixed: as long as a value does not change, a repeated query returns the same report, so
    repetition reveals nothing more (Agrawal & Srikant 2000, section 2). A changed value gets new noise, which costs its
    privacy again, and a report that differs from the last one proves the change. Whoever knows the secret can remove
    the noise. Against everybody else the guarantee holds if HMAC-SHA-256 is a pseudo-random function. `keyed` is
    "blake2b/1" to repeat the reports of an older release, and is left out otherwise.

    If the schema of the noise model names persons with up to k rows, each report has the epsilon of one row, the
    guarantee's divided by k. A perturber cannot count a person's reports: the application must send at most k.
    """

    def __init__(self, model: NoiseModel, *, secret: bytes, keyed: str = Keying.HMAC_SHA256) -> None:
        self._model = model
        words = KeyedWords(secret, keyed)
        covered = model.guarantee.covers if isinstance(model.guarantee, LocalDP) else ()
        self._fields = {
            name: _Field(
                attribute=replace(model.schema[name], outside=Outside.CLAMP) if name in covered else model.schema[name],
                randomized=model[name],
                published=model.published[name].domain,
                word=words.first_word(_context(model[name], words)),
            )
            for name in model.reported
        }

    def perturb(self, record: Mapping[str, Value], *, entity: str = "") -> dict[str, str]:
        """The perturbed record as text, as in the published table.

        `record` needs every reported attribute, the class included; None is a missing value. A value is read as in a
        table. Under local differential privacy a covered value always gives a report, even if it is not in the domain:
        a report that is not sent would reveal it. `flaws` says to the owner what is wrong with a record. `entity`
        distinguishes the people, or things, that share one secret; leave it out only if each person has their own
        secret. The report is that of the entity's first row in a table.

        Raises `InputError` for a record that a table leaves out: if the schema says `outside: drop` for an attribute
        that is not covered by local differential privacy.
        """
        self._check_names(record)
        result = {}
        for name, each in self._fields.items():
            code = code_of(each.attribute, record[name])
            if code is None:
                raise InputError(
                    f"The schema leaves out records with such a value of {name!r} (`outside: drop`). Correct the "
                    "value, or send no report: a table would leave it out, too."
                )
            result[name] = each.text(each.randomized.report(code, each.word(entity, code)))
        return result

    def flaws(self, record: Mapping[str, Value]) -> dict[str, str]:
        """What is wrong with a record, by attribute: missing, not in the domain, not a number, outside the range.

        For the eyes of the record's owner only. Do not let it decide whether a report is sent.
        """
        self._check_names(record)
        readings = {name: read_value(each.attribute, record[name]) for name, each in self._fields.items()}
        return {name: reading.flaw.value for name, reading in readings.items() if reading.flaw is not None}

    def _check_names(self, record: Mapping[str, Value]) -> None:
        missing = [name for name in self._fields if name not in record]
        if missing:
            raise InputError(
                f"The record has no {missing[0]!r}. Give every attribute that the noise model reports, the class "
                "included (None if the value is missing), or withhold the attribute in the noise model."
            )
