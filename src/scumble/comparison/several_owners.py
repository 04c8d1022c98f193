"""Several owners' rows and the two ways to publish them: one joint release, or a release by each and their union.

For experiments on public tables. The joint release is made by its one-process twin, which has the joint laws of noise.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from scumble.engines.coding import Block
from scumble.engines.memory import MemoryEngine
from scumble.joint.holder import joint_plan
from scumble.joint.protocol.roles import Seats, default_threshold
from scumble.joint.simulated import twin_holder
from scumble.methods.method import Method
from scumble.mining.benchmark.sample import Sample
from scumble.model.counts import Integers
from scumble.model.cut import Cut
from scumble.model.release import Release
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Grid, Node
from scumble.model.values import recoding
from scumble.privacy.holder import Holder
from scumble.privacy.noise import PaidNoise, Simulation, simulation

ROWS_AT_MOST = 1_000_000
"""What the owners say in public of their number of rows: what `scumble join init` takes where nobody says more."""

CodedTable = tuple[Sample, Schema]
"""A released table as its miner has it: rows, and the schema that codes them."""


def stream(purpose: str, seed: int) -> Simulation:
    """A generator for one purpose, so that drawing more for one leaves all others as they were."""
    return simulation(int.from_bytes(hashlib.sha256(f"{purpose} {seed}".encode()).digest()[:16], "big"))


def shared_out(rows: Block, owners: int, seed: int) -> list[Block]:
    """The rows at random among the owners, in parts as equal as can be."""
    order = stream("owners", seed).permutation(len(rows[0]))
    return [tuple(column[part] for column in rows) for part in np.array_split(order, owners)]


def seats_of(owners: int) -> Seats:
    """All owners compute; where there are two, an aggregator without rows does so as well."""
    parties = tuple(range(max(owners, 3)))
    return Seats(
        parties=len(parties), compute=parties, owners=parties[:owners], threshold=default_threshold(len(parties))
    )


def release_jointly(parts: Sequence[Block], schema: Schema, method: Method, parameters: Any, seed: int) -> Release:
    """One release of all owners' rows, by the twin of the joint holder.

    The owners' counts add up to those of all rows, and no law of noise depends on how many owners there are. So the
    same rows and seed give the same release whatever their number.
    """
    plan = joint_plan(method.plan(schema, parameters), seats_of(len(parts)), schema)
    engine = MemoryEngine(list(parts), schema)
    holder = twin_holder(engine=engine, plan=plan, rows_at_most=ROWS_AT_MOST, draw=stream("joint", seed))
    return replace(method.run(schema, parameters, holder), plan=plan)


def release_apart(parts: Sequence[Block], schema: Schema, method: Method, parameters: Any) -> list[Release]:
    """A release by each owner alone, each at full epsilon, for no person is in two of the tables."""
    plan = method.plan(schema, parameters)
    holders = (Holder(engine=MemoryEngine([part], schema), noise=PaidNoise(), plan=plan) for part in parts)
    return [method.run(schema, parameters, holder) for holder in holders]


def union(published: Sequence[CodedTable], schema: Schema, seed: int) -> CodedTable:
    """All owners' released rows as one table, which a miner can learn from like from any other.

    The owners generalized differently. So the table has every boundary that any of them has, and a row whose value
    spans several of the pieces gets one of them, drawn by how many of the public domain's values it holds: its owner
    said no more.
    """
    draw = stream("union", seed)
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
    """Where each published value begins among the codes of the public domain, of which it is an interval."""
    codes = recoding(attribute.domain, published[attribute.name].domain)
    return np.searchsorted(codes, np.arange(codes[-1] + 1))


def _node(attribute: Attribute, low: int, high: int) -> Node:
    """The generalized value over these codes. Nodes of a tree are nested or apart, so the finer of two cuts is one of
    its nodes everywhere."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        return domain.interval(low, high)
    return next(node for node in domain.root.walk() if (node.low, node.high) == (low, high))


def _refined(sample: Sample, published: Schema, cut: Cut, draw: Simulation) -> Integers:
    """A released table's rows, one by one, each in one of the cut's cells within its own."""
    columns = []
    for place, attribute in enumerate(cut.schema.predictors):
        bounds = np.append(_firsts(attribute, published), attribute.domain.size)
        value = np.repeat(sample.codes[:, place], sample.counts)
        inside = draw.integers(bounds[value], bounds[value + 1])
        columns.append(cut.digits(attribute.name)[inside])
    return np.stack(columns, axis=1)
