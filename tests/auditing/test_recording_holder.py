"""The recording holder answers as the shipped one does and reports every query, with a way to repeat it."""

from decimal import Decimal
from fractions import Fraction

from scumble.auditing.laws.queries import engine_of
from scumble.auditing.recording_holder import RecordingHolder, Repeat
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.grid import Grid
from scumble.model.release import CellRelease
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import PaidNoise
from scumble.privacy.query import Query, RowQuery

GRID = Grid.regular(low=Decimal(0), high=Decimal(4), step=Decimal(1))
SCHEMA = Schema(
    target="class",
    attributes=(
        Attribute(name="age", domain=GRID, outside=Outside.CLAMP),
        Attribute(name="class", domain=Tree.flat(["no", "yes"]), outside=Outside.DROP),
    ),
)
PARAMETERS = DiffGen(epsilon=Fraction(1000), rounds=2, detail="no")
ROWS = [(0, 0), (1, 0), (2, 1), (3, 1)] * 5


class Kept(RecordingHolder):
    """Keeps what it reports."""

    queries: list[Query | RowQuery]
    repeats: list[Repeat]
    draws: int

    def record(self, query: Query | RowQuery, draws: int, repeat: Repeat) -> None:
        self.queries.append(query)
        self.repeats.append(repeat)
        self.draws += draws


def holder() -> Kept:
    plan = DiffGenMethod().plan(SCHEMA, PARAMETERS)
    made = Kept(engine=engine_of(SCHEMA, ROWS), noise=PaidNoise(), plan=plan)
    made.queries, made.repeats, made.draws = [], [], 0
    return made


def test_every_answer_is_reported_once_and_paid_once() -> None:
    kept = holder()
    release = DiffGenMethod().run(SCHEMA, PARAMETERS, kept)
    assert isinstance(release, CellRelease)
    planned = sum(spend.times for spend in release.plan.spends)
    assert len(kept.queries) == kept.draws == planned
    assert not any(kept.purse.left.values())


def test_a_query_can_be_repeated_by_another_holder_without_payment() -> None:
    kept, other = holder(), holder()
    release = DiffGenMethod().run(SCHEMA, PARAMETERS, kept)
    before = dict(other.purse.left)
    again = kept.repeats[-1](other)
    # Epsilon is so large that noise hardly ever moves a count by more than a few.
    assert abs(again.ravel() - release.measured.ravel()).max() < 5 * release.resolution
    assert other.purse.left == before
    assert other.queries == []
