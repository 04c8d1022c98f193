"""The hash of the sources, which guards resumed runs."""

from scumble.joint.session import sources
from scumble.joint.session.sources import source_hash


def test_the_hash_is_that_of_all_modules() -> None:
    assert len(bytes.fromhex(source_hash())) == 32
    assert source_hash() == sources.source_hash.__wrapped__(), "the same when it is computed again"
