"""Uniqueness in the population: how many people of the whole population nobody else looks like.

Only the sizes of groups in the table and the public size of the population are used. The table is treated as a simple
random sample. Two estimators, and the rule by which Dankar et al. (Estimating the re-identification risk of clinical
data sets, BMC Medical Informatics and Decision Making 12, 2012) choose between such estimators:

- Pitman: a superpopulation model with two parameters, fitted by maximum likelihood (Hoshino, Applying Pitman's sampling
  formula to microdata disclosure risk assessment, Journal of Official Statistics 17, 2001). Used if the table is at
  most a tenth of the population.
- Zayatz: from the distribution of sizes in the table (Estimation of the percent of unique population elements on a
  microdata file using the sample, U.S. Bureau of the Census, 1991). Used for larger tables. The rule of Dankar et al.
  compares it there with a third estimator, which is not available here.
"""

import math

import numpy as np

from scumble.model.counts import Floats, Integers

SMALL_SAMPLE = 0.1
LARGEST_EXACT_SIZE = 10_000
"""Larger groups have a relative error below 1 / size in `mean_inverse_sizes`."""
SERIES = 64


def mean_inverse_sizes(sizes: Integers, population: int) -> Floats:
    """The expectation of 1 / F for groups of each size f of a sample, where F is their size in the population.

    F given f is negative binomial: each person is in the sample with the same probability p = n / N (Benedetti and
    Franconi, Statistical and technological solutions for controlled data dissemination, 1998). The expectation is
    p I(f) with I(f) the integral of x^(f-1) / (p + q x) from 0 to 1, q = 1 - p. For small p it follows from
    I(1) = log(1 / p) / q and I(f + 1) = (1 / f - p I(f)) / q; for large p from the series of p / f times the sum of
    n! / ((f + 1) ... (f + n)) q^n.

    >>> float(mean_inverse_sizes(np.array([1]), 1)[0])
    1.0
    """
    rows = int(sizes.sum())
    share = min(rows / max(population, 1), 1.0)
    rest = 1 - share
    if not rows:
        return np.zeros(0)
    most = min(int(sizes.max()), LARGEST_EXACT_SIZE)
    number = np.arange(1, most + 1)
    if share >= 0.5:
        terms, total = np.ones(most), np.ones(most)
        for place in range(1, SERIES):
            terms = terms * place / (number + place) * rest
            total += terms
        table = share / number * total
    else:
        integral = np.empty(most)
        integral[0] = math.log(1 / share) / rest
        for size in range(1, most):
            integral[size] = (1 / size - share * integral[size - 1]) / rest
        table = share * integral
    found: Floats = np.where(sizes <= most, table[np.minimum(sizes, most) - 1], share / sizes)
    return found


def zayatz_uniques(sizes: Integers, population: int) -> float:
    """The estimated number of people who are unique in the population.

    A group of l people has one record in the sample with the hypergeometric probability h(l). With the sizes of the
    sample's groups in place of those of the population, the probability that a unique record is unique in the
    population follows from Bayes' rule; there are N / n times as many people as records.
    """
    rows = int(sizes.sum())
    numbers = np.bincount(sizes)
    uniques = int(numbers[1]) if len(numbers) > 1 else 0
    if not uniques or rows >= population:
        return float(uniques)
    present = np.flatnonzero(numbers)
    once = np.array([_once(int(size), rows, population) for size in present])
    shares = numbers[present] * once
    return population / rows * uniques * float(shares[present == 1][0] / shares.sum())


def _once(size: int, rows: int, population: int) -> float:
    """The probability that a sample has exactly one of the people of a group."""
    if size - 1 > population - rows:
        return 0.0
    log = _log_choose(population - size, rows - 1) - _log_choose(population, rows)
    return size * math.exp(log)


def _log_choose(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)


def pitman_log_likelihood(sizes: Integers, theta: float, alpha: float) -> float:
    """The logarithm of Pitman's sampling formula for the sizes of groups, up to a constant."""
    from scipy.special import gammaln

    groups, rows = len(sizes), int(sizes.sum())
    started = np.log(theta + alpha * np.arange(1, groups)).sum()
    drawn = gammaln(theta + rows) - gammaln(theta + 1)
    return float(started - drawn + (gammaln(sizes - alpha) - gammaln(1 - alpha)).sum())


def pitman_parameters(sizes: Integers) -> tuple[float, float]:
    """theta and alpha with the highest likelihood, 0 < alpha < 1 and theta > -alpha."""
    from scipy.optimize import minimize
    from scipy.special import expit

    def parameters(point: Floats) -> tuple[float, float]:
        alpha = float(np.clip(expit(point[1]), 1e-6, 1 - 1e-6))
        return math.exp(float(np.clip(point[0], -30, 40))) - alpha, alpha

    def loss(point: Floats) -> float:
        return -pitman_log_likelihood(sizes, *parameters(point))

    starts = [np.array([math.log(1 + len(sizes)), 0.0]), np.array([0.0, 1.0])]
    fits = [minimize(loss, start, method="Nelder-Mead", tol=1e-7) for start in starts]
    return parameters(min(fits, key=lambda fit: float(fit.fun)).x)


def pitman_uniques(sizes: Integers, population: int) -> float:
    """The expected number of people who are unique in a population of N by the fitted model.

    It is N (theta + alpha) ... (theta + alpha + N - 2) / ((theta + 1) ... (theta + N - 1)), about Gamma(theta + 1) /
    Gamma(theta + alpha) N^alpha for large N.
    """
    rows = int(sizes.sum())
    if not (sizes == 1).any():
        return 0.0
    if (sizes == 1).all() or rows >= population:
        return float(population if rows < population else (sizes == 1).sum())
    theta, alpha = pitman_parameters(sizes)
    log = (
        math.lgamma(theta + 1)
        - math.lgamma(theta + alpha)
        + math.lgamma(population + theta + alpha - 1)
        - math.lgamma(population + theta)
        + math.log(population)
    )
    return min(math.exp(log), float(population))


def population_uniqueness(sizes: Integers, population: int) -> dict[str, object]:
    """The estimated share of the population that is unique, by the rule of Dankar et al., and both estimates."""
    rows = int(sizes.sum())
    estimates = {"pitman": pitman_uniques(sizes, population), "zayatz": zayatz_uniques(sizes, population)}
    model = "pitman" if rows <= SMALL_SAMPLE * population else "zayatz"
    return {
        "size": population,
        "sampling_share": rows / max(population, 1),
        "model": model,
        "uniqueness": estimates[model] / max(population, 1),
        "estimates": {name: number / max(population, 1) for name, number in estimates.items()},
    }
