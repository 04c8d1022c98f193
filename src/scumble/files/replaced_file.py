"""Replaces the text of a file in one step: readers see the old text or the new one, never a part."""

import os
import shutil
import tempfile
from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Write a file beside the old one, then rename it. Links are followed; permissions of an old file are kept."""
    target = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, name)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
