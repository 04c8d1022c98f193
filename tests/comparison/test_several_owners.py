"""Baselines of joint releases: rows divided among owners, one release or several, and the union of releases."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chi_square import chi_square_rejects
from command_line import SCHEMA, people, scumble
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.comparison.compare import TrialOutcome
from scumble.comparison.contenders import OurMethod, SeveralOwners, contender_of
from scumble.comparison.several_owners import (
    common_refinement,
    generator_for,
    joint_roles,
    release_apart,
    release_jointly,
    split_among_owners,
    union,
)
from scumble.comparison.summary import mean_scores, paired_differences
from scumble.engines.memory import MemoryEngine
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.joint.planning import joint_plan
from scumble.joint.simulated import simulated_holder
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.mining.benchmark.sample import Sample
from scumble.model.cut import Cut, Specialization
from scumble.model.guarantee import JointDP, PureDP
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.model.values import recoding

PUBLIC = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 9, step: 1}, missing: unknown}
  job: {taxonomy: {Any: {white: {a: , b: {b1: , b2: }}, only: {single: {c: , d: , e: }}}}}
  class: {classes: [x, y]}
"""
)
ROWS = 200


def rows_of(seed: int) -> tuple[np.ndarray, ...]:
    draw = np.random.default_rng(seed)
    age = draw.integers(0, PUBLIC["age"].domain.size, ROWS)
    job = draw.integers(0, PUBLIC["job"].domain.size, ROWS)
    return age, job, ((age > 4) ^ (draw.random(ROWS) < 0.2)).astype(np.int64)


def parameters_of(**values: Any) -> DiffGen:
    return DiffGen(**DiffGen.jointly({"epsilon": "1", "rounds": 3, **values}))


@st.composite
def cuts(draw: st.DrawFn, schema: Schema = PUBLIC) -> Cut:
    """A cut after a few random specializations."""
    cut = Cut.top(schema)
    for _ in range(draw(st.integers(0, 5))):
        steps = [
            Specialization(attribute=name, node=node, children=domain.split(node, position))
            for name, nodes in cut.nodes.items()
            for node in nodes
            for domain in [schema[name].domain]
            for position in domain.positions(node)
        ]
        if steps:
            cut = cut.specialize(draw(st.sampled_from(steps)))
    return cut


@given(st.integers(1, 60), st.integers(2, 7), st.integers(0, 5))
def test_rows_are_divided_whole_and_evenly(size: int, owners: int, seed: int) -> None:
    columns = np.arange(size), np.arange(size) * 7 % 5
    parts = split_among_owners(columns, owners, seed)
    assert sorted(int(row) for part in parts for row in part[0]) == list(range(size))
    assert all((columns[1][part[0]] == part[1]).all() for part in parts), "rows stay whole"
    sizes = [len(part[0]) for part in parts]
    assert len(sizes) == owners
    assert max(sizes) - min(sizes) <= 1


def test_seeds_determine_the_rows_of_each_owner() -> None:
    first, again, other = (split_among_owners((np.arange(50),), 3, seed)[0][0].tolist() for seed in (1, 1, 2))
    assert first == again != other
    draws = [generator_for(purpose, 1).integers(2**62) for purpose in ("owners", "joint", "union")]
    assert len(set(draws)) == 3, "different purposes have different draws"


def test_the_joint_release_is_that_of_all_rows_however_many_own_them() -> None:
    columns, parameters = rows_of(1), parameters_of()
    made = [
        release_jointly(split_among_owners(columns, owners, 4), PUBLIC, DiffGenMethod(), parameters, seed=9)
        for owners in (2, 3, 5)
    ]
    plan = joint_plan(DiffGenMethod().plan(PUBLIC, parameters), joint_roles(2), PUBLIC)
    holder = simulated_holder(
        engine=MemoryEngine([columns], PUBLIC), plan=plan, rows_at_most=1_000_000, draw=generator_for("joint", 9)
    )
    whole = DiffGenMethod().run(PUBLIC, parameters, holder)
    for release in made:
        assert isinstance(release, CellRelease)
        assert release.story == whole.story
        assert (release.count == whole.count).all()
    coalitions = [release.plan.guarantee.coalition for release in made if isinstance(release.plan.guarantee, JointDP)]
    assert coalitions == [1, 1, 2]
    assert [joint_roles(owners).parties for owners in (2, 3, 5)] == [3, 3, 5], "two owners need an aggregator"


def test_apart_every_owner_releases_its_own_rows_at_full_epsilon() -> None:
    epsilon = 200  # so little noise that the counts equal the numbers of rows
    parts = split_among_owners(rows_of(2), 3, 1)
    made = release_apart(parts, PUBLIC, DiffGenMethod(), parameters_of(epsilon=epsilon))
    assert [int(release.count.sum()) for release in made if isinstance(release, CellRelease)] == [67, 67, 66]
    assert all(
        isinstance(release.plan.guarantee, PureDP) and release.plan.guarantee.epsilon == Fraction(epsilon)
        for release in made
    )


@given(st.lists(cuts(), min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_the_common_refinement_separates_exactly_what_some_owner_separates(owners: list[Cut]) -> None:
    refined = common_refinement([cut.published_schema() for cut in owners], PUBLIC)
    for attribute in PUBLIC.predictors:
        together = refined.digits(attribute.name)
        everyone = list(zip(*(cut.digits(attribute.name) for cut in owners), strict=True))
        assert len(together) == attribute.domain.size
        assert [a == b for a in together for b in together] == [a == b for a in everyone for b in everyone]
    refined.published_schema()


@given(st.lists(cuts(), min_size=1, max_size=3), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_in_the_union_every_row_stays_in_the_cell_its_owner_published(owners: list[Cut], seed: int) -> None:
    published = []
    for number, cut in enumerate(owners):
        columns, schema = rows_of(number), cut.published_schema()
        codes = [cut.digits(name)[column] for name, column in zip(cut.nodes, columns, strict=False)]
        weights = np.arange(ROWS) % 3
        published.append((Sample(codes=np.stack(codes, axis=1), labels=columns[-1], weights=weights), schema))
    sample, schema = union(published, PUBLIC, seed)
    assert sample.weights is None
    ends = np.cumsum([int(each.counts.sum()) for each, _ in published])
    for (own, theirs), rows, labels in zip(
        published, np.split(sample.codes, ends[:-1]), np.split(sample.labels, ends[:-1]), strict=True
    ):
        back = []
        for place, attribute in enumerate(PUBLIC.predictors):
            fine = recoding(attribute.domain, schema[attribute.name].domain)
            coarse = recoding(attribute.domain, theirs[attribute.name].domain)
            back.append(coarse[np.searchsorted(fine, rows[:, place])])
        assert (np.stack(back, axis=1) == np.repeat(own.codes, own.counts, axis=0)).all()
        assert (labels == np.repeat(own.labels, own.counts)).all()


def test_a_wide_value_is_spread_over_the_pieces_by_their_widths() -> None:
    top, domain = Cut.top(PUBLIC), PUBLIC["age"].domain
    halves = domain.split(domain.root, 3)
    finer = top.specialize(Specialization(attribute="age", node=domain.root, children=halves))
    many, none = (np.array([number]) for number in (20_000, 0))
    codes, labels = np.zeros((1, 2), dtype=np.int64), np.zeros(1, dtype=np.int64)
    published = [
        (Sample(codes=codes, labels=labels, weights=many), top.published_schema()),
        (Sample(codes=codes, labels=labels, weights=none), finer.published_schema()),
    ]
    sample, _ = union(published, PUBLIC, seed=3)
    seen = Counter(sample.codes[:, 0].tolist())
    assert not chi_square_rejects(seen, {0: 0.3, 1: 0.7})
    assert chi_square_rejects(seen, {0: 0.5, 1: 0.5})


def test_contenders_by_name() -> None:
    joint, apart, one = (contender_of(name) for name in ("joint-2", "apart-5:rounds=4", "together"))
    assert isinstance(joint, SeveralOwners) and isinstance(apart, SeveralOwners) and isinstance(one, OurMethod)
    assert (joint.owners, joint.jointly, apart.owners, apart.jointly) == (2, True, 5, False)
    assert joint.parameters == one.parameters == {"detail": "yes", "score": "accuracy"}
    assert apart.parameters == {"score": "accuracy", "rounds": "4"}
    assert "under add-remove" in joint.guarantee(PUBLIC) and "any 1 of the 3 parties" in joint.guarantee(PUBLIC)
    assert "any 2 of the 5 parties" in contender_of("joint-5").guarantee(PUBLIC)
    assert apart.guarantee(PUBLIC) == "eps, no delta, under add-remove, of each owner's release"
    for text in ("joint-1", "joint-8", "apart", "joint-3x", "together-2", "joint-3:tables=2"):
        with pytest.raises(InputError):
            contender_of(text)


def test_a_comparison_of_all_three_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(people(900))
    Path("schema.yaml").write_text(SCHEMA)
    words = ["--data", "people.csv@schema.yaml", "--epsilon", "50", "--splits", "2", "--classifier", "tree"]
    for name in ("joint-2", "joint-5", "together", "apart-2", "apart-5:rounds=2"):
        words += ["--contender", name]
    summary = scumble("compare", *words, "--jobs", "1", "--json").json
    lines = {line["contender"]: line["mean"] for line in summary["lines"] if line["measure"] == "accuracy"}
    assert len(lines) == 5
    assert lines["joint-2"] == lines["joint-5"], "the same rows, seeds and noise distributions"
    assert all(0.6 < mean < 0.9 for mean in lines.values())
    level = next(each for each in summary["differences"] if each["other"] == "joint-5")
    assert (level["mean"], level["error"]) == (0, 0)


def test_figures_and_their_place_on_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    import joint
    from joint_accuracy import _difference, _mean

    outcomes = [
        TrialOutcome(
            table="t",
            contender=name,
            epsilon="1",
            split=split,
            classifier="tree",
            accuracy=accuracy + split / 50,
            auc=None,
            cpu_seconds=1.0,
        )
        for name, accuracy in (("a", 0.8), ("b", 0.7))
        for split in range(10)
    ]
    few = [each for each in outcomes if each.split < 3]
    assert [_mean(each) for each in mean_scores(few)][:1] == ["82.00 (1.15)"]
    assert _difference(paired_differences(few, "a")[0]) == "+10.00 (0.00)", "few splits have no verdict"
    assert _difference(paired_differences(outcomes, "a")[0]) == "+10.00 (0.00) ahead"
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- begin: cost -->\nold\n<!-- end -->\nbetween\n<!-- begin: peer -->\nkept\n<!-- end -->\n"
    )
    joint.write_section(page, "cost", "new \\1\n")
    assert page.read_text() == (
        "before\n<!-- begin: cost -->\nnew \\1\n<!-- end -->\nbetween\n<!-- begin: peer -->\nkept\n<!-- end -->\n"
    )
    with pytest.raises(SystemExit, match="0 sections"):
        joint.write_section(page, "accuracy", "")
