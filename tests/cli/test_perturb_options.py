"""Strengths of single attributes, rules and leaves by name, and rows that say a number is missing."""

import csv
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from command_line import Ended, leftovers, scumble

import scumble as package
from scumble.mining.tree_model import Feature, TreeModel
from scumble.model.local.randomizers import Gaussian, Retained

SCHEMA = """\
scumble: schema/1
target: sick
attributes:
  age: {numeric: {low: 0, high: 100, step: 1}}
  weight: {numeric: {low: 0, high: 200, step: 1}, missing: "-999"}
  job: {taxonomy: {Any: {Engineer: , Dancer: , Writer: }}}
  sick: {classes: ["0", "1"]}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("schema.yaml").write_text(SCHEMA)


def write(rows: Sequence[str], name: str = "rows.csv") -> None:
    Path(name).write_text("\n".join(["age,weight,job,sick", *rows]) + "\n")


def perturb(*words: object, out: str = "out") -> Ended:
    return scumble("perturb", "rows.csv", "--schema", "schema.yaml", "--out", out, "--accept", "interval", *words)


def test_single_attributes_have_strengths_of_their_own() -> None:
    write(["50,80,Dancer,1"] * 200)
    words = ("--privacy", "50%", "--privacy-of", "age=10%, weight=150%", "--retain", "job=70%,sick=9/10", "--json")
    made = perturb(*words).json
    widths = {name: float(Fraction(width)) for name, (_, width) in made["guarantee"]["intervals"].items()}
    wanted = {"age": 10, "weight": 300, "job": 1 + 0.25 * 2 / 0.3, "sick": 1.5}
    assert widths == pytest.approx(wanted, rel=1e-4)
    noise = json.loads(Path("out/noise.json").read_text())["attributes"]
    assert noise["job"]["blur"] == {"kind": "retained", "probability": "0.7"}
    assert noise["sick"]["blur"]["probability"] == "0.9"
    parameters = json.loads(Path("out/release.json").read_text())["parameters"]
    assert parameters["retain"] == ["job=70%", "sick=9/10"]
    assert scumble("verify", "out").code == 0
    with Path("out/table.csv").open(encoding="utf-8", newline="") as file:
        jobs = [row["job"] for row in csv.DictReader(file)]
    # 140 of 200 keep theirs on average; the bounds fail with probability below 1e-6.
    assert 105 <= jobs.count("Dancer") <= 172
    assert scumble("mine", "train", "out", "--out", "m.json").code == 0


def test_the_library_takes_the_same_strengths() -> None:
    model = package.noise_model("schema.yaml", privacy="50%", privacy_of={"age": "10%"}, retain={"job": 0.7})
    assert model["job"].randomizer == Retained(probability=Fraction(7, 10))
    age, weight = model["age"].randomizer, model["weight"].randomizer
    assert isinstance(age, Gaussian) and isinstance(weight, Gaussian)
    assert weight.sigma == pytest.approx(10 * age.sigma)


def test_one_probability_serves_all_categories_that_nothing_else_names() -> None:
    """The class is reported without noise, as without the option."""
    write(["50,80,Dancer,1"] * 20)
    assert perturb("--retain", "70%").code == 0
    noise = json.loads(Path("out/noise.json").read_text())["attributes"]
    assert noise["job"]["blur"] == {"kind": "retained", "probability": "0.7"}
    assert noise["sick"]["blur"] == {"kind": "truthful"}
    model = package.noise_model("schema.yaml", retain=0.7, withhold=["job"])
    assert model.reported == ("age", "weight", "sick")


def test_intervals_may_have_unequal_widths() -> None:
    """As the paper's example of salaries: narrow intervals of low values, wide ones of high values."""
    write([f"50,{weight},Dancer,1" for weight in (0, 9, 10, 99, 100, 199, -999)])
    assert perturb("--discretize", "weight=0:10:100:200", "--retain", "70%").code == 0
    with Path("out/table.csv").open(encoding="utf-8", newline="") as file:
        weights = [row["weight"] for row in csv.DictReader(file)]
    assert weights[:2] == ["[0,10)"] * 2 and weights[2:4] == ["[10,100)"] * 2 and weights[4:6] == ["[100,200)"] * 2
    manifest = json.loads(Path("out/release.json").read_text())
    assert manifest["parameters"]["discretize"] == ["weight=0:10:100:200"]
    assert "weight lies in an interval of width 9.5 at 95 % confidence" in manifest["guarantee"]["sentence"]
    for words in (("verify", "out"), ("reconstruct", "out", "--out", "found")):
        assert scumble(*words).code == 0
    model = package.noise_model("schema.yaml", retain="70%", discretize={"weight": [0, 10, 100, 200]})
    assert model["weight"].width(Fraction(95, 100)) == Fraction(95, 10)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--retain", "job"), "Write pairs"),
        (("--retain", "job=70%,job=20%"), "names an attribute twice"),
        (("--retain", "job=150%"), "between 0 and 1"),
        (("--retain", "age=50%", "--privacy", "50%"), "is a number"),
        (("--retain", "70%", "--discretize", "age=0:50"), "do not cover its range"),
        (("--retain", "70%", "--discretize", "age=0:4.5:100"), "begins inside a cell"),
        (("--retain", "70%", "--discretize", "age=0:x:100"), "is not a number"),
        (("--retain", "70%", "--discretize", "age=0:60:50:100"), "not in ascending order"),
        (("--discretize", "age=0:50:100", "--truthful", "age"), "named twice"),
        (("--discretize", "job=0:1"), "do not cover its range"),
        (("--retain", "150%"), "between 0 and 1"),
        (("--retain", "70%", "--epsilon", "1"), "An epsilon determines the noise"),
        ((), "--retain job=70%, or --retain 70% for all"),
        (("--retain", "hat=50%"), "hat"),
        (("--privacy-of", "hat=50%"), "hat"),
        (("--privacy-of", "age=none"), "not a number"),
        (("--privacy-of", "age=50%", "--truthful", "age"), "named twice"),
        (("--privacy-of", "job=50%", "--retain", "job=50%"), "named twice"),
        (("--privacy-of", "age=50%", "--epsilon", "1"), "An epsilon determines the noise"),
    ],
)
def test_strengths_that_make_no_sense_are_refused_before_any_row(words: tuple[str, ...], says: str) -> None:
    ended = perturb(*words)  # the table does not exist
    assert ended.code == 2
    assert says in ended.error
    assert not Path("out").exists() and not leftovers(Path())


def test_rules_and_leaves_have_names() -> None:
    write([f"{age},80,Dancer,{int(age > 50)}" for age in range(100)] * 3)
    perturb("--privacy", "50%")
    found = {}
    for rule in ("smoothed", "paper"):
        assert scumble("reconstruct", "out", "--rule", rule, "--out", rule).code == 0
        found[rule] = Path(rule, "distributions.csv").read_text()
    assert found["smoothed"] != found["paper"]
    assert "Unknown rule 'magic'" in scumble("reconstruct", "out", "--rule", "magic", "--out", "m").error
    assert not Path("m").exists()
    for leaves in ("reconstructed", "associated"):
        assert scumble("mine", "train", "out", "--leaves", leaves, "--out", f"{leaves}.json").code == 0
    assert (
        "Unknown value of leaves: 'golden'"
        in scumble("mine", "train", "out", "--leaves", "golden", "--out", "m.json").error
    )


def stump(missing_left: bool) -> TreeModel:
    return TreeModel(
        features=(Feature(name="weight", missing="-999"), Feature(name="job", values=("Engineer", "Dancer"))),
        classes=("0", "1"),
        feature=np.array([0, -1, -1]),
        threshold=np.array([100.0, 0.0, 0.0]),
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        missing_left=np.array([missing_left, False, False]),
        shares=np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]),
        target="sick",
    )


@pytest.mark.parametrize("missing_left", [True, False])
def test_a_number_that_stands_for_a_missing_one_is_missing(missing_left: bool) -> None:
    stump(missing_left).write(Path("m.json"))
    model = TreeModel.read(Path("m.json"))
    assert model.features == stump(missing_left).features
    texts = ["-999", " -999.0", "", "20", "150"]
    wanted = [*["0" if missing_left else "1"] * 3, "0", "1"]
    assert model.predict([{"weight": text} for text in texts]) == wanted
    assert model.predict([{"weight": -999}]) == wanted[:1]
    write([f"1,{text},Dancer,{label}" for text, label in zip(texts, wanted, strict=True)])
    judged = scumble("mine", "predict", "m.json", "--data", "rows.csv", "--out", "predicted.csv", "--json").json
    assert judged["accuracy"] == 1.0
    assert Path("predicted.csv").read_text().replace('"', "").split() == ["sick", *wanted]


def test_the_schemas_missing_number_travels_with_the_tree() -> None:
    write([f"{age},{'-999' if age % 3 else 50},Dancer,{int(age > 50)}" for age in range(100)])
    perturb("--privacy", "25%")
    assert scumble("mine", "train", "out", "--out", "m.json").code == 0
    features = {each["name"]: each for each in json.loads(Path("m.json").read_text())["features"]}
    assert features["weight"] == {"name": "weight", "missing": "-999"}
    assert features["age"] == {"name": "age"}


def test_rows_without_a_class_are_predicted_and_not_judged() -> None:
    stump(True).write(Path("m.json"))
    write(["1,20,Dancer,0", "1,20,Dancer,", "1,150,Dancer,0"])
    ended = scumble("mine", "predict", "m.json", "--data", "rows.csv", "--json")
    assert ended.json == {"rows": 3, "accuracy": 0.5, "predicted": {"0": 2, "1": 1}}
    assert "of 2 rows" in scumble("mine", "predict", "m.json", "--data", "rows.csv").out
