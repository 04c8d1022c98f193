"""C4.5 as one reads it in the book: cases one by one, recursion, no arrays. Slow, and the oracle of the fast one."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, log, log2, sqrt
from typing import Any, NamedTuple

TOLERANCE = 1e-3
ROUNDING = 1e-9


class Case(NamedTuple):
    """A case: a value for each feature (None if unknown), its class and its weight."""

    values: tuple[Any, ...]
    label: int
    weight: float = 1.0


@dataclass
class TwinNode:
    """A leaf, or a test: on categories (`cut` None) or against a threshold, with branches by value or by side."""

    counts: Counter[int]
    feature: int | None = None
    cut: float | None = None
    branches: "dict[Any, TwinNode]" = field(default_factory=dict)

    def branch_of(self, value: Any) -> Any:
        return value if self.cut is None else value > self.cut


@dataclass(frozen=True)
class Twin:
    """The learner: which features are categorical, and the categories of each."""

    categories: tuple[frozenset[Any] | None, ...]
    values: tuple[tuple[float, ...], ...]
    classes: int
    excluded: frozenset[int] = frozenset()
    minimum: float = 2.0
    confidence_square: float = 0.6925**2
    confidence: float = 0.25

    @classmethod
    def of(cls, cases: list[Case], categorical: set[int], classes: int) -> "Twin":
        columns = list(zip(*(case.values for case in cases), strict=True))
        known = [sorted({value for value in column if value is not None}) for column in columns]
        categories = tuple(frozenset(each) if place in categorical else None for place, each in enumerate(known))
        limit = 0.3 * total_weight(cases)
        many = {place for place, each in enumerate(categories) if each is not None and len(each) >= limit}
        excluded = frozenset(many) if len(many) < len(categories) else frozenset()
        return cls(categories, tuple(map(tuple, known)), classes, excluded)

    def grow(self, cases: list[Case], tested: frozenset[int] = frozenset()) -> TwinNode:
        counts = class_counts(cases)
        total, most = sum(counts.values()), max(counts.values(), default=0.0)
        leaf = TwinNode(counts)
        if total < 2 * self.minimum or most >= total:
            return leaf
        test = self.chosen(cases, tested)
        if test is None:
            return leaf
        feature, cut = test
        node = TwinNode(counts, feature, cut)
        kinds = self.categories[feature]
        below = tested | {feature} if kinds is not None else tested
        node.branches = {kind: TwinNode(Counter()) for kind in (sorted(kinds) if kinds is not None else (False, True))}
        for kind, part in divided(node, cases).items():
            node.branches[kind] = self.grow(part, below)
        wrong = sum(errors(each) for each in leaves(node))
        return leaf if wrong >= total - most - TOLERANCE else node

    def chosen(self, cases: list[Case], tested: frozenset[int]) -> tuple[int, float | None] | None:
        offers = {}
        for feature in range(len(self.categories)):
            offer = None if feature in tested | self.excluded else self.offer(cases, feature)
            if offer is not None:
                offers[feature] = offer
        if not offers:
            return None
        mean = sum(gain for gain, _, _ in offers.values()) / len(offers)
        best, found = 0.0, None
        for feature, (gain, information, cut) in offers.items():
            if gain >= mean - TOLERANCE and information > TOLERANCE:
                ratio = max(gain, 0.0) / information
                if found is None or ratio > best * (1 + ROUNDING):
                    best, found = ratio, (feature, cut)
        return found

    def offer(self, cases: list[Case], feature: int) -> tuple[float, float, float | None] | None:
        """Gain, split information and threshold of the best test of a feature."""
        kinds = self.categories[feature]
        if kinds is not None:
            found = gain_and_information(cases, feature, lambda value: value, self.minimum)
            return None if found is None else (*found, None)
        known = [case for case in cases if case.values[feature] is not None]
        weight = total_weight(known)
        least = max(self.minimum, min(25.0, 0.1 * weight / self.classes))
        values = sorted({case.values[feature] for case in known})
        best, tries = None, 0
        for low, high in pairwise(values):
            below = total_weight([case for case in known if case.values[feature] <= low])
            if below < least or below > weight - least:
                continue
            tries += 1
            found = gain_and_information(cases, feature, lambda value, low=low: value > low, 0.0)
            if found is not None and found[0] > (0.0 if best is None else best[0]) * (1 + ROUNDING):
                best = (*found, self.threshold(feature, low, high))
        if best is None or best[0] - log2(tries) / total_weight(cases) <= 0:
            return None
        return best[0] - log2(tries) / total_weight(cases), best[1], best[2]

    def threshold(self, feature: int, low: float, high: float) -> float:
        return max(value for value in self.values[feature] if value <= (low + high) / 2)

    def pruned(self, node: TwinNode, cases: list[Case]) -> tuple[TwinNode, float]:
        counts = class_counts(cases)
        total = sum(counts.values())
        leaf = TwinNode(counts)
        as_leaf = self.expected(total, total - max(counts.values(), default=0.0))
        if node.feature is None:
            return leaf, as_leaf
        parts = divided(node, cases)
        largest = max(node.branches, key=lambda kind: total_weight(parts.get(kind, [])))
        made = TwinNode(counts, node.feature, node.cut)
        as_tree = 0.0
        for kind, branch in node.branches.items():
            made.branches[kind], error = self.pruned(branch, parts.get(kind, []))
            as_tree += error
        as_branch = self.errors_of(made.branches[largest], cases)
        if as_leaf <= as_branch + 0.1 and as_leaf <= as_tree + 0.1:
            return leaf, as_leaf
        if as_branch <= as_tree + 0.1:
            return self.pruned(made.branches[largest], cases)
        return made, as_tree

    def errors_of(self, node: TwinNode, cases: list[Case]) -> float:
        if node.feature is None:
            counts = class_counts(cases)
            total = sum(counts.values())
            return self.expected(total, total - max(counts.values(), default=0.0))
        return sum(self.errors_of(node.branches[kind], part) for kind, part in divided(node, cases).items())

    def expected(self, cases: float, wrong: float) -> float:
        if cases <= 0:
            return 0.0
        none = cases * (1 - exp(log(self.confidence) / cases))
        if wrong < 1e-6:
            return none
        if wrong < 0.9999:
            return none + wrong * (self.expected(cases, 1.0) - none)
        if wrong + 0.5 >= cases:
            return wrong + 0.67 * (cases - wrong)
        square, corrected = self.confidence_square, wrong + 0.5
        spread = sqrt(square * (corrected * (1 - corrected / cases) + square / 4))
        return cases * (corrected + square / 2 + spread) / (cases + square)


def gain_and_information(cases: list[Case], feature: int, branch: Any, minimum: float) -> tuple[float, float] | None:
    known = [case for case in cases if case.values[feature] is not None]
    parts: dict[Any, list[Case]] = {}
    for case in known:
        parts.setdefault(branch(case.values[feature]), []).append(case)
    sizes = [total_weight(part) for part in parts.values()]
    if sum(size >= minimum for size in sizes) < 2:
        return None
    total, weight = total_weight(cases), total_weight(known)
    inside = sum(total_weight(part) * entropy(class_counts(part)) for part in parts.values()) / weight
    gain = weight / total * (entropy(class_counts(known)) - inside)
    return gain, entropy(dict(enumerate([*sizes, total - weight])))


def divided(node: TwinNode, cases: list[Case]) -> dict[Any, list[Case]]:
    """The cases of each branch; a case with an unknown value goes to all, in proportion to the known ones."""
    assert node.feature is not None
    parts: dict[Any, list[Case]] = {}
    known = [case for case in cases if case.values[node.feature] is not None]
    for case in known:
        parts.setdefault(node.branch_of(case.values[node.feature]), []).append(case)
    shares = {kind: total_weight(part) / total_weight(known) for kind, part in parts.items()}
    if not known:
        whole = sum(sum(branch.counts.values()) for branch in node.branches.values())
        shares = {kind: sum(branch.counts.values()) / whole for kind, branch in node.branches.items()}
        parts = {kind: [] for kind, share in shares.items() if share > 0}
    for case in cases:
        if case.values[node.feature] is None:
            for kind, part in parts.items():
                part.append(case._replace(weight=case.weight * shares[kind]))
    return parts


def class_counts(cases: list[Case]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for case in cases:
        counts[case.label] += case.weight  # type: ignore[assignment]
    return counts


def total_weight(cases: list[Case]) -> float:
    return float(sum(case.weight for case in cases))


def entropy(counts: Any) -> float:
    total = sum(counts.values())
    return -sum(count / total * log2(count / total) for count in counts.values() if count > 0)


def leaves(node: TwinNode) -> list[TwinNode]:
    return [node] if node.feature is None else [leaf for each in node.branches.values() for leaf in leaves(each)]


def errors(node: TwinNode) -> float:
    return sum(node.counts.values()) - max(node.counts.values(), default=0.0)


def twin_tree(cases: list[Case], categorical: set[int], classes: int) -> TwinNode:
    """The pruned tree."""
    twin = Twin.of(cases, categorical, classes)
    return twin.pruned(twin.grow(cases), cases)[0]
