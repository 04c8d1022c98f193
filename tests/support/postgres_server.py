"""A PostgreSQL server for tests, which ends with the test. Without PostgreSQL the test is skipped."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def programs() -> Path | None:
    """The folder of the newest server of Debian, or of the server in PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    other = shutil.which("pg_ctl")
    return found[-1].parent if found else None if other is None else Path(other).parent


def unprivileged() -> list[str]:
    """PostgreSQL refuses to run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []


@contextmanager
def running_server() -> Iterator[str]:
    """The address of a server that listens only on a socket in its folder."""
    binaries = programs()
    if binaries is None:
        message = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
        pytest.fail(message) if os.environ.get("SCUMBLE_REAL_DATA_REQUIRED") else pytest.skip(message)
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        folder = Path(name)
        if unprivileged():
            shutil.chown(folder, "postgres", "postgres")
        folder.chmod(0o755)

        def run(*command: str) -> None:
            subprocess.run([*unprivileged(), *command], check=True, cwd=folder, stdout=subprocess.DEVNULL)

        run(
            str(binaries / "initdb"),
            "-D",
            str(folder / "data"),
            "-U",
            "owner",
            "--auth=trust",
            "--no-sync",
            "-E",
            "UTF8",
        )
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        control = [str(binaries / "pg_ctl"), "-D", str(folder / "data"), "-w"]
        run(*control, "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://owner@/postgres?host={folder}"
        finally:
            run(*control, "-m", "immediate", "stop")
