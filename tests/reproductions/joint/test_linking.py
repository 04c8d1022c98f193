"""The linking attack of the several-owners paper: it works on k-anonymous tables and not on private ones."""

from pathlib import Path

import numpy as np

from scumble.flows.evaluate import training_sample
from scumble.reproductions import FIGURES
from scumble.reproductions.figure import Request
from scumble.reproductions.joint.linking import (
    PATIENTS,
    VICTIM,
    allowed,
    attacked_table,
    coded_patients,
    linking_figure,
    patients_schema,
    released,
    success,
    votes,
)


def test_the_patients_are_those_of_table_1() -> None:
    schema = patients_schema()
    rows = coded_patients(schema)
    assert rows.shape == (11, 5)
    assert PATIENTS[VICTIM] == ("Mover", "M", 34, "Transgender", "Y")
    assert schema["Job"].domain.labels[rows[VICTIM, 0]] == "Mover"
    assert rows[VICTIM, 2] == 33


def test_two_records_that_look_alike_share_their_surgery() -> None:
    """Records 1 and 5 are the blue-collar men of 34, and both had the same surgery: two-anonymity hides nothing."""
    schema = patients_schema()
    rows = coded_patients(schema)
    made = released("mondrian", schema, rows, k=2, quasi="Job,Sex,Age")
    assert votes(made, schema, rows[VICTIM].tolist()).tolist() == [2, 0, 0, 0]
    assert success(made, schema, rows, knows_others=False) == 1.0
    larger = released("mondrian", schema, rows, k=3, quasi="Job,Sex,Age")
    assert votes(larger, schema, rows[VICTIM].tolist()).tolist() == [2, 1, 0, 0]
    assert success(larger, schema, rows, knows_others=True) == 1.0


def test_a_table_without_him_reveals_nothing_by_subtraction() -> None:
    schema = patients_schema()
    rows = coded_patients(schema)
    made = released("tds", schema, np.delete(rows, VICTIM, axis=0), k=2, quasi="Job,Sex,Age")
    assert success(made, schema, rows, knows_others=True) == 0.25


def test_the_default_release_is_attacked_in_its_finest_table_that_fits() -> None:
    """At a large epsilon his cell is found; the fine rows are used only if one of them could be his."""
    schema = patients_schema()
    rows = coded_patients(schema)
    victim = rows[VICTIM].tolist()
    used = set()
    for _ in range(40):
        made = released("diffgen", schema, rows, epsilon="100")
        assert made.recommended == "fine"
        table = attacked_table(made, schema, victim)
        fine = training_sample(made, "fine")
        alike = (fine.codes[:, :3] == rows[VICTIM][:3]).all(axis=1) & (fine.counts > 0)
        assert (table == "fine") == bool(alike.any())
        used.add(table)
        if table == "fine":
            assert votes(made, schema, victim).sum() == fine.counts[alike].sum()
    assert used <= {"fine", "table"}


def test_the_claims_of_the_figure(tmp_path: Path) -> None:
    assert FIGURES["joint-linking"] is linking_figure
    figure = linking_figure(Request(cache=tmp_path, runs=10))
    assert [claim.holds for claim in figure.claims] == [True, True, True, True]
    private = [row for row in figure.rows if row["epsilon"]]
    assert len(private) == 3
    assert {row["release"] for row in private} == {f"diffgen, epsilon = {epsilon}" for epsilon in ("0.5", "1", "2")}
    assert allowed("2") > allowed("1") > allowed("0.5") > 0
