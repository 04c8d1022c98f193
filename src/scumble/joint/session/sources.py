"""A hash of the program's own sources."""

import hashlib
from functools import cache
from pathlib import Path

from scumble.foreign.files import read_bytes


@cache
def source_hash() -> str:
    """The SHA-256 of all modules of the package, with their names.

    Two builds with the same version number may differ. A run is resumed only with the sources that started it, because
    others might add the same noise to other values.
    """
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        content = read_bytes(path, follow_links=True)
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()
