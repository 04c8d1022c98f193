"""Blurring records: a block of a table at a time, or one record on its owner's machine.

Every value gets one word of 62 bits from a source in `scumble.privacy.noise`, and its channel turns code and word into
the published code: whole numbers throughout, so that the law in force is exactly the noise model's. The values of one
record get independent words, so the budgets of its attributes add up to the guarantee.
"""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Grid
from scumble.model.values import Flaw, Value, read_value, text_of
from scumble.privacy.noise import KeyedWords, SystemWords, Words


def perturb_block(
    model: NoiseModel,
    columns: Mapping[str, npt.NDArray[np.integer]],
    *,
    words: Words | None = None,
    entities: Sequence[str] | None = None,
) -> dict[str, Integers]:
    """Coded columns of true values as coded columns of the published schema, withheld ones left out.

    By default every call draws anew, and each costs privacy again. With `KeyedWords` and the rows' `entities` a
    repetition returns the same blurred values; entities that occur twice with the same value are blurred alike.
    """
    source = words or SystemWords()
    if isinstance(source, KeyedWords) and entities is None:
        raise InputError(
            "A secret fixes the noise of entities, but none are named. Give a column that identifies them."
        )
    result = {}
    for name in model.reported:
        codes = columns[name]
        names = entities if entities is not None else [""] * len(codes)
        result[name] = _perturb_codes(model[name], codes, source, names)
    return result


def _perturb_codes(
    randomized: RandomizedAttribute, codes: npt.NDArray[np.integer], words: Words, entities: Sequence[str]
) -> Integers:
    true = codes.astype(np.int64)
    return randomized.apply(true, words.draw(_context(randomized), entities, true))


def _context(randomized: RandomizedAttribute) -> bytes:
    """What noise depends on besides entity, value and secret: the attribute, its domain and the whole blur."""
    grid = randomized.attribute.domain
    edges = [str(edge) for edge in grid.edges] + [str(grid.step)] if isinstance(grid, Grid) else list(grid.labels)
    return json.dumps([randomized.attribute.name, edges, repr(randomized.randomizer)]).encode()


class Perturber:
    """Blurs one record at a time where it belongs, keeping nothing but the noise model and the person's secret.

    The perturbation of an entity is fixed: asked again, it returns the same blurred value, so nobody learns more by
    asking often (section 2 of the paper). A value that has changed is blurred afresh, which costs its privacy again.
    Whoever learns the secret can take the noise off; the promise holds against everybody else, as far as BLAKE2b is a
    pseudo-random function.
    """

    def __init__(self, model: NoiseModel, *, secret: bytes) -> None:
        self._model = model
        self._words = KeyedWords(secret)

    def perturb(self, record: Mapping[str, Value], *, entity: str = "") -> dict[str, str]:
        """The blurred record as text, as it would stand in the published table. `entity` tells apart the people, or
        things, that share one secret."""
        model = self._model
        missing = [name for name in model.reported if name not in record]
        if missing:
            raise InputError(f"The record has no {missing[0]!r}. Give None where a value is missing.")
        result = {}
        for name in model.reported:
            code = owners_code(model.schema[name], record[name])
            perturbed = _perturb_codes(model[name], np.array([code]), self._words, [entity])
            result[name] = text_of(model.published[name].domain, int(perturbed[0]))
        return result


def owners_code(attribute: Attribute, value: Value) -> int:
    """The code of one value, the same as in a table. A value that a table would drop or could not read is refused: the
    message goes to the owner of the value alone."""
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
        raise InputError(f"{name!r} is {value}, outside its public range, and the schema drops such values.")
    return reading.code
