"""The joint holder: answers a method's queries about the rows of several owners.

Every party runs the same, unchanged method. Where the `CentralHolder` of a single owner would count, add noise and
answer, the parties add up their counts as secret shares, add noise that no coalition knows, and open only the noisy
answer. All parties get the same answers, so all make the same release.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import prod
from typing import Protocol

import numpy as np

from scumble.errors import BudgetError, InputError
from scumble.joint.group_privacy import delta_factor
from scumble.joint.network.mesh import Mesh
from scumble.joint.offsets import score_offsets
from scumble.joint.protocol.arithmetic import Arithmetic, ReplicatedArithmetic
from scumble.joint.protocol.geometric_noise import DELTA_EACH, geometric_law
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.model.counts import Counts, Integers, Tabulation, fine_shape
from scumble.model.guarantee import ApproxDP, JointDP, PureDP, Unit
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.model.spend import SINGLE_OWNER
from scumble.privacy.holder import Holder, Tabulates
from scumble.privacy.noise import Selection, selection_scale
from scumble.privacy.price import Price
from scumble.privacy.query import (
    MAJORITY,
    Choice,
    GroupChoice,
    Measurement,
    Query,
    RowChoice,
    RowMeasurement,
    RowQuery,
    Run,
)

MOST_ROWS = 2**40
"""The largest bound on the rows of one owner."""
LARGEST_DELTA = Fraction(1, 2**40)
"""The delta of persons grows with e^epsilon; beyond this, a plan is refused. The delta of single rows is smaller."""


class AnswerLog(Protocol):
    """Where a party stores the opened answers."""

    def recall(self, step: int) -> bytes | None:
        """The answer of a step, or None."""

    def keep(self, step: int, label: str, answer: bytes) -> None:
        """Store an answer. It must survive a crash once this returns."""


class MemoryAnswerLog:
    """A log in memory, for tests and simulations."""

    def __init__(self) -> None:
        self.answers: dict[int, bytes] = {}

    def recall(self, step: int) -> bytes | None:
        return self.answers.get(step)

    def keep(self, step: int, label: str, answer: bytes) -> None:
        del label
        self.answers[step] = answer


def joint_plan(plan: Plan, roles: Roles, schema: Schema) -> Plan:
    """The plan of a single owner with the guarantee of the joint release; refuses what owners cannot compute jointly.

    Reads no data. The guarantee's delta allows `DELTA_EACH` for every candidate of a choice and for every count of a
    measurement. There are never more candidates than splits in the schema: nodes of a taxonomy with several children,
    and positions between two neighbouring codes. If the plan protects persons, this is the delta of one row, and the
    guarantee states that of the rows of a person at one owner.
    """
    if isinstance(plan.guarantee, ApproxDP):
        raise InputError(f"This release cannot be made jointly: {SINGLE_OWNER}.")
    if not isinstance(plan.guarantee, PureDP):
        raise InputError(
            "A joint release must be differentially private, and this method is not. Choose another method."
        )
    if plan.single_owner_reason:
        raise InputError(f"This release cannot be made jointly: {plan.single_owner_reason}.")
    splits = sum(attribute.domain.size - 1 for attribute in schema.predictors)
    values = max(splits, plan.cells_at_most * max(1, len(schema.classes)))
    own = plan.guarantee
    factor = delta_factor(own.epsilon, own.protects)
    delta = DELTA_EACH * values * sum(spend.times for spend in plan.spends) * factor
    if factor > 1 and delta > LARGEST_DELTA:
        raise InputError(
            f"For all rows of a person, delta would be {_power_of_ten(delta)}, too large for a guarantee: it grows "
            "with e to the power of epsilon. Choose a smaller epsilon, or a smaller `rows_each_at_most`."
        )
    guarantee = JointDP(
        epsilon=own.epsilon, delta=delta, coalition=roles.threshold, unit=own.unit, protects=own.protects
    )
    return replace(plan, guarantee=guarantee)


def _power_of_ten(number: Fraction) -> str:
    """About this number, which may be too large for a float."""
    return f"about 10^{len(str(int(number * 10**40))) - 41}"


class SecretHolder(Holder):
    """Answers queries about the sum of several owners' count tables, computed by an `Arithmetic`.

    Every count that an owner submits is clipped at the owner's public bound, and the widths of numbers hold the sum of
    the clipped counts of all owners and groups. So no table, however large, makes a number overflow. Clipping keeps
    sensitivity and monotonicity: section 5 of `joint/PROOF.md`.
    """

    def __init__(
        self,
        *,
        arithmetic: Arithmetic,
        engine: Tabulates | None,
        plan: Plan,
        rows_at_most: Mapping[int, int],
        owner: int | None,
        log: AnswerLog,
        answered: Callable[[str], None] | None = None,
    ) -> None:
        """`rows_at_most` is the public bound of each owner; `owner` is the one whose rows `engine` counts."""
        if not isinstance(plan.guarantee, JointDP):
            raise BudgetError("A joint holder needs a joint plan. Create it with `joint_plan`.")
        for bound in rows_at_most.values():
            if not 0 < bound <= MOST_ROWS:
                raise InputError(f"rows_at_most is {bound:,}; give a bound from 1 to {MOST_ROWS:,}.")
        super().__init__(plan=plan, answered=answered)
        self._arithmetic = arithmetic
        self._engine = engine
        self._rows_at_most = sum(rows_at_most.values())
        self._clip_at = 0 if owner is None else rows_at_most[owner]
        self._log = log
        self._last: tuple[Tabulation, Counts] | None = None
        one_row = plan.guarantee.delta / delta_factor(plan.guarantee.epsilon, plan.guarantee.protects)
        self._values_at_most = one_row / DELTA_EACH / sum(spend.times for spend in plan.spends)
        self._steps = 0
        self._head = b""

    def _check(self, query: Query | RowQuery, selection: Selection | None = None) -> None:
        """Refuse queries that need more than sums and comparisons of counts."""
        name = type(query).__name__
        if isinstance(query, Choice):
            if not isinstance(query, GroupChoice) or query.worth is not MAJORITY:
                raise BudgetError(f"{name} needs more than sums and comparisons of counts. No answer was released.")
            if selection is not Selection.PERMUTE_AND_FLIP:
                raise BudgetError(
                    f"A joint release selects by permute-and-flip, not by {selection}. No answer was released."
                )
        elif not isinstance(query, Measurement):
            raise BudgetError(f"{name} needs whole rows, and owners share only counts. No answer was released.")
        elif not query.additive:
            raise BudgetError(f"{name} is not a sum over the owners' rows. No answer was released.")

    def _select(self, query: Choice, price: Price, selection: Selection, log_weights: Sequence[float] | None) -> int:
        assert isinstance(query, GroupChoice)
        return int(self._recorded(price, partial(self._open_choice, query, price, log_weights))[0])

    def _measure(self, query: Measurement | RowMeasurement, price: Price) -> Integers:
        assert isinstance(query, Measurement)
        return self._recorded(price, partial(self._open_counts, query, price))

    def _select_in_parts(self, query: RowChoice, price: Price, selection: Selection) -> list[int]:
        raise AssertionError("`_check` refuses row queries")

    def _disclose(self, query: RowMeasurement) -> Integers:
        raise AssertionError("`Holder.disclose` refuses exact answers under a joint plan")

    def _recorded(self, price: Price, compute: Callable[[], Integers]) -> Integers:
        """The answer of the next step: the stored one, or computed and stored before it is used."""
        step = self._steps
        self._steps += 1
        stored = self._log.recall(step)
        if stored is None:
            self._arithmetic.begin(step)
            stored = compute().astype("<i8").tobytes()
            self._log.keep(step, price.label, stored)
        self._head = _digest(self._head, price.label, stored)
        return np.frombuffer(stored, dtype="<i8").astype(np.int64)

    def _agree(self, query: Query, *facts: object) -> None:
        """All parties confirm the answers so far, the query and the public numbers of its computation, before any count
        is shared."""
        request = query.tabulation
        nodes = [(name, [(node.low, node.high) for node in nodes]) for name, nodes in request.cut.nodes.items()]
        self._arithmetic.agree(
            "the query and its public values", _digest(self._head, type(query).__name__, nodes, request.fine, *facts)
        )

    def _open_choice(self, query: GroupChoice, price: Price, weights: Sequence[float] | None) -> Integers:
        sensitivity = query.sensitivity(price.unit)
        monotone = sensitivity.monotone and price.unit is Unit.ADD_REMOVE
        scale = selection_scale(sensitivity=sensitivity.bound, monotone=monotone, epsilon=price.epsilon)
        runs = list(query.runs(self._counts(query)))
        size = sum(run.made[0].shape[1] for run in runs)
        if size == 1:
            return np.zeros(1, dtype=np.int64)
        finer, offsets = score_offsets(weights, scale, size)
        shift = sensitivity.bound * (1 if monotone else 2) << finer
        law = geometric_law(price.epsilon / shift, shift)
        self._check_noise(size)
        count_bits = self._rows_at_most.bit_length()
        # A score is at most the sum of the worths of the groups that its candidate makes, each within the bounds.
        largest = self._rows_at_most * max(_groups_made(run) for run in runs)
        bits = ((largest << finer) + int(offsets.max()) + (1 << law.digits)).bit_length()
        shapes = [[group.shape for group in run.groups] for run in runs]
        self._agree(query, price.label, price.epsilon, law, bits, count_bits, finer, offsets.tolist(), shapes)
        scores = self._scores(runs, max(bits, count_bits + 1), count_bits)
        scores = self._arithmetic.plus_public(scores << np.array(finer, dtype=scores.dtype), offsets)
        return np.array([self._arithmetic.noisy_argmax(scores, law=law, bits=bits)])

    def _scores(self, runs: list[Run], bits: int, count_bits: int) -> Shares:
        """Shares of all candidates' scores, without the part that all candidates have in common."""
        groups = [groups for run in runs for groups in run.groups]
        flat = np.concatenate([each.reshape(-1, each.shape[-1]) for each in groups]).clip(0, self._clip_at)
        worths = self._arithmetic.majority(self._arithmetic.input(flat, bits), count_bits)
        ends = np.cumsum([prod(each.shape[:-1]) for each in groups])[:-1]
        parts: Iterator[Shares] = iter(np.split(worths, ends, axis=1))
        valued = [
            run.valued([next(parts).reshape(len(worths), *each.shape[:-1]) for each in run.groups]).scores()
            for run in runs
        ]
        return np.concatenate(valued, axis=1)

    def _open_counts(self, query: Measurement, price: Price) -> Integers:
        bound = query.sensitivity(price.unit).bound
        law = geometric_law(price.epsilon / bound, bound)
        limit = self._clip_at * bound
        exact = query.answer(self._counts(query)).clip(-limit, limit)
        self._check_noise(exact.size)
        bits = (self._rows_at_most * bound + (1 << law.digits)).bit_length() + 1
        self._agree(query, price.label, price.epsilon, law, bits, exact.shape)
        return self._arithmetic.noisy_open(self._arithmetic.input(exact, bits), law=law, bits=bits)

    def _check_noise(self, values: int) -> None:
        if values > self._values_at_most:
            raise BudgetError(
                "The answer needs more noise values than the plan's delta covers. No answer was released."
            )

    def _counts(self, query: Query) -> Counts:
        """This party's counts. A party without rows uses zeros; the shape is public."""
        request = query.tabulation
        if self._last is None or self._last[0] != request:
            self._last = request, _zeros(request) if self._engine is None else self._engine.tabulate(request)
        return self._last[1]


class JointHolder(SecretHolder):
    """One party's side of the joint holder, on secret shares."""

    def __init__(
        self,
        *,
        roles: Roles,
        mesh: Mesh,
        keys: SessionKeys,
        nonce: bytes,
        engine: Tabulates | None,
        plan: Plan,
        rows_at_most: Mapping[int, int],
        log: AnswerLog,
        attempt: bytes = b"",
        answered: Callable[[str], None] | None = None,
    ) -> None:
        """`nonce` is public, the same for all parties, and not used in any other session; `attempt` is public, the same
        for all parties, and not used in any other attempt. `engine` is None for a party
        without rows. `rows_at_most` is a public bound on every count of each owner, by party number.

        All parties' logs must contain the answers of the same steps. Later steps are computed; if an earlier attempt
        computed them with the same keys, they repeat its noise and its answers.
        """
        if (mesh.party in roles.owners) is (engine is None):
            raise InputError(f"Party {mesh.party} must have rows if it is an owner, and none otherwise.")
        if set(rows_at_most) != set(roles.owners):
            raise InputError("`rows_at_most` must state one bound for each owner.")
        sharing = Sharing(roles=roles, mesh=mesh, keys=keys, nonce=nonce, attempt=attempt)
        super().__init__(
            arithmetic=ReplicatedArithmetic(sharing),
            engine=engine,
            plan=plan,
            rows_at_most=rows_at_most,
            owner=None if engine is None else mesh.party,
            log=log,
            answered=answered,
        )


def _groups_made(run: Run) -> int:
    """The number of groups that each candidate of a run makes."""
    return sum(made.shape[0] * made.shape[2] for made in run.made)


def _digest(*facts: object) -> bytes:
    """A digest of integers, fractions, texts and tuples or lists of them, by the texts that Python gives them."""
    return hashlib.sha256(repr(facts).encode()).digest()


def _zeros(request: Tabulation) -> Counts:
    cut = request.cut
    return Counts(
        cells=np.zeros((cut.cells, len(cut.schema.classes)), dtype=np.int64),
        fine={name: np.zeros(fine_shape(cut, name), dtype=np.int64) for name in request.fine},
    )
