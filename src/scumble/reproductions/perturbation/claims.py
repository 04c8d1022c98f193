"""The claims of Agrawal & Srikant (2000) about Figures 5 and 6, as predicates on rows of `figures.tree_accuracies`."""

from collections.abc import Sequence

from scumble.reproductions.figure import Claim
from scumble.reproductions.perturbation.figures import NOISES, Row, mean_accuracy, paper_claim

CLOSE = 5.0
"""The gap in points that we accept as "very close" or "fairly close", since the paper gives no number."""
FAR_FUNCTIONS = (2, 3)


def figure_5_claims(rows: Sequence[Row]) -> list[Claim]:
    """Claims about means of all runs. A gap is in points below Original; the larger one of both noises counts."""
    functions = sorted({int(row["function"]) for row in rows})
    levels = {row["privacy"] for row in rows}
    claims = []
    for algorithm in ("byclass", "local"):
        for function in functions:
            bound = 15.0 if function in FAR_FUNCTIONS else 5.0
            if "100%" in levels:
                text = f"{algorithm} within {bound:g} points of original at 100 % privacy, function {function}"
                claims.append(_gap_claim(rows, text, algorithm, function, "100%", bound))
            for level in sorted({"25%", "50%"} & levels):
                text = f"{algorithm} very close to original at {level} privacy, function {function}"
                claims.append(_gap_claim(rows, text, algorithm, function, level, CLOSE))
    if 2 in functions and "25%" in levels:
        claims.append(_anomaly(rows))
    if "100%" in levels:
        claims += [_behind(rows, "global", "byclass"), _behind(rows, "randomized", "byclass")]
        claims += [_behind(rows, "byclass", "local"), _alike(rows)]
    return claims


def _gap(rows: Sequence[Row], algorithm: str, function: int, level: str, noise: str) -> float:
    original = mean_accuracy(rows, function=function, algorithm="original")
    return original - mean_accuracy(rows, function=function, algorithm=algorithm, privacy=level, noise=noise)


def _gap_claim(rows: Sequence[Row], text: str, algorithm: str, function: int, level: str, bound: float) -> Claim:
    gaps = {noise: _gap(rows, algorithm, function, level, noise) for noise in NOISES}
    measured = ", ".join(f"{noise} {gap:.1f}" for noise, gap in gaps.items())
    return paper_claim(text=text, measured=f"gap {measured}", holds=max(gaps.values()) <= bound)


def _behind(rows: Sequence[Row], worse: str, better: str) -> Claim:
    low = mean_accuracy(rows, algorithm=worse, privacy="100%")
    high = mean_accuracy(rows, algorithm=better, privacy="100%")
    text = f"overall, {worse} is behind {better} at 100 % privacy"
    return paper_claim(text=text, measured=f"{low:.1f} and {high:.1f}", holds=low < high)


def _anomaly(rows: Sequence[Row]) -> Claim:
    original = mean_accuracy(rows, function=2, algorithm="original")
    perturbed = mean_accuracy(rows, function=2, algorithm="byclass", privacy="25%")
    text = "original stops at the hidden XOR of function 2 and is behind byclass at 25 % privacy"
    return paper_claim(text=text, measured=f"{original:.1f} and {perturbed:.1f}", holds=original < perturbed)


def _alike(rows: Sequence[Row]) -> Claim:
    def apart(algorithm: str) -> float:
        sides = [mean_accuracy(rows, algorithm=algorithm, privacy="100%", noise=noise) for noise in NOISES]
        return abs(sides[0] - sides[1])

    before, after = apart("randomized"), max(apart("byclass"), apart("local"))
    text = "uniform and gaussian far apart before correction, comparable after (mean over functions, 100 % privacy)"
    measured = f"{before:.1f} and {after:.1f} points"
    return paper_claim(text=text, measured=measured, holds=after <= min(before, CLOSE))


def figure_6_claims(rows: Sequence[Row]) -> list[Claim]:
    """Uniform noise loses more than Gaussian before correction; after it, the two are comparable."""
    levels = sorted({row["privacy"] for row in rows} - {"0%"}, key=lambda text: float(text[:-1]))
    claims = []
    for level in levels:
        mean = {
            (algorithm, noise): mean_accuracy(rows, algorithm=algorithm, noise=noise, privacy=level)
            for algorithm in ("randomized", "byclass")
            for noise in NOISES
        }
        before = mean["randomized", "gaussian"] - mean["randomized", "uniform"]
        after = mean["byclass", "gaussian"] - mean["byclass", "uniform"]
        text = f"at {level} privacy uniform is worse than gaussian before correction, comparable after"
        measured = f"{before:.1f} and {after:.1f} points"
        claims.append(paper_claim(text=text, measured=measured, holds=before > 0 and abs(after) <= min(CLOSE, before)))
    return claims
