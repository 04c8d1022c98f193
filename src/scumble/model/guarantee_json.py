"""Guarantees as plain data, as they stand in release.json, in plans and in the ledger."""

from collections.abc import Callable, Mapping
from typing import Any

from scumble.errors import InputError
from scumble.foreign.numbers import parse_fraction, shown
from scumble.model.budget import budget_text, parse_budget
from scumble.model.guarantee import (
    ApproxDP,
    Guarantee,
    IntervalPrivacy,
    JointDP,
    KAnonymity,
    LDiversity,
    LocalDP,
    PureDP,
    TCloseness,
    Unit,
    Unproven,
)
from scumble.model.persons import Persons

LONGEST_SHOWN = 200
"""Characters of an unreadable guarantee that a message repeats."""


def to_json(guarantee: Guarantee) -> dict[str, Any]:
    """The guarantee as plain data, budgets as exact text.

    >>> to_json(PureDP(epsilon=parse_budget("0.5"), unit=Unit.ADD_REMOVE))
    {'kind': 'PureDP', 'epsilon': '0.5', 'unit': 'add-remove'}
    """
    match guarantee:
        case PureDP(epsilon=epsilon, unit=unit, protects=persons):
            fields: dict[str, Any] = {"epsilon": budget_text(epsilon), "unit": unit.value, **_persons_json(persons)}
        case ApproxDP(epsilon=epsilon, delta=delta, unit=unit, protects=persons):
            fields = {
                "epsilon": budget_text(epsilon),
                "delta": budget_text(delta),
                "unit": unit.value,
                **_persons_json(persons),
            }
        case LocalDP(epsilon=epsilon, covers=covers, protects=persons):
            fields = {"epsilon": budget_text(epsilon), "covers": list(covers), **_persons_json(persons)}
        case JointDP(epsilon=epsilon, delta=delta, coalition=coalition, unit=unit, protects=persons):
            fields = {
                "epsilon": budget_text(epsilon),
                "delta": budget_text(delta),
                "coalition": coalition,
                "unit": unit.value,
                **_persons_json(persons),
            }
        case IntervalPrivacy(intervals=intervals, categories=categories):
            fields = {"intervals": {n: [budget_text(c), budget_text(w)] for n, (c, w) in intervals.items()}}
            if categories:
                fields["categories"] = {n: [size, budget_text(p)] for n, (size, p) in categories.items()}
        case LDiversity(l=least, sensitive=sensitive, entropy=entropy):
            fields = {**_groups_json(guarantee), "l": budget_text(least), "sensitive": sensitive, "entropy": entropy}
        case TCloseness(t=most, sensitive=sensitive):
            fields = {**_groups_json(guarantee), "t": budget_text(most), "sensitive": sensitive}
        case KAnonymity():
            fields = _groups_json(guarantee)
        case Unproven(claim=claim, reason=reason):
            fields = {"claim": to_json(claim), "reason": reason}
    return {"kind": type(guarantee).__name__, **fields}


def _groups_json(guarantee: KAnonymity) -> dict[str, Any]:
    return {"k": guarantee.k} | ({} if guarantee.quasi is None else {"quasi": list(guarantee.quasi)})


def _read_groups(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"k": int(data["k"]), "quasi": tuple(map(str, data["quasi"])) if "quasi" in data else None}


def _persons_json(persons: Persons | None) -> dict[str, Any]:
    return {} if persons is None else {"protects": persons.to_json()}


def _read_persons(data: Mapping[str, Any]) -> Persons | None:
    return Persons.from_json(data["protects"]) if "protects" in data else None


def from_json(data: Mapping[str, Any]) -> Guarantee:
    """The inverse of `to_json`."""
    try:
        return _READERS[data["kind"]](data)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{shown(dict(data), most=LONGEST_SHOWN)} is not a guarantee that this version can read. Was the file "
            "edited, or written by a newer version?"
        ) from error


def _read_pure(data: Mapping[str, Any]) -> PureDP:
    return PureDP(epsilon=parse_budget(data["epsilon"]), unit=Unit(data["unit"]), protects=_read_persons(data))


_READERS: dict[str, Callable[[Mapping[str, Any]], Guarantee]] = {
    "PureDP": _read_pure,
    "ApproxDP": lambda data: ApproxDP(
        epsilon=parse_budget(data["epsilon"]),
        delta=parse_fraction(data["delta"]),
        unit=Unit(data["unit"]),
        protects=_read_persons(data),
    ),
    "LocalDP": lambda data: LocalDP(
        epsilon=parse_budget(data["epsilon"]), covers=tuple(data["covers"]), protects=_read_persons(data)
    ),
    "JointDP": lambda data: JointDP(
        epsilon=parse_budget(data["epsilon"]),
        delta=parse_fraction(data["delta"]),
        coalition=int(data["coalition"]),
        unit=Unit(data["unit"]),
        protects=_read_persons(data),
    ),
    "IntervalPrivacy": lambda data: IntervalPrivacy(
        intervals={n: (parse_fraction(c), parse_fraction(w)) for n, (c, w) in data["intervals"].items()},
        categories={n: (int(size), parse_fraction(p)) for n, (size, p) in data.get("categories", {}).items()},
    ),
    "KAnonymity": lambda data: KAnonymity(**_read_groups(data)),
    "LDiversity": lambda data: LDiversity(
        **_read_groups(data),
        l=parse_budget(data["l"]),
        sensitive=str(data["sensitive"]),
        entropy=bool(data["entropy"]),
    ),
    "TCloseness": lambda data: TCloseness(
        **_read_groups(data), t=parse_budget(data["t"]), sensitive=str(data["sensitive"])
    ),
    "Unproven": lambda data: Unproven(claim=_read_pure(data["claim"]), reason=data["reason"]),
}
