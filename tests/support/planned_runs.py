"""A release in memory from plan to end, for tests that have no other use for the plan."""

from typing import Any

from scumble.engines import Engine
from scumble.flows import release as flow
from scumble.methods.method import Method
from scumble.privacy.noise import Noise


def run(method: Method, schema: Any, parameters: Any, engine: Engine, noise: Noise) -> Any:
    return flow.run(method, schema, parameters, engine, noise, plan=method.plan(schema, parameters))
