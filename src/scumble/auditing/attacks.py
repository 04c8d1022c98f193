"""Attacks on a release: how much better four attacks work on people in the release than on a control group.

The attacks read the raw rows, so only the data owner can run them. An attack that works as well on the control group
uses knowledge about the population, which the release is meant to provide. What it gains beyond that is a leak about
the people in the release. The attacks follow Giomi et al. (A Unified Framework for Quantifying Privacy Risk in
Synthetic Data, 2023) and Yeom et al. (2018). Failing attacks prove nothing. Successful ones illustrate what a given
epsilon permits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.auditing.bounds import highest_probability, lowest_probability
from scumble.auditing.laws.cases import declared_epsilon
from scumble.auditing.outcomes import codes_of
from scumble.engines.coding import code_blocks
from scumble.errors import InputError
from scumble.flows.load import load_release
from scumble.model.counts import Floats, Integers, digits_of
from scumble.model.guarantee import delta_of
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.sources import AS_FOUND, Dialect, Source, check_columns, open_source

CONFIDENCE = Fraction(19, 20)
ATTACK_COLUMNS = ("attack", "success in the release", "in the control group", "gain", "difference, 95 %")
"""The headings of `Attack.cells`."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The success rates of an attack on people in the release and on the control group."""

    name: str
    how: str
    in_release: float
    control: float
    tried: tuple[int, int]
    """The number of attempts on people in the release, and on the control group."""
    gain: float
    """The gain as a share of the largest possible gain: (in release - control) / (1 - control)."""
    interval: tuple[float, float]
    """95 % confidence interval of the difference of the two rates."""
    most_allowed: float | None
    """The largest expected difference that the guarantee allows; None if the attack or the guarantee gives no limit."""

    @property
    def cells(self) -> list[str]:
        """The results as texts, in the order of `ATTACK_COLUMNS`."""
        return [
            self.name,
            f"{100 * self.in_release:.1f} %",
            f"{100 * self.control:.1f} %",
            f"{100 * self.gain:+.1f} %",
            f"{100 * self.interval[0]:+.1f} to {100 * self.interval[1]:+.1f}",
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "attack": self.name,
            "how": self.how,
            "in_release": round(self.in_release, 4),
            "control": round(self.control, 4),
            "tried": list(self.tried),
            "gain": round(self.gain, 4),
            "difference": [round(side, 4) for side in self.interval],
            "most_allowed": None if self.most_allowed is None else round(self.most_allowed, 4),
        }


@dataclass(frozen=True, kw_only=True)
class WeightedRows:
    """Rows as codes of the schema, one column for each attribute. Row i stands for `weights[i]` records."""

    codes: Integers
    weights: Floats


def attack_release(folder: str | Path, *, train: Any, control: Any, dialect: Dialect = AS_FOUND) -> list[Attack]:
    """Run all four attacks on a release folder. `train`: the rows of the release; `control`: similar rows not in it."""
    made = load_release(folder)
    published = published_table(made)
    schema = made.tables[made.recommended]
    members, others = (_coded(open_source(each, dialect=dialect), schema) for each in (train, control))
    if not len(members.codes) or not len(others.codes):
        raise InputError(
            "The attacks compare people in the release with others. Give --train and --control files with rows."
        )
    return attack_table(published, members, others, schema, allowed=_most_allowed(made))


def attack_table(
    published: WeightedRows, members: WeightedRows, others: WeightedRows, schema: Schema, *, allowed: float | None
) -> list[Attack]:
    """Run all four attacks on a published table. All rows are coded by its schema; `allowed` is the limit of the
    guarantee on a difference, if it has one."""
    target = [a.name for a in schema.attributes].index(schema.target) if schema.target else -1
    return [
        membership(published, members, others, allowed),
        attribute_inference(published, members, others, target % len(schema.attributes), schema, allowed),
        singling_out(published, members, others),
        linkage(published, members, others, allowed),
    ]


def membership(published: WeightedRows, members: WeightedRows, others: WeightedRows, allowed: float | None) -> Attack:
    """Guess that a person is in the release if their published values are commoner there than in the population. The
    attacker knows the population from one half of the control group and is tested on the other half."""
    half = len(others.codes) // 2
    known, judged = others.codes[:half], others.codes[half:]
    keys = _keys([published.codes, known, members.codes, judged])
    size = max(int(part.max(initial=-1)) for part in keys) + 1
    here = np.bincount(keys[0], weights=published.weights, minlength=size)
    there = np.bincount(keys[1], minlength=size)
    ratio = here / max(1.0, here.sum()) - there / max(1, len(known))
    return _attack(
        "membership inference",
        "guesses 'in the release' if a person's published values are commoner there than among known outsiders",
        ratio[keys[2]] > 0,
        ratio[keys[3]] > 0,
        allowed,
    )


def attribute_inference(
    published: WeightedRows,
    members: WeightedRows,
    others: WeightedRows,
    secret: int,
    schema: Schema,
    allowed: float | None,
) -> Attack:
    """Guess one attribute from all others: the commonest value among published records that agree with the person."""
    name = schema.attributes[secret].name
    return _guess(
        "attribute inference",
        f"guesses {name!r}: the commonest value among published records that agree in all other attributes",
        published,
        members,
        others,
        [secret],
        allowed,
    )


def linkage(published: WeightedRows, members: WeightedRows, others: WeightedRows, allowed: float | None) -> Attack:
    """Use the release to link two files about the same people, each with half of the attributes."""
    columns = published.codes.shape[1]
    return _guess(
        "linkage",
        "guesses the second half of the attributes: the commonest one among published records with the same first half",
        published,
        members,
        others,
        list(range(columns // 2, columns)),
        allowed,
    )


def singling_out(published: WeightedRows, members: WeightedRows, others: WeightedRows) -> Attack:
    """Pick published values that stand for a single record; succeed if exactly one person has them. Both groups are cut
    to the same size, so that their rates can be compared."""
    merged = _keys([published.codes])[0]
    weights = np.bincount(merged, weights=published.weights)
    single = np.flatnonzero((weights > 0) & (weights <= 1))
    first = np.unique(merged, return_index=True)[1]
    number = min(len(members.codes), len(others.codes))
    keys = _keys([published.codes[first[single]], members.codes[:number], others.codes[:number]])
    size = max(int(part.max(initial=-1)) for part in keys) + 1
    counts = [np.bincount(part, minlength=size) for part in keys[1:]]
    return _attack(
        "singling out",
        "picks published values that stand for a single record; succeeds if exactly one person has them",
        counts[0][keys[0]] == 1,
        counts[1][keys[0]] == 1,
        None,  # the guarantee limits guesses about one person; this attack guesses about a whole group
    )


def _guess(
    name: str,
    how: str,
    published: WeightedRows,
    members: WeightedRows,
    others: WeightedRows,
    secret: Sequence[int],
    allowed: float | None,
) -> Attack:
    known = [column for column in range(published.codes.shape[1]) if column not in secret]
    parts = [published.codes, members.codes, others.codes]
    keys, answers = _keys([part[:, known] for part in parts]), _keys([part[:, list(secret)] for part in parts])
    votes: dict[int, dict[int, float]] = {}
    overall: dict[int, float] = {}
    for key, answer, weight in zip(keys[0].tolist(), answers[0].tolist(), published.weights.tolist(), strict=True):
        votes.setdefault(key, {})[answer] = votes.get(key, {}).get(answer, 0.0) + weight
        overall[answer] = overall.get(answer, 0.0) + weight
    usual = max(overall, key=lambda answer: overall[answer], default=-1)
    best = {key: max(found, key=lambda answer: found[answer]) for key, found in votes.items() if any(found.values())}
    right = [
        np.array([best.get(key, usual) == answer for key, answer in zip(keys[side], answers[side], strict=True)])
        for side in (1, 2)
    ]
    return _attack(name, how, right[0], right[1], allowed)


def _attack(
    name: str, how: str, here: npt.NDArray[np.bool_], there: npt.NDArray[np.bool_], allowed: float | None
) -> Attack:
    rates = [float(side.mean()) if len(side) else 0.0 for side in (here, there)]
    alpha = float(1 - CONFIDENCE) / 4
    ends = [
        (
            float(lowest_probability(int(side.sum()), max(1, len(side)), alpha)),
            float(highest_probability(int(side.sum()), max(1, len(side)), alpha)),
        )
        for side in (here, there)
    ]
    return Attack(
        name=name,
        how=how,
        in_release=rates[0],
        control=rates[1],
        tried=(len(here), len(there)),
        gain=(rates[0] - rates[1]) / (1 - rates[1]) if rates[1] < 1 else 0.0,
        interval=(ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]),
        most_allowed=allowed,
    )


def _most_allowed(release: Release) -> float | None:
    """The most that including a person's record can raise the success rate of a guess.

    It is (e^eps - 1 + 2 delta) / (e^eps + 1), the largest total variation distance of neighbouring tables.
    """
    epsilon, delta = declared_epsilon(release.plan.guarantee), float(delta_of(release.plan.guarantee))
    return None if epsilon is None else math.tanh(float(epsilon) / 2) + 2 * delta / (math.exp(float(epsilon)) + 1)


def published_table(release: Release) -> WeightedRows:
    """The recommended table of a release, which reveals the most, as weighted rows of codes."""
    schema, rows = release.tables[release.recommended], release.rows_of(release.recommended)
    if rows is not None:
        columns = [codes_of(rows[a.name], schema, a.name) for a in schema.attributes]
        return WeightedRows(codes=np.stack(columns, axis=1), weights=np.ones(len(columns[0])))
    count = release.cells.count
    shape = [attribute.domain.size for attribute in schema.predictors]
    places = digits_of(np.arange(len(count)), shape)
    codes = {attribute.name: digits for attribute, digits in zip(schema.predictors, places, strict=True)}
    classes = len(schema.classes)
    columns = [
        np.tile(np.arange(classes), len(count)) if a.name == schema.target else np.repeat(codes[a.name], classes)
        for a in schema.attributes
    ]
    return WeightedRows(codes=np.stack(columns, axis=1), weights=count.ravel().astype(np.float64))


def _coded(source: Source, schema: Schema) -> WeightedRows:
    check_columns(source, schema.columns)
    blocks = [np.stack(block, axis=1).astype(np.int64) for block in code_blocks(source.batches(schema.columns), schema)]
    codes = np.concatenate([np.zeros((0, len(schema.attributes)), dtype=np.int64), *blocks])
    return WeightedRows(codes=codes, weights=np.ones(len(codes)))


def _keys(parts: list[Integers]) -> list[Integers]:
    """A number for each row. Equal rows get equal numbers, in whichever part they are."""
    _, keys = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
    return np.split(keys.ravel(), np.cumsum([len(part) for part in parts])[:-1])
