"""The page of an evaluation: well-formed, self-contained, for the data owner only, and it says what the JSON says."""

import json
from pathlib import Path
from typing import Any

import pytest
from fine_releases import made
from report_pages import EXPECTED_TAGS, HOSTILE, Page

from scumble.errors import InputError
from scumble.files.evaluation_files import refuse_release_folder, write_evaluation
from scumble.files.report.evaluation import evaluation_page, heat_maps, multiple

SCORES = {"accuracy": 0.8123, "auc": None, "balanced_accuracy": 0.7}


def result(**changes: Any) -> dict[str, Any]:
    distance = {
        "mean": 0.0451,
        "links_lost": 0.1,
        "compared": 3,
        "available": 3,
        "largest": {"attributes": ["age", HOSTILE[0]], "distance": 0.2},
    }
    fidelity = {
        "of": "train",
        "records": 12345,
        "class": None,
        "one_way": distance,
        "two_way": {**distance, "compared": 1000, "available": 4950},
        "test_rows": {"one_way": {"mean": 0.0072}, "two_way": {"mean": 0.01}},
        "attributes": [
            {
                "name": "age",
                "kind": "number",
                "missing": "?",
                "distance": 0.1,
                "distance_in_bins": 0.0333,
                "values": ["[0,10)", "[10,20)", "?"],
                "true": [0.5, 0.4, 0.1],
                "released": [0.4, 0.4, 0.2],
            },
            {
                "name": HOSTILE[1],
                "kind": "category",
                "missing": None,
                "distance": 0.1,
                "distance_in_bins": 0.1,
                "values": [HOSTILE[0], *(f"v{number}" for number in range(8))],
                "true": [0.2, *[0.1] * 8],
                "released": [0.1, *[0.1] * 7, 0.2],
            },
        ],
        "associations": {
            "attributes": ["age", HOSTILE[1]],
            "left_out": 2,
            "true": [[1.0, 0.5], [0.5, 1.0]],
            "released": [[1.0, 0.25], [0.25, 1.0]],
            "mean_absolute_difference": 0.25,
        },
        "queries": {
            "number": 200,
            "seed": 7,
            "smallest_share": 0.001,
            "error": {"50": 0.01, "90": 0.02, "95": 0.03, "100": 0.04},
            "relative_error": {"50": 0.1, "90": 0.2, "95": 0.3, "100": 4.0},
            "worst": [{"query": HOSTILE[0], "true": 0.5, "released": 0.54}],
        },
    }
    return {"notice": "For the owner only.", "table": "fine", "fidelity": fidelity, **changes}


CLASS = {
    "tree": SCORES,
    "boosting": SCORES,
    "commonest": SCORES,
    "raw": {"tree": SCORES, "boosting": SCORES},
    "test_rows": {"read": 10, "in_domain": 9},
}
TARGETS = {"sex": {"predicted": "sex", "classes": ["f", "m"], **CLASS}}
GROUP = {"label": HOSTILE[0], "records": 5, "share": 0.5, "released_share": 0.4, "one_way": 0.2, "two_way": None}
BY = {
    "attribute": "ward",
    "left_out": 3,
    "groups": [{**GROUP, "accuracy": {"boosting": None}, "raw_accuracy": {"boosting": 0.9}}],
}


@pytest.mark.parametrize(
    "found", [result(), result(**CLASS), result(**CLASS, targets=TARGETS, by=BY), result(by={**BY, "groups": [GROUP]})]
)
def test_a_page_is_well_formed_self_contained_and_for_the_owner(found: dict[str, Any]) -> None:
    text = evaluation_page(found, method="explore", guarantee="1-differentially private.")
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= EXPECTED_TAGS | {"text", "title"}
    for reference in ("http:", "https:", "@import", "url(", "<script", "<link", "javascript"):
        assert reference not in text
    named = {name for _, attributes in page.tags for name in attributes}
    assert not {"src", "href", "style"} & named
    assert not [name for name in named if name.startswith("on")]
    assert page.text.count("For the owner only.") == 2, "at the top and at the end"
    for words in ("0.045", "1,000 of 4,950", "12,345 records", "0.25", "200 random conditions", "4 other values"):
        assert words in page.text
    assert ("Predicting the class" in page.text) == ("tree" in found)
    assert ("Predicting other attributes" in page.text) == ("targets" in found)
    assert ("By ward" in page.text) == ("by" in found)
    assert "they are a fixed sample" in page.text


def test_many_attributes_are_folded_and_their_heat_maps_are_large() -> None:
    found = result()
    one = found["fidelity"]["attributes"][0]
    found["fidelity"]["attributes"] = [{**one, "name": f"a{number}"} for number in range(30)]
    names = [f"a{number}" for number in range(30)]
    matrix = [[0.0] * 30] * 30
    found["fidelity"]["associations"] |= {"attributes": names, "true": matrix, "released": matrix}
    page = Page(evaluation_page(found, method="explore", guarantee=""))
    assert "6 more attributes" in page.text
    assert "maps large" in {attributes.get("class") for _, attributes in page.tags}


def test_the_largest_categories_stand_alone_and_the_others_together() -> None:
    number, category = (multiple(each) for each in result()["fidelity"]["attributes"])
    assert [bar[0] for bar in category.bars] == [HOSTILE[0], "v0", "v1", "v2", "v3", "4 other values"]
    assert [bar[1:3] for bar in category.bars][-1] == (pytest.approx(0.4), pytest.approx(0.5))
    assert number.ends == ("0", "20")
    assert number.missing == ("?", 0.1, 0.2)


def test_heat_maps_show_both_tables_and_their_difference() -> None:
    true, released, difference = heat_maps(result()["fidelity"]["associations"])
    assert "age × " in true.drawing
    assert ": 0.50<" in true.drawing
    assert ": 0.25<" in released.drawing
    assert ": -0.25<" in difference.drawing and "±0.25" in difference.caption
    assert difference.drawing.count('class="weak"') == 2


@pytest.mark.parametrize("place", ["out", "out/inside", "out/../out/deep/er", "other", "other/below", "link"])
def test_nothing_is_written_into_a_release_folder(tmp_path: Path, place: str) -> None:
    for name in ("out", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "release.json").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(InputError, match="Choose a folder elsewhere"):
        refuse_release_folder(tmp_path / place, tmp_path / "out")
    refuse_release_folder(tmp_path / "outside", tmp_path / "out")


def test_both_files_say_for_whom_they_are(tmp_path: Path) -> None:
    write_evaluation(result(), made(), tmp_path / "new" / "folder")
    text = (tmp_path / "new" / "folder" / "evaluation.json").read_text("utf-8")
    assert json.loads(text) == result()
    assert "For the owner only." in text
    assert "For the owner only." in (tmp_path / "new" / "folder" / "evaluation.html").read_text("utf-8")
