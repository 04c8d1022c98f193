"""The contenders of a comparison: a scumble method with parameters, a method of another project, or the raw rows."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from scumble.comparison import peers, several_owners
from scumble.comparison.baselines import IndependentColumns, RawRows
from scumble.comparison.guarantee_texts import guarantee_text, unit_text
from scumble.comparison.judging import JUDGE, OWN, Scores, Task, judged_table
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.trials import CodedTable, own_scores
from scumble.engines.memory import MemoryEngine
from scumble.errors import InputError
from scumble.flows.evaluate import training_sample
from scumble.flows.release import run
from scumble.methods import method_named
from scumble.methods.method import Params
from scumble.mining.benchmark.sample import Sample
from scumble.mining.benchmark.scores import class_shares, measures
from scumble.model.schema import Schema
from scumble.privacy.noise import PaidNoise

JOINT_METHOD = "diffgen"
OWNERS = re.compile(r"together|(?P<way>joint|apart)-(?P<owners>[2-7])")
"""Names of the joint-release baselines: `together` (one owner has all rows), `joint-3`, `apart-3`."""


class Contender(Protocol):
    """Anything that turns training rows into a table or model that can be scored on test rows."""

    @property
    def label(self) -> str: ...

    @property
    def private(self) -> bool:
        """Whether the result depends on epsilon."""

    @property
    def classifiers(self) -> tuple[str, ...] | None:
        """The only classifiers that apply to it; None means all."""

    def guarantee(self, schema: Schema) -> str:
        """Its privacy guarantee on a table of this schema in a few words, with the unit of its epsilon."""

    def version(self) -> str:
        """A digest of the code that its results depend on."""

    def unavailable_reason(self) -> str | None:
        """Why it cannot run here; None if it can."""

    def unsuited_reason(self, schema: Schema) -> str | None:
        """Why it cannot run on tables of this schema; None if it can."""

    def scores(
        self, train: CodedTable, test: CodedTable, *, epsilon: str, seed: int, tasks: tuple[Task, ...], kept: Path
    ) -> Scores: ...


@dataclass(frozen=True, kw_only=True)
class OurMethod:
    """A method of this package with the production holder and noise, scored on the table its release recommends."""

    label: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def classifiers(self) -> tuple[str, ...] | None:
        return None if getattr(method_named(self.method), "makes_table", True) else (OWN,)

    @property
    def private(self) -> bool:
        return "epsilon" in method_named(self.method).parameters.model_fields

    def guarantee(self, schema: Schema) -> str:
        return _planned_guarantee(self.method, self.parameters, schema)

    def version(self) -> str:
        return digest_of_sources(type(method_named(self.method)).__module__, *JUDGE)

    def unavailable_reason(self) -> str | None:
        return None

    def unsuited_reason(self, schema: Schema) -> str | None:
        try:
            method_named(self.method).plan(schema, _parameters(self.method, self.parameters, "1"))
        except InputError as refusal:
            return f"{self.label}: {refusal}"
        return None

    def scores(
        self, train: CodedTable, test: CodedTable, *, epsilon: str, seed: int, tasks: tuple[Task, ...], kept: Path
    ) -> Scores:
        del seed, kept
        chosen = method_named(self.method)
        parameters = _parameters(self.method, self.parameters, epsilon)
        engine = MemoryEngine([train.columns], train.schema)
        began = time.process_time()
        plan = chosen.plan(train.schema, parameters)
        made = run(chosen, train.schema, parameters, engine, PaidNoise(), plan=plan)
        cpu_seconds = time.process_time() - began
        if made.classifier is not None:
            return {Task(OWN): {**own_scores(made.classifier, train, test), "cpu_seconds": cpu_seconds}}
        return judged_table(training_sample(made), made.tables[made.recommended], train, test, tasks, cpu_seconds)


@dataclass(frozen=True, kw_only=True)
class SeveralOwners:
    """Training rows divided at random among several owners.

    The owners publish one joint release, or each publishes its own release at full epsilon and the classifiers learn
    from the union of the releases.
    """

    label: str
    owners: int
    jointly: bool
    parameters: Mapping[str, Any] = field(default_factory=dict)
    private = True
    classifiers = None

    def guarantee(self, schema: Schema) -> str:
        if not self.jointly:
            return f"{_planned_guarantee(JOINT_METHOD, self.parameters, schema)}, of each owner's release"
        roles = several_owners.joint_roles(self.owners)
        return (
            f"(eps, delta) {unit_text(schema.unit, schema.persons)}, delta far below 1e-12, also against any "
            f"{roles.threshold} of the {roles.parties} parties"
        )

    def version(self) -> str:
        method = type(method_named(JOINT_METHOD)).__module__
        return digest_of_sources(method, several_owners.__name__, *JUDGE)

    def unavailable_reason(self) -> str | None:
        return None

    def unsuited_reason(self, schema: Schema) -> str | None:
        del schema
        return None

    def scores(
        self, train: CodedTable, test: CodedTable, *, epsilon: str, seed: int, tasks: tuple[Task, ...], kept: Path
    ) -> Scores:
        del kept
        chosen = method_named(JOINT_METHOD)
        parameters = chosen.parameters(**{**self.parameters, "epsilon": epsilon})
        parts = several_owners.split_among_owners(train.columns, self.owners, seed)
        began = time.process_time()
        if self.jointly:
            made = [several_owners.release_jointly(parts, train.schema, chosen, parameters, seed)]
        else:
            made = several_owners.release_apart(parts, train.schema, chosen, parameters)
        cpu_seconds = time.process_time() - began
        tables = [(training_sample(each), each.tables[each.recommended]) for each in made]
        sample, schema = tables[0] if self.jointly else several_owners.union(tables, train.schema, seed)
        return judged_table(sample, schema, train, test, tasks, cpu_seconds)


@dataclass(frozen=True, kw_only=True)
class PeerMethod:
    """A method of another package, run in that package's own environment."""

    label: str
    peer: peers.Peer
    private = True

    @property
    def classifiers(self) -> tuple[str, ...] | None:
        return None if self.peer.makes_table else (OWN,)

    def guarantee(self, schema: Schema) -> str:
        del schema
        return self.peer.guarantee

    def version(self) -> str:
        return digest_of_sources(*JUDGE)

    def unavailable_reason(self) -> str | None:
        return peers.unavailable_reason(self.peer)

    def unsuited_reason(self, schema: Schema) -> str | None:
        return peers.unsuited_reason(self.peer, schema)

    def scores(
        self, train: CodedTable, test: CodedTable, *, epsilon: str, seed: int, tasks: tuple[Task, ...], kept: Path
    ) -> Scores:
        fitted = peers.fit(self.peer, train, test, epsilon=epsilon, seed=seed, cache=kept)
        if fitted.rows is not None:
            sample = Sample(codes=fitted.rows[:, :-1], labels=fitted.rows[:, -1])
            return judged_table(sample, train.schema, train, test, tasks, fitted.cpu_seconds)
        assert fitted.probabilities is not None
        labels = test.sample(test.schema).labels.astype(np.int64)
        classes = train.schema.classes
        # A model publishes no class shares, so the true ones are used, as if they were public.
        shares = class_shares(train.sample(train.schema), len(classes))
        values = measures(fitted.probabilities, labels, np.ones_like(labels), shares=shares, classes=classes)
        return {Task(OWN): {**values, "cpu_seconds": fitted.cpu_seconds}}


def _parameters(method: str, values: Mapping[str, Any], epsilon: str) -> Params:
    """The parameters of a method, with epsilon if it has one."""
    kind = method_named(method).parameters
    return kind(**{**values, **({"epsilon": epsilon} if "epsilon" in kind.model_fields else {})})


def _planned_guarantee(method: str, values: Mapping[str, Any], schema: Schema) -> str:
    """The guarantee of a plan. Epsilon stays a name in the text, so the plan's own does not matter."""
    return guarantee_text(method_named(method).plan(schema, _parameters(method, values, "1")).guarantee)


def contender_of(text: str) -> Contender:
    """A contender as written on the command line: `raw`, a peer's name, a method's name, or a method with parameters.

    `aim-20` is the peer `aim` on at most twenty public bins of each attribute, and `aim-20:delta=1e-9` the same at
    another delta. `independent` has the training rows with all associations lost. `joint-3` is one joint release of
    three owners, `apart-3` the union of three separate releases, and `together` one owner's release of all rows. These
    three use the method and the default parameters of joint releases.

    >>> contender_of("diffgen:selection=published,rounds=10").parameters
    {'selection': 'published', 'rounds': '10'}
    """
    if text == "raw":
        return RawRows()
    if text == "independent":
        return IndependentColumns()
    peer = peers.peer_named(text)
    if peer is not None:
        return PeerMethod(label=text, peer=peer)
    name, _, settings = text.partition(":")
    pairs = [pair.partition("=") for pair in settings.split(",") if pair]
    if any(not separator for _, separator, _ in pairs):
        raise InputError(f"Cannot parse the contender {text!r}. Write METHOD:NAME=VALUE,NAME=VALUE.")
    parameters = {key.strip().replace("-", "_"): value.strip() for key, _, value in pairs}
    owners = OWNERS.fullmatch(name)
    chosen = method_named(JOINT_METHOD if owners else name)
    if owners:
        parameters = chosen.parameters.jointly(parameters)
    _parameters(chosen.name, parameters, "1")
    if owners and owners["way"]:
        return SeveralOwners(
            label=text, owners=int(owners["owners"]), jointly=owners["way"] == "joint", parameters=parameters
        )
    return OurMethod(label=text, method=chosen.name, parameters=parameters)
