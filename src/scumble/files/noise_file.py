"""noise.json: the noise model of a table of perturbed records."""

import json
from pathlib import Path

from scumble.errors import InputError
from scumble.model.local.noise_model import NoiseModel
from scumble.model.schema import Schema


def write_noise(noise: NoiseModel, path: Path) -> None:
    """Write a noise model as JSON."""
    path.write_text(json.dumps(noise.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_noise(path: Path) -> NoiseModel:
    """A noise model from its file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} holds no noise model: {error}. Give a folder that `scumble perturb` wrote."
        ) from error
    return NoiseModel.from_json(data)


def check_noise(noise: NoiseModel, schema: Schema) -> None:
    """Refuse a noise model whose published domains are not those of schema.yaml."""
    described = {attribute.name: attribute.domain for attribute in noise.published.attributes}
    stated = {attribute.name: attribute.domain for attribute in schema.attributes}
    if described != stated or noise.published.target != schema.target:
        raise InputError("noise.json and schema.yaml describe different tables. Use files that were written together.")
