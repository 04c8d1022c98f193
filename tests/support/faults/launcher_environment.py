"""Where a command writes: everything is below its folder, so that the shim sees it."""

from pathlib import Path


def environment(folder: Path) -> dict[str, str]:
    """The variables that lead a command into its folder."""
    return {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "TMPDIR": str(folder / "scratch"),
        "SCUMBLE_LEDGER": str(folder / "ledger.db"),
        "SCUMBLE_WITNESS": str(folder / "witness.db"),
    }
