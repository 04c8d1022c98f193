"""How parties find one another: calls, certificates, and the comparison of agreements before anything else.

A party with a higher number calls those with lower ones, and calls again until they are there or the deadline for
starting has passed. The certificate that is shown must be, byte for byte, the one that the agreement has in that
party's place; an unknown caller is sent away and disturbs nobody.
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
from scumble.joint.network.connection import Disagreement, Link, PartyLost, Watch
from scumble.joint.network.wire import Ending, FrameError, Kind, pack_greeting, unpack_greeting
from scumble.joint.session.agreement import Address, Agreement, differences

CALL_AGAIN_SECONDS = 0.2
MOST_HANG_UPS = 5
"""Who shows the right certificate and then hangs up so often does not want us."""
LINGER_SECONDS = 1.5
"""Who has found out that agreements differ stays for so long, for others to hear it who are just coming."""
GREETING_SECONDS = 10.0
"""How long a caller may take to say who it is."""


class Absent(PartyLost):
    """A party did not come."""


class Connecting:
    """One party on its way to the others. Lives in the event loop's thread; `links` fills up as they come."""

    def __init__(
        self,
        agreement: Agreement,
        party: str,
        *,
        key: Path,
        listen: Address | None,
        fields: Mapping[str, str],
        watch: Watch | None,
        tell: Callable[[str], None],
        when_lost: Callable[[PartyLost], None],
    ) -> None:
        self._agreement = agreement
        self._names = agreement.names
        self._seat = agreement.seat(party)
        self._listen = listen or Address.parse(agreement.parties[party].address)
        self._fields = {**agreement.fields(), **fields}
        self._watch = watch
        self._tell = tell
        self._when_lost = when_lost
        self._pinned = [certificate_bytes(each.certificate) for each in agreement.parties.values()]
        check_key(key, agreement.parties[party].certificate)
        self._contexts = {server: self._context(server, party, key) for server in (True, False)}
        self._failure: ScumbleError | None = None
        self.links: dict[int, Link] = {}

    def _context(self, server: bool, party: str, key: Path) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False  # the certificate is pinned, whatever the host is called
        context.verify_mode = ssl.CERT_REQUIRED
        if server:
            context.num_tickets = 0  # no resumption: every connection shows its certificate
        others = [each.certificate for name, each in self._agreement.parties.items() if name != party]
        context.load_verify_locations(cadata="".join(others))
        certificate = self._agreement.parties[party].certificate
        # The certificate is the agreement's, not a file's: what others pinned is what they are shown.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(certificate)
            file.flush()
            context.load_cert_chain(file.name, key)
        return context

    async def connect(self) -> None:
        """Wait until all parties are connected and hold the same agreement."""
        deadline = time.monotonic() + self._agreement.deadlines.start
        lower, higher = range(self._seat), range(self._seat + 1, len(self._names))
        server = None
        try:
            if higher:
                server = await self._serve()
            await self._come_together([*(self._call(peer, deadline) for peer in lower), self._all_there(deadline)])
        finally:
            if server is not None:
                server.close()

    async def _come_together(self, work: list[Coroutine[Any, Any, None]]) -> None:
        """Call and wait for all. Where agreements differ, go on for a while, so that everybody hears it."""
        tasks = [asyncio.ensure_future(each) for each in work]
        try:
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            if pending and any(isinstance(task.exception(), Disagreement) for task in done):
                await asyncio.wait(pending, timeout=LINGER_SECONDS)
            for task in done:
                task.result()
        finally:
            await cancel(tasks)

    async def _serve(self) -> asyncio.Server:
        where = self._listen
        try:
            return await asyncio.start_server(
                self._greet_caller, where.host, where.port, ssl=self._contexts[True], ssl_handshake_timeout=10
            )
        except OSError as error:
            raise ScumbleError(
                f"Nobody can listen at {where}: {error.strerror or error}. Is another run at work there? Else give "
                "another address in the agreement, or --listen."
            ) from error

    async def _all_there(self, deadline: float) -> None:
        while len(self.links) < len(self._names) - 1:
            if self._failure is not None:
                raise self._failure
            if time.monotonic() > deadline:
                missing = [seat for seat in range(len(self._names)) if seat not in {*self.links, self._seat}]
                raise Absent(
                    f"{' and '.join(self._names[seat] for seat in missing)} did not come within "
                    f"{self._agreement.deadlines.start} seconds. Start all parties at about the same time, and see "
                    "that their addresses in the agreement can be reached.",
                    seat=missing[0],
                    ending=Ending.ABSENT,
                )
            for link in self.links.values():
                if link.loss is not None:
                    raise link.loss
            await asyncio.sleep(0.02)

    async def _call(self, peer: int, deadline: float) -> None:
        """Call a party with a lower number until it answers."""
        address = Address.parse(self._agreement.parties[self._names[peer]].address)
        hung_up = 0
        while time.monotonic() < deadline:
            try:
                reader, writer = await asyncio.open_connection(
                    address.host, address.port, ssl=self._contexts[False], server_hostname="", ssl_handshake_timeout=10
                )
            except ssl.SSLCertVerificationError as error:
                raise self._wrong_certificate(peer) from error
            except (OSError, TimeoutError):
                await asyncio.sleep(CALL_AGAIN_SECONDS)
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
                hung_up += 1
                if hung_up == MOST_HANG_UPS:
                    raise InputError(
                        f"{self._names[peer]} shows its certificate and hangs up on ours. Nothing was shared. Give all "
                        "parties the same agreement, with our certificate in our place."
                    ) from loss
                await asyncio.sleep(CALL_AGAIN_SECONDS)
                continue
            except BaseException:
                link.abort()
                raise
            self._take(peer, link)
            return

    async def _greet_caller(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take in a party with a higher number; send everybody else away."""
        shown = _certificate(writer)
        peer = self._pinned.index(shown) if shown in self._pinned else None
        if peer is None or peer <= self._seat or peer in self.links:
            self._tell("A caller was sent away: its certificate has no free place here.")
            writer.transport.abort()
            return
        link = self._link(peer, reader, writer)
        try:
            await self._compare(link, peer, GREETING_SECONDS, answer=True)
        except Disagreement as error:
            self._failure = self._failure or error
            await link.close(Ending.DIFFERS, peer)
        except PartyLost as loss:
            self._tell(f"A caller was sent away: {loss}")
        else:
            self._take(peer, link)
        finally:
            if self.links.get(peer) is not link:
                link.abort()

    async def _compare(self, link: Link, peer: int, seconds: float, *, answer: bool = False) -> None:
        """Hear a party's greeting, answer it where it called, and hold its agreement against ours."""
        receiver, link.peer_salt, theirs = _unpack_greeting(link, await link.greeting(max(1.0, seconds)))
        if receiver != self._seat:
            raise link.refuse(f"takes this party for number {receiver}, which is number {self._seat}")
        if answer:
            await link.send(pack_greeting(peer, link.salt, self._fields), GREETING_SECONDS, Kind.GREETING)
        differing = differences(self._fields, theirs)
        if differing:
            raise Disagreement(
                f"The agreement of {self._names[peer]} differs from ours in `{'`, `'.join(differing[:5])}`. Nothing "
                "was shared. Give all parties the same file.",
                seat=peer,
            )

    def _link(self, peer: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Link:
        return Link(
            reader,
            writer,
            names=self._names,
            seat=self._seat,
            peer=peer,
            session=bytes.fromhex(self._agreement.session),
            silence=self._agreement.deadlines.silence,
            watch=self._watch,
        )

    def _take(self, peer: int, link: Link) -> None:
        self.links[peer] = link
        link.start(self._when_lost)
        self._tell(f"{self._names[peer]} is there.")

    def _wrong_certificate(self, peer: int) -> Disagreement:
        name = self._names[peer]
        return Disagreement(
            f"Who answers at {self._agreement.parties[name].address} does not show the certificate of {name} that the "
            "agreement has. Nothing was shared. Check the addresses and that all have the same agreement.",
            seat=peer,
        )


async def cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait for their end."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _unpack_greeting(link: Link, payload: bytes) -> tuple[int, bytes, dict[str, str]]:
    try:
        return unpack_greeting(payload)
    except FrameError as error:
        raise link.refuse(str(error)) from error


def _certificate(writer: asyncio.StreamWriter) -> bytes | None:
    connection = writer.get_extra_info("ssl_object")
    return connection.getpeercert(binary_form=True) if connection is not None else None
