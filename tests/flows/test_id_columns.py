"""Columns of ids in drafts: they are left out, and the comment says how to name persons."""

import pyarrow as pa
import pytest

from scumble.files.schema_draft import DRAFT_HEADING
from scumble.flows.draft import draft
from scumble.flows.id_columns import names_ids


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "patient_id", "Patienten-ID", "PatientID", "caseNo", "Kundennummer", "Kunden-Nr.", "member number",
     "customer key", "Fallnummer", "userUuid", "id2"],
)  # fmt: skip
def test_names_of_ids(name: str) -> None:
    assert names_ids(name)


@pytest.mark.parametrize(
    "name",
    ["idea", "humidity", "house number", "no", "number of stays", "keyboard", "paid", "width", "case", "patients",
     "icd code", "postal code", "children number", "casein note"],
)  # fmt: skip
def test_names_of_other_columns(name: str) -> None:
    assert not names_ids(name)


@pytest.mark.parametrize(
    "ids",
    [
        [f"P{number % 90:05}" for number in range(231)],
        [number % 90 for number in range(231)],
        [str(10_000 + number % 90) for number in range(231)],
    ],
)
def test_repeated_ids_are_left_out(ids: list[object]) -> None:
    made = draft(pa.table({"Patienten-ID": ids, "age": [number % 80 for number in range(231)]}))
    assert made.schema.identifiers == ("Patienten-ID",)
    assert made.comments["Patienten-ID"].endswith(
        "The same ids occur in several rows. If they identify persons, write `person: Patienten-ID` and "
        "`rows_each_at_most:` above."
    )


def test_a_few_repeated_ids_may_be_categories() -> None:
    made = draft(pa.table({"shop id": ["N1", "S2", "N1", "S2"], "age": [1, 2, 3, 4]}))
    assert made.schema["shop id"].domain.labels == ("N1", "S2")
    assert '`person: "shop id"`' in made.comments["shop id"]


def test_the_class_and_ids_that_do_not_repeat_stay_as_they_are() -> None:
    table = pa.table({"case id": ["a", "b", "a"], "id": ["1", "2", "3"], "age": [1, 2, 3]})
    made = draft(table, "case id")
    assert made.schema.classes == ("a", "b")
    assert "person:" not in made.comments["case id"] + made.comments["id"]


def test_the_heading_mentions_persons() -> None:
    assert "`person`" in DRAFT_HEADING
    assert "`rows_each_at_most`" in DRAFT_HEADING
