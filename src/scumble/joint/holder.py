"""The joint holder: answers a method's queries about the rows of several owners.

Every party runs the same, unchanged method. Where the `CentralHolder` of a single owner would count, add noise and
answer, the parties add up their counts as secret shares, add noise that no coalition knows, and open only the noisy
answer. All parties get the same answers, so all make the same release.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from scumble.errors import BudgetError, InputError
from scumble.joint.answers import AnswerLog
from scumble.joint.network.mesh import Mesh
from scumble.joint.offsets import score_offsets
from scumble.joint.planning import OFFERED, numbers_allowed
from scumble.joint.protocol.arithmetic import MOST_BITS, Arithmetic, ReplicatedArithmetic
from scumble.joint.protocol.geometric_noise import geometric_law
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.joint.protocol.sharing import Sharing
from scumble.joint.scoring import DistanceScores, GroupScores, SharedScores
from scumble.joint.session.content_digest import content_digest
from scumble.model.counts import Counts, Integers, Tabulation, fine_shape
from scumble.model.guarantee import JointDP
from scumble.model.operation import Operation
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder, Tabulates
from scumble.privacy.noise import Selection
from scumble.privacy.price import Price
from scumble.privacy.query import (
    Choice,
    DistanceChoice,
    GroupChoice,
    Measurement,
    Query,
    RowChoice,
    RowMeasurement,
    RowQuery,
    SummedRows,
)

MOST_ROWS = 2**40
"""The largest bound on the rows of one owner."""
LARGEST_WORD = (1 << MOST_BITS) - 1
"""Numbers with their noise stay within this."""


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
        self._bounds = dict(rows_at_most)
        self._owner = owner
        self._log = log
        self._last: tuple[Tabulation, Counts] | None = None
        self._values_left = numbers_allowed(plan.guarantee)
        self._steps = 0
        self._head = b""

    def _check(self, query: Query | RowQuery, selection: Selection | None = None) -> None:
        """Refuse queries that need more than sums and comparisons."""
        needed = query.operations
        if selection is Selection.EXPONENTIAL:
            needed |= {Operation.EXPONENTIAL}
        for operation in sorted(needed - OFFERED):
            raise BudgetError(
                f"{type(query).__name__} needs {operation}, and owners who compute jointly offer only sums and "
                "comparisons. No answer was released."
            )

    def _select(self, query: Choice, price: Price, selection: Selection, log_weights: Sequence[float] | None) -> int:
        assert isinstance(query, GroupChoice)
        return self._chosen(query, price, lambda: GroupScores(query, self._counts(query)), log_weights)

    def _select_in_parts(self, query: RowChoice, price: Price, selection: Selection) -> list[int]:
        assert isinstance(query, DistanceChoice) and not query.parts
        return [self._chosen(query, price, lambda: DistanceScores(query, self._sums(query)), None)]

    def _measure(self, query: Measurement | RowMeasurement, price: Price) -> Integers:
        return self._recorded(price, partial(self._open_counts, query, price))

    def _disclose(self, query: RowMeasurement) -> Integers:
        raise AssertionError("`Holder.disclose` refuses exact answers under a joint plan")

    def _chosen(
        self,
        query: Choice | RowChoice,
        price: Price,
        scored: Callable[[], SharedScores],
        weights: Sequence[float] | None,
    ) -> int:
        return int(self._recorded(price, lambda: self._open_choice(query, price, scored(), weights))[0])

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

    def _agree(self, query: Query | RowQuery, price: Price, *facts: object) -> None:
        """All parties confirm the answers so far, the query with the public values that it depends on, and the public
        numbers of its computation, before any count is shared. The schema is part of the agreement."""
        fact = _digest(self._head, content_digest(query, without=Schema), price.label, price.epsilon, *facts)
        self._arithmetic.agree("the query and its public values", fact)

    def _open_choice(
        self, query: Choice | RowChoice, price: Price, scored: SharedScores, weights: Sequence[float] | None
    ) -> Integers:
        size = len(scored.public)
        if size == 1:
            return np.zeros(1, dtype=np.int64)
        sensitivity = query.sensitivity(price.unit)
        finer, offsets = score_offsets(weights, price.selection_scale(sensitivity), size)
        offsets = offsets + (scored.public << finer)
        shift = sensitivity.bound * (1 if price.monotone(sensitivity) else 2) << finer
        law = geometric_law(price.epsilon / shift, shift)
        self._count_noise(size)
        beside = int(offsets.max()) + (1 << law.digits)
        room = ((LARGEST_WORD - beside) >> finer) // scored.numbers - scored.far
        limit, total = self._limits(scored.each_row, room)
        bits = ((scored.numbers * (total + scored.far) << finer) + beside).bit_length()
        self._agree(query, price, law, bits, total, finer, offsets.tolist(), scored.facts)
        self._arithmetic.announce(law, size)
        scores = scored.shares(self._arithmetic, limit=limit, total=total, bits=bits)
        scores = self._arithmetic.plus_public(scores << np.array(finer, dtype=scores.dtype), offsets)
        return np.array([self._arithmetic.noisy_argmax(scores, law=law, bits=bits)])

    def _open_counts(self, query: Measurement | RowMeasurement, price: Price) -> Integers:
        bound = query.sensitivity(price.unit).bound
        law = geometric_law(price.epsilon / bound, bound)
        exact = query.answer(self._counts(query)) if isinstance(query, Query) else self._sums(query)
        self._count_noise(exact.size)
        limit, total = self._limits(bound, LARGEST_WORD // 2 - (1 << law.digits))
        bits = (total + (1 << law.digits)).bit_length() + 1
        self._agree(query, price, law, bits, exact.shape)
        return self._arithmetic.noisy_open(self._arithmetic.input(exact.clip(-limit, limit), bits), law=law, bits=bits)

    def _limits(self, each_row: int, room: int) -> tuple[int, int]:
        """Where this owner clips numbers that a row changes by at most `each_row`, and what the sums of all owners'
        numbers lie within: `room`, however large the bounds are."""
        most = room // len(self._bounds)
        if most < 1:
            raise BudgetError("The noise is too large for 64-bit numbers. Spend a larger epsilon on fewer answers.")
        limits = {owner: min(bound * each_row, most) for owner, bound in self._bounds.items()}
        return 0 if self._owner is None else limits[self._owner], sum(limits.values())

    def _count_noise(self, values: int) -> None:
        self._values_left -= values
        if self._values_left < 0:
            raise BudgetError(
                "The answer needs more noise values than the plan's delta covers. No answer was released."
            )

    def _counts(self, query: Query) -> Counts:
        """This party's counts. A party without rows uses zeros; the shape is public."""
        request = query.tabulation
        if self._last is None or self._last[0] != request:
            self._last = request, _zeros(request) if self._engine is None else self._engine.tabulate(request)
        return self._last[1]

    def _sums(self, query: RowQuery) -> Integers:
        """This party's sums over its rows. A party without rows adds up none."""
        assert isinstance(query, SummedRows)
        found: Integers = query.gather(()) if self._engine is None else self._engine.add_up(query.gather)
        return found


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


def _digest(*facts: object) -> bytes:
    """A digest of integers, fractions, texts and tuples or lists of them, by the texts that Python gives them."""
    return hashlib.sha256(repr(facts).encode()).digest()


def _zeros(request: Tabulation) -> Counts:
    cut = request.cut
    return Counts(
        cells=np.zeros((cut.cells, len(cut.schema.classes)), dtype=np.int64),
        fine={name: np.zeros(fine_shape(cut, name), dtype=np.int64) for name in request.fine},
    )
