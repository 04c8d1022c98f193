"""Identities of parties: a private key that stays with its party, and a self-signed certificate that the others pin.

There is no certificate authority. A certificate is trusted because the agreement lists it for its party.
"""

import os
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

from scumble.errors import InputError
from scumble.foreign.files import read_bytes, read_text
from scumble.installation import is_installed, missing_sentence
from scumble.privacy.noise import secret_key

KEY_FILE = "key.pem"
CERTIFICATE_FILE = "certificate.pem"
VALID_DAYS = 3650


def make_key(name: str, folder: Path) -> str:
    """Create a private key and its certificate in a folder; return the certificate (PEM). Nothing is overwritten."""
    _check_installed()
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(int.from_bytes(secret_key()[:16], "big") | 1)
        .not_valid_before(now - timedelta(days=1))  # tolerates a slow clock
        .not_valid_after(now + timedelta(days=VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoded = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    text = certificate.public_bytes(serialization.Encoding.PEM).decode()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_secret(folder / KEY_FILE, encoded)
    _write_new(folder / CERTIFICATE_FILE, text.encode(), mode=0o644)
    return text


def _check_installed() -> None:
    if not is_installed("joint"):
        raise InputError(missing_sentence("joint"))


def write_secret(path: Path, content: bytes) -> None:
    """Write a new file with mode 0600, and flush it to disk."""
    _write_new(path, content, mode=0o600)


def _write_new(path: Path, content: bytes, *, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise InputError(f"{path} exists already and is never overwritten. Choose another folder.") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read_certificate(path: Path) -> str:
    """Read a party's certificate (PEM) from a file."""
    try:
        return read_text(path, follow_links=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The certificate {path} cannot be read. Give a PEM file written by `scumble join key`."
        ) from error


def check_dates(text: str, party: str) -> None:
    """Refuse a certificate that is not valid now: connections with it would fail."""
    _check_installed()
    from cryptography import x509

    try:
        certificate = x509.load_pem_x509_certificate(text.encode())
    except ValueError as error:
        raise InputError(
            f"The certificate of {party} is not valid PEM. Give a file written by `scumble join key`."
        ) from error
    now = datetime.now(UTC)
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        dates = f"{certificate.not_valid_before_utc:%Y-%m-%d} to {certificate.not_valid_after_utc:%Y-%m-%d}"
        raise InputError(
            f"The certificate of {party} is valid from {dates}, not today. Let {party} make a new one with "
            "`scumble join key`, or correct the clock."
        )


def certificate_bytes(text: str) -> bytes:
    """The certificate in a PEM text, in the DER encoding that a TLS connection presents."""
    if text.count("BEGIN CERTIFICATE") != 1:
        raise InputError("Expected exactly one certificate. Give a PEM file written by `scumble join key`.")
    try:
        return ssl.PEM_cert_to_DER_cert(text.strip())
    except ValueError as error:
        raise InputError("The certificate is not valid PEM. Give a file written by `scumble join key`.") from error


def check_key(key: Path, certificate: str) -> None:
    """Refuse a private key that other users can read, or that does not belong to the certificate."""
    try:
        mode = key.stat().st_mode
        text = read_bytes(key, follow_links=True)
    except OSError as error:
        raise InputError(
            f"The private key {key} cannot be read: {error.strerror}. Give this party's key with --key."
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        raise InputError(
            f"The private key {key} can be read by other users of this machine. Restrict it: chmod 600 {key}"
        )
    _check_installed()
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        ours = load_pem_private_key(text, None).public_key()
        pinned = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{key} is not a private key, or this party's certificate in the agreement is damaged: {error}. Give the "
            "key.pem written by `scumble join key`, or correct the agreement."
        ) from error
    if ours != pinned:
        raise InputError(
            f"The private key {key} does not belong to this party's certificate in the agreement. Check --party "
            "and --key."
        )
