"""Every method with every kind of attribute: from raw values to verified folders, reports, classifiers and reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import scumble
from scumble.auditing.laws.methods import check_method
from scumble.demo.rehearsal import uniform_rows
from scumble.engines import ENGINES
from scumble.errors import InputError
from scumble.files.noise_file import read_noise
from scumble.files.schema_file import parse_schema, read_schema, schema_text
from scumble.flows.mine import predict, train
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.roles import Roles
from scumble.joint.simulated import simulated_holder
from scumble.methods import METHODS
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.method import Method
from scumble.privacy.noise import simulation
from scumble.sources import open_source

KINDS: dict[str, tuple[str, Sequence[Any]]] = {
    "styled numbers": (
        "numeric: {low: 0, high: 4000, step: 500}, numbers: {decimal: ',', thousands: .}",
        ["12,5", "700", "3.999,99", "2.250,75"],
    ),
    "nested intervals": (
        "numeric: {tree: {'[0,90)': {'[0,30)': {'[0,10)': , '[10,30)': }, '[30,90)': }}}",
        [1, 29.5, 30, 89],
    ),
    "ordered": ("ordered: [none, mild, moderate, severe]", ["none", "mild", "severe", "moderate"]),
    "dates": (
        "date: {from: 2022-01-01, to: 2024-01-01, step: month, format: '%d.%m.%Y'}",
        ["31.01.2022", "2022-05-06", "24.12.2023", "2023-11-11T10:00"],
    ),
    "booleans": ("boolean: {false: ['no'], true: ['yes']}", ["yes", "TRUE", "no", "false"]),
    "prefixes": ("prefix: {levels: [1, 3], codes: [E10, E11, I10, I11], ignore: .}", ["E10.1", "E11", "I10", "I11.9"]),
}
METHODS_AND_SETTINGS = [
    ("diffgen", {"epsilon": "20"}),
    ("diffgen", {"epsilon": "20", "detail": "no"}),
    ("diffgen", {"epsilon": "20", "selection": "published", "rounds": 3}),
    ("diffgen", {"epsilon": "20", "leaves": True}),
    ("diffgen", {"epsilon": "20", "score": "max", "detail": "no"}),
    ("histograms", {"epsilon": "20"}),
    ("microaggregate", {"epsilon": "20"}),
    ("explore", {"epsilon": "20"}),
    ("mdav", {"k": 5}),
]
ROWS = 80


def schema_of(*kinds: str, head: str = "", missing: str = "") -> str:
    entries = [f"  {kind.replace(' ', '_')}: {{{KINDS[kind][0]}{missing}}}\n" for kind in kinds]
    return f"scumble: schema/1\ntarget: ill\n{head}attributes:\n{''.join(entries)}  ill: {{boolean: true}}\n"


def people(*kinds: str, rows: int = ROWS) -> pd.DataFrame:
    """Rows in which the class is true for the first two values of every kind."""
    draw = np.random.default_rng(7).integers(0, 4, (rows, len(kinds)))
    columns = {
        kind.replace(" ", "_"): [KINDS[kind][1][code] for code in codes]
        for kind, codes in zip(kinds, draw.T, strict=True)
    }
    return pd.DataFrame({**columns, "ill": draw[:, 0] < 2})


def released(folder: Path, kinds: Sequence[str], method: str, settings: dict[str, Any], missing: str = "") -> Any:
    head = f"unit: replace\nrows: {ROWS}\n" if method == "mdav" else ""
    (folder / "schema.yaml").write_text(schema_of(*kinds, head=head, missing=missing), encoding="utf-8")
    accept = ["k-anonymity"] if method == "mdav" else []
    return scumble.release(
        people(*kinds),
        schema=folder / "schema.yaml",
        method=method,
        out=folder / "made",
        ledger=folder / "ledger.db",
        accept=accept,
        **settings,
    )


@pytest.mark.parametrize(("method", "settings"), METHODS_AND_SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_serves_every_kind(tmp_path: Path, kind: str, method: str, settings: dict[str, Any]) -> None:
    released(tmp_path, [kind], method, settings)
    assert scumble.verify(tmp_path / "made")
    public = read_schema(tmp_path / "schema.yaml")
    release = scumble.load_release(tmp_path / "made")
    name = kind.replace(" ", "_")
    again = read_schema(tmp_path / "made" / "schema.yaml")
    assert again == release.schema and again[name].notation == public[name].notation
    assert (tmp_path / "made" / "report.html").stat().st_size > 1000
    if method != "histograms":
        scores = scumble.evaluate(tmp_path / "made", test=people(kind), train=people(kind), classifiers=["tree"])
        assert scores["raw"]["tree"]["accuracy"] == 1, "raw rows are read by the kind's notation"
        assert scores["tree"]["accuracy"] > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_have_a_code(tmp_path: Path, kind: str) -> None:
    released(tmp_path, [kind], "diffgen", {"epsilon": "20"}, missing=", missing: unknown")
    release = scumble.load_cells(tmp_path / "made")
    attribute = release.schema.predictors[0]
    assert attribute.missing == "unknown" and attribute.missing_code is not None
    assert scumble.verify(tmp_path / "made")


def test_all_kinds_in_one_table(tmp_path: Path) -> None:
    released(tmp_path, list(KINDS), "diffgen", {"epsilon": "20"})
    assert scumble.verify(tmp_path / "made")
    fine = scumble.to_frame(scumble.load_cells(tmp_path / "made"), table="fine")
    assert set(fine["booleans"].to_pylist()) <= {"false", "true"}
    assert set(fine["ordered"].to_pylist()) <= {"none", "mild", "moderate", "severe"}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "styled numbers"])
def test_a_method_for_numbers_says_that_it_needs_them(tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError, match=r"needs numbers on a grid, but '\w+' is a"):
        released(tmp_path, [kind], "plain", {"epsilon": "1"})
    assert not (tmp_path / "made").exists()


def test_microaggregation_of_numbers_in_a_declared_style(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(
        f"scumble: schema/1\nrows_at_most: 1000\nattributes:\n  x: {{{KINDS['styled numbers'][0]}}}\n"
    )
    rows = people("styled numbers").rename(columns={"styled_numbers": "x"})[["x"]]
    scumble.release(
        rows,
        schema=tmp_path / "schema.yaml",
        method="microaggregate",
        epsilon="50",
        out=tmp_path / "made",
        ledger=tmp_path / "ledger.db",
    )
    assert 0 < scumble.load_records(tmp_path / "made").columns["x"].astype(float).mean() < 4000


@pytest.mark.parametrize("strength", [{"epsilon": "20"}, {"privacy": "0.5"}])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_perturbed_reconstructed_and_mined(tmp_path: Path, kind: str, strength: dict[str, Any]) -> None:
    (tmp_path / "schema.yaml").write_text(schema_of(kind), encoding="utf-8")
    accept = ["interval"] if "privacy" in strength else []
    made = tmp_path / "made"
    scumble.perturb(people(kind, rows=400), schema=tmp_path / "schema.yaml", out=made, accept=accept, **strength)
    assert scumble.verify(made)
    again, public = read_noise(made / "noise.json").schema.predictors[0], read_schema(tmp_path / "schema.yaml")
    assert (again.domain, again.notation) == (public.predictors[0].domain, public.predictors[0].notation)
    found = scumble.reconstruct(made, original=people(kind, rows=400))
    assert found[0].original is not None and found[0].original.shares.sum() == pytest.approx(1)
    model = train(made)
    ((predicted, truth),) = predict(model, people(kind, rows=50))
    assert truth is not None and (predicted == truth).mean() > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_released_jointly(kind: str) -> None:
    schema = parse_schema(schema_of(kind, head="rows_at_most: 1000\n"))
    parameters = DiffGen(epsilon="20", rounds=3)
    roles = Roles(parties=3, compute=(0, 1, 2), owners=(0, 1, 2), threshold=1)
    plan = joint_plan(DiffGenMethod().plan(schema, parameters), roles, schema)
    engine = ENGINES["memory"].open(open_source(people(kind)).batches(schema.columns), schema)
    holder = simulated_holder(engine=engine, plan=plan, rows_at_most=1000, draw=simulation(3))
    release = DiffGenMethod().run(schema, parameters, holder)
    assert abs(int(release.count.sum()) - ROWS) < 20
    assert parse_schema(schema_text(release.schema)) == release.schema


SPLIT, GROUPED = parse_schema(schema_of("ordered", "styled numbers")), parse_schema(schema_of("dates", "prefixes"))


@pytest.mark.parametrize(
    ("method", "settings"), [(name, settings) for name, settings in METHODS_AND_SETTINGS if name != "mdav"]
)
def test_the_laws_of_methods_are_satisfied_with_every_kind(method: str, settings: dict[str, Any]) -> None:
    found: Method = next(each for each in METHODS if each.name == method)
    schemas = [SPLIT] if "selection" in settings else [SPLIT, GROUPED]  # published mode always pays for intervals
    for schema in schemas:
        check_method(found, schema, found.parameters(**{**settings, "epsilon": "1"}))


def test_two_spellings_of_a_boolean_are_refused_in_a_new_schema_and_load_from_an_old_folder(tmp_path: Path) -> None:
    text = "scumble: schema/1\ntarget: ill\nattributes:\n  x: {classes: [True, 'true', o]}\n  ill: {boolean: true}\n"
    schema = parse_schema(text)
    assert schema["x"].domain.labels == ("True", "true", "o"), "a published schema is read"
    with pytest.raises(InputError, match="leaves 'True' and 'true', which a typed boolean does not distinguish"):
        scumble.plan(schema=schema, method="histograms", epsilon="1")


def test_a_rehearsal_writes_numbers_as_they_are_declared() -> None:
    schema = parse_schema(schema_of("styled numbers", "dates", "prefixes").replace("step: 500", "step: 0.5"))
    rows = uniform_rows(schema, 20, seed=1)
    assert "," in "".join(rows["styled_numbers"].to_pylist())
    found = scumble.check_rows(schema, rows)
    assert [each.off_domain for each in found.attributes] == [0] * 4 and found.kept == 20
