"""Reads the bytes of text files: plain, compressed, or inside a zip archive. Errors are those of the machine."""

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Protocol

import pyarrow as pa

from scumble.errors import InputError
from scumble.foreign.files import open_file

COMPRESSED = {".gz": "gzip", ".zst": "Zstandard", ".bz2": "bzip2", ".lz4": "LZ4", ".zip": "zip"}
"""The endings by which a compression is recognized."""
TEXT_ENDINGS = (".csv", ".tsv", ".txt")


class TextStream(Protocol):
    """What a CSV file is read from. `str` is its address in messages."""

    @property
    def path(self) -> PurePath:
        """The file."""

    @property
    def plain_name(self) -> str:
        """The file's name without the ending of a compression."""

    @property
    def size(self) -> int | None:
        """The number of bytes that `chunks` returns; None if this is not known beforehand."""

    def chunks(self, size: int) -> Iterator[bytes]:
        """The content, in pieces of at most so many bytes."""


@dataclass(frozen=True, kw_only=True)
class ByteStream:
    """A file that is read from its start to its end, or one member of a zip archive."""

    path: Path
    member: str | None = None
    published: bool = False
    """Whether it is a file of a release folder, which is not opened through a link."""

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}::{self.member}"

    @property
    def plain_name(self) -> str:
        """The file's name without the ending of a compression."""
        if self.member is not None:
            return Path(self.member).name
        return self.path.stem if self.path.suffix in COMPRESSED else self.path.name

    @property
    def size(self) -> int | None:
        """The number of bytes that `chunks` returns; None if this is not known beforehand."""
        return None if self.path.suffix in COMPRESSED else self.path.stat().st_size

    def chunks(self, size: int) -> Iterator[bytes]:
        """The content, in pieces of at most so many bytes."""
        try:
            with ExitStack() as stack:
                stream = self._opened(stack)
                while chunk := stream.read(size):
                    yield chunk
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
            raise InputError(f"{self} cannot be read: {self._problem(error)}. Check the file.") from None

    def _opened(self, stack: ExitStack) -> Any:
        if self.published:
            return stack.enter_context(open_file(self.path))
        if self.member is None:
            return stack.enter_context(pa.input_stream(str(self.path), compression="detect"))
        archive = stack.enter_context(zipfile.ZipFile(self.path))
        return stack.enter_context(archive.open(self.member))

    def _problem(self, error: Exception) -> str:
        compression = COMPRESSED.get(self.path.suffix)
        damaged = "it is damaged" if compression is None else f"it is not a complete {compression} file"
        return (isinstance(error, OSError) and error.errno and error.strerror) or damaged


def zip_member(data: str) -> ByteStream | None:
    """The stream for `people.zip`, which has one text file, or `people.zip::inner.csv`; None for anything else."""
    address, _, wanted = data.partition(".zip::")
    path = Path(f"{address}.zip") if wanted else Path(data)
    if path.suffix.lower() != ".zip" or not path.is_file():
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            members = {each.filename: each for each in archive.infolist() if _is_text(each)}
    except (OSError, zipfile.BadZipFile):
        raise InputError(f"{path} cannot be read: it is not a complete zip file. Check the file.") from None
    if wanted and wanted not in members:
        raise InputError(f"{path} has no CSV file {wanted!r}. Give the path of one inside the archive.")
    if not wanted and len(members) != 1:
        raise InputError(f"{path} has {len(members)} CSV files. Name one: {path}::people.csv.")
    member = members[wanted or next(iter(members))]
    if member.flag_bits & 1:
        raise InputError(f"{path} is encrypted. Extract it first.")
    if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}:
        raise InputError(f"{path} uses a compression that cannot be read here. Extract it first.")
    return ByteStream(path=path, member=member.filename)


def _is_text(member: zipfile.ZipInfo) -> bool:
    # Archives made on a Mac have a second, hidden file for each.
    name = Path(member.filename)
    return name.suffix.lower() in TEXT_ENDINGS and not member.is_dir() and name.parts[0] != "__MACOSX"
