"""Joint tables: the marginals are the sums of each combination, and far fewer tables are added to than wanted."""

from itertools import combinations

import numpy as np
from detail_models import combinations_of_bins, usable
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import schemas

from scumble.methods.diffgen.detail.combinations import EVERYONE, Combination, keys_of
from scumble.methods.diffgen.detail.joint_tables import MOST_CELLS, JointTables, joint_tables


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_marginals_are_the_sums_of_each_combination(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(usable))
    wanted = data.draw(st.lists(combinations_of_bins(schema) | st.just(EVERYONE), min_size=1, max_size=6))
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    predictors = [generator.integers(0, each.domain.size, 30).astype(np.uint16) for each in schema.predictors]
    numbers = generator.integers(-(2**40), 2**40, (data.draw(st.integers(1, 3)), 30))
    tables, packs = joint_tables(wanted)
    sums = np.zeros((sum(tables.lengths), len(numbers)), dtype=np.int64)
    tables.add(keys_of(packs, predictors), numbers, sums)
    for combination, found in zip(wanted, tables.marginals(sums), strict=True):
        expected = np.zeros((len(combination), len(numbers)), dtype=np.int64)
        np.add.at(expected, combination.keys(predictors), numbers.T)
        assert (found == expected).all()


AXES = range(14)
PAIRS = [*((axis,) for axis in AXES), *combinations(AXES, 2)]


def test_all_pairs_of_attributes_need_few_tables() -> None:
    made = JointTables.of(PAIRS, [5] * 14, 128)
    assert len(PAIRS) == 105 and len(made.tables) == 10
    assert max(made.lengths) == 125 * 125


def test_a_chosen_pair_with_each_other_attribute_needs_no_tables_of_their_own() -> None:
    triples = [tuple(sorted({3, 8, other})) for other in AXES if other not in (3, 8)]
    made = JointTables.of([*PAIRS, *triples], [5] * 14, 128)
    assert len(made.tables) == 10


def test_many_attributes_and_classes_stay_within_the_memory() -> None:
    alone = [Combination(places=(place,), bins=(np.arange(5),)) for place in range(200)]
    pairs = [
        Combination(places=(*one.places, *other.places), bins=(*one.bins, *other.bins))
        for one, other in combinations(alone, 2)
    ]
    tables, _ = joint_tables(pairs)
    assert sum(tables.lengths) <= MOST_CELLS and len(tables.tables) < len(pairs) / 3


def test_a_large_axis_has_a_pack_to_itself() -> None:
    made = JointTables.of([(0, 1), (1, 2)], [1000, 5, 5], 128)
    assert made.packs == ((0,), (1, 2), ()) and made.lengths == [25_000]
