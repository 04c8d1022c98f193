"""A digest of the source code behind a result, so that a cached result of older code is not reused."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import scumble
from scumble.foreign.files import read_bytes


@cache
def digest_of_sources(*modules: str) -> str:
    """A digest of modules of this package and of everything they import from it, directly or indirectly."""
    root = Path(str(scumble.__file__)).parent.parent
    found: dict[str, bytes] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = root.joinpath(*name.split(".")).with_suffix(".py")
        if name not in found and path.exists():
            found[name] = read_bytes(path, follow_links=True)
            waiting += _imported(found[name])
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(name.encode() + b"\0" + found[name])
    return digest.hexdigest()[:16]


def _imported(source: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
