"""What a release leaks in practice: four attacks on people who are in it, each tried on a control group who are not.

For the owner alone: it takes the raw rows. Whatever works as well on the control group is knowledge about the
population, which the release is there to give. What works better on the people in the release is a leak. The attacks
follow Giomi et al. (A Unified Framework for Quantifying Privacy Risk in Synthetic Data, 2023) and Yeom et al. (2018).
That they fail proves nothing; that they succeed shows a board what epsilon means.
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
from scumble.model.counts import Integers, digits_of
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.sources import Source, check_columns, open_source

CONFIDENCE = Fraction(19, 20)
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Attack:
    """How often an attack succeeds on people in the release and on others, and what it gains over these."""

    name: str
    how: str
    in_release: float
    control: float
    tried: tuple[int, int]
    """Attempts on people in the release, and on others."""
    gain: float
    """Of what the control leaves to win, the share that is won: (in release - control) / (1 - control)."""
    interval: tuple[float, float]
    """Of the difference of the two rates, at 95 %."""
    most_allowed: float | None
    """The largest difference that the guarantee allows, where there is one."""

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
class Table:
    """Rows as codes of the schema of the table, a column for each attribute, each standing for `weights` records."""

    codes: Integers
    weights: Weights


def attack_release(folder: str | Path, *, train: Any, control: Any, delimiter: str = ",") -> list[Attack]:
    """All four attacks on a release folder, with the rows it was made of and rows like them that it was not made of."""
    made = load_release(folder)
    published = published_table(made)
    schema = made.tables[made.recommended]
    members, others = (_coded(open_source(each, delimiter=delimiter), schema) for each in (train, control))
    if not len(members.codes) or not len(others.codes):
        raise InputError("An attack needs people in the release and others. Give --train and --control with rows.")
    allowed = _most_allowed(made)
    target = [a.name for a in schema.attributes].index(schema.target) if schema.target else -1
    return [
        membership(published, members, others, allowed),
        attribute_inference(published, members, others, target % len(schema.attributes), schema, allowed),
        singling_out(published, members, others),
        linkage(published, members, others, allowed),
    ]


def membership(published: Table, members: Table, others: Table, allowed: float | None) -> Attack:
    """Guess that a person is in the release whose exact published values are commoner there than in the population,
    of which the attacker has one half of the control group for comparison."""
    half = len(others.codes) // 2
    known, judged = others.codes[:half], others.codes[half:]
    keys = _keys([published.codes, known, members.codes, judged])
    size = max(int(part.max(initial=-1)) for part in keys) + 1
    here = np.bincount(keys[0], weights=published.weights, minlength=size)
    there = np.bincount(keys[1], minlength=size)
    ratio = here / max(1.0, here.sum()) - there / max(1, len(known))
    return _attack(
        "membership inference",
        "says 'in the release' where a person's published values are commoner than among people known not to be in it",
        ratio[keys[2]] > 0,
        ratio[keys[3]] > 0,
        allowed,
    )


def attribute_inference(
    published: Table, members: Table, others: Table, secret: int, schema: Schema, allowed: float | None
) -> Attack:
    """Guess one attribute from all others, by what is commonest among published records like the person."""
    name = schema.attributes[secret].name
    return _guess(
        "attribute inference",
        f"guesses {name!r} from all other attributes, by the commonest value among published records like the person",
        published,
        members,
        others,
        [secret],
        allowed,
    )


def linkage(published: Table, members: Table, others: Table, allowed: float | None) -> Attack:
    """Join two files about the same people, each with half of the attributes, through the release."""
    columns = published.codes.shape[1]
    return _guess(
        "linkage",
        "from the first half of the attributes tells the second half, by the commonest published record",
        published,
        members,
        others,
        list(range(columns // 2, columns)),
        allowed,
    )


def singling_out(published: Table, members: Table, others: Table) -> Attack:
    """Point at what looks like one person: published values that stand for a single record, and see whether exactly one
    person has them. Groups of the same size are compared."""
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
        "points at published values that stand for one record; a success where exactly one person has them",
        counts[0][keys[0]] == 1,
        counts[1][keys[0]] == 1,
        None,  # a success is about a predicate, not about one person
    )


def _guess(
    name: str, how: str, published: Table, members: Table, others: Table, secret: Sequence[int], allowed: float | None
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
    """How much likelier any guess about one person can be when their record is in: (e^eps - 1) / (e^eps + 1)."""
    epsilon = declared_epsilon(release.plan.guarantee)
    return None if epsilon is None else math.tanh(float(epsilon) / 2)


def published_table(release: Release) -> Table:
    """The recommended table of a release, which reveals most, as weighted rows of codes."""
    schema, rows = release.tables[release.recommended], release.rows_of(release.recommended)
    if rows is not None:
        columns = [codes_of(rows[a.name], schema, a.name) for a in schema.attributes]
        return Table(codes=np.stack(columns, axis=1), weights=np.ones(len(columns[0])))
    count = release.cells.count
    shape = [attribute.domain.size for attribute in schema.predictors]
    places = digits_of(np.arange(len(count)), shape)
    codes = {attribute.name: digits for attribute, digits in zip(schema.predictors, places, strict=True)}
    classes = len(schema.classes)
    columns = [
        np.tile(np.arange(classes), len(count)) if a.name == schema.target else np.repeat(codes[a.name], classes)
        for a in schema.attributes
    ]
    return Table(codes=np.stack(columns, axis=1), weights=count.ravel().astype(np.float64))


def _coded(source: Source, schema: Schema) -> Table:
    check_columns(source, schema)
    blocks = [np.stack(block, axis=1).astype(np.int64) for block in code_blocks(source.batches(schema), schema)]
    codes = np.concatenate([np.zeros((0, len(schema.attributes)), dtype=np.int64), *blocks])
    return Table(codes=codes, weights=np.ones(len(codes)))


def _keys(parts: list[Integers]) -> list[Integers]:
    """A number for each row, the same for equal rows of all parts."""
    _, keys = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
    return np.split(keys.ravel(), np.cumsum([len(part) for part in parts])[:-1])
