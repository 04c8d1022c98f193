"""Published mode: Algorithm 1 of the paper with its division of epsilon, exponential mechanism and scores."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from scumble.errors import InputError
from scumble.methods.diffgen.scores import Candidate, ValueScores
from scumble.methods.diffgen.settings import Settings
from scumble.model.cut import Cut, Specialization
from scumble.model.guarantee import Unit
from scumble.model.plan import Spend
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node
from scumble.privacy.holder import Holder
from scumble.privacy.noise import Selection

FIRST_SPLITS = "split value of a numeric attribute"
CANDIDATE = "choose a candidate"
NEW_SPLITS = "split values of new intervals"


def published_spends(schema: Schema, epsilon: Fraction, settings: Settings) -> tuple[Spend, ...]:
    """Line 3: each use of the exponential mechanism costs eps' = eps / (2 (numeric attributes + 2 rounds)).

    Ordered categories are split like numbers and count as numeric attributes.
    """
    if schema.unit is not Unit.ADD_REMOVE:
        raise InputError(
            "Published mode divides its budget for `unit: add-remove`, the paper's definition. Change the unit or "
            "remove `--selection published`."
        )
    rounds, numeric = settings.rounds, sum(each.domain.splits_anywhere for each in schema.predictors)
    price = epsilon / (2 * (numeric + 2 * rounds))
    spends = [
        Spend(label=CANDIDATE, epsilon=price, times=rounds, purpose="line 7: exponential mechanism over the cut"),
        Spend(
            label=NEW_SPLITS,
            epsilon=price,
            times=rounds,
            shared=True,
            purpose="line 9: a split value for each half of a split interval, in parallel",
        ),
    ]
    if numeric:
        first = Spend(label=FIRST_SPLITS, epsilon=price, times=numeric, purpose="line 4: exponential mechanism")
        spends.insert(0, first)
    return tuple(spends)


def choose_as_published(
    schema: Schema, settings: Settings, holder: Holder, record: Callable[[Specialization], None]
) -> Cut:
    """Lines 1 to 11: select a split value of each numeric attribute, then one candidate a round."""
    cut = Cut.top(schema)
    positions: dict[tuple[str, Node], int] = {}
    for attribute in schema.predictors:
        if attribute.domain.splits_anywhere:
            _choose_splits(schema, settings, holder, attribute.name, [attribute.domain.root], FIRST_SPLITS, positions)
    for _ in range(settings.rounds):
        candidates = _candidates(cut, positions, settings.max_cells)
        if not candidates:
            break
        query = ValueScores(schema=schema, candidates=candidates, score=settings.score, as_published=True)
        chosen = candidates[holder.choose(query, spend=CANDIDATE, selection=Selection.EXPONENTIAL)]
        step = chosen.step(schema)
        record(step)
        cut = cut.specialize(step)
        if schema[step.attribute].domain.splits_anywhere:
            _choose_splits(schema, settings, holder, step.attribute, step.children, NEW_SPLITS, positions)
    return cut


def _candidates(cut: Cut, positions: dict[tuple[str, Node], int], max_cells: int) -> tuple[Candidate, ...]:
    """Every value of the cut that can be specialized within `max_cells`, intervals at their selected split value."""
    every = (
        Candidate(attribute=name, node=node, position=positions.get((name, node), 0))
        for name, nodes in cut.nodes.items()
        for node in nodes
        if cut.schema[name].domain.positions(node)
    )
    return tuple(candidate for candidate in every if cut.cells_after(candidate.step(cut.schema)) <= max_cells)


def _choose_splits(
    schema: Schema,
    settings: Settings,
    holder: Holder,
    attribute: str,
    nodes: Sequence[Node],
    spend: str,
    positions: dict[tuple[str, Node], int],
) -> None:
    """Lines 4 and 9: select a split value for each interval. All positions of the public grid have the same weight."""
    domain = schema[attribute].domain
    queries = [
        ValueScores(
            schema=schema,
            candidates=tuple(
                Candidate(attribute=attribute, node=node, position=position) for position in domain.positions(node)
            ),
            score=settings.score,
            within=(attribute, node),
            as_published=True,
        )
        for node in nodes
        if domain.positions(node)
    ]
    if not queries:
        return
    chosen = holder.choose_apart(queries, spend=spend, selection=Selection.EXPONENTIAL)
    for query, index in zip(queries, chosen, strict=True):
        candidate = query.candidates[index]
        positions[attribute, candidate.node] = candidate.position
