"""The key of a ledger, in a file of its own: a copied ledger alone reveals nothing about the rows.

With the key, the fingerprints in a ledger let anybody who knows all rows but one test guesses of the missing one. The
key is therefore kept apart: in `LEDGER.key` beside the ledger, or in the folder `SCUMBLE_LEDGER_KEYS`, mode 0600. The
ledger contains the key's public name (`identity_of`), by which a wrong key is found.

A key is made once, with its ledger. A lost key is never replaced by a new one: the ledger is refused until the key file
is restored. No key file is overwritten or deleted.
"""

import os
from collections.abc import Callable
from pathlib import Path

from scumble.errors import InputError, ScumbleError
from scumble.foreign.files import read_bytes
from scumble.portable import BINARY, NO_FOLLOW, flush, restrict
from scumble.privacy.ledger_entries import identity_of
from scumble.privacy.ledger_place import check_one_name, check_private, keys_folder

WHAT = "The ledger's key"
PREFIX = b"scumble-ledger-key-1 "
LENGTH = 32


def key_file(path: Path, identity: str) -> Path:
    """The file for the key of a new ledger."""
    folder = keys_folder()
    return _beside(path) if folder is None else folder / f"{identity}.key"


def find_key_file(path: Path, identity: str) -> Path:
    """The file that has the key of the ledger at `path`. Raises `InputError` if there is none."""
    places = list(dict.fromkeys([key_file(path, identity), _beside(path)]))
    found = [place for place in places if place.exists() or place.is_symlink()]
    for place in found:
        if identity_of(_read(place)) == identity:
            return place
    if found:
        raise InputError(
            f"{WHAT} {found[0]} belongs to another ledger than {path}. Restore the right one from a backup. No key is "
            "ever made anew."
        )
    raise InputError(
        f"{WHAT} {places[0]} is missing. Restore it from a backup, or name its folder with SCUMBLE_LEDGER_KEYS. No key "
        f"is ever made anew: without it the ledger {path} cannot be checked and accepts no charge."
    )


def read_key(path: Path, identity: str) -> bytes:
    """The key of the ledger at `path`."""
    return _read(find_key_file(path, identity))


def new_key(path: Path, make: Callable[[], bytes], *, is_used: Callable[[str], bool]) -> bytes:
    """The key for a new ledger, stored durably. Call it while the ledger's file is locked.

    A key beside the ledger that no ledger uses was left by a run that was killed while it created the ledger; it is
    adopted. The key of a ledger that was deleted is set aside under another name, for a backup that may come back.
    """
    beside = _beside(path)
    if keys_folder() is None and (beside.exists() or beside.is_symlink()):
        found = _read(beside)
        if not is_used(identity_of(found)):
            return found
        beside.rename(beside.with_name(f"{beside.name}.{identity_of(found)[:16]}"))
    key = make()
    store_key(path, key)
    return key


def store_key(path: Path, key: bytes) -> None:
    """Store the key of the ledger at `path` durably. An existing file must have the same key."""
    place = key_file(path, identity_of(key))
    if place.exists() or place.is_symlink():
        if _read(place) != key:
            raise InputError(f"{WHAT} {place} belongs to another ledger. Move that file away; it is not overwritten.")
        return
    unfinished = place.with_name(f"{place.name}-unfinished")
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_FOLLOW | BINARY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            restrict(file.fileno())
            file.write(PREFIX + key.hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(place)
        flush(place.parent)
    except OSError as error:
        raise ScumbleError(
            f"{WHAT} {place} cannot be written: {error.strerror}. Free disk space, or name another folder with "
            "SCUMBLE_LEDGER_KEYS."
        ) from error


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.key")


def _read(place: Path) -> bytes:
    check_one_name(place, what=WHAT)
    check_private(place, what=WHAT)
    try:
        content = read_bytes(place, most=1 << 10)
        if content.startswith(PREFIX):
            key = bytes.fromhex(content.removeprefix(PREFIX).decode("ascii"))
            if len(key) == LENGTH:
                return key
    except OSError as error:
        raise InputError(f"{WHAT} {place} cannot be read: {error.strerror}. Restore it from a backup.") from error
    except ValueError:
        pass  # not hexadecimal
    raise InputError(f"{WHAT} {place} is damaged. Restore it from a backup. No key is ever made anew.")
