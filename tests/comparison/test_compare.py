"""Comparisons: cached outcomes, means and paired differences, peers in their own environment."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import SCHEMA, people, scumble

from scumble.comparison import baselines, peers
from scumble.comparison.cached_runs import run_all
from scumble.comparison.compare import Comparison, ComparisonResult, Trial, TrialOutcome, compare
from scumble.comparison.contenders import contender_of
from scumble.comparison.files import chart, write_comparison
from scumble.comparison.judging import Task
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.summary import Mean, mean_scores, paired_differences
from scumble.comparison.tables import table_named
from scumble.errors import InputError, ScumbleError

FAKE_FIT = """
import json, sys
import numpy as np
settings = json.loads(sys.argv[3])
with open(sys.argv[0] + ".log", "a") as log:
    with np.load(sys.argv[1]) as job:
        train, test, sizes, in_order = (job[name] for name in ("train", "test", "sizes", "in_order"))
    assert (np.concatenate([train, test]) < sizes).all()
    log.write(json.dumps({**settings, "sizes": sizes.tolist(), "in_order": in_order.tolist()}) + "\\n")
if settings["epsilon"] > 5:
    sys.exit("too much")
if settings["peer"] in ("logistic", "dpebm"):
    result = {"probabilities": np.eye(sizes[-1])[test[:, -1]]}
else:
    result = {"rows": train}
np.savez(sys.argv[2], cpu_seconds=7.5, **result)
"""


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small table, and no peers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCUMBLE_PEERS", raising=False)
    Path("people.csv").write_text(people(600))
    Path("schema.yaml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def fake_peers(work: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[dict[str, Any]]]:
    """A folder of fake peers, which return the training rows or the true test classes; and a log of their calls."""
    folder = work / "peers"
    for name in ("dpmm", "diffprivlib", "interpret"):
        (folder / ".venv" / name / "bin").mkdir(parents=True)
        (folder / ".venv" / name / "bin" / "python").symlink_to(sys.executable)
    (folder / "fit.py").write_text(FAKE_FIT)
    (folder / "fit.py.log").touch()
    monkeypatch.setenv("SCUMBLE_PEERS", str(folder))
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    return lambda: [json.loads(line) for line in (folder / "fit.py.log").read_text().splitlines()]


def small(*contenders: str, splits: int = 2, **changes: Any) -> Comparison:
    fields: dict[str, Any] = {
        "tables": ("people.csv@schema.yaml",),
        "contenders": contenders,
        "epsilons": ("1",),
        "splits": tuple(range(splits)),
        "classifiers": ("tree",),
    }
    return Comparison(**{**fields, **changes})


def outcome(contender: str, split: int, accuracy: float, **changes: Any) -> TrialOutcome:
    fields: dict[str, Any] = {
        "table": "t",
        "contender": contender,
        "epsilon": "1",
        "split": split,
        "classifier": "tree",
        "accuracy": accuracy,
        "auc": None,
        "cpu_seconds": 1.0,
    }
    return TrialOutcome(**{**fields, **changes})


def test_outcomes_are_cached_and_only_the_missing_ones_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Trial] = []
    whole = Trial.run

    def counted(trial: Trial) -> list[TrialOutcome]:
        ran.append(trial)
        return whole(trial)

    monkeypatch.setattr(Trial, "run", counted)
    first = compare(small("histograms", "raw"), Path("cache"))
    assert [(each.contender, each.epsilon, each.split) for each in first.outcomes] == [
        ("histograms", "1", 0),
        ("histograms", "1", 1),
        ("raw", "", 0),
        ("raw", "", 1),
    ]
    assert all(0.5 < each.accuracy < 0.9 for each in first.outcomes)
    assert compare(small("histograms", "raw"), Path("cache")) == first, (
        "noise cannot be repeated, so equal outcomes come from the cache"
    )
    assert len(ran) == 4
    compare(small("histograms", "raw", splits=3), Path("cache"))
    assert [(trial.contender, trial.split) for trial in ran[4:]] == [("histograms", 2), ("raw", 2)]
    compare(small("raw", classifiers=("tree", "boosting")), Path("cache"))
    assert [trial.tasks for trial in ran[6:]] == [(Task("boosting"),), (Task("boosting"),)]
    monkeypatch.setattr(baselines, "digest_of_sources", lambda *modules: "other code")
    compare(small("raw", splits=1), Path("cache"))
    assert len(ran) == 9, "outcomes of older code are not reused"


def test_other_rows_are_other_outcomes() -> None:
    compare(small("raw"), Path("cache"))
    Path("more.csv").write_text(people(600, seed=2))
    compare(small("raw", tables=("more.csv@schema.yaml",)), Path("cache"))
    assert len(list(Path("cache").rglob("*.json"))) == 4


def test_an_interrupted_comparison_keeps_finished_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Trial.run

    def stopped(trial: Trial) -> list[TrialOutcome]:
        if trial.split == 1:
            raise KeyboardInterrupt
        return whole(trial)

    monkeypatch.setattr(Trial, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        compare(small("raw", "histograms"), Path("cache"))
    assert len(list(Path("cache").rglob("*.json"))) == 2
    assert not list(Path("cache").rglob("*.unfinished"))


def test_parallel_processes_give_the_same_outcomes() -> None:
    alone = compare(small("raw"), Path("one"))
    together = compare(small("raw"), Path("two"), jobs=2)
    assert [each.accuracy for each in alone.outcomes] == [each.accuracy for each in together.outcomes]


def test_closing_the_iterator_cancels_pieces_that_have_not_started() -> None:
    done = []
    results = run_all([lambda number=number: done.append(number) or number for number in range(5)], jobs=1)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert done == [0]


def test_absent_peers_are_left_out_and_say_why(work: Path) -> None:
    result = compare(small("raw", "aim"), Path("cache"))
    assert {each.contender for each in result.outcomes} == {"raw"}
    assert len(result.skipped) == 1
    assert str(work / "benchmarks" / "peers") in result.skipped[0]
    folder = work / "benchmarks" / "peers"
    folder.mkdir(parents=True)
    (folder / "fit.py").touch()
    assert "install.py" in compare(small("aim"), Path("cache")).skipped[0]
    write_comparison(result, Path("out"))
    assert f"- left out: {result.skipped[0]}" in Path("out/comparison.md").read_text()


def test_a_peer_gets_the_same_rows_and_is_judged_the_same(fake_peers: Callable[[], list[dict[str, Any]]]) -> None:
    """A peer that returns the training rows gets exactly the scores of raw rows, so splits and codes are the same."""
    result = compare(small("aim", "raw", "logistic", classifiers=("tree", "boosting")), Path("cache"))
    mine, raw, model = (
        [each for each in result.outcomes if each.contender == name] for name in ("aim", "raw", "logistic")
    )
    assert [each.accuracy for each in mine] == [each.accuracy for each in raw]
    assert [each.auc for each in mine] == [each.auc for each in raw]
    assert [each.recall for each in mine] == [each.recall for each in raw]
    assert [each.balanced_accuracy_weighted for each in mine] == [each.balanced_accuracy_weighted for each in raw]
    assert {each.cpu_seconds for each in mine} == {7.5}
    assert [(each.classifier, each.accuracy, each.auc) for each in model] == [("own", 1.0, 1.0)] * 2
    for each in mine:
        distances = [each.one_way, each.one_way_binned, each.two_way, each.three_way, each.associations, each.queries]
        assert distances == pytest.approx([0] * 6)
    assert {each.one_way for each in (*raw, *model)} == {None}, "neither publishes a table"
    for each in model:
        assert each.balanced_accuracy == each.balanced_accuracy_weighted == 1.0
        assert set(each.recall.values()) == {1.0}
    calls = fake_peers()
    assert sorted((each["peer"], each["seed"]) for each in calls) == [
        ("aim", 0),
        ("aim", 1),
        ("logistic", 0),
        ("logistic", 1),
    ]
    assert {(each["epsilon"], each["delta"]) for each in calls} == {(1.0, 1e-5)}


def test_a_fit_is_cached_even_if_its_scores_are_not(
    fake_peers: Callable[[], list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(small("aim", splits=1), Path("cache"))
    monkeypatch.setattr(baselines, "digest_of_sources", lambda *modules: "another scorer")
    compare(small("aim", splits=1, classifiers=("boosting",)), Path("cache"))
    assert len(fake_peers()) == 1


def test_rows_of_a_cached_fit_are_reused_for_other_targets(fake_peers: Callable[[], list[dict[str, Any]]]) -> None:
    """A peer that returns the training rows predicts another attribute exactly as the raw rows do."""
    compare(small("aim", splits=1), Path("cache"))
    again = compare(small("aim", "raw", "logistic", splits=1, targets=("job", "age>49")), Path("cache"))
    assert len([each for each in fake_peers() if each["peer"] == "aim"]) == 1
    found = {(each.contender, each.target): each for each in again.outcomes}
    assert list(found) == [
        *(("aim", target) for target in ("", "job", "age>49")),
        *(("raw", target) for target in ("", "job", "age>49")),
        ("logistic", ""),
    ]
    for target in ("", "job", "age>49"):
        assert found["aim", target].accuracy == found["raw", target].accuracy
    assert found["aim", "age>49"].accuracy > 0.6 > 0.5 > found["aim", "job"].accuracy
    assert found["aim", "job"].two_way is None
    assert found["aim", "job"].recall == {}


def test_a_peer_can_be_given_another_delta_and_fewer_iterations(
    fake_peers: Callable[[], list[dict[str, Any]]],
) -> None:
    names = ("aim", "aim:delta=1e-9", "aim:delta=1e-9,iterations=50")
    result = compare(small(*names, splits=1), Path("cache"))
    assert [each.contender for each in result.outcomes] == list(names)
    assert [(each["delta"], each.get("iterations")) for each in fake_peers()] == [
        (1e-5, None),
        (1e-9, None),
        (1e-9, 50),
    ]
    assert result.guarantees[names[1]] == "(eps, 1e-9) under add-remove"
    for text, message in (
        ("logistic:delta=1e-9", "cannot be given 'delta'. It can be given nothing"),
        ("aim:rounds=3", "cannot be given 'rounds'"),
        ("aim:delta", "cannot be given 'delta'. It can be given delta=VALUE, iterations=VALUE"),
        ("mst:iterations=0", "iterations=0 is not a positive whole number"),
    ):
        with pytest.raises(InputError, match=message):
            contender_of(text)


def test_independent_columns_are_exact_alone_and_lose_all_links() -> None:
    found = compare(small("independent", "histograms", splits=1), Path("cache")).outcomes
    assert (found[0].contender, found[0].epsilon) == ("independent", "")
    assert (found[0].one_way, found[0].one_way_binned) == (0.0, 0.0)
    assert found[0].two_way is not None and found[0].three_way is not None
    assert 0 < found[0].two_way < found[0].three_way
    assert found[0].associations is not None and found[0].queries is not None
    assert found[0].associations > 0 < found[0].queries
    assert found[1].two_way is not None and found[1].two_way > 0


def test_targets_stand_in_their_own_section_and_may_be_lacking() -> None:
    Path("other.csv").write_text(people(600).replace("job", "work", 1))
    Path("other.yaml").write_text(SCHEMA.replace("job:", "work:"))
    tables = ("people.csv@schema.yaml", "other.csv@other.yaml")
    comparison = small("histograms", "raw", tables=tables, classifiers=("boosting",), targets=("job",))
    result = compare(comparison, Path("cache"))
    assert result.skipped == ("other.csv@other.yaml: it has no attribute for the target 'job'.",)
    summary = write_comparison(result, Path("out"))
    assert summary["comparison"]["targets"] == ["job"]
    lines = {(line["table"], line["target"], line["measure"]) for line in summary["lines"]}
    assert (tables[0], "job", "accuracy") in lines
    assert (tables[1], "job", "accuracy") not in lines
    assert (tables[0], "", "three_way") in lines
    assert {each["target"] for each in summary["differences"]} == {"", "job"}
    page = Path("out/comparison.md").read_text()
    assert page.count("Other attributes as the class") == 1
    assert "job: boosting accuracy" in page
    assert "accuracy of boosting, predicting job" in Path("out/comparison.svg").read_text()


def test_a_binned_peer_gets_bins_and_its_rows_are_scored_as_codes(
    fake_peers: Callable[[], list[dict[str, Any]]],
) -> None:
    """The fake peer returns the binned rows; drawn back into codes, they are nearly as good as the raw rows."""
    Path("fine.yaml").write_text(SCHEMA.replace("step: 10", "step: 1"))
    comparison = small("aim", "aim-20", "dpebm-20", "raw", splits=1, tables=("people.csv@fine.yaml",))
    result = compare(comparison, Path("cache"))
    full, few, model, raw = result.outcomes
    assert full.accuracy == raw.accuracy
    assert few.accuracy == pytest.approx(raw.accuracy, abs=0.1)
    assert (model.classifier, model.accuracy) == ("own", 1.0)
    calls = fake_peers()
    assert [(each["peer"], each["sizes"]) for each in calls] == [
        ("aim", [100, 4, 2]),
        ("aim", [20, 4, 2]),
        ("dpebm", [20, 4, 2]),
    ]
    assert calls[0]["in_order"] == [1, 0, 0]
    assert len(list(Path("cache").rglob("*.npz"))) == 3, "bins are part of the name of a cached fit"
    assert compare(comparison, Path("cache")) == result
    assert len(fake_peers()) == 3
    train = table_named("people.csv@fine.yaml")
    drawn = peers.fit(peers.PEERS["aim-20"], train, train, epsilon="1", seed=5, cache=Path("cache")).rows
    assert drawn is not None
    truth = train.sample(train.schema)
    assert (drawn[:, 0] // 5 == truth.codes[:, 0] // 5).all(), "an age stays within its bin of five years"
    assert len(np.unique(drawn[:, 0])) > 90
    assert (drawn[:, 1] == truth.codes[:, 1]).all()


def test_a_peer_for_two_classes_is_left_out_of_tables_with_more(
    fake_peers: Callable[[], list[dict[str, Any]]],
) -> None:
    Path("three.yaml").write_text(SCHEMA.replace('["no", "yes"]', '["no", "yes", "perhaps"]'))
    tables = ("people.csv@schema.yaml", "people.csv@three.yaml")
    result = compare(small("raw", "dpebm", "dpebm-20", splits=1, tables=tables), Path("cache"))
    assert [(each.table, each.contender) for each in result.outcomes] == [
        (tables[0], "raw"),
        (tables[0], "dpebm"),
        (tables[0], "dpebm-20"),
        (tables[1], "raw"),
    ]
    assert result.skipped[0] == (
        "people.csv@three.yaml: dpebm predicts at most 2 classes, and 'income' has 3. "
        "Compare it on tables with fewer classes."
    )
    table = table_named(tables[1])
    with pytest.raises(InputError, match="dpebm-20 predicts at most 2 classes"):
        peers.fit(peers.PEERS["dpebm-20"], table, table, epsilon="1", seed=0, cache=Path("cache"))
    assert len(fake_peers()) == 2


def test_models_alone_are_compared_without_a_plot(fake_peers: Callable[[], list[dict[str, Any]]]) -> None:
    words = ["compare", "--data", "people.csv@schema.yaml", "--epsilon", "1", "--splits", "2", "--jobs", "1"]
    shown = scumble(*words, "--contender", "logistic", "--contender", "dpebm", "--out", "here")
    assert shown.code == 0
    assert "comparison.md" in shown.out
    assert "comparison.svg" not in shown.out
    assert not Path("here/comparison.svg").exists()
    assert len(fake_peers()) == 4


def test_a_failed_peer_leaves_no_outcome(fake_peers: Callable[[], list[dict[str, Any]]]) -> None:
    with pytest.raises(ScumbleError, match="too much"):
        compare(small("mst", splits=1, epsilons=("6",)), Path("cache"))
    assert not list(Path("cache").rglob("*.npz"))
    assert not list(Path("cache").rglob("*.json"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"contenders": ("nobody",)}, "Unknown method 'nobody'"),
        ({"contenders": ("diffgen:rounds",)}, "METHOD:NAME=VALUE"),
        ({"contenders": ("diffgen:rounds=many",)}, "rounds"),
        ({"contenders": ("raw", "raw")}, "duplicates"),
        ({"contenders": ()}, "no contenders"),
        ({"epsilons": ("0",)}, "above zero"),
        ({"classifiers": ("forest",)}, "Unknown classifier 'forest'"),
    ],
)
def test_what_cannot_be_compared_is_refused_at_once(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small("raw", **changes)


def test_a_version_covers_all_that_is_imported() -> None:
    """The digest of diffgen covers its scores and the noise, but not the command line."""
    alone = digest_of_sources("scumble.methods.diffgen.scores")
    assert alone != digest_of_sources("scumble.methods.diffgen.method")
    assert contender_of("diffgen").version() != contender_of("histograms").version()
    assert contender_of("diffgen").version() == contender_of("diffgen:rounds=3").version()


def test_the_band_of_a_mean() -> None:
    """Student's t with four values: 3.182 standard errors."""
    mean = Mean.of([1.0, 2.0, 3.0, 4.0])
    assert (mean.number, mean.mean) == (4, 2.5)
    assert mean.error == pytest.approx(0.6454972)
    assert mean.band == pytest.approx(3.1824463 * 0.6454972)
    assert Mean.of([1.0]).band is None


def test_differences_are_taken_split_by_split() -> None:
    """Splits differ by ten points, contenders by one: only the paired difference has a small standard error."""
    outcomes = [outcome("a", split, 0.7 + 0.1 * split) for split in range(3)]
    outcomes += [outcome("b", split, 0.69 + 0.1 * split + 0.001 * (split == 1), cpu_seconds=20) for split in range(3)]
    outcomes += [outcome("c", 0, 0.9), outcome("c", 7, 0.1)]
    against_b, against_c = paired_differences(outcomes, "a")
    assert against_b.value.mean == pytest.approx(0.01 - 0.001 / 3)
    assert against_b.value.error == pytest.approx(0.001 / 3)
    assert (against_b.verdict, against_b.cpu_ratio) == ("ahead", 20)
    assert (against_c.value.number, against_c.verdict) == (1, "one split")
    back = paired_differences(outcomes, "b")[0]
    assert (back.verdict, back.cpu_ratio) == ("behind", pytest.approx(1 / 20))
    spread = mean_scores([each for each in outcomes if each.contender in "ab"])
    assert all(line.value.error is not None and line.value.error > 0.05 for line in spread)


def test_raw_rows_are_compared_at_every_epsilon_and_a_model_with_every_classifier() -> None:
    outcomes = [
        outcome("a", split, 0.8, epsilon=epsilon, classifier=classifier)
        for epsilon in ("0.1", "1")
        for classifier in ("tree", "boosting")
        for split in range(2)
    ]
    outcomes += [
        outcome("raw", split, 0.9, epsilon="", classifier=name) for name in ("tree", "boosting") for split in (0, 1)
    ]
    outcomes += [outcome("logistic", split, 0.75, classifier="own") for split in range(2)]
    found = {(each.other, each.epsilon, each.classifier): each.value.mean for each in paired_differences(outcomes, "a")}
    assert found == {
        **{("raw", epsilon, name): pytest.approx(-0.1) for epsilon in ("0.1", "1") for name in ("tree", "boosting")},
        **{("logistic", "1", name): pytest.approx(0.05) for name in ("tree", "boosting")},
    }


def test_of_one_way_distances_less_is_better() -> None:
    """A measure of the table itself: one line for all classifiers, and the lower one is ahead."""
    outcomes = [
        outcome(name, split, 0.8, classifier=classifier, one_way=distance + 0.001 * split, one_way_binned=distance)
        for name, distance in (("a", 0.1), ("b", 0.3))
        for classifier in ("tree", "boosting")
        for split in range(3)
    ]
    outcomes.append(outcome("logistic", 0, 0.8, classifier="own"))
    lines = {(line.contender, line.classifier, line.measure): line for line in mean_scores(outcomes)}
    assert lines["a", "", "one_way"].value.mean == pytest.approx(0.101)
    assert lines["a", "", "one_way"].value.number == 3
    assert lines["a", "", "one_way"].to_json()["lower_is_better"]
    assert ("logistic", "", "one_way") not in lines
    assert {measure for _, classifier, measure in lines if classifier == "tree"} == {"accuracy"}
    found = {(each.other, each.measure): each for each in paired_differences(outcomes, "a")}
    assert found["b", "one_way_binned"].value.mean == pytest.approx(-0.2)
    assert found["b", "one_way_binned"].to_json()["verdict"] == "ahead"
    assert ("logistic", "one_way") not in found
    back = [each for each in paired_differences(outcomes, "b") if each.measure == "one_way_binned"]
    assert [each.verdict for each in back] == ["behind"]


def test_recalls_are_measures_of_their_own() -> None:
    """A class without test records in one split has a mean over the others."""
    outcomes = [outcome("a", 0, 0.8, recall={"no": 0.9, "yes": 0.2}), outcome("a", 1, 0.8, recall={"no": 0.7})]
    found = {line.measure: line.value for line in mean_scores(outcomes)}
    assert (found["recall:no"].mean, found["recall:no"].number) == (pytest.approx(0.8), 2)
    assert (found["recall:yes"].mean, found["recall:yes"].number) == (0.2, 1)


def test_the_files_agree_with_one_another() -> None:
    comparison = small("histograms", "raw", epsilons=("0.5", "2"), classifiers=("tree", "boosting"))
    result = compare(comparison, Path("cache"))
    summary = write_comparison(result, Path("out"))
    with Path("out/comparison.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["contender"], row["mean"]) for row in rows] == [
        (line["contender"], str(line["mean"])) for line in summary["lines"]
    ]
    assert json.loads(Path("out/comparison.json").read_text()) == summary
    page = Path("out/comparison.md").read_text()
    measures = {line["measure"] for line in summary["lines"]}
    assert measures >= {"accuracy", "balanced_accuracy", "balanced_accuracy_weighted", "auc", "one_way"}
    assert "lower is better" in page
    for line in summary["lines"]:
        scale, digits = (1, 4) if line["measure"] == "auc" else (100, 2)
        assert f"{scale * line['mean']:.{digits}f} ± {scale * line['band']:.{digits}f}" in page
    picture = Path("out/comparison.svg").read_text()
    assert all(word in picture for word in ("histograms", "raw rows", "epsilon", "boosting", "lower is better"))
    write_comparison(result, Path("again"))
    assert Path("again/comparison.svg").read_text() == picture, "the same numbers give the same file"


def test_the_chart_shows_the_means_and_their_bands() -> None:
    outcomes = tuple(outcome("a", split, 0.8 + 0.02 * split) for split in range(2))
    result = ComparisonResult(comparison=small("raw", tables=("t",)), outcomes=outcomes, skipped=())
    (panel,) = chart(result, mean_scores(outcomes)).panels
    (point,) = panel.series[0].points
    assert (point.x, point.y) == (1.0, pytest.approx(81))
    assert point.high is not None and point.low is not None
    assert point.high - point.low == pytest.approx(2 * 12.7062 * 1.0, rel=1e-4)


def test_the_command(fake_peers: Callable[[], list[dict[str, Any]]]) -> None:
    words = ["compare", "--data", "people.csv@schema.yaml", "--epsilon", "1", "--splits", "2", "--jobs", "1"]
    words += ["--contender", "histograms", "--contender", "mst", "--classifier", "tree", "--out", "here"]
    words += ["--targets", "job, age>50"]
    summary = scumble(*words, "--json").json
    assert {line["contender"] for line in summary["lines"]} == {"histograms", "mst"}
    assert {each["other"] for each in summary["differences"]} == {"mst"}
    assert summary["guarantees"]["mst"] == "(eps, 1e-5) under add-remove"
    assert len(fake_peers()) == 2
    shown = scumble(*words)
    assert shown.code == 0
    assert "histograms" in shown.out
    assert "age>50 by tree" in shown.out
    assert all(
        word in shown.out for word in ("balanced", "recall of each class", "distances of margins", "lower is better")
    )
    assert max(map(len, shown.out.splitlines())) <= 100
    assert len(fake_peers()) == 2, "the second run reads everything from the cache"
    assert scumble("compare", "--data", "nothing", "--splits", "1", "--jobs", "1").code == 2
