"""Runs the server of a survey until it is stopped."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from scumble.errors import InputError
from scumble.mining.tree_model import TreeModel
from scumble.survey.records import CollectedRecords
from scumble.survey.server import survey_app

MOST_CONNECTIONS = 500


class _Server(uvicorn.Server):
    """A server for which a signal to stop is an ordinary end: every acknowledged record is stored already."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve_survey(
    collected: CollectedRecords,
    *,
    host: str,
    port: int,
    behind_proxy: bool,
    posts_each_minute: int,
    tree: TreeModel | None,
    ready: Callable[[str], None],
) -> None:
    """Serve until an interruption. No request is logged. `ready` is called with the address once it listens."""
    app = survey_app(collected, posts_each_minute=posts_each_minute, behind_proxy=behind_proxy, tree=tree)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=5,
        lifespan="off",
    )
    try:
        listener = socket.create_server((host, port))
    except OSError as error:
        raise InputError(
            f"Cannot listen on {host}:{port}: {error.strerror}. Choose another --host or --port."
        ) from error
    with listener:
        ready(f"http://{host}:{listener.getsockname()[1]}/")
        asyncio.run(_Server(config).serve(sockets=[listener]))
