"""The parties confirm that they received what was sent, and that they agree on public values.

TLS protects messages on the network. A fault of a machine, its memory or its arithmetic can still make one party
compute with other numbers than the rest. So at fixed points of every step, all parties broadcast a digest of their
public values and, for each connection, digests of what they sent and received in this step. All parties receive the
same digests, so all come to the same verdict: the run ends everywhere, before an answer is used.

The digest of a connection is keyed with a secret of its two parties. To the others it is a uniform word.
"""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import permutations

from scumble.errors import Abort, ScumbleError
from scumble.joint.network.mesh import Mesh

FACT_BYTES = 32
TAG_BYTES = 16


class PartiesDiffer(ScumbleError):
    """Parties computed, sent or received different values. `parties` are their numbers."""

    def __init__(self, message: str, *, parties: Sequence[int]) -> None:
        super().__init__(
            f"{message} Check the machines of these parties, and that all parties run the same unmodified scumble. "
            "Every party can then continue with --resume.",
            abort=Abort.PARTY,
        )
        self.parties = tuple(parties)


class Consistency:
    """One party's digests of the current step."""

    def __init__(self, mesh: Mesh, link_keys: Mapping[int, bytes], context: bytes = b"") -> None:
        """`link_keys` maps every other party to the secret that this party shares with it alone. `context` is public
        and must be the same for all parties."""
        self._mesh = mesh
        self._keys = link_keys
        self._context = context
        self._others = [party for party in range(mesh.parties) if party != mesh.party]
        self.begin(0)

    def begin(self, step: int) -> None:
        """Start a step: its digests cover the messages from here on."""
        self._step = step
        self._fault = b""
        self._sent = {party: hashlib.blake2b() for party in self._others}
        self._received = {party: hashlib.blake2b() for party in self._others}

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        """A round of messages that the next `agree` confirms."""
        for party, message in outgoing.items():
            _add(self._sent[party], message)
        received = self._mesh.exchange(outgoing, expected)
        for party, message in received.items():
            _add(self._received[party], message)
        return received

    def note_fault(self, what: str) -> None:
        """Remember a contradiction that this party alone can see. The next `agree` fails at all parties."""
        self._fault = self._fault or what.encode()

    def agree(self, what: str, fact: bytes) -> None:
        """Confirm, in one round, that all parties have the same `fact` and received what was sent in this step."""
        me, others = self._mesh.party, self._others
        digest = hashlib.blake2b(fact, digest_size=FACT_BYTES)
        for part in (self._context, what.encode(), self._step.to_bytes(8, "big"), self._fault):
            _add(digest, part)
        tags = {p: self._tag(me, p, self._sent[p]) + self._tag(p, me, self._received[p]) for p in others}
        own = digest.digest() + b"".join(tags.values())
        broadcast = self._mesh.exchange(dict.fromkeys(others, own), dict.fromkeys(others, len(own)))
        stated = {me: own, **broadcast}
        self._check_links(what, stated)
        self._check_facts(what, {party: message[:FACT_BYTES] for party, message in stated.items()})

    def _check_links(self, what: str, stated: Mapping[int, bytes]) -> None:
        for sender, receiver in permutations(sorted(stated), 2):
            if _sent_tag(stated, sender, receiver) != _received_tag(stated, sender, receiver):
                names = self._mesh.names
                raise PartiesDiffer(
                    f"Step {self._step}, {what}: {names[receiver]} did not receive what {names[sender]} sent. No "
                    "answer of this step was used.",
                    parties=(sender, receiver),
                )

    def _check_facts(self, what: str, facts: Mapping[int, bytes]) -> None:
        different = parties_that_differ(facts, self._mesh.names)
        if different is not None:
            parties, words = different
            raise PartiesDiffer(
                f"Step {self._step}, {what}: {words}. No answer of this step was used.", parties=parties
            )

    def _tag(self, sender: int, receiver: int, messages: "hashlib.blake2b") -> bytes:
        peer = receiver if sender == self._mesh.party else sender
        tag = hashlib.blake2b(key=self._keys[peer], digest_size=TAG_BYTES)
        for part in (sender.to_bytes(2, "big"), receiver.to_bytes(2, "big"), messages.digest()):
            tag.update(part)
        return tag.digest()


def parties_that_differ(facts: Mapping[int, bytes], names: Sequence[str]) -> tuple[tuple[int, ...], str] | None:
    """The parties whose fact is not that of most parties, and a clause that says so; None if all are equal."""
    groups: dict[bytes, list[int]] = {}
    for party in sorted(facts):
        groups.setdefault(facts[party], []).append(party)
    if len(groups) == 1:
        return None
    most, *rest = sorted(groups.values(), key=len, reverse=True)
    if len(most) == 1:
        everyone = sorted(facts)
        return tuple(everyone), f"{' and '.join(names[party] for party in everyone)} all have different values"
    parties = sorted(party for group in rest for party in group)
    different, same = (" and ".join(names[party] for party in group) for group in (parties, most))
    return tuple(parties), f"{different} differ{'s' if len(parties) == 1 else ''} from {same}"


def _add(digest: "hashlib.blake2b", part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "big"))
    digest.update(part)


def _place(party: int, other: int) -> int:
    """Where a party's broadcast has the tags of its connection to another: after the fact, in the order of parties."""
    return FACT_BYTES + 2 * TAG_BYTES * (other - (other > party))


def _sent_tag(stated: Mapping[int, bytes], sender: int, receiver: int) -> bytes:
    start = _place(sender, receiver)
    return stated[sender][start : start + TAG_BYTES]


def _received_tag(stated: Mapping[int, bytes], sender: int, receiver: int) -> bytes:
    start = _place(receiver, sender) + TAG_BYTES
    return stated[receiver][start : start + TAG_BYTES]
