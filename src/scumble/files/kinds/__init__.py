"""The kinds of release. Each is one module, which writes, reads, verifies and describes the files of its releases."""

from typing import Any, TypeVar

from scumble.errors import MalformedEntry
from scumble.files.kinds.blurred import BLURRED
from scumble.files.kinds.cells import CELLS
from scumble.files.kinds.classifier import CLASSIFIER
from scumble.files.kinds.generalized import GENERALIZED
from scumble.files.kinds.kind import ReleaseKind
from scumble.files.kinds.records import RECORDS
from scumble.model.release import Release

R = TypeVar("R", bound=Release)

KINDS: tuple[ReleaseKind[Any], ...] = (CELLS, RECORDS, GENERALIZED, BLURRED, CLASSIFIER)


def kind_of(release: R) -> ReleaseKind[R]:
    """The kind of a release in memory."""
    for kind in KINDS:
        if isinstance(release, kind.release_class):
            return kind
    raise TypeError(f"Unknown kind of release: {type(release).__name__}. Add it to scumble.files.kinds.")


def kind_named(name: object) -> ReleaseKind[Any]:
    """The kind that release.json names."""
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise MalformedEntry("`kind`", f"is {name!r}, which this version does not know")
