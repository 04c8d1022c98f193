"""Two ways for several owners to publish their rows: one joint release, or separate releases and their union.

For experiments on public tables. The joint release is simulated in one process, with the noise distributions of the
joint protocol.
"""

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from scumble.engines.memory import MemoryEngine
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.roles import Roles, default_threshold
from scumble.joint.simulated import simulated_holder
from scumble.methods.method import Method
from scumble.mining.benchmark.sample import Sample
from scumble.model.counts import Block, Integers
from scumble.model.cut import Cut
from scumble.model.release import Release
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Node
from scumble.model.values import recoding
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, Simulation, simulation

ROWS_AT_MOST = 1_000_000
"""The public upper bound on the number of rows: the default of `scumble join init`."""

ReleasedTable = tuple[Sample, Schema]
"""The rows of a released table and the schema of their codes."""


def generator_for(purpose: str, seed: int) -> Simulation:
    """A random generator for one purpose. Drawing more for one purpose does not change the draws for the others."""
    return simulation(int.from_bytes(hashlib.sha256(f"{purpose} {seed}".encode()).digest()[:16], "big"))


def split_among_owners(rows: Block, owners: int, seed: int) -> list[Block]:
    """Divide the rows at random among the owners, in parts whose sizes differ by at most one."""
    order = generator_for("owners", seed).permutation(len(rows[0]))
    return [tuple(column[part] for column in rows) for part in np.array_split(order, owners)]


def joint_roles(owners: int) -> Roles:
    """All owners compute. Two owners need a third computing party: an aggregator without rows."""
    parties = tuple(range(max(owners, 3)))
    return Roles(
        parties=len(parties), compute=parties, owners=parties[:owners], threshold=default_threshold(len(parties))
    )


def release_jointly(parts: Sequence[Block], schema: Schema, method: Method, parameters: Any, seed: int) -> Release:
    """One release of all owners' rows, by the simulated joint holder.

    The owners' counts add up to those of all rows, and the noise does not depend on the number of owners. So the same
    rows and seed give the same release for any number of owners.
    """
    plan = joint_plan(method.plan(schema, parameters), joint_roles(len(parts)), schema)
    engine = MemoryEngine(list(parts), schema)
    holder = simulated_holder(engine=engine, plan=plan, rows_at_most=ROWS_AT_MOST, draw=generator_for("joint", seed))
    return method.run(schema, parameters, holder)


def release_apart(parts: Sequence[Block], schema: Schema, method: Method, parameters: Any) -> list[Release]:
    """One release by each owner, each at full epsilon: no person is in two tables, so parallel composition applies."""
    plan = method.plan(schema, parameters)
    holders = (CentralHolder(engine=MemoryEngine([part], schema), noise=PaidNoise(), plan=plan) for part in parts)
    return [method.run(schema, parameters, holder) for holder in holders]


def union(published: Sequence[ReleasedTable], schema: Schema, seed: int) -> ReleasedTable:
    """All owners' released rows as one table.

    The owners' generalizations differ, so the union uses their common refinement. If a row's value covers several of
    the refined values, one of them is drawn with probability proportional to the number of public domain values it
    contains, because the release does not say more.
    """
    draw = generator_for("union", seed)
    cut = common_refinement([each for _, each in published], schema)
    codes = [_refined(sample, each, cut, draw) for sample, each in published]
    labels = [np.repeat(sample.labels, sample.counts) for sample, _ in published]
    return Sample(codes=np.concatenate(codes), labels=np.concatenate(labels)), cut.published_schema()


def common_refinement(published: Sequence[Schema], schema: Schema) -> Cut:
    """The coarsest cut of the public schema that is at least as fine as every published one."""
    nodes = {}
    for attribute in schema.predictors:
        firsts = [_firsts(attribute, each) for each in published]
        bounds = [*np.unique(np.concatenate(firsts)).tolist(), attribute.domain.size]
        nodes[attribute.name] = tuple(_node(attribute, low, high) for low, high in pairwise(bounds))
    return Cut(schema=schema, nodes=nodes)


def _firsts(attribute: Attribute, published: Schema) -> Integers:
    """The first public code of each published value. A published value is an interval of public codes."""
    codes = recoding(attribute.domain, published[attribute.name].domain)
    return np.searchsorted(codes, np.arange(codes[-1] + 1))


def _node(attribute: Attribute, low: int, high: int) -> Node:
    """The generalized value that covers exactly these codes.

    Nodes of a taxonomy are nested or disjoint, so the common refinement of two cuts consists of nodes too.
    """
    return attribute.domain.interval(low, high)


def _refined(sample: Sample, published: Schema, cut: Cut, draw: Simulation) -> Integers:
    """The rows of a released table, repeated by their counts, each in a cell of the cut inside its published cell."""
    columns = []
    for place, attribute in enumerate(cut.schema.predictors):
        bounds = np.append(_firsts(attribute, published), attribute.domain.size)
        value = np.repeat(sample.codes[:, place], sample.counts)
        inside = draw.integers(bounds[value], bounds[value + 1])
        columns.append(cut.digits(attribute.name)[inside])
    return np.stack(columns, axis=1)
