"""Perturbs records: a block of a table at a time, or one record on its owner's machine.

Each value gets one 62-bit word from a source in `scumble.privacy.noise`. The channel of its attribute computes the
reported code from the true code and the word, in integer arithmetic, so the reports have exactly the distribution of
the noise model. The values of a record get independent words, so the epsilons of its attributes add up. Proof:
`privacy/PROOF.md`.
"""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.grid import Grid
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.raw_value import Value
from scumble.model.schema import Attribute
from scumble.model.values import Flaw, category_text, read_value, text_of
from scumble.privacy.noise import KeyedWords, Keying, RowNumbers, SystemWords, Words

FIRST = np.ones(1, dtype=np.int64)
"""The occurrence number of a single record."""


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
    older = isinstance(words, KeyedWords) and words.keying is Keying.BLAKE2B
    context = _older_context(randomized) if older else randomized.context
    return randomized.apply(true, words.draw(context, entities, true, occurrences))


def _older_context(randomized: RandomizedAttribute) -> bytes:
    """The context of `Keying.BLAKE2B`. It leaves out the missing value and the weights of the channel."""
    grid = randomized.attribute.domain
    edges = [str(edge) for edge in grid.edges] + [str(grid.step)] if isinstance(grid, Grid) else list(grid.labels)
    return json.dumps([randomized.attribute.name, edges, repr(randomized.randomizer)]).encode()


class Perturber:
    """Perturbs one record at a time on its owner's machine. It stores only the noise model and the owner's secret.

    The noise of an entity is fixed: as long as a value does not change, a repeated query returns the same report, so
    repetition reveals nothing more (Agrawal & Srikant 2000, section 2). A changed value gets new noise, which costs its
    privacy again, and a report that differs from the last one proves the change. Whoever knows the secret can remove
    the noise. Against everybody else the guarantee holds if HMAC-SHA-256 is a pseudo-random function. `keyed` is
    "blake2b/1" to repeat the reports of an older release, and is left out otherwise.
    """

    def __init__(self, model: NoiseModel, *, secret: bytes, keyed: str = Keying.HMAC_SHA256) -> None:
        self._model = model
        self._words = KeyedWords(secret, keyed)

    def perturb(self, record: Mapping[str, Value], *, entity: str = "") -> dict[str, str]:
        """The perturbed record as text, as in the published table.

        `record` needs every reported attribute, the class included. `entity` distinguishes the people, or things, that
        share one secret; leave it out only if each person has their own secret. The report is that of the entity's
        first row in a table.
        """
        model = self._model
        missing = [name for name in model.reported if name not in record]
        if missing:
            raise InputError(
                f"The record has no {missing[0]!r}. Give every attribute that the noise model reports, the class "
                "included (None if the value is missing), or withhold the attribute in the noise model."
            )
        result = {}
        for name in model.reported:
            code = owners_code(model.schema[name], record[name])
            perturbed = _perturb_codes(model[name], np.array([code]), self._words, [entity], FIRST)
            result[name] = text_of(model.published[name].domain, int(perturbed[0]))
        return result


def owners_code(attribute: Attribute, value: Value) -> int:
    """The code of one value, the same as in a table. Refuses a value that a table would drop or cannot read.

    Only the owner of the value sees the message.
    """
    reading = read_value(attribute, value)
    name, missing = attribute.name, attribute.missing_code
    match reading.flaw:
        case Flaw.MISSING if missing is None:
            raise InputError(f"{name!r} is empty, and the schema has no missing value for it. Withhold it.")
        case Flaw.UNKNOWN:
            raise InputError(f"{name!r} is {value!r}, no value of its domain. Use a leaf exactly as written.")
        case Flaw.UNREADABLE:
            raise InputError(f"{name!r} is {value!r}, not a number. Give one, or withhold it.")
    if reading.code is None:
        shown = category_text(value)
        raise InputError(f"{name!r} is {shown}, outside its public range, and the schema drops such values.")
    return reading.code
