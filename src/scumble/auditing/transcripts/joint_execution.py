"""Joint releases under the transcript check: the joint holder on plain numbers, with the ideal noise distributions.

The holder of `scumble.joint` computes scores, noise rates and answers as in a joint release. Only the arithmetic on
secret shares is replaced by plain numbers, and the noise by its ideal distribution: two-sided geometric noise is
discrete Laplace noise; the largest score with geometric noise and random ties is permute-and-flip (an exponential
variable is a geometric one plus an independent fraction, which breaks ties). The delta of a joint guarantee covers what
the protocol's finite noise differs from this; the check does not.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property

from scumble.auditing.transcripts.noise_laws import NoiseLaw, NoiseMechanism
from scumble.auditing.transcripts.observed_draws import DrawTap
from scumble.auditing.transcripts.transcript import Transcribing
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import SecretHolder
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.geometric_noise import GeometricLaw
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.sharing import Shares
from scumble.joint.simulated import PlainArithmetic
from scumble.methods.method import Method, Params
from scumble.methods.persons import plan_release, run_release
from scumble.model.counts import Integers
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder, Tabulates
from scumble.privacy.noise import Simulation, simulation

ROLES = Roles(parties=3, compute=(0, 1, 2), owners=(0, 1, 2), threshold=1)
ROWS_AT_MOST = 1000


class ObservedArithmetic(PlainArithmetic):
    """The operations of a joint release on plain numbers, which report their draws to a tap."""

    def __init__(self, draw: Simulation, tap: DrawTap) -> None:
        super().__init__(draw)
        self._tap = tap

    def noisy_argmax(self, scores: Shares, *, law: GeometricLaw, bits: int) -> int:
        noise = NoiseLaw(mechanism=NoiseMechanism.PERMUTE_AND_FLIP, scale=1 / law.rate)
        noisy_argmax = super().noisy_argmax
        return int(self._tap.draw(noise, scores[0], lambda: noisy_argmax(scores, law=law, bits=bits)))

    def noisy_open(self, values: Shares, *, law: GeometricLaw, bits: int) -> Integers:
        noise = NoiseLaw(mechanism=NoiseMechanism.LAPLACE, scale=1 / law.rate)
        noisy_open = super().noisy_open
        drawn = self._tap.draw(noise, values[0], lambda: noisy_open(values, law=law, bits=bits))
        assert not isinstance(drawn, int)
        return drawn


class JointTranscriptHolder(Transcribing, SecretHolder):
    """The joint holder, which reports every answer."""


@dataclass(frozen=True, kw_only=True)
class JointExecution:
    """A joint release of three owners, whose rows together are one table; all rows of a person are at one owner."""

    method: Method
    schema: Schema
    parameters: Params
    _tap: DrawTap = field(default_factory=DrawTap)

    @property
    def name(self) -> str:
        return f"{self.method.name}, joint"

    @cached_property
    def plan(self) -> Plan:
        return joint_plan(plan_release(self.method, self.schema, self.parameters), ROLES, self.schema)

    def observed(self) -> AbstractContextManager[DrawTap]:
        return nullcontext(self._tap)

    def holder(self, engine: Tabulates) -> Transcribing:
        return JointTranscriptHolder(
            arithmetic=ObservedArithmetic(simulation(), self._tap),
            engine=engine,
            plan=self.plan,
            rows_at_most={0: ROWS_AT_MOST},
            owner=0,
            log=MemoryAnswerLog(),
        )

    def run(self, holder: Holder) -> object:
        return run_release(self.method, self.schema, self.parameters, holder)
