"""How parties connect: mutual TLS, pinned certificates, and the comparison of agreements before anything is shared.

Every party connects to all parties with lower numbers, and retries until they answer or the deadline `start` of the
agreement has passed. The certificate on the other side must be, byte for byte, the one that the agreement lists for
that party. Unknown callers are rejected and do not affect the run.
"""

import asyncio
import ssl
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from scumble.errors import InputError, ScumbleError
from scumble.joint.network.certificates import certificate_bytes, check_key
from scumble.joint.network.connection import Disagreement, Link, MessageObserver, PartyLost
from scumble.joint.network.doorkeeper import Doorkeeper
from scumble.joint.network.wire import Ending, FrameError, Kind, pack_greeting, unpack_greeting
from scumble.joint.session.agreement import Address, Agreement, differing_fields

RETRY_SECONDS = 0.2
FIRST_REPORT_SECONDS, NEXT_REPORT_SECONDS = 5.0, 30.0
"""When a party that waits for others says for whom, and how often."""
MOST_CLOSED_CONNECTIONS = 5
"""After this many closed connections, a party with the right certificate is taken to reject ours."""
LINGER_SECONDS = 1.5
"""A party that found a difference between agreements waits this long, so that late parties learn of it too."""
GREETING_SECONDS = 10.0
"""How long a caller may take to send its greeting."""


class Absent(PartyLost):
    """A party did not connect before the deadline."""


class Connector:
    """Connects one party to all others. Used in the event loop's thread only.

    `links` maps the number of every connected party to its connection.
    """

    def __init__(
        self,
        agreement: Agreement,
        party: str,
        *,
        key: Path,
        listen: Address | None,
        fields: Mapping[str, str],
        observer: MessageObserver | None,
        notify: Callable[[str], None],
        when_lost: Callable[[PartyLost], None],
    ) -> None:
        self._agreement = agreement
        self._names = agreement.names
        self._party = agreement.party_number(party)
        self._listen = listen or Address.parse(agreement.parties[party].address)
        self._fields = {**agreement.fields(), **fields}
        self._observer = observer
        self._notify = notify
        self._when_lost = when_lost
        self._pinned = [certificate_bytes(each.certificate) for each in agreement.parties.values()]
        check_key(key, agreement.parties[party].certificate)
        self._contexts = {server: self._context(server, party, key) for server in (True, False)}
        self._failure: ScumbleError | None = None
        self._problems: dict[int, str] = {}
        self.links: dict[int, Link] = {}

    def _context(self, server: bool, party: str, key: Path) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False  # the certificate is pinned, so the host name does not matter
        context.verify_mode = ssl.CERT_REQUIRED
        if server:
            context.num_tickets = 0  # no session resumption: every connection presents its certificate
        others = [each.certificate for name, each in self._agreement.parties.items() if name != party]
        context.load_verify_locations(cadata="".join(others))
        certificate = self._agreement.parties[party].certificate
        # Present the certificate of the agreement, not one from a file: it is the one that the others pinned.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(certificate)
            file.flush()
            context.load_cert_chain(file.name, key)
        return context

    async def connect(self) -> None:
        """Wait until all parties are connected and have the same agreement."""
        deadline = time.monotonic() + self._agreement.deadlines.start
        lower, higher = range(self._party), range(self._party + 1, len(self._names))
        door = Doorkeeper(self._listen, self._contexts[True], self._accept)
        try:
            if higher:
                await door.listen()
            await self._connect_all([*(self._call(peer, deadline) for peer in lower), self._wait_for_links(deadline)])
        finally:
            door.close()

    async def _connect_all(self, work: list[Coroutine[Any, Any, None]]) -> None:
        """Wait for all connections. If agreements differ, linger briefly so that every party learns of it."""
        tasks = [asyncio.ensure_future(each) for each in work]
        try:
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            if pending and any(isinstance(task.exception(), Disagreement) for task in done):
                await asyncio.wait(pending, timeout=LINGER_SECONDS)
            for task in done:
                task.result()
        finally:
            await cancel(tasks)

    async def _wait_for_links(self, deadline: float) -> None:
        report = time.monotonic() + FIRST_REPORT_SECONDS
        while len(self.links) < len(self._names) - 1:
            if self._failure is not None:
                raise self._failure
            missing = [party for party in range(len(self._names)) if party not in {*self.links, self._party}]
            if time.monotonic() > report:
                self._notify(f"Waiting for {', '.join(map(self._absence, missing))}.")
                report = time.monotonic() + NEXT_REPORT_SECONDS
            if time.monotonic() > deadline:
                raise Absent(
                    f"{' and '.join(self._names[party] for party in missing)} did not connect within "
                    f"{self._agreement.deadlines.start} seconds. Start all parties at about the same time, and check "
                    "that their addresses in the agreement can be reached.",
                    party=missing[0],
                    ending=Ending.ABSENT,
                )
            for link in self.links.values():
                if link.loss is not None:
                    raise link.loss
            await asyncio.sleep(0.02)

    def _absence(self, party: int) -> str:
        """A party that is not connected, and what is known about the reason."""
        name = self._names[party]
        if party > self._party:
            return f"{name}, which has not called {self._listen} yet"
        return f"{name} at {self._agreement.parties[name].address} ({self._problems.get(party, 'no answer yet')})"

    async def _call(self, peer: int, deadline: float) -> None:
        """Connect to a party with a lower number; retry until it answers."""
        address = Address.parse(self._agreement.parties[self._names[peer]].address)
        closed = 0
        while time.monotonic() < deadline:
            try:
                reader, writer = await asyncio.open_connection(
                    address.host, address.port, ssl=self._contexts[False], server_hostname="", ssl_handshake_timeout=10
                )
            except ssl.SSLCertVerificationError as error:
                raise self._wrong_certificate(peer) from error
            except (OSError, TimeoutError) as error:
                self._problems[peer] = getattr(error, "strerror", None) or str(error) or "no answer"
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if _certificate(writer) != self._pinned[peer]:
                writer.transport.abort()
                raise self._wrong_certificate(peer)
            link = self._link(peer, reader, writer)
            try:
                await link.send(pack_greeting(peer, link.salt, self._fields), GREETING_SECONDS, Kind.GREETING)
                await self._compare(link, peer, min(deadline - time.monotonic(), 60))
            except PartyLost as loss:
                link.abort()
                if loss.ending is not Ending.LOST:
                    raise
                closed += 1
                if closed == MOST_CLOSED_CONNECTIONS:
                    raise InputError(
                        f"{self._names[peer]} presents its certificate and then rejects ours. Nothing was shared. Give "
                        "all parties the same agreement, with this party's certificate in it."
                    ) from loss
                await asyncio.sleep(RETRY_SECONDS)
                continue
            except BaseException:
                link.abort()
                raise
            self._add(peer, link)
            return

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Accept a connection from a party with a higher number; reject every other caller."""
        shown = _certificate(writer)
        peer = self._pinned.index(shown) if shown in self._pinned else None
        if peer is None or peer <= self._party or peer in self.links:
            self._notify("Rejected a connection: its certificate is not that of a party still expected here.")
            writer.transport.abort()
            return
        link = self._link(peer, reader, writer)
        try:
            await self._compare(link, peer, GREETING_SECONDS, answer=True)
        except Disagreement as error:
            self._failure = self._failure or error
            await link.close(Ending.DIFFERS, peer)
        except PartyLost as loss:
            self._notify(f"Rejected a connection: {loss}")
        else:
            self._add(peer, link)
        finally:
            if self.links.get(peer) is not link:
                link.abort()

    async def _compare(self, link: Link, peer: int, seconds: float, *, answer: bool = False) -> None:
        """Receive a party's greeting, answer it if the party called, and compare its agreement with ours."""
        receiver, link.peer_salt, theirs = _unpack_greeting(link, await link.greeting(max(1.0, seconds)))
        if receiver != self._party:
            raise link.refuse(f"addressed party {receiver}, but this is party {self._party}")
        if answer:
            await link.send(pack_greeting(peer, link.salt, self._fields), GREETING_SECONDS, Kind.GREETING)
        differing = differing_fields(self._fields, theirs)
        if differing:
            raise Disagreement(
                f"The agreement of {self._names[peer]} differs from ours in `{'`, `'.join(differing[:5])}`. Nothing "
                "was shared. Give all parties the same agreement file.",
                party=peer,
            )

    def _link(self, peer: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Link:
        return Link(
            reader,
            writer,
            names=self._names,
            party=self._party,
            peer=peer,
            session=bytes.fromhex(self._agreement.session),
            silence=self._agreement.deadlines.silence,
            observer=self._observer,
        )

    def _add(self, peer: int, link: Link) -> None:
        self.links[peer] = link
        link.start(self._when_lost)
        self._notify(f"{self._names[peer]} is connected.")

    def _wrong_certificate(self, peer: int) -> Disagreement:
        name = self._names[peer]
        return Disagreement(
            f"The program at {self._agreement.parties[name].address} does not present the certificate that the "
            f"agreement lists for {name}. Nothing was shared. Check the addresses, and that all parties have the "
            "same agreement.",
            party=peer,
        )


async def cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _unpack_greeting(link: Link, payload: bytes) -> tuple[int, bytes, dict[str, str]]:
    try:
        return unpack_greeting(payload)
    except FrameError as error:
        raise link.refuse(error.deed) from error


def _certificate(writer: asyncio.StreamWriter) -> bytes | None:
    connection = writer.get_extra_info("ssl_object")
    return connection.getpeercert(binary_form=True) if connection is not None else None
