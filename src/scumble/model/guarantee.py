"""The guarantee of a release, as a union of types. Four are differential privacy: `PureDP`, `ApproxDP`, `LocalDP`
and `JointDP`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from scumble.errors import InputError
from scumble.model.budget import budget_text, delta_text
from scumble.model.persons import Persons


class Unit(StrEnum):
    """The unit of privacy: which two tables are neighbours."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @property
    def sentence(self) -> str:
        """How two neighbouring tables differ, as a clause."""
        if self is Unit.ADD_REMOVE:
            return "one record is added or removed"
        return "one record is changed, the number of records being public"


@dataclass(frozen=True, kw_only=True)
class PureDP:
    """eps-differential privacy: neighbouring tables give every output with probabilities within a factor e^eps.

    >>> PureDP(epsilon=Fraction(1, 2), unit=Unit.ADD_REMOVE).sentence[:31]
    '0.5-differentially private: no '
    """

    epsilon: Fraction
    unit: Unit
    protects: Persons | None = None
    """The persons whose rows are protected together; None if each record is protected on its own."""

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        epsilon = budget_text(self.epsilon)
        difference = self.unit.sentence if self.protects is None else self.protects.sentence
        power = f"({epsilon})" if "/" in epsilon else epsilon
        return (
            f"{epsilon}-differentially private: no outcome becomes more than e^{power} times as likely or unlikely "
            f"when {difference}."
        )


@dataclass(frozen=True, kw_only=True)
class ApproxDP:
    """(eps, delta)-differential privacy, from noise whose zero-concentrated privacy loss the plan adds up.

    For neighbouring tables and every set of outcomes, the probability of the set is at most e^eps times that on the
    other table, plus delta. It is weaker than `PureDP` with the same epsilon: delta is not covered by any epsilon.

    >>> ApproxDP(epsilon=Fraction(1, 2), delta=Fraction(1, 10**9), unit=Unit.ADD_REMOVE).sentence[:38]
    '(0.5, 1e-9)-differentially private: no'
    """

    epsilon: Fraction
    delta: Fraction
    unit: Unit
    protects: Persons | None = None
    """The persons whose rows are protected together; None if each record is protected on its own."""

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise InputError(f"delta is {self.delta}, but must lie between 0 and 1. For pure epsilon, leave it out.")

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        epsilon, delta = budget_text(self.epsilon), delta_text(self.delta)
        difference = self.unit.sentence if self.protects is None else self.protects.sentence
        power = f"({epsilon})" if "/" in epsilon else epsilon
        whom = "that record" if self.protects is None else "that person"
        return (
            f"({epsilon}, {delta})-differentially private: no event becomes more than e^{power} times as likely, plus "
            f"{delta}, when {difference}. Delta, {delta}, is what epsilon does not cover: the release reveals no more "
            f"than one that keeps to epsilon except with a probability of {delta}, when it may reveal all about {whom}."
        )


@dataclass(frozen=True, kw_only=True)
class LocalDP:
    """eps-local differential privacy of one person's record, for the attributes it covers and no others."""

    epsilon: Fraction
    covers: tuple[str, ...]
    protects: Persons | None = None
    """The persons whose reports are protected together; None if each report is protected on its own."""

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        if self.protects is not None:
            return (
                f"{self._claim}: this covers all reports of one person in one table (at most "
                f"{self.protects.rows_each_at_most} are used, by {self.protects.column!r}), each perturbed on its own. "
                "The epsilons of several tables add up, and under fixed noise a changed report reveals that a value "
                "changed. Attributes reported without noise are not covered."
            )
        return (
            f"{self._claim}: each person perturbed their own record before sending it. This covers one report of a "
            "record: the epsilons of several reports add up, and under fixed noise a changed report reveals that a "
            "value changed. Attributes reported without noise are not covered."
        )

    @property
    def earlier_sentences(self) -> tuple[str, ...]:
        """The wordings of releases up to version 0.1, which protected single reports only."""
        if self.protects is not None:
            return ()
        perturbed = "each person perturbed their own record before sending it. Attributes reported without noise are"
        blurred = "each person blurred their own record before it left them. What a person told truthfully is"
        return tuple(f"{self._claim}: {wording} not covered." for wording in (perturbed, blurred))

    @property
    def _claim(self) -> str:
        return f"{budget_text(self.epsilon)}-locally differentially private in {', '.join(self.covers)}"


@dataclass(frozen=True, kw_only=True)
class JointDP:
    """(eps, delta)-differential privacy of a joint release, also against a coalition of the parties.

    `coalition` is the largest number of computing parties that learn nothing more together.
    """

    epsilon: Fraction
    delta: Fraction
    coalition: int
    unit: Unit
    protects: Persons | None = None
    """The persons whose rows at one owner are protected together; None if each record is protected on its own."""

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        difference = self.unit.sentence if self.protects is None else self.protects.sentence_at_one_owner
        return (
            f"({budget_text(self.epsilon)}, {float(self.delta):.1e})-differentially private when {difference}, also "
            f"against any {self.coalition} of the computing parties, if all parties follow the protocol (semi-honest "
            "security) and under computational assumptions (pseudo-random functions, TLS). For a person with rows at "
            "several owners, the epsilons add up."
        )

    @property
    def earlier_sentences(self) -> tuple[str, ...]:
        """The wording of releases up to version 0.1, which did not name the assumptions."""
        difference = self.unit.sentence if self.protects is None else self.protects.sentence_at_one_owner
        earlier = (
            f"({budget_text(self.epsilon)}, {float(self.delta):.1e})-differentially private when {difference}, also "
            f"against any {self.coalition} of the computing parties that follow the protocol."
        )
        return (
            earlier
            if self.protects is None
            else f"{earlier} For a person with rows at several owners, the epsilons add up.",
        )


@dataclass(frozen=True, kw_only=True)
class IntervalPrivacy:
    """Each attribute's true value lies, with the stated confidence, in an interval of the stated width.

    The width of a category is a number of categories.
    """

    intervals: Mapping[str, tuple[Fraction, Fraction]]
    """Confidence and width of each attribute."""
    categories: Mapping[str, tuple[int, Fraction]] = field(default_factory=dict)
    """For a category: how many there are, and the probability that a report states the true one."""

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        numbers = [
            f"{name} lies in an interval of width {budget_text(width)} at {_level(confidence)}"
            for name, (confidence, width) in self.intervals.items()
            if name not in self.categories
        ]
        names_by_probability: dict[Fraction, list[str]] = {}
        for name, (_, probability) in self.categories.items():
            names_by_probability.setdefault(probability, []).append(name)
        categories = [
            f"a report states the true category of {', '.join(names)} with probability {budget_text(probability)}"
            f"{' each' if len(names) > 1 else ''}, and otherwise another one"
            for probability, names in names_by_probability.items()
        ]
        return f"{self._start}{'; '.join([*numbers, *categories])}."

    @property
    def earlier_sentences(self) -> tuple[str, ...]:
        """Earlier wordings: with a number of possible categories; up to version 0.1, with categories as numbers."""
        like_numbers = (
            f"{name} within {budget_text(width)} at {_level(confidence)}"
            for name, (confidence, width) in self.intervals.items()
        )
        possible = (self._possible(name, confidence, width) for name, (confidence, width) in self.intervals.items())
        return tuple(f"{self._start}{'; '.join(parts)}." for parts in (possible, like_numbers))

    @property
    def _start(self) -> str:
        return "NOT differentially private. Interval privacy only: "

    def _possible(self, name: str, confidence: Fraction, width: Fraction) -> str:
        level = _level(confidence)
        if name not in self.categories:
            return f"{name} lies in an interval of width {budget_text(width)} at {level}"
        size, probability = self.categories[name]
        report = f"a report states the true {name} with probability {budget_text(probability)}"
        if width <= 1:
            return f"{report}, which leaves no other category possible at {level}"
        return f"{report}, which leaves {budget_text(width)} of {size} categories possible at {level}"


def _level(confidence: Fraction) -> str:
    return f"{budget_text(100 * confidence)} % confidence"


@dataclass(frozen=True, kw_only=True)
class KAnonymity:
    """Each record shares its published values with at least k - 1 others."""

    k: int
    quasi: tuple[str, ...] | None = None
    """The quasi-identifier: the attributes in which they agree; None if it is all published ones."""

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        return f"NOT differentially private. {self._groups}."

    @property
    def _groups(self) -> str:
        where = "" if self.quasi is None else f" in {', '.join(self.quasi)}"
        return f"{self.k}-anonymous only: each record looks like {self.k - 1} others{where}"


@dataclass(frozen=True, kw_only=True)
class LDiversity(KAnonymity):
    """k-anonymity, and each group of equal records has l different values of a sensitive attribute.

    By `entropy`, the entropy of its values in each group is at least log(l) (Machanavajjhala et al. 2007).
    """

    l: Fraction  # noqa: E741 - the letter of the literature
    sensitive: str
    entropy: bool = False

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        least = budget_text(self.l)
        values = (
            f"the entropy of {self.sensitive!r} is at least log({least})"
            if self.entropy
            else f"there are at least {least} different values of {self.sensitive!r}"
        )
        return f"NOT differentially private. {self._groups}, and among records that look alike {values}."


@dataclass(frozen=True, kw_only=True)
class TCloseness(KAnonymity):
    """k-anonymity, and the distribution of a sensitive attribute in each group of equal records is within the earth
    mover's distance t of its distribution in the whole table (Li, Li, Venkatasubramanian 2007)."""

    t: Fraction
    sensitive: str

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        return (
            f"NOT differentially private. {self._groups}, and among records that look alike the distribution of "
            f"{self.sensitive!r} is within {budget_text(self.t)} of that of the whole table (earth mover's distance)."
        )


@dataclass(frozen=True, kw_only=True)
class Unproven:
    """A claim from the literature that has no proof, or a refuted one."""

    claim: PureDP
    reason: str

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as releases publish it."""
        return f"UNPROVEN. Claimed, not proved: {self.claim.sentence} {self.reason}"


Guarantee = PureDP | ApproxDP | LocalDP | JointDP | IntervalPrivacy | KAnonymity | Unproven


def unit_of(guarantee: Guarantee) -> Unit | None:
    """The unit that a guarantee names; None for one that says nothing about neighbouring tables."""
    match guarantee:
        case PureDP(unit=unit) | ApproxDP(unit=unit) | JointDP(unit=unit) | Unproven(claim=PureDP(unit=unit)):
            return unit
        case _:
            return None


def epsilon_of(guarantee: Guarantee) -> Fraction | None:
    """The epsilon that a guarantee states; None if it states none."""
    match guarantee:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon) | JointDP(epsilon=epsilon) | LocalDP(epsilon=epsilon):
            return epsilon
        case Unproven(claim=PureDP(epsilon=epsilon)):
            return epsilon
        case _:
            return None


def delta_of(guarantee: Guarantee) -> Fraction:
    """The delta that a guarantee states; 0 if it states none."""
    match guarantee:
        case ApproxDP(delta=delta) | JointDP(delta=delta):
            return delta
        case _:
            return Fraction(0)


def persons_of(guarantee: Guarantee) -> Persons | None:
    """The persons whose rows a guarantee protects together; None if it protects single records."""
    match guarantee:
        case PureDP(protects=persons) | ApproxDP(protects=persons):
            return persons
        case JointDP(protects=persons) | LocalDP(protects=persons):
            return persons
        case Unproven(claim=PureDP(protects=persons)):
            return persons
        case _:
            return None


def allows_exact_answers(guarantee: Guarantee) -> bool:
    """Whether a holder may disclose an exact answer: only if the guarantee does not even claim differential privacy."""
    return isinstance(guarantee, KAnonymity)
