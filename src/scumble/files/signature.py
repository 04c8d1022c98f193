"""`signature.json`: the data owner's Ed25519 signature over the seal of release.json, which covers all other files.

The hashes of a folder find damage; only a signature shows who wrote it. The receiver compares it with a public key that
the owner published elsewhere. It is the one file of a folder that release.json cannot list.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble.errors import CheckError, InputError
from scumble.foreign.documents import read_json
from scumble.foreign.files import open_file, read_bytes
from scumble.installation import is_installed, missing_sentence

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNATURE = "signature.json"
FORMAT = "signature/1"
LARGEST_KEY = 1 << 16
MAKE_A_KEY = "Make one: `openssl genpkey -algorithm ed25519 -out key.pem`, then `chmod 600 key.pem`."


def read_signing_key(path: Path) -> "Ed25519PrivateKey":
    """Read the owner's private key (PEM). Refuses a file that other users can read."""
    _check_installed()
    from cryptography.exceptions import InternalError, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        with open_file(path, follow_links=True) as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(LARGEST_KEY)
    except OSError as error:
        raise InputError(f"The signing key {path} cannot be read: {error.strerror}. {MAKE_A_KEY}") from error
    if stat.S_IMODE(mode) & 0o077:
        raise InputError(f"The signing key {path} can be read by other users. Restrict it: chmod 600 {path}")
    try:
        key = load_pem_private_key(text, None)
    except (ValueError, TypeError, UnsupportedAlgorithm, InternalError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path} is not an unencrypted Ed25519 private key in PEM. {MAKE_A_KEY}")
    return key


def read_public_key(path: Path) -> "Ed25519PublicKey":
    """Read the public key (PEM) of an owner."""
    _check_installed()
    from cryptography.exceptions import InternalError, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(read_bytes(path, most=LARGEST_KEY, follow_links=True))
    except OSError as error:
        raise InputError(f"The public key {path} cannot be read: {error.strerror}. Give a PEM file.") from error
    except (ValueError, TypeError, UnsupportedAlgorithm, InternalError):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(
            f"{path} is not an Ed25519 public key in PEM. Owners make it with `openssl pkey -in key.pem -pubout`."
        )
    return key


def sign_folder(folder: Path, seal: str, key: "Ed25519PrivateKey") -> dict[str, str]:
    """Write signature.json for a folder whose release.json has this seal. Returns the signature, for the ledger."""
    signature = {
        "public_key": key.public_key().public_bytes_raw().hex(),
        "signature": key.sign(_message(seal)).hex(),
    }
    document = {"scumble": FORMAT, "algorithm": "Ed25519", "seal": seal, **signature}
    (folder / SIGNATURE).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return signature


def check_signature(folder: Path, manifest: Mapping[str, Any], signed_by: "Ed25519PublicKey | None") -> list[str]:
    """Check signature.json, if there is one; with `signed_by` there must be one, by this key.

    Raises `CheckError` if the signature is wrong. A signature by a key that nobody compared proves nothing: without
    `signed_by` the sentence says so.
    """
    if not (folder / SIGNATURE).exists():
        if signed_by is not None:
            raise CheckError(f"{folder} is not signed: it has no {SIGNATURE}. Ask the data owner.")
        return []
    _check_installed()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        document = read_json(folder / SIGNATURE)
        if document["scumble"] != FORMAT or document["algorithm"] != "Ed25519":
            raise ValueError("another format")
        stated = Ed25519PublicKey.from_public_bytes(bytes.fromhex(document["public_key"]))
        signature = bytes.fromhex(document["signature"])
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise CheckError(f"{SIGNATURE} cannot be read: {error}. Do not trust this folder.") from error
    try:
        (signed_by or stated).verify(signature, _message(str(manifest["seal"])))
    except InvalidSignature:
        by = "by the given key" if signed_by is not None else "by the key that it states"
        raise CheckError(f"{SIGNATURE} is not a signature of this release {by}. Do not trust this folder.") from None
    if signed_by is not None:
        return ["the release was signed with the given key"]
    return [f"{SIGNATURE} fits the release (compare its key: pass --signed-by KEY)"]


def _message(seal: str) -> bytes:
    """What is signed: the seal, with a prefix so that the signature means nothing else."""
    return f"scumble release {FORMAT} {seal}".encode()


def _check_installed() -> None:
    if not is_installed("sign"):
        raise InputError(missing_sentence("sign"))
