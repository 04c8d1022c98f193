"""The distinguisher finds the difference between two sets of runs, and its events survive a round trip through JSON."""

import json

import numpy as np
import pytest

from scumble.auditing.distinguisher import ANY_PATH, Event, Part, choose, learn
from scumble.auditing.outcomes import Draws, Outcome, gather

RUNS = 4000
PATHS = ("left", "right")


def draws(seed: int, *, left: float, shift: float) -> Draws:
    """Runs that choose `left` with some probability, then publish a normal number with mean `shift` and a constant."""
    generator = np.random.default_rng(seed)
    chosen = generator.random(RUNS) < left
    numbers = generator.normal(shift, 1.0, RUNS)
    outcomes = (
        Outcome((PATHS[0 if first else 1],), np.array([number, 7.0]), np.array([number]), 0.0)
        for first, number in zip(chosen, numbers, strict=True)
    )
    return gather(outcomes, {(path,): ("the number", "the constant") for path in PATHS})


def share(event: Event, found: Draws) -> float:
    return event.hits(found) / found.runs


def test_a_difference_in_choices_is_found() -> None:
    first, second = draws(1, left=0.8, shift=0.0), draws(2, left=0.2, shift=0.0)
    bound, event = choose(learn(first, second), first, second)
    assert 1.1 < bound < np.log(4)
    likely, unlikely = (first, second) if event.likelier_on_first else (second, first)
    assert share(event, likely) > 3 * share(event, unlikely)
    fresh = draws(3, left=0.8, shift=0.0), draws(4, left=0.2, shift=0.0)
    likely, unlikely = fresh if event.likelier_on_first else fresh[::-1]
    assert share(event, likely) > 3 * share(event, unlikely)
    assert "'left'" in event.words or "'right'" in event.words


def test_a_difference_in_numbers_is_found_and_the_constant_is_left_out() -> None:
    first, second = draws(1, left=0.5, shift=2.0), draws(2, left=0.5, shift=0.0)
    events = learn(first, second)
    assert {part.place for event in events for part in event.parts.get(("left",), ()) if any(part.values)} >= {0}
    together = events[0]
    assert all(part.place == 0 for parts in together.parts.values() for part in parts)
    bound, event = choose(events, first, second)
    assert bound > 2
    likely, unlikely = (first, second) if event.likelier_on_first else (second, first)
    assert share(event, likely) > 8 * share(event, unlikely)


def test_equal_draws_give_no_bound() -> None:
    first, second = draws(1, left=0.5, shift=0.0), draws(2, left=0.5, shift=0.0)
    bound, event = choose(learn(first, second), first, second)
    assert bound == 0
    assert abs(share(event, first) - share(event, second)) < 0.1


def test_an_event_survives_json_and_its_negation_ranks_the_other_way() -> None:
    first, second = draws(1, left=0.8, shift=1.0), draws(2, left=0.3, shift=0.0)
    _, event = choose(learn(first, second), first, second)
    read = Event.from_json(json.loads(json.dumps(event.to_json())))
    assert read == event
    assert read.hits(first) == event.hits(first)
    for path, scores in event.negated().scores(first).items():
        assert scores == pytest.approx(-event.scores(first)[path])


def test_an_unknown_path_is_scored_by_the_numbers_about_the_differing_record() -> None:
    part = Part(place=0, edges=(1.0,), values=(-1.0, 1.0))
    event = Event(words="x", threshold=0.5, steps={}, parts={ANY_PATH: (part,)})
    outcomes = [Outcome(("new",), np.zeros(3), np.array([observed]), 0.0) for observed in (0.0, 0.9, 1.0, 5.0)]
    assert event.scores(gather(outcomes, {}))[("new",)].tolist() == [-1, -1, 1, 1]
    assert event.hits(gather(outcomes, {})) == 2
