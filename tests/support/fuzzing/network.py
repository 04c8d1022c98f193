"""The target of the bytes that another party of a joint release sends, after its certificate was accepted."""

import asyncio
from collections.abc import Iterator
from random import Random
from typing import Any

from fuzzing import mutation
from fuzzing.target import Run, Target
from scumble.joint.network.connection import Link
from scumble.joint.network.wire import (
    LAYOUT,
    MAGIC,
    Ending,
    Header,
    Kind,
    pack_farewell,
    pack_greeting,
    unpack_greeting,
)

SESSION = bytes(range(16))
NAMES = ("north", "south", "east")
DUE = (12, 0, 7)
"""The lengths of the messages that are expected after the greeting."""
WAIT_SECONDS = 0.02


class Silent:
    """Where the party's own frames go."""

    def __init__(self) -> None:
        self.transport = self

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def is_closing(self) -> bool:
        return True

    def abort(self) -> None: ...


def frame(kind: Kind, number: int, payload: bytes) -> bytes:
    return Header(kind=kind, sender=1, session=SESSION, number=number, length=len(payload)).pack() + payload


def conversations() -> list[bytes]:
    greeting = frame(Kind.GREETING, 0, pack_greeting(0, bytes(32), {"schema": "ab" * 32, "method": "cd" * 32}))
    data = [frame(Kind.DATA, place + 1, bytes(length)) for place, length in enumerate(DUE)]
    return [
        b"".join([greeting, *data, frame(Kind.FAREWELL, 4, pack_farewell(Ending.DONE, None))]),
        b"".join([greeting, frame(Kind.HEARTBEAT, 1, b""), frame(Kind.FAREWELL, 2, pack_farewell(Ending.LOST, 2))]),
        frame(Kind.FAREWELL, 0, pack_farewell(Ending.DIFFERS, 0)),
        greeting,
    ]


async def converse(data: bytes) -> None:
    """Receive a greeting and all expected messages from bytes that end where they end."""
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    writer: Any = Silent()
    link = Link(reader, writer, names=NAMES, party=0, peer=1, session=SESSION, silence=8, observer=None)
    receiver, _, _ = unpack_greeting(await link.greeting(WAIT_SECONDS))
    assert isinstance(receiver, int)
    link.start(lambda loss: None)
    try:
        for length in DUE:
            assert len(await link.receive(length, WAIT_SECONDS)) == length
    finally:
        for task in link._tasks:
            task.cancel()
        ended = await asyncio.gather(*link._tasks, return_exceptions=True)
        for each in ended:
            if isinstance(each, Exception):
                raise each


def _converse() -> Run:
    loop = asyncio.new_event_loop()

    def run(data: bytes) -> None:
        loop.run_until_complete(converse(data))

    return run


def _changed(random: Random, data: bytes) -> bytes:
    """Change a conversation frame by frame, so that most headers stay readable."""
    if random.random() < 0.3:
        return mutation.changed_bytes(random, data)
    frames = [MAGIC + part for part in data.split(MAGIC)[1:]] or [data]
    place = random.randrange(len(frames))
    header, payload = frames[place][: LAYOUT.size], frames[place][LAYOUT.size :]
    match random.randrange(5):
        case 0:
            payload = mutation.text(random, payload)
        case 1:
            payload = mutation.text(random, payload)
            header = header[:-8] + len(payload).to_bytes(8, "big")
        case 2 if len(header) == LAYOUT.size:
            header = header[:4] + bytes([random.randrange(7)]) + header[5:]
        case 3:
            frames.insert(place, random.choice(frames))
        case _:
            header = mutation.changed_bytes(random, header)
    frames[place] = header + payload
    return b"".join(frames)


def network_targets() -> Iterator[Target]:
    """The target."""
    yield Target(
        name="network",
        reads="network messages of a joint release",
        seeds=conversations(),
        mutate=_changed,
        prepare=_converse,
    )
