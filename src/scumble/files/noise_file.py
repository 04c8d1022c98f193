"""`noise.json`: the exact noise model of a table of perturbed records, which a receiver needs for reconstruction.

The format is noise/2. It stores the schema of true values by the codec of `schema_file`, whole, and the randomizer of
every attribute. Files of the format noise/1 are still read: they state domains only, so the schema's other entries take
their defaults.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.files.schema_file import FORMAT as SCHEMA_FORMAT
from scumble.files.schema_file import schema_data, schema_from
from scumble.foreign.documents import read_json
from scumble.foreign.numbers import parse_decimal, parse_fraction, shown
from scumble.model.budget import budget_text
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomizers import RANDOMIZERS, Randomizer, parse_confidence
from scumble.model.schema import Schema

FORMAT = "noise/2"
OLDER_FORMAT = "noise/1"
NAME = "the noise model's schema"


def write_noise(noise: NoiseModel, path: Path) -> None:
    """Write a noise model to its file."""
    path.write_text(json.dumps(noise_data(noise), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_noise(path: Path) -> NoiseModel:
    """Read a noise model from its file."""
    try:
        data = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        where = f"{path.parent} has no {path.name}" if path.parent.is_dir() else f"{path.parent} is not a folder"
        raise InputError(f"{where}, so there is no noise model. Give a folder that `scumble perturb` wrote.") from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} does not contain a noise model: {error}. Give a folder that `scumble perturb` wrote."
        ) from error
    return noise_from(data)


def noise_data(noise: NoiseModel) -> dict[str, Any]:
    """A noise model as plain data, such that `noise_from` gives it back."""
    return {
        "scumble": FORMAT,
        "confidence": budget_text(noise.confidence),
        "schema": schema_data(noise.schema),
        "attributes": {name: {"blur": _randomizer_data(each)} for name, each in noise.randomizers.items()},
    }


def noise_from(data: Any) -> NoiseModel:
    """A noise model from what `noise_data` gives, or from what files of the older format hold."""
    try:
        if data["scumble"] not in (FORMAT, OLDER_FORMAT):
            raise InputError(f"The noise model has format {shown(data['scumble'])}, not {FORMAT!r}. Update scumble.")
        entries = data["attributes"]
        stated = data["schema"] if data["scumble"] == FORMAT else _older_schema(data["target"], entries)
        return NoiseModel(
            schema=schema_from(stated, name=NAME),
            randomizers={name: _read_randomizer(entry["blur"]) for name, entry in entries.items()},
            confidence=parse_confidence(data["confidence"]),
        )
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise InputError(
            f"This is not a noise model: {error!r}. Take the file that was written with the table."
        ) from error


def _older_schema(target: str | None, entries: Mapping[str, Any]) -> dict[str, Any]:
    """The schema that a file of the format noise/1 states, as data of the schema codec."""
    attributes = {name: _older_attribute(entry["domain"]) for name, entry in entries.items()}
    return {"scumble": SCHEMA_FORMAT, "target": target, "attributes": attributes}


def _older_attribute(entry: Mapping[str, Any]) -> dict[str, Any]:
    missing = {} if entry.get("missing") is None else {"missing": entry["missing"]}
    if "taxonomy" in entry:
        return {"taxonomy": entry["taxonomy"], **missing}
    return {"numeric": {key: value for key, value in entry.items() if key != "missing"}, **missing}


def _randomizer_data(randomizer: Randomizer) -> dict[str, Any]:
    return {"kind": randomizer.kind, **{name: _plain(value) for name, value in vars(randomizer).items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return budget_text(value)
    return [str(edge) for edge in value] if isinstance(value, tuple) else value


def _read_randomizer(entry: Mapping[str, Any]) -> Randomizer:
    readers: dict[str, Callable[[Any], Any]] = {
        "refine": int,
        "edges": lambda edges: tuple(parse_decimal(edge) for edge in edges),
    }
    kind = RANDOMIZERS[entry["kind"]]
    return kind(**{field.name: readers.get(field.name, parse_fraction)(entry[field.name]) for field in fields(kind)})


def check_noise(noise: NoiseModel, schema: Schema) -> None:
    """Refuse a noise model whose published domains are not those of schema.yaml."""
    described = {attribute.name: attribute.domain for attribute in noise.published.attributes}
    stated = {attribute.name: attribute.domain for attribute in schema.attributes}
    if described != stated or noise.published.target != schema.target:
        raise InputError("noise.json and schema.yaml describe different tables. Use files that were written together.")
