"""Requests to the studio without a browser or a socket: the application is called as a server calls it."""

import asyncio
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from scumble.studio.app import application
from scumble.studio.guard import Guard
from scumble.studio.projects import Workspace

TOKEN, PORT = "5ec2e7", 8000
HOST = f"127.0.0.1:{PORT}"
COOKIE = f"scumble-studio-{PORT}={TOKEN}"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def location(self) -> str:
        return self.headers["location"]


@dataclass(kw_only=True)
class StudioClient:
    """The studio of a folder, as its own page uses it unless a request says otherwise."""

    folder: Path
    app: Any = field(init=False)

    def __post_init__(self) -> None:
        self.app = Guard(application(Workspace(folder=self.folder.resolve())), token=TOKEN, port=PORT)

    def get(self, address: str, **headers: str | None) -> Answer:
        return self.send("GET", address, headers=headers)

    def post(self, address: str, fields: Mapping[str, Any] | None = None, **headers: str | None) -> Answer:
        body = urlencode(fields or {}, doseq=True).encode()
        return self.send("POST", address, body=body, headers={"origin": f"http://{HOST}", **headers})

    def send(
        self, method: str, address: str, *, body: bytes = b"", headers: Mapping[str, str | None] | None = None
    ) -> Answer:
        """Send a request; a header that is None is left out."""
        given = {"host": HOST, "cookie": COOKIE, "content-length": str(len(body)), **(headers or {})}
        parts = urlsplit(address)
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items() if value],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", PORT),
        }
        sent: list[MutableMapping[str, Any]] = []
        waiting = [body[start : start + 65536] for start in range(0, len(body), 65536)] or [b""]

        async def receive() -> MutableMapping[str, Any]:
            if not waiting:
                await asyncio.Event().wait()  # the connection stays open
            return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        start = next(message for message in sent if message["type"] == "http.response.start")
        found = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
        return Answer(status=start["status"], headers=found, body=content)
