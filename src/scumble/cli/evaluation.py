"""Prints an evaluation on the terminal."""

from collections.abc import Mapping
from typing import Any

from scumble.cli.output import err, print_table, print_text

WAYS = {"one_way": "one attribute", "two_way": "two attributes", "three_way": "three attributes"}
WITH_CLASS = "two and the class"


def print_evaluation(result: Mapping[str, Any]) -> None:
    """Print the scores of each classifier, if there is a class, and the distances of the table from the raw rows."""
    if "commonest" in result:
        _print_scores(result)
    _print_distances(result)
    if "targets" in result:
        _print_targets(result["targets"])
    if "queries" in result["fidelity"]:
        _print_details(result["fidelity"])
    if "by" in result:
        _print_groups(result["by"])
    if "test_rows" in result:
        tested = result["test_rows"]
        print_text(f"{tested['in_domain']:,} of {tested['read']:,} test rows are in the domain. Others are not scored.")
    print_text("These figures are computed from your raw rows without noise. Do not publish them.", err)


def _print_scores(result: Mapping[str, Any]) -> None:
    """The scores of each classifier, and the recall of each class below."""
    commonest = result["commonest"]
    of = "the raw rows" if commonest["of"] == "train" else "the release"
    scored = {"pruned tree on the release": result["tree"], "boosting on the release": result["boosting"]}
    short = {"tree": result["tree"], "boosting": result["boosting"]}
    if "raw" in result:
        raw = result["raw"]
        scored |= {"pruned tree on the raw rows (baseline)": raw["tree"], "boosting on the raw rows": raw["boosting"]}
        short |= {"tree, raw rows": raw["tree"], "boosting, raw rows": raw["boosting"]}
    scored["always the commonest class (lower bound)"] = commonest
    print_table(
        f"Classifiers trained on {result['table']}.csv",
        ["classifier", "accuracy", "balanced", "AUC", "weighted"],
        [[label, *_scores(scores)] for label, scores in scored.items()],
    )
    print_table(
        "Recall of each class",
        ["class", *short],
        [
            [
                label,
                *(
                    _per_cent(scores["recall"][label]) if label in scores["recall"] else "-"
                    for scores in short.values()
                ),
            ]
            for label in commonest["recall"]
        ],
    )
    print_text(
        "Balanced: mean recall of the classes. Weighted: balanced, if each class's probability is divided by its share."
    )
    print_text(f"The commonest class of {of} is {commonest['class']!r}.")
    pruning = [
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in result["pruning"].items()
    ]
    print_text(f"Pruning of the first tree: {', '.join(pruning)}.")


def _print_distances(result: Mapping[str, Any]) -> None:
    fidelity = result["fidelity"]
    of = "the raw rows behind it" if fidelity["of"] == "train" else "the test rows"
    others = fidelity.get("test_rows", {})
    head = ["margins of", "distance", "all links lost", *(["test rows"] if others else []), "margins"]
    rows = []
    for key, name in WAYS.items():
        if key in fidelity:
            each = fidelity[key]
            lost = "-" if key == "one_way" else f"{each['links_lost']:.3f}"
            more = [f"{others[key]['mean']:.3f}"] if others else []
            sampled = "" if each["compared"] == each["available"] else f" of {each['available']:,} (a fixed sample)"
            shown = WITH_CLASS if key == "three_way" and fidelity["class"] is not None else name
            rows.append([shown, f"{each['mean']:.3f}", lost, *more, f"{each['compared']:,}{sampled}"])
    print_table(f"Distance of {result['table']}.csv from {of} (0: equal, 1: nothing in common)", head, rows)
    print_text("All links lost: the distance of a table with exact single attributes and no association at all.")


def _print_targets(targets: Mapping[str, Mapping[str, Any]]) -> None:
    rows = []
    for each in targets.values():
        learners = [name for name in ("tree", "boosting") if name in each]
        raw = [each["raw"][name] for name in learners] if "raw" in each else []
        accuracies = [each[name] for name in learners] + raw + [each["commonest"]]
        rows.append([each["predicted"], *(_per_cent(scores["accuracy"]) for scores in accuracies)])
    first = next(iter(targets.values()))
    learners = [name for name in ("tree", "boosting") if name in first]
    raw_heads = [f"{name}, raw" for name in learners] if "raw" in first else []
    print_table("Accuracy of predicting other attributes", ["predicted", *learners, *raw_heads, "commonest"], rows)


def _print_details(fidelity: Mapping[str, Any]) -> None:
    queries = fidelity["queries"]
    if queries["number"]:
        print_table(
            f"Errors of {queries['number']} random queries on one to three attributes",
            ["error", "median", "90 %", "95 %", "largest"],
            [
                ["absolute, percentage points", *(f"{100 * each:.2f}" for each in queries["error"].values())],
                ["relative", *(_per_cent(each) for each in queries["relative_error"].values())],
            ],
        )
    difference = fidelity["associations"]["mean_absolute_difference"]
    print_text(f"Mean absolute difference of the associations (Cramer's V) of all pairs: {difference:.3f}.")


def _print_groups(by: Mapping[str, Any]) -> None:
    """One line for each group. Of two classifiers, the accuracy of boosting is printed; JSON has both."""
    groups = by["groups"]
    heads = {"accuracy": "accuracy", "raw_accuracy": "on raw rows"}
    keys = [key for key in heads if groups and key in groups[0]]
    rows = []
    for each in groups:
        accuracies = [each[key].get("boosting", each[key].get("tree")) for key in keys]
        rows.append(
            [
                each["label"],
                f"{each['records']:,}",
                f"{100 * each['share']:.1f} %",
                f"{100 * each['released_share']:.1f} %",
                f"{each['one_way']:.3f}",
                "-" if each["two_way"] is None else f"{each['two_way']:.3f}",
                *("-" if accuracy is None else f"{100 * accuracy:.1f} %" for accuracy in accuracies),
            ]
        )
    columns = [by["attribute"], "records", "share", "released", "one-way", "two-way", *(heads[key] for key in keys)]
    print_table(f"Distances and accuracies by {by['attribute']}", columns, rows)
    if by["left_out"]:
        print_text(f"{by['left_out']:,} smaller groups are left out.")


def _scores(scores: Mapping[str, Any]) -> list[str]:
    auc = "-" if scores["auc"] is None else f"{scores['auc']:.3f}"
    weighted = _per_cent(scores["balanced_accuracy_weighted"])
    return [_per_cent(scores["accuracy"]), _per_cent(scores["balanced_accuracy"]), auc, weighted]


def _per_cent(share: float) -> str:
    return f"{100 * share:.2f} %"
