"""The version of the code that renders the two pages of a release, so that a reader with the same code can compare.

The pages depend on the templates and on sentences and numbers from most of the package. The version is therefore a hash
of all its code: two installations with the same version render the same page from the same release.
"""

import hashlib
from functools import cache
from pathlib import Path

from scumble.foreign.files import read_bytes

PACKAGE = Path(__file__).parents[2]


@cache
def pages_version() -> str:
    """The SHA-256 of all modules and templates of the package, with their names."""
    paths = [*PACKAGE.rglob("*.py"), *(PACKAGE / "files" / "report" / "templates").iterdir()]
    names = {path.relative_to(PACKAGE).as_posix(): path for path in paths}
    total = hashlib.sha256()
    for name, path in sorted(names.items()):
        total.update(f"{name}\0{hashlib.sha256(read_bytes(path)).hexdigest()}\n".encode())
    return total.hexdigest()
