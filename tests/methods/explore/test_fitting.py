"""The fit: exact where the tables agree, and as good as a fit of the full joint distribution where they do not."""

import numpy as np
import pytest
from full_joint import SIZES, fit_of_the_full_joint, full_joint, loss, random_model, summed

from scumble.methods.explore.fitting import FittedTable, fit
from scumble.methods.explore.junction_tree import Clique, junction_tree
from scumble.privacy.noise import simulation

TABLES: list[Clique] = [(0, 1), (1, 2), (0, 2, 3), (4,)]


def test_tables_that_agree_are_fitted_exactly() -> None:
    truth = full_joint(random_model(TABLES, seed=3))
    targets = [FittedTable(places=places, counts=1000 * summed(truth, places), variance=4.0) for places in TABLES]
    model = fit(junction_tree(SIZES, TABLES), targets, 1000.0).model
    for places in TABLES:
        np.testing.assert_allclose(model.marginal(places), summed(truth, places), atol=2e-3)


@pytest.mark.parametrize("deviation", [3.0, 40.0, 400.0])
def test_noisy_tables_are_fitted_as_well_as_by_the_full_joint(deviation: float) -> None:
    draw = simulation(int(deviation))
    truth = full_joint(random_model(TABLES, seed=5))
    targets = []
    for number, places in enumerate(TABLES):
        exact = 1000 * summed(truth, places)
        variance = (deviation * (1 + number)) ** 2
        targets.append(
            FittedTable(places=places, counts=exact + draw.normal(0, variance**0.5, exact.shape), variance=variance)
        )
    found = full_joint(fit(junction_tree(SIZES, TABLES), targets, 1000.0).model)
    best = loss(fit_of_the_full_joint(targets, 1000.0), targets, 1000.0)
    assert loss(found, targets, 1000.0) <= best * 1.01 + 0.01


def test_a_precise_table_counts_more() -> None:
    rough = FittedTable(places=(0, 1), counts=np.array([[450.0, 450.0], [50.0, 50.0]]), variance=10_000.0)
    precise = FittedTable(places=(0,), counts=np.array([500.0, 500.0]), variance=1.0)
    model = fit(junction_tree((2, 2), [(0, 1)]), [rough, precise], 1000.0).model
    np.testing.assert_allclose(model.marginal((0,)), [0.5, 0.5], atol=1e-3)


def test_a_later_fit_starts_where_the_last_one_ended() -> None:
    truth = full_joint(random_model(TABLES, seed=3))
    tables = [FittedTable(places=places, counts=1000 * summed(truth, places), variance=4.0) for places in TABLES]
    first = fit(junction_tree(SIZES, TABLES), tables, 1000.0)
    more = [*TABLES, (3, 4)]
    tables.append(FittedTable(places=(3, 4), counts=1000 * summed(truth, (3, 4)), variance=4.0))
    again = fit(junction_tree(SIZES, more), tables, 1000.0, first.parameters).model
    for places in more:
        np.testing.assert_allclose(again.marginal(places), summed(truth, places), atol=2e-3)
    with pytest.raises(ValueError, match="junction tree"):
        fit(junction_tree(SIZES, TABLES), tables, 1000.0)
