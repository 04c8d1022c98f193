"""Bugs that the harness must find, planted in a process before its command runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scumble.files.atomic_folder import Staging
from scumble.flows import charge, release


def published_file_by_file() -> None:
    """The folder appears under its name before its files are complete."""

    def publish(self: Staging) -> None:
        self.target.mkdir()
        for path in sorted(self.folder.iterdir()):
            (self.target / path.name).write_bytes(path.read_bytes())

    Staging.publish = publish  # type: ignore[method-assign]


def ledger_deleted() -> None:
    """The ledger disappears once the release is published."""
    original = Staging.publish

    def publish(self: Staging) -> None:
        original(self)
        for path in Path().glob("ledger*"):
            path.unlink()

    Staging.publish = publish  # type: ignore[method-assign]


def rows_left_behind() -> None:
    """The rows are copied into the folder for temporary files, and stay there after a kill."""
    original = release.charged_rows

    def copied(*arguments: Any) -> Any:
        Path("scratch", "rows.csv").write_bytes(Path("people.csv").read_bytes())
        return original(*arguments)

    release.charged_rows = copied


def charge_denied() -> None:
    """Whatever happens, the message says that nothing was charged."""
    charge.Charge.outcome = lambda self, reason: charge.ChargeOutcome()  # type: ignore[method-assign]


PLANTED: dict[str, Callable[[], None]] = {
    each.__name__: each for each in (published_file_by_file, ledger_deleted, rows_left_behind, charge_denied)
}


def plant(name: str) -> None:
    PLANTED[name]()
