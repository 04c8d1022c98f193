"""Prints an evaluation on the terminal."""

from collections.abc import Mapping
from typing import Any

from scumble.cli.output import err, print_table, print_text
from scumble.files.report.evaluation import shown_classifier

WAYS = {"one_way": "one attribute", "two_way": "two attributes", "three_way": "three attributes"}
WITH_CLASS = "two and the class"
TITLES = {"tree": "pruned tree", "boosting": "boosting", "c45": "C4.5"}
OWN = {"own": "the published classifier"}


def print_evaluation(result: Mapping[str, Any]) -> None:
    """Print the scores of each classifier, if there is a class, and the distances of the table from the raw rows."""
    if "commonest" in result:
        _print_scores(result)
    if "fidelity" in result:
        _print_distances(result)
    if "targets" in result:
        _print_targets(result["targets"])
    if "queries" in result.get("fidelity", {}):
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
    of = {"train": "the raw rows", "test": "the test rows", "release": "the release"}[commonest["of"]]
    names = [name for name in TITLES if name in result]
    scored = {f"{TITLES[name]} on the release": result[name] for name in names}
    scored |= {title: result[name] for name, title in OWN.items() if name in result}
    short = {name: result[name] for name in (*names, *OWN) if name in result}
    if "raw" in result:
        raw = {name: result["raw"][name] for name in TITLES if name in result["raw"]}
        scored |= {f"{TITLES[name]} on the raw rows{_baseline(name)}": raw[name] for name in raw}
        short |= {f"{name}, raw rows": raw[name] for name in raw}
    scored["always the commonest class (lower bound)"] = commonest
    print_table(
        "Accuracy on the test rows" if result["table"] is None else f"Classifiers trained on {result['table']}.csv",
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
    if "pruning" in result:
        _print_pruning(result["pruning"])


def _baseline(name: str) -> str:
    return " (baseline)" if name == "tree" else ""


def _print_pruning(settings: Mapping[str, Any]) -> None:
    pruning = [
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in settings.items()
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
        learners = [name for name in TITLES if name in each]
        raw = [each["raw"][name] for name in learners] if "raw" in each else []
        accuracies = [each[name] for name in learners] + raw + [each["commonest"]]
        rows.append([each["predicted"], *(_per_cent(scores["accuracy"]) for scores in accuracies)])
    first = next(iter(targets.values()))
    learners = [name for name in TITLES if name in first]
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
    """One line for each group, with the accuracy of one classifier, of boosting if it was trained; JSON has all."""
    groups = by["groups"]
    heads = {"accuracy": "accuracy", "raw_accuracy": "on raw rows"}
    keys = [key for key in heads if groups and key in groups[0]]
    rows = []
    for each in groups:
        accuracies = [each[key][shown_classifier(each[key])] for key in keys]
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
