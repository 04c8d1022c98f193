"""Checks a ledger against what lies outside it: the witness, and the release folders that it paid for.

A ledger that was replaced by an older copy, or created from scratch, lacks the entries of releases that were published
meanwhile. Each release folder states the hash of its entry, and the ledger states the hash of each release.
"""

from collections.abc import Sequence
from pathlib import Path

from scumble.errors import CheckError
from scumble.files.page_check import NOT_CHECKED
from scumble.files.release_folder import file_hash, read_manifest
from scumble.files.signature import SIGNATURE
from scumble.foreign.documents import read_json
from scumble.privacy.ledger import Ledger


def check_ledger(ledger: Ledger, releases: Sequence[Path] = ()) -> list[str]:
    """Replay a ledger and compare it with release folders. Returns every check that passed, as a sentence.

    Raises `CheckError` for the first check that fails. The ledger was compared with its witness when it was opened.
    """
    entries = ledger.verify()
    return [
        f"{entries} entries: the hash chain and the arithmetic are valid",
        _compared(ledger),
        *(_check_release(ledger, folder) for folder in releases),
    ]


def _compared(ledger: Ledger) -> str:
    if ledger.compared:
        return f"the ledger contains what the witness {ledger.witness} saw of it"
    return f"{NOT_CHECKED}whether entries are missing: the witness {ledger.witness} saw nothing of the ledger before"


def _check_release(ledger: Ledger, folder: Path) -> str:
    receipt = read_manifest(folder).get("receipt")
    entry = receipt.get("entry") if isinstance(receipt, dict) else None
    if not isinstance(entry, str):
        raise CheckError(f"{folder} states no receipt of a ledger. Name the folder that the owner of the ledger wrote.")
    charge = ledger.charge_of(entry)
    if charge is None:
        raise CheckError(
            f"The ledger {ledger.path} has no entry {entry[:12]}, which the release {folder} states as its charge. It "
            "is another ledger, or it lost entries."
        )
    if charge.receipt.to_json() != receipt:
        raise CheckError(
            f"The release {folder} states another charge than entry {entry[:12]} of the ledger {ledger.path}."
        )
    if charge.release is None:
        return f"{folder}: charged by entry {entry[:12]}; the run ended before the ledger recorded the release"
    if charge.release != file_hash(folder / "release.json"):
        raise CheckError(
            f"The ledger {ledger.path} records that entry {entry[:12]} paid for another release than {folder}. The "
            "folder was changed, or the charge was used twice."
        )
    if charge.signature != _signature(folder):
        raise CheckError(f"{folder / SIGNATURE} is not the signature that the ledger {ledger.path} records.")
    signed = "" if charge.signature is None else ", with its signature"
    return f"{folder}: charged by entry {entry[:12]}, and recorded there as published{signed}"


def _signature(folder: Path) -> str | None:
    try:
        document = read_json(folder / SIGNATURE)
        return str(document["signature"])
    except FileNotFoundError:
        return None
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise CheckError(f"{folder / SIGNATURE} cannot be read: {error}. Do not trust this folder.") from error
