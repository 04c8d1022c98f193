"""Noise models with every channel, and JavaScript that is run in node or in a browser."""

import json
import subprocess
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from scumble.files.schema_file import schema_from
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomizers import (
    Discretized,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Retained,
    Truthful,
    Uniform,
    Withheld,
)

PERTURBER = Path(__file__).parents[2] / "src" / "scumble" / "survey" / "page" / "perturber.js"
SECRET = bytes(range(32))
EVERY_CHANNEL = NoiseModel(
    schema=schema_from(
        {
            "scumble": "schema/1",
            "target": "sick",
            "attributes": {
                "age": {"numeric": {"low": 15, "high": 95, "step": 1}},
                "salary": {"numeric": {"low": "0", "high": "90", "step": "2.5"}, "missing": "-1"},
                "height": {"numeric": {"low": "0.8", "high": "2.4", "step": "0.1"}},
                "weight": {"numeric": {"edges": [0, 40, 60, 80, 300]}, "outside": "drop"},
                "job": {"taxonomy": {"Any": {"White": {"Engineer": None, "Lawyer": None}, "Writer": None}}},
                "town": {"taxonomy": {"Any": {"Köln": None, "“Bonn”": None}}, "missing": "no answer"},
                "stay": {"numeric": {"edges": [0, 1, 7, 30]}, "missing": "none"},
                "name": {"taxonomy": {"Any": {"a": None, "b": None}}},
                "sick": {"classes": ["no", "yes"]},
            },
        }
    ),
    randomizers={
        "age": Gaussian.hiding(Fraction(40), Fraction(95, 100), Fraction(1)),
        "salary": Uniform.hiding(Fraction(45), Fraction(95, 100), Fraction("2.5")),
        "height": Laplace(epsilon=Fraction(2)),
        "weight": Discretized(edges=(Decimal(0), Decimal(60), Decimal(300))),
        "job": Retained(probability=Fraction(7, 10)),
        "town": RandomizedResponse(epsilon=Fraction(1)),
        "stay": RandomizedResponse(epsilon=Fraction(1, 2)),
        "name": Withheld(),
        "sick": Truthful(),
    },
)
RECORDS: list[dict[str, Any]] = [
    {"age": 41, "salary": 31.2, "height": 1.7, "weight": 70, "job": 2, "town": 0, "stay": 3, "sick": 1},
    {"age": 15, "salary": None, "height": 0.8, "weight": 299.5, "job": 0, "town": None, "stay": None, "sick": 0},
    {"age": 94.9, "salary": 500, "height": 2.3, "weight": 0, "job": 1, "town": 1, "stay": 0, "sick": 0},
    {"age": -3, "salary": 0, "height": 99, "weight": 40, "job": 1, "town": 1, "stay": 29, "sick": 1},
]
"""True answers as the page has them: numbers, codes of categories, null where an answer is withheld."""


def node(expression: str, **values: Any) -> Any:
    """The value of a JavaScript expression, which may await, in node, where `scumble` is perturber.js."""
    script = f"""
        const scumble = require({json.dumps(str(PERTURBER))});
        const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
        (async () => {{ {expression} }})().then(
            (value) => process.stdout.write(JSON.stringify(value)),
            (error) => {{ console.error(error); process.exit(1); }});
    """
    done = subprocess.run(
        ["node", "-e", script], input=json.dumps(values), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
