"""A noise model as data for the browser: what `page/perturber.js` needs, derived from the model by one function.

The browser has no codec of its own. The edges of cells, the labels of categories, the texts of reports, the integer
weights of the channels and the contexts of the keyed function are computed here, by the same code that `Perturber`
runs, and are sent as lists. Weights are 62-bit integers, which JavaScript's numbers do not hold, so they are texts.
"""

from typing import Any

from scumble.errors import InputError
from scumble.model.budget import budget_text
from scumble.model.grid import Grid
from scumble.model.guarantee import LocalDP
from scumble.model.local.channel import AdditiveChannel, Channel, GroupingChannel, ReplacementChannel
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.schema import Attribute, Outside
from scumble.model.suspicion import belief
from scumble.model.values import number_of, texts_of
from scumble.privacy.noise import Keying

FORMAT = "questions/1"
MOST_VALUES = 100_000
"""Values and weights of one attribute: more would make the page slow to load."""


def describe(noise: NoiseModel) -> dict[str, Any]:
    """The whole noise model as plain data: one entry for each reported attribute, in the order of the schema.

    Raises `InputError` if the schema names persons with several rows, because a person fills in a survey once, or if an
    attribute has too many values for a page.
    """
    if noise.schema.persons is not None:
        raise InputError(
            "The schema names persons with several rows, but a survey takes one record of each person. Remove `person` "
            "and `rows_each_at_most` from the schema."
        )
    covered = noise.guarantee.covers if isinstance(noise.guarantee, LocalDP) else ()
    return {
        "scumble": FORMAT,
        "keyed": Keying.HMAC_SHA256.value,
        "confidence": float(noise.confidence),
        "guarantee": noise.guarantee.sentence,
        "local": bool(covered),
        "target": noise.published.target,
        "attributes": [_attribute(noise[name], clamp=name in covered) for name in noise.reported],
    }


def _attribute(randomized: RandomizedAttribute, *, clamp: bool) -> dict[str, Any]:
    attribute, channel = randomized.attribute, randomized.channel
    weights = len(channel.weights) if isinstance(channel, AdditiveChannel) else 0
    if max(channel.outputs, attribute.domain.size, weights) > MOST_VALUES:
        raise InputError(
            f"{attribute.name!r} has more than {MOST_VALUES:,} values or noise steps, too many for a web page. Give it "
            "a larger step in the schema."
        )
    epsilon = randomized.epsilon
    return {
        "name": attribute.name,
        "context": randomized.context.hex(),
        "kind": randomized.randomizer.kind,
        "epsilon": None if epsilon is None else budget_text(epsilon),
        "most_sure": None if epsilon is None else belief(epsilon).highest,
        "channel": _channel(channel),
        "answer": _answer(attribute, clamp=clamp or attribute.outside is Outside.CLAMP),
        "ordered": channel.ordered,
        "reports": texts_of(randomized.published.domain),
    }


def _channel(channel: Channel) -> dict[str, Any]:
    match channel:
        case AdditiveChannel():
            return {
                "kind": "additive",
                "weights": [str(weight) for weight in channel.weights.tolist()],
                "cells": channel.cells,
                "refine": channel.refine,
                "margin": channel.margin,
            }
        case ReplacementChannel():
            return {
                "kind": "replacement",
                "size": channel.size,
                "truth": str(channel.truth),
                "other": str(channel.other),
            }
        case GroupingChannel():
            return {"kind": "grouping", "groups": channel.groups.tolist()}
    raise InputError(f"The browser has no channel {type(channel).__name__}. This is a bug; please report it.")


def _answer(attribute: Attribute, *, clamp: bool) -> dict[str, Any]:
    """How a true answer becomes a code, and the text of each code. `missing` is the code of a withheld answer."""
    domain = attribute.domain
    shared = {"missing": attribute.missing_code, "texts": texts_of(domain), "clamp": clamp}
    if isinstance(domain, Grid):
        # With `missing: "-999"`, the number -999 is a withheld answer, too.
        absent = None if attribute.missing is None else number_of(attribute.missing)
        return {"kind": "number", "edges": domain.edge_floats.tolist(), "missing_number": absent, **shared}
    return {"kind": "category", **shared}
