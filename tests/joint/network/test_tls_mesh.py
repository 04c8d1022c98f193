"""Connections between parties: which certificates are accepted, which frames are refused, and that every wait ends."""

import asyncio
import os
import pickle
import random
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA
from hostile_party import HostileParty

from scumble.demo.delaying_proxy import DelayingProxy
from scumble.demo.rehearsal import free_addresses
from scumble.errors import InputError, ScumbleError
from scumble.files.schema_file import parse_schema, schema_data
from scumble.joint.network import doorkeeper, handshake
from scumble.joint.network.certificates import make_key
from scumble.joint.network.connection import PartyLost
from scumble.joint.network.handshake import Absent
from scumble.joint.network.tls_mesh import TlsMesh
from scumble.joint.network.wire import LAYOUT, MAGIC, Ending, Kind, pack_farewell
from scumble.joint.session.agreement import Address, Agreement, agreement_from

pytestmark = [
    pytest.mark.joint,
    # asyncio leaves the socket of a TLS handshake that is under way when its loop ends to the garbage collector.
    pytest.mark.filterwarnings("ignore:.*unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"),
]

NAMES = ("north", "south", "east")
LENGTH = 100
SOON = 8.0


@dataclass(frozen=True, kw_only=True)
class Town:
    """An agreement and the private keys of all parties."""

    folder: Path
    agreement: Agreement

    def key(self, name: str) -> Path:
        return self.folder / name / "key.pem"

    def changed(self, **what: Any) -> Agreement:
        """The agreement with some fields replaced; `parties` are updated by name."""
        data = self.agreement.model_dump(mode="json", by_alias=True)
        for name, party in what.pop("parties", {}).items():
            data["parties"][name] |= party
        return agreement_from(data | what)


def build(folder: Path, *, host: str = "127.0.0.1", **deadlines: int) -> Town:
    addresses = [Address(host=host, port=each.port) for each in free_addresses(len(NAMES))]
    data = {
        "session": "5c" * 16,
        "method": "diffgen",
        "parameters": {"epsilon": "1"},
        "threshold": 1,
        "rows_at_most": 1000,
        "deadlines": {"start": 10, "stall": 20, "silence": 3, **deadlines},
        "parties": {
            name: {"address": str(address), "certificate": make_key(name, folder / name)}
            for name, address in zip(NAMES, addresses, strict=True)
        },
        "schema": schema_data(parse_schema(SCHEMA)),
    }
    return Town(folder=folder, agreement=agreement_from(data))


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return build(tmp_path)


def message(sender: int, receiver: int, number: int) -> bytes:
    return random.Random(f"{sender} {receiver} {number}").randbytes(LENGTH)


def talk(mesh: TlsMesh, rounds: int = 30) -> int:
    """Run rounds in which every party sends every other a message; return how many succeeded."""
    peers = [party for party in range(mesh.parties) if party != mesh.party]
    for number in range(rounds):
        received = mesh.exchange(
            {peer: message(mesh.party, peer, number) for peer in peers}, dict.fromkeys(peers, LENGTH)
        )
        assert received == {peer: message(peer, mesh.party, number) for peer in peers}
    return rounds


class Running:
    """A function that runs in a thread, with its result or error and the time of its end."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self.ended = 0.0
        self.connected = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)

    def _run(self, work: Callable[[], Any]) -> None:
        try:
            self.result = work()
        except ScumbleError as error:
            self.error = error
        self.ended = time.monotonic()

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float = 30) -> "Running":
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "it does not end"
        return self


def start(town: Town, name: str, work: Callable[[TlsMesh], Any] = talk, **options: Any) -> Running:
    agreement = options.pop("agreement", town.agreement)
    key = options.pop("key", town.key(name))

    def run() -> Any:
        with TlsMesh(agreement, name, key=key, **options) as mesh:
            running.connected.set()
            return work(mesh)

    running = Running(run)
    running.start()
    return running


# --------------------------------------------------------------------------------------------------------- regular runs


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_messages_arrive_whole_and_in_order(tmp_path: Path, host: str) -> None:
    town = build(tmp_path, host=host)
    for party in [start(town, name) for name in NAMES]:
        assert party.wait().result == 30, party.error


def test_each_direction_of_each_connection_has_its_own_salt_known_to_its_two_parties(town: Town) -> None:
    class Salts:
        def __init__(self) -> None:
            self.of_sent: dict[int, set[bytes]] = {}
            self.of_received: dict[int, set[bytes]] = {}

        def sent(self, peer: int, number: int, message: bytes, salt: bytes) -> None:
            self.of_sent.setdefault(peer, set()).add(salt)

        def received(self, peer: int, number: int, message: bytes, salt: bytes) -> None:
            self.of_received.setdefault(peer, set()).add(salt)

    salts = [Salts() for _ in NAMES]
    for party in [start(town, name, observer=each) for name, each in zip(NAMES, salts, strict=True)]:
        assert party.wait().result == 30, party.error
    pairs = [(one, other) for one in range(3) for other in range(3) if one != other]
    assert all(salts[one].of_sent[other] == salts[other].of_received[one] for one, other in pairs)
    everyone = [salt for one, other in pairs for salt in salts[one].of_sent[other]]
    assert len(everyone) == len(set(everyone)) == len(pairs)
    assert {len(salt) for salt in everyone} == {32}


def test_long_messages_in_both_directions_at_once(town: Town) -> None:
    length = 8_000_000

    def swap(mesh: TlsMesh) -> list[int]:
        peers = [party for party in range(3) if party != mesh.party]
        received = mesh.exchange({peer: bytes([mesh.party]) * length for peer in peers}, dict.fromkeys(peers, length))
        return [peer for peer in peers if received[peer] == bytes([peer]) * length]

    parties = [start(town, name, swap) for name in NAMES]
    assert [party.wait().result for party in parties] == [[1, 2], [0, 2], [0, 1]]


def test_a_party_that_computes_longer_than_the_silence_limit_is_waited_for(town: Town) -> None:
    def work(mesh: TlsMesh) -> int:
        time.sleep(5 if mesh.party == 1 else 0)
        return talk(mesh)

    for party in [start(town, name, work) for name in NAMES]:
        assert party.wait().result == 30, party.error


def test_parties_may_start_in_any_order(town: Town) -> None:
    parties = []
    for name in ("east", "north", "south"):
        parties.append(start(town, name))
        time.sleep(0.7)
    for party in parties:
        assert party.wait().result == 30, party.error


def test_a_delaying_proxy_that_starts_late(tmp_path: Path) -> None:
    town = build(tmp_path)
    addresses = [Address.parse(party.address) for party in town.agreement.parties.values()]
    real = free_addresses(3)
    parties = [start(town, name, listen=where) for name, where in zip(NAMES[1:], real[1:], strict=True)]
    began = time.monotonic()
    with DelayingProxy(list(zip(addresses, real, strict=True)), delay=0.02):
        time.sleep(0.5)
        parties.append(start(town, "north", listen=real[0]))
        for party in parties:
            assert party.wait().result == 30, party.error
    assert time.monotonic() - began > 30 * 0.02


def test_the_first_to_finish_does_not_disturb_the_others(town: Town) -> None:
    def work(mesh: TlsMesh) -> int:
        talk(mesh)
        if mesh.party == 0:
            return 0
        time.sleep(1)
        other = 3 - mesh.party
        assert mesh.exchange({other: b"still here"}, {other: 10}) == {other: b"still here"}
        return mesh.party

    assert [party.wait().result for party in [start(town, name, work) for name in NAMES]] == [0, 1, 2]


# ------------------------------------------------------------------------------------------ certificates and agreements


def test_a_key_that_does_not_belong_to_the_certificate_is_refused_before_connecting(town: Town, tmp_path: Path) -> None:
    make_key("north", tmp_path / "other")
    for key in (tmp_path / "other" / "key.pem", town.key("south")):
        assert "does not belong to this party's certificate" in str(start(town, "north", key=key).wait().error)


@pytest.mark.parametrize("name", ["east", "north"])
def test_a_wrong_certificate_is_refused(town: Town, tmp_path: Path, name: str) -> None:
    """The impostor has the right agreement except for the certificate, which it replaced by its own."""
    forged = make_key(name, tmp_path / "forged")
    agreement = town.changed(parties={name: {"certificate": forged}}, deadlines={"start": 3})
    others = [start(town, each, agreement=town.changed(deadlines={"start": 3})) for each in NAMES if each != name]
    impostor = start(town, name, agreement=agreement, key=tmp_path / "forged" / "key.pem").wait()
    assert isinstance(impostor.error, InputError | PartyLost)
    for each in others:
        error = each.wait().error
        assert isinstance(error, ScumbleError)
        assert name in str(error)
    if name == "east":
        assert "presents its certificate and then rejects ours" in str(impostor.error)
    else:
        assert any(
            "does not present the certificate that the agreement lists for north" in str(each.error) for each in others
        )


def test_a_right_certificate_at_a_wrong_address_is_refused(town: Town) -> None:
    """The addresses of north and south are swapped, so north's address leads to south."""
    parties = town.agreement.parties
    swapped = town.changed(
        parties={"north": {"address": parties["south"].address}, "south": {"address": parties["north"].address}}
    )
    running = [start(town, "north"), start(town, "south"), start(town, "east", agreement=swapped)]
    error = running[2].wait().error
    assert isinstance(error, InputError)
    assert "does not present the certificate" in str(error)


def test_a_right_certificate_with_another_number_is_refused(town: Town) -> None:
    notices: list[str] = []
    north = start(town, "north", agreement=town.changed(deadlines={"start": 3}), notify=notices.append)
    with pytest.raises(ConnectionError), HostileParty(town.agreement, "south", town.key("south"), claims=2):
        pass
    assert isinstance(north.wait().error, Absent)
    assert any("says it is party 2, but its certificate is that of party 1" in text for text in notices)


def test_idle_strangers_hold_few_connections_for_a_short_time(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers open many sockets and say nothing. Most are closed at once, the rest after the handshake's deadline."""
    monkeypatch.setattr(doorkeeper, "HANDSHAKE_SECONDS", 2.0)
    patient = town.changed(deadlines={"start": 60})
    north = start(town, "north", agreement=patient)
    address = Address.parse(town.agreement.parties["north"].address)
    strangers = []
    for _ in range(60):
        for _ in range(100):
            try:
                strangers.append(socket.create_connection((address.host, address.port), timeout=30))
                break
            except ConnectionRefusedError:  # north does not listen yet
                time.sleep(0.05)
    others = [start(town, name, agreement=patient) for name in ("south", "east")]
    assert [each.recv(1) for each in strangers] == [b""] * 60, "all are closed, although they never said anything"
    assert [each.wait(60).result for each in (north, *others)] == [30, 30, 30]
    for each in strangers:
        each.close()


def test_handshakes_are_limited_in_total_and_for_each_address() -> None:
    async def play() -> tuple[int, int]:
        where = free_addresses(1)[0]
        door = doorkeeper.Doorkeeper(where, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), never)
        await door.listen()
        connections = [await asyncio.open_connection(where.host, where.port) for _ in range(40)]
        while door.turned_away + door._pending.total() < 40:
            await asyncio.sleep(0.01)
        counted = door._pending.total(), door.turned_away
        door.close()
        for _, writer in connections:
            writer.transport.abort()
        await asyncio.sleep(0.1)
        return counted

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise AssertionError

    assert asyncio.run(play()) == (16, 24)


def test_a_party_that_waits_says_for_whom(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "FIRST_REPORT_SECONDS", 0.3)
    notices: list[str] = []
    start(town, "south", agreement=town.changed(deadlines={"start": 3}), notify=notices.append).wait()
    (waiting,) = notices
    south, north = (town.agreement.parties[name].address for name in ("south", "north"))
    assert waiting.startswith(f"Waiting for north at {north} (")
    assert waiting.endswith(f", east, which has not called {south} yet.")


def test_a_caller_without_a_certificate_is_rejected(town: Town) -> None:
    north = start(town, "north", agreement=town.changed(deadlines={"start": 3}))
    time.sleep(0.5)
    address = Address.parse(town.agreement.parties["north"].address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection((address.host, address.port)) as plain, context.wrap_socket(plain) as connection:
        assert connection.version() == "TLSv1.3"
        connection.settimeout(10)
        assert connection.recv(1) == b""
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        pytest.raises(ssl.SSLError),
        socket.create_connection((address.host, address.port)) as plain,
        context.wrap_socket(plain),
    ):
        pass
    assert isinstance(north.wait().error, Absent)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"parameters": {"epsilon": "2"}}, "parameters > epsilon"),
        ({"rows_at_most": 1001}, "rows_at_most"),
        ({"session": "5d" * 16}, "session"),
        ({"deadlines": {"start": 10, "stall": 21, "silence": 3}}, "deadlines > stall"),
        ({"parties": {"east": {"computes": True, "address": "127.0.0.1:9"}}}, "parties > east > address"),
        ({"schema": schema_data(parse_schema(SCHEMA.replace("high: 100", "high: 110")))}, "schema > attributes > age"),
        ({"schema": schema_data(parse_schema(SCHEMA.replace("Lawyer", "Judge")))}, "schema > attributes > job"),
    ],
)
@pytest.mark.parametrize("who", ["north", "south"])
def test_an_agreement_that_differs_is_refused_by_all_with_the_field(
    town: Town, change: dict[str, Any], field: str, who: str
) -> None:
    running = {
        name: start(town, name, **({"agreement": town.changed(**change)} if name == who else {})) for name in NAMES
    }
    errors = [str(each.wait().error) for each in running.values()]
    assert all(error != "None" for error in errors)
    assert sum(f"differs from ours in `{field}`" in error for error in errors) >= 2, errors


def test_fields_beyond_the_agreement_are_compared_too(town: Town) -> None:
    running = [start(town, name, fields={"the version": name[:1] if name == "east" else "x"}) for name in NAMES]
    assert any("differs from ours in `the version`" in str(each.wait().error) for each in running)


# -------------------------------------------------------------------------------------------------------- hostile input

CANARY = "scumble-canary"


class Explosive:
    """An object that creates a folder if it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (CANARY,)


def header(**changes: Any) -> bytes:
    parts = {"magic": MAGIC, "kind": 2, "sender": 1, "session": b"\x5c" * 16, "number": 1, "length": LENGTH, **changes}
    return LAYOUT.pack(*parts.values())


HOSTILE: dict[str, tuple[Callable[[HostileParty, int], None], str]] = {
    "random bytes": (lambda party, peer: party.send_bytes(peer, random.randbytes(5000)), "not a frame"),
    "another magic": (lambda party, peer: party.send_bytes(peer, header(magic=b"SCJ2") + bytes(LENGTH)), "not a frame"),
    "an unknown kind": (lambda party, peer: party.send_bytes(peer, header(kind=9) + bytes(LENGTH)), "unknown kind"),
    "another session": (
        lambda party, peer: party.send_bytes(peer, header(session=bytes(16)) + bytes(LENGTH)),
        "another session",
    ),
    "another sender": (
        lambda party, peer: party.send_bytes(peer, header(sender=2) + bytes(LENGTH)),
        "says it is party",
    ),
    "replayed": (
        lambda party, peer: party.send_bytes(peer, 2 * (header() + message(1, peer, 0))),
        "sent frame 1 where frame 2 was expected",
    ),
    "reordered": (
        lambda party, peer: party.send(peer, Kind.DATA, message(1, peer, 0), number=2),
        "sent frame 2 where frame 1 was expected",
    ),
    "the greeting again": (lambda party, peer: party.send(peer, Kind.GREETING, b"1"), "second greeting"),
    "oversized": (
        lambda party, peer: party.send(peer, Kind.DATA, bytes(LENGTH + 1)),
        "announced a data frame of 101 bytes",
    ),
    "much oversized": (
        lambda party, peer: party.send(peer, Kind.DATA, b"", length=1 << 60),
        f"announced a data frame of {1 << 60} bytes",
    ),
    "too short": (
        lambda party, peer: party.send(peer, Kind.DATA, bytes(LENGTH - 1)),
        "announced a data frame of 99 bytes",
    ),
    "a pickle": (lambda party, peer: party.send(peer, Kind.DATA, pickle.dumps(Explosive())), "announced"),
    "a heartbeat with a payload": (
        lambda party, peer: party.send(peer, Kind.HEARTBEAT, b"x"),
        "announced a heartbeat frame of 1 bytes",
    ),
    "an invalid farewell": (lambda party, peer: party.send(peer, Kind.FAREWELL, b"x" * 64), "invalid farewell"),
    "a farewell that names an unknown party": (
        lambda party, peer: party.send(peer, Kind.FAREWELL, struct.pack(">BH", 2, 77)),
        "invalid farewell",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_a_hostile_party_sends_is_refused_and_the_party_named(
    town: Town, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    attack, words = HOSTILE[case]
    honest = [start(town, "north"), start(town, "east")]
    with HostileParty(town.agreement, "south", town.key("south")) as hostile:
        assert all(each.connected.wait(10) for each in honest)
        began = time.monotonic()
        attack(hostile, 0)
        errors = [str(each.wait().error) for each in honest]
    assert words in errors[0], errors
    assert errors[0].startswith("south "), errors
    assert "south" in errors[1], errors
    assert all(each.ended - began < SOON for each in honest)
    assert not (tmp_path / CANARY).exists()


def test_a_pickle_of_the_right_length_is_bytes_and_nothing_more(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    payload = pickle.dumps(Explosive())

    def receive(mesh: TlsMesh) -> bytes:
        return mesh.exchange({}, {1: len(payload)})[1]

    honest = [start(town, "north", receive), start(town, "east", receive)]
    with HostileParty(town.agreement, "south", town.key("south")) as hostile:
        assert all(each.connected.wait(10) for each in honest)
        for peer in (0, 2):
            hostile.send(peer, Kind.DATA, payload)
        assert [each.wait().result for each in honest] == [payload, payload], [each.error for each in honest]
    assert not (tmp_path / CANARY).exists()


@pytest.mark.parametrize("part", [1, LAYOUT.size - 1, LAYOUT.size, LAYOUT.size + 50])
def test_a_truncated_frame_is_a_lost_party(town: Town, part: int) -> None:
    honest = [start(town, "north"), start(town, "east")]
    with HostileParty(town.agreement, "south", town.key("south")) as hostile:
        for peer in (0, 2):
            hostile.send_bytes(peer, (header() + bytes(LENGTH))[:part])
        began = time.monotonic()
    for each in honest:
        error = each.wait().error
        assert isinstance(error, PartyLost)
        assert (error.party, error.ending) == (1, Ending.LOST)
        assert each.ended - began < SOON


def test_a_party_that_falls_silent_within_a_frame_is_lost(town: Town) -> None:
    honest = [start(town, "north"), start(town, "east")]
    with HostileParty(town.agreement, "south", town.key("south")) as hostile:
        for peer in (0, 2):
            hostile.send_bytes(peer, header()[:20])
        began = time.monotonic()
        errors = [each.wait().error for each in honest]
    assert all(isinstance(error, PartyLost) and error.party == 1 for error in errors)
    assert any("sent no heartbeat for 3 seconds" in str(error) for error in errors)
    assert all(each.ended - began < SOON for each in honest)


def test_a_party_that_sends_only_heartbeats_stalls(tmp_path: Path) -> None:
    town = build(tmp_path, stall=5)
    honest = [start(town, "north"), start(town, "east")]
    with HostileParty(town.agreement, "south", town.key("south")) as hostile:
        for _ in range(20):
            for peer in (0, 2):
                try:
                    hostile.send(peer, Kind.HEARTBEAT, b"")
                except OSError:
                    break
            time.sleep(0.5)
        errors = [each.wait().error for each in honest]
    for error in errors:
        assert isinstance(error, PartyLost)
        assert (error.party, error.ending) == (1, Ending.STALLED)


def test_all_parties_name_the_party_that_the_first_one_named(town: Town) -> None:
    """South reports that east was lost. North repeats the report and names south, because the run ends in any case."""
    north, east = start(town, "north"), start(town, "east")
    with HostileParty(town.agreement, "south", town.key("south")) as hostile:
        hostile.send(0, Kind.FAREWELL, pack_farewell(Ending.LOST, 2))
        assert str(north.wait().error).startswith("east was lost, south reports.")
        east.wait()


def test_greetings_of_any_bytes_are_refused(town: Town) -> None:
    class Rude(HostileParty):
        def _greet(self, peer: int, connection: Any) -> None:
            self.connections[peer] = connection
            self.numbers[peer] = 0
            connection.settimeout(10)
            self.send(peer, Kind.GREETING, b"\xff" * 1000)
            if connection.recv(10) == b"":
                raise ConnectionResetError

    notices: list[str] = []
    north = start(town, "north", agreement=town.changed(deadlines={"start": 3}), notify=notices.append)
    with pytest.raises(ConnectionError), Rude(town.agreement, "south", town.key("south")):
        pass
    assert isinstance(north.wait().error, Absent)
    assert any("invalid greeting" in text for text in notices)
