"""Documents of a release: what their names promise is checked, and nothing else is accepted of this version."""

from typing import Any

import pytest
from fine_releases import PATIENTS

from scumble.errors import CheckError
from scumble.files.kinds.document_checks import check_documents
from scumble.files.report.version import pages_version

SAME = {"pages": pages_version()}
MODEL = {"bins": {name: [0] for name in PATIENTS.names}, "cliques": [["age", "ward"]], "separators": [[]]}
GROUPS = {"groups": [{"size": 3, "centre": {"age": 15.5, "ward": "a"}, "measured": -2}]}
MARGINALS = {"marginals": [{"attributes": ["ill"], "bins": [[0, 1]], "counts": [3, 0]}]}


@pytest.mark.parametrize(("name", "document"), [("model", MODEL), ("groups", GROUPS), ("marginals", MARGINALS)])
def test_documents_that_fit(name: str, document: dict[str, Any]) -> None:
    assert list(check_documents({name: document}, PATIENTS, SAME)) == [f"{name}.json fits the published schema"]


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("model", {}),
        ("model", {**MODEL, "bins": {"age": [0]}}),
        ("model", {**MODEL, "bins": {**MODEL["bins"], "age": [1]}}),
        ("model", {**MODEL, "cliques": [["nobody"]]}),
        ("model", {**MODEL, "separators": ["age"]}),
        ("groups", {"groups": {}}),
        ("groups", {"groups": [{"size": True}]}),
        ("groups", {"groups": [{"size": 1.5}]}),
        ("groups", {"groups": [{"size": 1, "centre": {"ward": "nowhere"}}]}),
        ("groups", {"groups": [{"size": 1, "centre": {"age": float("inf")}}]}),
        ("groups", {"groups": [{"size": 1, "box": {"nobody": ""}}]}),
        ("marginals", {"marginals": [{"attributes": ["ill"], "bins": [[0, 1]], "counts": [3]}]}),
        ("marginals", {"marginals": [{"attributes": ["ill"], "bins": [[0, 1]], "counts": [3, -1]}]}),
        ("tables", {"format": "tables/1"}),
        ("tables", {"format": "tables/9"}),
        ("unknown", {}),
    ],
)
def test_documents_that_do_not_fit(name: str, document: dict[str, Any]) -> None:
    with pytest.raises(CheckError, match=rf"{name}\.json does not"):
        list(check_documents({name: document}, PATIENTS, SAME))


def test_unknown_documents_of_another_version_are_left_alone() -> None:
    documents: dict[str, dict[str, Any]] = {"unknown": {}, "tables": {"format": "tables/9"}}
    assert list(check_documents(documents, PATIENTS, {})) == [
        "unknown.json is a JSON object",
        "tables.json is a JSON object",
    ]
