"""The default selection mode: each round selects a value and its split in one private selection."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log

from scumble.methods.diffgen.cell_bounds import descend
from scumble.methods.diffgen.scores import Candidate, PartitionScores, Score, ValueScores
from scumble.methods.diffgen.settings import Settings
from scumble.model.cut import Cut, Specialization
from scumble.model.plan import Spend
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder

CHOOSE = "choose a split"


def together_spends(schema: Schema, epsilon: Fraction, settings: Settings) -> tuple[Spend, ...]:
    """The selections' share of the cells' epsilon, divided equally among the rounds."""
    del schema
    if not settings.rounds:
        return ()
    purpose = f"one private selection a round by the score `{settings.score}`"
    price = epsilon * settings.cell_share * settings.selection_share / settings.rounds
    return (Spend(label=CHOOSE, epsilon=price, times=settings.rounds, purpose=purpose),)


def choose_together(
    schema: Schema, settings: Settings, holder: Holder, record: Callable[[Specialization], None]
) -> Cut:
    """Each round privately selects one specialization among all specializations of all values of the cut.

    An interval with m possible splits has m candidates. Their public log-weight -ln m keeps long grids from winning
    merely by their number of candidates. A value with a single child is replaced by it at no cost, which reads no data.
    """
    cut = descend(Cut.top(schema))
    for _ in range(settings.rounds):
        candidates, log_weights = _candidates(cut, settings.max_cells, settings.positions)
        if not candidates:
            break
        if settings.score is Score.MAX:
            query: PartitionScores | ValueScores = ValueScores(
                schema=schema, candidates=candidates, score=settings.score
            )
        else:
            query = PartitionScores(cut=cut, candidates=candidates, score=settings.score)
        chosen = holder.choose(query, spend=CHOOSE, log_weights=log_weights)
        step = candidates[chosen].step(schema)
        record(step)
        cut = descend(cut.specialize(step))
    return cut


def _candidates(
    cut: Cut, max_cells: int, most_positions: int | None = None
) -> tuple[tuple[Candidate, ...], list[float]]:
    """Every specialization of the cut within `max_cells`, with its public log-weight."""
    candidates: list[Candidate] = []
    log_weights: list[float] = []
    for name, nodes in cut.nodes.items():
        domain = cut.schema[name].domain
        for node in nodes:
            positions = _spaced(domain.positions(node), most_positions)
            if not positions:
                continue
            first = Candidate(attribute=name, node=node, position=positions[0])
            if cut.cells_after(first.step(cut.schema)) <= max_cells:
                candidates += [Candidate(attribute=name, node=node, position=position) for position in positions]
                log_weights += [-log(len(positions))] * len(positions)
    return tuple(candidates), log_weights


def _spaced(positions: Sequence[int], most: int | None) -> Sequence[int]:
    """At most `most` positions, evenly spaced between the ends of the interval.

    >>> _spaced(range(1, 100), 3)
    [25, 50, 75]
    """
    if most is None or len(positions) <= most:
        return positions
    return [positions[(len(positions) + 1) * number // (most + 1) - 1] for number in range(1, most + 1)]
