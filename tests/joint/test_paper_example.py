"""The worked example of Mohammed and He: the eleven patients of Table I at three hospitals, the taxonomies of Figure 1,
and Examples 1 and 2. Shares, scores and selections are those of the protocol; only the noise is switched off, which is
possible in tests only.
"""

import pyarrow as pa
from joint_threads import THREE, Noiseless, keys_from, run_parties, same_bound

from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import SecretHolder
from scumble.joint.network.mesh import Mesh
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.release import CellRelease
from scumble.sources import open_source

SCHEMA = parse_schema(
    """
scumble: schema/1
target: Class
attributes:
  Job: {taxonomy: {Any_Job: {White-collar: {Doctor: , Lawyer: }, Blue-collar: {Janitor: , Mover: }}}}
  Sex: {taxonomy: {Any_Sex: {Male: , Female: }}}
  Age: {numeric: {edges: [1, 60, 99]}}
  Surgery: {identifier: true}
  Class: {classes: [Y, N]}
"""
)
TABLE_1 = {
    "A": [("Janitor", "Male", 34, "Y"), ("Lawyer", "Female", 58, "N"), ("Mover", "Male", 58, "N")],
    "B": [
        ("Lawyer", "Male", 24, "N"),
        ("Mover", "Male", 34, "Y"),
        ("Janitor", "Male", 44, "Y"),
        ("Doctor", "Female", 44, "N"),
    ],
    "C": [
        ("Doctor", "Male", 58, "N"),
        ("Doctor", "Male", 24, "N"),
        ("Janitor", "Female", 63, "Y"),
        ("Mover", "Female", 63, "Y"),
    ],
}
PARAMETERS = DiffGen(epsilon="1", score="max", rounds=2)


class OpenedScores(Noiseless):
    """Also opens the scores, for comparison with the paper."""

    def __init__(self, sharing: Sharing) -> None:
        super().__init__(sharing)
        self.scores: list[list[int]] = []
        self.open = sharing.open

    def noisy_argmax(self, scores: Shares, **law: object) -> int:
        self.scores.append(self.open(scores).tolist())
        return super().noisy_argmax(scores, **law)  # type: ignore[arg-type]


def hospital(party: str) -> MemoryEngine:
    jobs, sexes, ages, classes = zip(*TABLE_1[party], strict=True)
    table = pa.table({"Job": jobs, "Sex": sexes, "Age": ages, "Class": classes, "Surgery": ["Plastic"] * len(jobs)})
    return MemoryEngine.open(open_source(table).batches(SCHEMA.columns), SCHEMA)


def test_examples_1_and_2() -> None:
    plan = joint_plan(DiffGenMethod().plan(SCHEMA, PARAMETERS), THREE, SCHEMA)
    keys = keys_from("paper", THREE)
    tables = [hospital(party) for party in TABLE_1]

    def act(mesh: Mesh) -> tuple[CellRelease, list[list[int]]]:
        sharing = Sharing(roles=THREE, mesh=mesh, keys=keys[mesh.party], nonce=b"paper")
        arithmetic = OpenedScores(sharing)
        holder = SecretHolder(
            arithmetic=arithmetic,
            engine=tables[mesh.party],
            plan=plan,
            rows_at_most=same_bound(THREE, 20),
            owner=mesh.party,
            log=MemoryAnswerLog(),
        )
        return DiffGenMethod().run(SCHEMA, PARAMETERS, holder), arithmetic.scores

    for release, scores in run_parties(3, act)[0]:
        # Example 1: the candidates are Any_Job, Any_Sex and [1,99). By hand, Max of Any_Job is 5 N among the
        # white-collar workers and 5 Y among the others; of Any_Sex 4 N of the men and 2 of the women; of [1,99) 6 N
        # below 60 and 2 Y above.
        assert scores[0] == [10, 6, 8]
        # Example 2: Any_Job wins. Then White-collar, Blue-collar, Any_Sex and [1,99): 3 + 2, 3 + 2, and as before.
        assert scores[1] == [5, 5, 6, 8]
        assert release.story == (
            "Job: Any_Job -> White-collar | Blue-collar",
            "Age: [1,99) -> [1,60) | [60,99)",
        )
        # The leaves of Figure 2 with their classes (Y, N): nobody but the five doctors and lawyers is white-collar.
        assert release.measured.tolist() == [[0, 5], [0, 0], [3, 1], [2, 0]]
        assert [a.domain.labels for a in release.schema.predictors] == [
            ("White-collar", "Blue-collar"),
            ("Any_Sex",),
            ("[1,60)", "[60,99)"),
        ]
