"""The tests that C4.5 considers at a node, and the one that it chooses.

A categorical feature is tested once on a path, with one branch for each category. A numeric feature is tested against a
threshold. For each feature C4.5 computes two numbers, in bits:

- *gain*: the decrease of the class entropy, times the share of the cases whose value is known. From the gain of a
  numeric feature, log2(number of thresholds) / cases is subtracted, the cost of naming the threshold (Quinlan 1996,
  release 8). The threshold has the largest gain, not the largest gain ratio.
- *split information*: the entropy of the branch sizes, unknown values counted as one more branch.

The chosen test has the largest gain ratio, gain / split information, among tests whose gain is at least the mean gain
(less 0.001). A test needs two branches with at least the minimum number of cases. On both sides of a threshold there
are at least a tenth of the mean number of cases of a class, but no fewer than the minimum, and 25 suffice. A
categorical feature with very many categories (0.3 times the number of training cases) is not considered, unless all
features are such.
"""

from typing import NamedTuple

import numpy as np

from scumble.compiled import compiled
from scumble.mining.c45.tree import LEAF, Cases, CaseTable, FeatureFlags, Rules
from scumble.model.counts import Floats, Integers

NO_GAIN = -1e-3
"""The gain of a feature that offers no test; also minus the tolerance of comparisons, as in Quinlan's program."""
ROUNDING = 1e-9
"""Gains and ratios this close, relative to the larger one, are equal. Different features may divide cases alike."""
LARGEST_SIDE = 25.0
MANY = 0.3


class Candidates(NamedTuple):
    """For each feature: its gain and split information, and for a threshold the codes on both sides of it."""

    gain: Floats
    information: Floats
    low: Integers
    high: Integers

    @classmethod
    def space(cls, features: int) -> "Candidates":
        sides = (np.zeros(features, dtype=np.int64) for _ in range(2))
        return cls(np.zeros(features), np.zeros(features), *sides)


def candidates(table: CaseTable, cases: Cases, rules: Rules) -> Candidates:
    """The best test of every feature."""
    found = Candidates.space(len(table.sizes))
    limits = float(rules.minimum_cases), float(rules.threshold_cost)
    evaluate(table, cases, 0, len(cases.rows), table.usable, *limits, found)
    return found


@compiled
def chosen(found):  # type: ignore[no-untyped-def]
    """The feature with the largest gain ratio among those with at least the mean gain; the first among ties."""
    possible, total = 0, 0.0
    for gain in found.gain:
        if gain > NO_GAIN:
            possible += 1
            total += gain
    if possible == 0:
        return LEAF
    least = total / possible + NO_GAIN
    ratios = np.full(len(found.gain), -np.inf)
    for feature in range(len(found.gain)):
        gain, information = found.gain[feature], found.information[feature]
        if gain > NO_GAIN and gain >= least and information > -NO_GAIN:
            ratios[feature] = max(gain, 0.0) / information
    largest = ratios.max()
    for feature in range(len(ratios)):
        if ratios[feature] > -np.inf and ratios[feature] >= largest * (1 - ROUNDING):
            return feature
    return LEAF


def usable_features(sizes: Integers, categorical: FeatureFlags, cases: float) -> FeatureFlags:
    """All features but categorical ones with very many categories; all if every feature is such."""
    many = categorical & (sizes >= MANY * cases)
    usable: FeatureFlags = np.ones_like(many) if many.all() else ~many
    return usable


@compiled
def evaluate(table, cases, begin, end, usable, minimum, cost, found):  # type: ignore[no-untyped-def]
    """Set the candidates of the cases from `begin` to `end`."""
    found.gain[:] = NO_GAIN
    total = 0.0
    for place in range(begin, end):
        total += cases.weights[place]
    for feature in range(len(table.sizes)):
        if not usable[feature]:
            continue
        dense = table.categorical[feature] or table.sizes[feature] <= 4 * (end - begin)
        places, counts = _class_counts(table, cases, begin, end, feature, dense)
        by_class = _by_class(counts)
        known = by_class.sum()
        if known <= 0.0:
            continue
        whole = _information(by_class) / known
        if table.categorical[feature]:
            _evaluate_categories(counts, known, whole, total, minimum, feature, found)
        else:
            _evaluate_thresholds(places, counts, by_class, known, whole, total, minimum, cost, feature, found)


@compiled
def _class_counts(table, cases, begin, end, feature, dense):  # type: ignore[no-untyped-def]
    """The weight of each class for each known code: of all codes, or only of those that occur, in their order."""
    column, labels = table.codes[feature], table.labels
    if dense:
        counts = np.zeros((table.sizes[feature], table.classes))
        for place in range(begin, end):
            row = cases.rows[place]
            code = column[row]
            if code >= 0:
                counts[code, labels[row]] += cases.weights[place]
        return np.arange(table.sizes[feature]), counts
    here = np.empty(end - begin, dtype=np.int32)
    for place in range(begin, end):
        here[place - begin] = column[cases.rows[place]]
    order = np.argsort(here)
    places = np.empty(len(here), dtype=np.int64)
    counts = np.zeros((len(here), table.classes))
    used = 0
    for place in order:
        code = here[place]
        if code < 0:
            continue
        if used == 0 or places[used - 1] != code:
            places[used] = code
            used += 1
        counts[used - 1, labels[cases.rows[begin + place]]] += cases.weights[begin + place]
    return places[:used], counts[:used]


@compiled
def _by_class(counts):  # type: ignore[no-untyped-def]
    found = np.zeros(counts.shape[1])
    for place in range(len(counts)):
        for label in range(counts.shape[1]):
            found[label] += counts[place, label]
    return found


@compiled
def _information(counts):  # type: ignore[no-untyped-def]
    """The entropy of counts in bits, times their sum."""
    total = 0.0
    found = 0.0
    for count in counts:
        if count > 0.0:
            total += count
            found -= count * np.log2(count)
    return found + total * np.log2(total) if total > 0.0 else 0.0


@compiled
def _evaluate_categories(counts, known, whole, total, minimum, feature, found):  # type: ignore[no-untyped-def]
    sizes = np.empty(len(counts) + 1)
    sizes[-1] = total - known
    inside = 0.0
    reasonable = 0
    for code in range(len(counts)):
        sizes[code] = counts[code].sum()
        reasonable += sizes[code] >= minimum
        inside += _information(counts[code])
    if reasonable >= 2:
        found.gain[feature] = known / total * (whole - inside / known)
        found.information[feature] = _information(sizes) / total


@compiled
def _evaluate_thresholds(  # type: ignore[no-untyped-def]
    places, counts, by_class, known, whole, total, minimum, cost, feature, found
):
    classes = counts.shape[1]
    least = max(minimum, min(LARGEST_SIDE, 0.1 * known / classes))
    left = np.zeros(classes)
    right = by_class
    below = 0.0
    previous = -1
    tries = 0
    best = 0.0
    best_below = 0.0
    for place in range(len(counts)):
        step = counts[place].sum()
        if step == 0.0:
            continue
        if previous >= 0 and below >= least:
            if below > known - least:
                break
            tries += 1
            value = known / total * (whole - (_information(left) + _information(right)) / known)
            if value > best * (1 + ROUNDING):
                best, best_below = value, below
                found.low[feature], found.high[feature] = places[previous], places[place]
        left += counts[place]
        right -= counts[place]
        below += step
        previous = place
    if tries == 0:
        return
    best -= cost * np.log2(tries) / total
    if best > 0.0:
        found.gain[feature] = best
        found.information[feature] = _information(np.array([best_below, known - best_below, total - known])) / total
