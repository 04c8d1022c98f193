"""A malicious party with a valid certificate: it sends a correct greeting, then arbitrary bytes."""

import socket
import ssl
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from scumble.joint.network.certificates import certificate_bytes
from scumble.joint.network.wire import LAYOUT, MAGIC, SALT_BYTES, Header, Kind, pack_greeting
from scumble.joint.session.agreement import Address, Agreement


class HostileParty:
    """Is connected to all other parties by blocking sockets."""

    def __init__(self, agreement: Agreement, name: str, key: Path, *, claims: int | None = None) -> None:
        """`claims` is the party number it states, if not its own."""
        self.agreement = agreement
        self.party = agreement.party_number(name)
        self.claims = self.party if claims is None else claims
        self.session = bytes.fromhex(agreement.session)
        self.connections: dict[int, ssl.SSLSocket] = {}
        self.numbers: dict[int, int] = {}
        self._contexts = {server: self._context(server, name, key) for server in (True, False)}

    def _context(self, server: bool, name: str, key: Path) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if server:  # request a certificate, to identify the caller
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata="".join(p.certificate for p in self.agreement.parties.values()))
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(self.agreement.parties[name].certificate)
            file.flush()
            context.load_cert_chain(file.name, key)
        return context

    def __enter__(self) -> Self:
        try:
            self._connect()
        except BaseException:
            self.close()
            raise
        return self

    def _connect(self) -> None:
        addresses = [Address.parse(party.address) for party in self.agreement.parties.values()]
        with socket.create_server((addresses[self.party].host, addresses[self.party].port)) as server:
            server.settimeout(10)
            for peer in range(self.party):
                self._greet(peer, self._call(addresses[peer]))
            for _ in range(self.party + 1, len(addresses)):
                connection = self._contexts[True].wrap_socket(server.accept()[0], server_side=True)
                shown = connection.getpeercert(binary_form=True)
                certificates = [certificate_bytes(party.certificate) for party in self.agreement.parties.values()]
                self._greet(certificates.index(shown or b""), connection)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for connection in self.connections.values():
            connection.close()

    def _call(self, address: Address) -> ssl.SSLSocket:
        for _ in range(200):
            try:
                plain = socket.create_connection((address.host, address.port), timeout=10)
                return self._contexts[False].wrap_socket(plain)
            except ConnectionError:
                time.sleep(0.05)
        raise TimeoutError

    def _greet(self, peer: int, connection: ssl.SSLSocket) -> None:
        self.connections[peer] = connection
        self.numbers[peer] = 0
        connection.settimeout(10)
        self.send(peer, Kind.GREETING, pack_greeting(peer, bytes(SALT_BYTES), self.agreement.fields()))
        if connection.recv(1) == b"":  # otherwise their greeting is arriving: we were accepted
            raise ConnectionResetError

    def send(
        self, peer: int, kind: Kind, payload: bytes, *, number: int | None = None, length: int | None = None
    ) -> None:
        """Send a frame, optionally with a wrong number or a wrong length."""
        header = Header(
            kind=kind,
            sender=self.claims,
            session=self.session,
            number=self.numbers[peer] if number is None else number,
            length=len(payload) if length is None else length,
        )
        self.numbers[peer] += 1
        self.connections[peer].sendall(header.pack() + payload)

    def send_bytes(self, peer: int, data: bytes) -> None:
        self.connections[peer].sendall(data)


__all__ = ["LAYOUT", "MAGIC", "HostileParty"]
