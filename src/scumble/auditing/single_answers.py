"""Single answers as subjects of an audit: one noisy count, pure or approximate, and one private selection."""

from collections.abc import Callable
from fractions import Fraction

from scumble.auditing.audit import Subject
from scumble.auditing.mechanisms import SingleAnswer
from scumble.auditing.neighbours import Pair
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.scores import Candidate, PartitionScores, Score
from scumble.model.budget import delta_text
from scumble.model.cut import Cut
from scumble.privacy.noise import Noise, PaidNoise
from scumble.privacy.query import CellCounts

SINGLE_ANSWERS = ("one count", "one permute-and-flip selection")
TWO_SPLITS = """\
scumble: schema/1
target: class
attributes:
  first: {taxonomy: {Any: {a: , b: }}}
  second: {taxonomy: {Any: {c: , d: }}}
  class: {classes: [x, y]}
"""


def one_count(epsilon: Fraction, *, delta: Fraction | None = None, noise: Callable[[], Noise] = PaidNoise) -> Subject:
    """One noisy count, of an empty table and of a table with one record. With a delta the noise is Gaussian."""
    schema = parse_schema("scumble: schema/1\nattributes:\n  any: {taxonomy: {Any: {a: }}}\n")
    query = CellCounts(cut=Cut.top(schema))
    return Subject(
        name=SINGLE_ANSWERS[0],
        parameters={} if delta is None else {"delta": delta_text(delta)},
        mechanism=SingleAnswer(schema=schema, query=query, epsilon=epsilon, delta=delta, noise=noise),
        pairs=[Pair(first=(), second=((0,),), why="An empty table and one record")],
        declared=epsilon,
        delta=delta or Fraction(0),
    )


def one_selection(epsilon: Fraction) -> Subject:
    """One selection between two splits, which score equally on the first table and differently on the second."""
    schema = parse_schema(TWO_SPLITS)
    cut = Cut.top(schema)
    candidates = tuple(Candidate(attribute=a.name, node=a.domain.root) for a in schema.predictors)
    query = PartitionScores(cut=cut, candidates=candidates, score=Score.ACCURACY)
    mechanism = SingleAnswer(schema=schema, query=query, epsilon=epsilon)
    usual, lone = (0, 0, 0), (0, 1, 1)
    pair = Pair(first=(usual,), second=(usual, lone), why="A lone record that the second split separates")
    return Subject(name=SINGLE_ANSWERS[1], parameters={}, mechanism=mechanism, pairs=[pair], declared=epsilon)
