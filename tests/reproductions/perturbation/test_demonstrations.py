"""Figures beyond the paper's: filtering, local differential privacy, and the limits of association by ranks."""

from pathlib import Path

import numpy as np
import pytest
from command_line import scumble

from scumble.model.local.noise_model import for_privacy
from scumble.privacy.noise import simulation
from scumble.reproductions.figure import Request
from scumble.reproductions.perturbation import charts, figures, filtering, limits, local_privacy
from scumble.reproductions.perturbation.filtering import filtered, noise_variance, widths
from scumble.reproductions.perturbation.limits import TRUE_DISTRIBUTIONS


def test_the_filter_is_the_best_linear_guess() -> None:
    """Compared with a regression of the true values on the published ones, which an adversary cannot compute."""
    draw = simulation(1)
    true = filtering.correlated(4, 0.8, 40_000, draw)
    noise = draw.normal(0, 20, true.shape)
    published = true + noise
    guess = filtered(published, np.full(4, 400.0))
    best = (
        published.mean(axis=0)
        + (published - published.mean(axis=0))
        @ np.linalg.lstsq(published - published.mean(axis=0), true - true.mean(axis=0), rcond=None)[0]
    )
    assert np.abs(guess - true).mean() < 1.02 * np.abs(best - true).mean()
    assert np.abs(guess - true).mean() < 0.6 * np.abs(noise).mean()


def test_the_noise_is_as_wide_as_the_model_says() -> None:
    for noise, factor in (("uniform", 1 / 12 / 0.95**2), ("gaussian", 1 / 3.919928**2)):
        model = for_privacy(filtering.schema(1), privacy="100%", noise=noise)
        assert noise_variance(model["measure 1"]) == pytest.approx(100**2 * factor, rel=1e-2)


def test_what_goes_together_can_be_filtered_and_what_does_not_cannot() -> None:
    loose = widths("gaussian", 10, 0.0, people=5_000)
    tight = widths("gaussian", 10, 0.95, people=5_000)
    assert loose["the published value"] == pytest.approx(1.0, abs=0.05), "the nominal privacy of a single value"
    assert loose["filtered together"] == pytest.approx(loose["filtered alone"], rel=0.05)
    assert tight["filtered together"] < 0.7 * tight["filtered alone"] < 0.5


def test_true_distributions_bound_what_ranks_can_do() -> None:
    rows = limits.limits(1, 0, training=6_000, testing=1_000)
    assert {row["algorithm"] for row in rows} == {*figures.AS_PRINTED, TRUE_DISTRIBUTIONS}
    accuracies = [row["accuracy"] for row in rows if row["algorithm"] == TRUE_DISTRIBUTIONS]
    assert min(accuracies) > 0.97, "a function of one attribute loses almost nothing by association"


def test_the_same_task_under_epsilon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_privacy, "NEEDED", {1: ("age",)})
    monkeypatch.setattr(local_privacy, "EPSILONS", (4, 16))
    monkeypatch.setattr(local_privacy, "TRAINING", 20_000)
    figure = local_privacy.local_privacy_figure(Request(cache=tmp_path, runs=1))
    found = {(row["told"], row["promise"]): row["accuracy"] for row in figure.rows}
    assert found[local_privacy.ENOUGH, "16"] > 0.85 > 0.8 > found[local_privacy.EVERYTHING, "4"]
    assert found[local_privacy.EVERYTHING, local_privacy.INTERVAL] > 0.9
    assert len(figure.claims) == 6


def test_the_demonstrations_are_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(filtering, "PEOPLE", 1_000)
    monkeypatch.setattr(filtering, "NUMBERS", (1, 10))
    for module in (figures, charts, limits):
        monkeypatch.setattr(module, "TRAINING", 1_000)
        monkeypatch.setattr(module, "TESTING", 100)
    assert limits.limits_figure(Request(cache=tmp_path, runs=1)).claims
    summary = scumble("reproduce", "as-filter", "--json").json
    assert any(claim["holds"] is False for claim in summary["claims"])
    assert "<svg" in Path("scumble-figures/as-filter.svg").read_text()
