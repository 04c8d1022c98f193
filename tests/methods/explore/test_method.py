"""The method `explore`: what it measures, what it publishes, and how near its rows are to the table."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from planned_runs import run

import scumble
from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.laws.methods import check_method
from scumble.comparison.recipes import RECIPES
from scumble.comparison.trials import CodedTable
from scumble.engines.memory import MemoryEngine
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods.explore.documents import TABLES_FORMAT
from scumble.methods.explore.known import Known
from scumble.methods.explore.measuring import Measuring, sampling_error
from scumble.methods.explore.method import Explore, ExploreMethod
from scumble.methods.explore.settings import MOST_BINS, ExploreSettings, bins_of_pairs, explore_settings
from scumble.methods.explore.spends import (
    COUNT_BINS,
    COUNT_RECORDS,
    COUNT_VALUES,
    REST,
    TABLES,
    round_spends,
    value_spends,
)
from scumble.model.counts import Integers
from scumble.model.release import RecordRelease
from scumble.model.spend import Spend
from scumble.model.values import codes_within
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, Selection, simulation

METHOD = ExploreMethod()
PEOPLE = """\
scumble: schema/1
attributes:
  age: {numeric: {low: 0, high: 100, step: 1}}
  sex: {classes: [f, m]}
  ward: {taxonomy: {Any: {North: {n1: , n2: }, South: {s1: , s2: }}}}
  stay: {numeric: {low: 0, high: 30, step: 1}, missing: unknown}
"""
SCHEMA = parse_schema(PEOPLE)


class NoNoise:
    """Adds no noise, and chooses the highest score."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return values

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        return int(np.argmax(scores))


def people(rows: int, seed: int = 1) -> CodedTable:
    """The ward follows the age, and the stay follows the ward."""
    draw = simulation(seed)
    age = np.minimum(draw.gamma(6, 7, rows).astype(np.int64), 99)
    ward = np.clip(age // 20 + draw.integers(-1, 2, rows), 0, 3)
    stay = np.where(draw.random(rows) < 0.1, 30, np.minimum(ward * 4 + draw.poisson(3, rows), 29))
    columns = (age, draw.integers(0, 2, rows), ward, stay)
    return CodedTable(schema=SCHEMA, columns=tuple(column.astype(np.uint8) for column in columns))


def released(table: CodedTable, epsilon: str, noise: PaidNoise | NoNoise | None = None) -> RecordRelease:
    engine = MemoryEngine([table.columns], table.schema)
    made: RecordRelease = run(METHOD, table.schema, Explore(epsilon=epsilon), engine, noise or PaidNoise())
    return made


def distance(made: RecordRelease, table: CodedTable, names: tuple[str, ...]) -> float:
    """The total variation distance of a margin in at most about thirty bins of each attribute."""
    shares = []
    places = [table.schema.names.index(name) for name in names]
    codes = [codes_within(table.schema[name].domain, made.columns[name]) for name in names]
    for columns in (codes, [table.columns[place].astype(np.int64) for place in places]):
        key = np.zeros(len(columns[0]), dtype=np.int64)
        for column, place in zip(columns, places, strict=True):
            key = key * 30 + column // (1 + table.schema.attributes[place].domain.size // 30)
        shares.append(np.bincount(key, minlength=30 ** len(names)) / len(key))
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def test_rows_follow_the_table_without_a_class() -> None:
    table = people(20_000)
    made = released(table, "5")
    assert abs(made.records - 20_000) < 200
    assert distance(made, table, ("age",)) < 0.02
    assert distance(made, table, ("age", "ward")) < 0.06
    assert distance(made, table, ("ward", "stay")) < 0.06
    draw = simulation(3)
    mixed = {name: draw.permutation(column) for name, column in made.columns.items()}
    apart = RecordRelease(
        method=made.method, parameters=made.parameters, plan=made.plan, schema=made.schema, columns=mixed
    )
    assert distance(apart, table, ("age", "ward")) > 0.25


def test_without_noise_the_strongest_links_are_found() -> None:
    made = released(people(5_000), "5", NoNoise())
    assert made.story[0].startswith("ward and stay") or made.story[0].startswith("age and ward")
    assert {story.split(" together")[0] for story in made.story[:2]} == {"ward and stay", "age and ward"}


def test_a_round_that_chooses_nothing_counts_the_chosen_tables_again() -> None:
    """Age and stay depend on each other through the ward only, so no table is missing after two pairs."""
    table = people(20_000)
    kept = (0, 2, 3)
    schema = replace(SCHEMA, attributes=tuple(SCHEMA.attributes[place] for place in kept))
    made = released(CodedTable(schema=schema, columns=tuple(table.columns[place] for place in kept)), "5", NoNoise())
    found = Counter(tuple(each["attributes"]) for each in made.documents["tables"]["tables"])
    assert found["age", "ward"] == found["ward", "stay"] == 2
    assert found["age", "stay"] == 0
    assert len(made.story) == 2, "each is reported once"


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "3"])
def test_tables_are_published_with_their_variances(epsilon: str) -> None:
    table = people(3_000)
    made = released(table, epsilon)
    document = made.documents["tables"]
    assert document["format"] == TABLES_FORMAT
    json.dumps(made.documents, allow_nan=False)
    for each in document["tables"]:
        cells = int(np.prod([len(bins) for bins in each["bins"]], dtype=int))
        assert len(each["counts"]) == cells
        assert all(bins[0] == 0 and bins == sorted(set(bins)) for bins in each["bins"])
        assert each["variance"] > 0
    alone = {names[0] for names in (each["attributes"] for each in document["tables"]) if len(names) == 1}
    assert alone == set(SCHEMA.names)


def test_the_stated_variances_are_those_of_the_noise() -> None:
    """The squared errors of all published counts, divided by their variances, average to one."""
    table = people(2_000)
    ratios = []
    for _ in range(12):
        for each in released(table, "2").documents["tables"]["tables"]:
            columns = [table.columns[SCHEMA.names.index(name)].astype(np.int64) for name in each["attributes"]]
            key = np.zeros(2_000, dtype=np.int64)
            for column, bins in zip(columns, each["bins"], strict=True):
                key = key * len(bins) + np.searchsorted(bins, column, side="right") - 1
            exact = np.bincount(key, minlength=len(each["counts"]))
            errors = np.array(each["counts"]) / each["unit"] - exact
            ratios.append(errors**2 / each["variance"])
    mean = float(np.concatenate(ratios).mean())
    # About 3,000 squares with a kurtosis of 6: the standard error of the mean is about 0.04.
    assert 0.75 < mean < 1.25


@pytest.mark.parametrize("epsilon", ["0.001", "0.5"])
def test_some_pairs_contain_the_class_however_little_is_known(epsilon: str) -> None:
    table = RECIPES["weak-signals"].table(rows=600, seed=2)
    made = released(table, epsilon)
    assert any(f"and {table.schema.target} together" in story for story in made.story)


def test_every_class_table_is_a_candidate() -> None:
    table = RECIPES["admissions"].table(rows=6_000, seed=2)
    made = released(table, "40", NoNoise())
    assert any(str(table.schema.target) in story for story in made.story)
    assert any(story.count(" and ") == 2 for story in made.story), "triples with the class are chosen, too"


def settings_for(attributes: int, information: float) -> ExploreSettings:
    return explore_settings(attributes, information, lambda tables, share: tables / information)


def test_budgets_add_up_and_follow_the_information() -> None:
    for attributes, information in [(2, 1.0), (5, 300.0), (15, 2_000.0), (60, 1e9)]:
        settings = settings_for(attributes, information)
        values, tables = value_spends(Spend(label=REST, epsilon=Fraction(1)), settings)
        assert (values.label, tables.label) == (COUNT_VALUES, TABLES)
        for finer in (0.0, 0.01, 0.5, 1.0):
            spends = [values, *round_spends(tables, settings, finer)]
            assert sum(spend.epsilon * spend.times for spend in spends) == 1
            assert (COUNT_BINS in [spend.label for spend in spends]) == (finer > 0)
    few, many = settings_for(15, 50.0), settings_for(15, 5_000.0)
    assert few.values_share > many.values_share
    assert (few.pairs, many.pairs) == (3, 14)
    assert bins_of_pairs(100, 1e6) < bins_of_pairs(3e4, 100) < bins_of_pairs(1e12, 1) == MOST_BINS
    plan = METHOD.plan(SCHEMA, Explore(epsilon="1"))
    assert [spend.label for spend in plan.spends] == [COUNT_RECORDS, REST]


def test_stages_can_be_followed_one_by_one() -> None:
    table = people(4_000)
    holder = CentralHolder(
        engine=MemoryEngine([table.columns], SCHEMA),
        noise=NoNoise(),
        plan=METHOD.plan(SCHEMA, Explore(epsilon="1")),
    )
    measuring = Measuring(SCHEMA, holder)
    assert isinstance(measuring, Known)
    measuring.count_records()
    assert measuring.records[0] == 4_000
    measuring.count_values()
    shares = [
        np.bincount(column, minlength=len(share)) / 4_000
        for column, share in zip(table.columns, measuring.shares, strict=True)
    ]
    for share, exact in zip(measuring.shares, shares, strict=True):
        assert np.abs(share - exact).sum() < 0.25
    measuring.count_bins()
    assert set(measuring.bins[1].starts) == {0, 1}
    measuring.choose_pairs()
    model = measuring.fitted()
    assert all(len(clique) <= 2 for clique in model.tree.cliques)
    measured = {places for places in measuring.chosen if len(places) == 2}
    assert measured <= set(combinations(range(4), 2))
    assert sampling_error(np.full(4, 100.0)) == pytest.approx(4 * 10 * (2 / np.pi) ** 0.5)


def test_the_laws_are_satisfied_with_a_delta() -> None:
    check_method(METHOD, small_schemas()[0], Explore(epsilon="1", delta="1e-9"))


def test_an_empty_table_is_an_ordinary_release() -> None:
    made = released(people(0), "1")
    assert made.records < 1_000


def test_released_at_the_command_line_and_read_back(tmp_path: Path) -> None:
    table = people(2_000)
    frame = pd.DataFrame(
        {
            "age": table.columns[0],
            "sex": np.array(["f", "m"])[table.columns[1]],
            "ward": np.array(["n1", "n2", "s1", "s2"])[table.columns[2]],
            "stay": [str(code) if code < 30 else "unknown" for code in table.columns[3]],
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "schema.yaml").write_text(PEOPLE, encoding="utf-8")
    published = scumble.release(
        tmp_path / "people.csv",
        schema=tmp_path / "schema.yaml",
        out=tmp_path / "made",
        ledger=tmp_path / "ledger.db",
        method=Explore(epsilon="2"),
    )
    assert published.recommended == "table.csv"
    assert scumble.verify(tmp_path / "made")
    read = scumble.load_release(tmp_path / "made")
    assert isinstance(read, RecordRelease)
    assert read.documents["tables"] == published.release.documents["tables"]  # type: ignore[attr-defined]
    assert (tmp_path / "made" / "tables.json").exists()


def test_a_single_attribute_is_refused_before_the_charge() -> None:
    schema = parse_schema("scumble: schema/1\nattributes:\n  x: {numeric: {low: 0, high: 4, step: 1}}\n")
    with pytest.raises(InputError, match="explore measures pairs of attributes, and the schema has one"):
        ExploreMethod().plan(schema, Explore(epsilon="1"))
