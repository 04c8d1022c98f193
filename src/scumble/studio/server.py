"""The server of the studio: a socket on 127.0.0.1, a random token, and the address with both."""

import socket
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import uvicorn

from scumble.demo.patients import patients_schema
from scumble.errors import InputError, ScumbleError
from scumble.flows.plan import plan
from scumble.methods import METHODS
from scumble.privacy.noise import secret_key
from scumble.studio.app import application
from scumble.studio.guard import Guard
from scumble.studio.pages import environment
from scumble.studio.projects import Workspace

LOOPBACK = "127.0.0.1"
WAITING = 16
"""Connections that wait to be accepted."""


WARM_UP_SECONDS = 0.5
"""How long the first page has the processor to itself."""


def warm_up() -> None:
    """Load what the next pages need, while the first one is read: the templates, and the modules of all methods."""
    for name in environment().list_templates(extensions=["html"]):
        environment().get_template(name)
    schema = patients_schema()
    for method in METHODS:
        with suppress(ScumbleError):
            plan(schema=schema, method=method.name, epsilon=1)


@dataclass(frozen=True, kw_only=True)
class Studio:
    """A studio that listens and is ready to serve."""

    folder: Path
    token: str
    listener: socket.socket

    @classmethod
    @contextmanager
    def listening(cls, folder: Path, *, port: int = 0) -> Iterator["Studio"]:
        """A studio for the tables of a folder, which must exist. Other machines cannot reach it."""
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder. Give the folder that has your tables.")
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((LOOPBACK, port))
                listener.listen(WAITING)
            except (OSError, OverflowError) as error:
                raise ScumbleError(f"Port {port} cannot be used: {error}. Give another --port.") from error
            yield cls(folder=folder.resolve(), token=secret_key().hex(), listener=listener)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.listener.getsockname()[1])

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    @property
    def guarded(self) -> Guard:
        """The application behind its guard."""
        return Guard(application(Workspace(folder=self.folder)), token=self.token, port=self.port)

    def serve(self, *, browser: bool = False) -> None:
        """Answer requests until Ctrl-C."""
        settings = uvicorn.Config(
            self.guarded,
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
        later = Timer(WARM_UP_SECONDS, warm_up)
        later.daemon = True
        later.start()
        if browser:
            webbrowser.open(self.address)
        uvicorn.Server(settings).run(sockets=[self.listener])
