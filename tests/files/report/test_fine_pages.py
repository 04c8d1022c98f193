"""The pages of a release with fine rows: they say what to take for what, and the miner's code runs on them."""

import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from fine_releases import fine_release, learned, raw_rows, written
from pyarrow import csv
from report_pages import EXPECTED_TAGS, HOSTILE, Page, attribute, code_blocks, flat

from scumble import evaluate
from scumble.files.release_folder import write_release
from scumble.files.report.pages import miners_page, report_page
from scumble.model.cut import Cut, Specialization
from scumble.model.grid import Grid
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree


def made(
    text: str = "job", number: str = "age", values: tuple[str, ...] = ("a", "b", "NA"), seed: int = 0
) -> CellRelease:
    """Three numeric attributes, one whole, one with missing numbers, one where -9 means missing; and names."""
    schema = Schema(
        attributes=(
            attribute(number, Grid.regular(low=Decimal(15), high=Decimal(95), step=Decimal(5))),
            attribute("wealth", Grid.regular(low=Decimal(0), high=Decimal(1), step=Decimal("0.25"), missing="?"), "?"),
            attribute("mark", Grid.regular(low=Decimal(-9), high=Decimal(9), step=Decimal(3), missing="-9"), "-9"),
            flat(text, values),
            attribute("class", Tree.flat(["no", "yes"])),
        ),
        target="class",
    )
    cut = Cut.top(schema)
    node = cut.nodes[number][0]
    cut = cut.specialize(Specialization(attribute=number, node=node, children=schema[number].domain.split(node, 4)))
    return fine_release(cut, np.array([[40, 60], [90, 10]]), seed=seed, tables=(text, "wealth", text))


def test_the_pages_say_what_to_take_for_what() -> None:
    release = made()
    report = Page(report_page(release, {})).text
    assert "To train any classifier, use fine.csv" in report
    assert "Each of these attributes with the class class, in this order: job, wealth." in report
    assert "No other association between attributes is kept." in report
    assert "800 synthetic rows were drawn" in report
    assert "is good for training classifiers for class; the distribution of each attribute" in report
    assert "It is not for associations between attributes; counts of rare combinations; single rows." in report
    assert "counts.csv and detail.json, and anyone can repeat it" in report
    readme = miners_page(release, "fine.csv")
    assert "Start with **fine.csv** to train any classifier and for the distribution of any attribute" in readme
    assert "- training classifiers for class\n- the distribution of each attribute\n" in readme
    assert "- associations between attributes\n- counts of rare combinations\n- single rows\n" in readme
    for name in ("fine.csv", "table.csv", "counts.csv", "fine.schema.yaml", "detail.json"):
        assert f"| `{name}` |" in readme and name in report
    assert "Counted by class:\n`job`, `wealth`." in readme
    assert "sums of `measured` in `counts.csv` are not" in readme


def test_without_rows_the_miner_starts_from_the_counts() -> None:
    readme = miners_page(made(), "counts.csv")
    assert "| `fine.csv` |" not in readme and "| `detail.json` |" in readme and "| `fine.schema.yaml` |" in readme
    assert 'read_csv("counts.csv"' in code_blocks(readme)[0]


def test_without_detail_nothing_is_said_of_it() -> None:
    release = replace(made(), fine=None, documents={})
    for page in (report_page(release, {}), miners_page(release, "table.csv")):
        assert "fine" not in page.replace("finer ones", "").replace("finest", "") and "detail.json" not in page


def test_a_document_of_another_kind_names_no_attributes() -> None:
    release = replace(made(), documents={"detail": {"tables": [1, 2]}})
    assert "with the class" not in Page(report_page(release, {})).text
    assert "Counted by class" not in miners_page(release, "fine.csv")


def test_hostile_names_are_text() -> None:
    release = made(HOSTILE[0], HOSTILE[2], HOSTILE)
    page = Page(report_page(release, {}))
    assert not {tag for tag, _ in page.tags} - EXPECTED_TAGS
    assert page.text.count(HOSTILE[0]) >= 2
    prose = re.sub(r"(?ms)^```python\n(.*?)^```$", "", miners_page(release, "fine.csv"))
    assert "<" not in re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", prose)


@pytest.mark.parametrize("table", ["fine", "table"])
def test_the_miners_model_scores_what_evaluate_scores(tmp_path: Path, table: str) -> None:
    release = learned()
    assert release.fine is not None
    flipped = np.random.default_rng(5).random(release.fine.rows) < 0.2
    classes = np.where(flipped, np.where(release.fine.columns["ill"] == "no", "yes", "no"), release.fine.columns["ill"])
    fine = replace(release.fine, columns={**release.fine.columns, "ill": classes})
    count = np.array([[50, 9], [20, 30], [4, 4], [7, 60]])
    release = replace(release, measured=count, count=count, fine=fine if table == "fine" else None)
    folder = written(release, tmp_path / "out")
    csv.write_csv(raw_rows(7), tmp_path / "raw.csv")
    scores = evaluate(folder, test=tmp_path / "raw.csv", table=table)["boosting"]
    code = code_blocks((folder / "README.md").read_text(encoding="utf-8"))
    code[1] = "" if "shares" in code[1] else code[1]
    prepared = "encode" if table == "fine" else "generalize"
    check = f"""
from sklearn.metrics import accuracy_score, roc_auc_score
raw = pd.read_csv("../raw.csv", dtype=str, keep_default_na=False)
truth = raw["ill"]
features = {prepared}(raw){"" if table == "fine" else "[rows.columns]"}
yes = model.predict_proba(features)[:, list(model.classes_).index("yes")]
print(accuracy_score(truth, model.predict(features)), roc_auc_score(truth == "yes", yes))
"""
    trained = code[0] + "trained = rows\n" + code[-1] + "rows = trained\n" + check
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", trained], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    accuracy, area = map(float, done.stdout.splitlines()[-1].split())
    assert accuracy == pytest.approx(scores["accuracy"], abs=0.01)
    assert area == pytest.approx(scores["auc"], abs=0.01)


def test_a_rare_class_comes_with_a_way_to_find_it(tmp_path: Path) -> None:
    rare = replace(made(), measured=np.array([[90, 4], [90, 6]]), count=np.array([[90, 4], [90, 6]]))
    for release, recommended in ((rare, "fine.csv"), (replace(rare, fine=None), "table.csv")):
        text = miners_page(release, recommended)
        assert "The class `yes` is rare." in text and "predict_proba" in code_blocks(text)[1]
        folder = written(release, tmp_path / "out")
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", "".join(code_blocks(text)[:2]) + "print(len(predicted), len(rows))"],
            capture_output=True, text=True, check=False, cwd=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(set(done.stdout.splitlines()[-1].split())) == 1
    assert "is rare" not in miners_page(made(), "fine.csv")


RAW = "{number},wealth,mark,{text},class,other\n20,0.3,4,a,no,1\n70,?,-9,c,yes,2\n300,-1,9,b,no,3\n,,,,,\n"
PREDICT = """
raw = pd.read_csv("raw.csv", dtype=str, keep_default_na=False)
print(encode(raw).astype(int).values.tolist())
print(encode(rows)["mark"].eq(6).sum(), encode(rows)["wealth"].eq(4).sum())
assert set(model.predict(encode(raw))) <= {"no", "yes"}
"""


@pytest.mark.parametrize("hostile", [False, True])
def test_the_miners_code_runs_in_the_folder(tmp_path: Path, hostile: bool) -> None:
    number, text = ("{{ 7 * 7 }} \\ \\n", "\"quote' & <b>") if hostile else ("age", "job")
    release = made(text, number, HOSTILE if hostile else ("a", "b", "NA"))
    assert release.fine is not None
    write_release(release, tmp_path, {}, table=True)
    quoted = (f'"{name.replace(chr(34), 2 * chr(34))}"' for name in (number, text))
    raw = RAW.replace("{number}", next(quoted)).replace("{text}", next(quoted))
    (tmp_path / "raw.csv").write_text(raw, encoding="utf-8")
    blocks = code_blocks((tmp_path / "README.md").read_text(encoding="utf-8"))
    assert len(blocks) == 3
    command = [sys.executable, "-W", "error", "-c", blocks[0] + PREDICT + "".join(blocks[1:])]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    agreement, codes, missing, people = done.stdout.splitlines()
    numbers = [[1, 1, 4], [11, 4, 6], [15, 0, 5], [0, 4, 6]]
    names = [-1] * 4 if hostile else [0, -1, 1, -1]
    assert codes == str([[*codes, name] for codes, name in zip(numbers, names, strict=True)])
    assert re.fullmatch(r"agrees with [\d.]+% of the fine rows", agreement)
    assert missing.split() == [str(int(np.isnan(release.fine.columns[name]).sum())) for name in ("mark", "wealth")]
    assert people.startswith("100 people, standard error")
