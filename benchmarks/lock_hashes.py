"""Adds the SHA-256 of every file that pip may install to pinned requirements; used by `make lock`.

Reads lines NAME==VERSION on standard input and asks the package index that pip is configured for. Writes the hashes of
all wheels for Linux and macOS and for the supported versions of Python, or of the source archive if there is no wheel.
"""

import html
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

from packaging.tags import Tag
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

OLDEST_PYTHON = 11
LINK = re.compile(r'<a[^>]*href="[^"]*#sha256=(?P<digest>[0-9a-f]{64})"[^>]*>(?P<name>[^<]*)</a>')


def hashes(page: str, version: Version) -> list[str]:
    """The hashes of the files of a version on a page of the index, sorted."""
    wheels, archives = set(), set()
    for found in LINK.finditer(page):
        name, digest = html.unescape(found["name"].strip()), found["digest"]
        try:
            if name.endswith(".whl"):
                _, stated, _, tags = parse_wheel_filename(name)
                if stated == version and any(map(is_supported, tags)):
                    wheels.add(digest)
            elif parse_sdist_filename(name)[1] == version:
                archives.add(digest)
        except (InvalidWheelFilename, InvalidSdistFilename):
            continue
    return sorted(wheels or archives)


def is_supported(tag: Tag) -> bool:
    """Whether a wheel with this tag can be installed on a supported system by a supported Python."""
    if not tag.platform.startswith(("any", "manylinux", "linux", "macosx")):
        return False
    number = re.fullmatch(r"cp3(\d+)", tag.interpreter)
    if number is None:
        return tag.interpreter in ("py3", "py2")
    return tag.abi == "abi3" or (int(number[1]) >= OLDEST_PYTHON and not tag.abi.endswith("t"))


def index_address() -> str:
    """The address of the index that pip asks."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    stated = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if stated:
        return stated.rstrip("/")
    from pip._internal.models.index import PyPI

    return str(PyPI.simple_url)


def with_hashes(lines: list[str], index: str) -> Iterator[str]:
    """The same lines, each requirement followed by its hashes."""
    for line in lines:
        name, pinned, version = line.partition("==")
        if not pinned:
            yield line
            continue
        with urllib.request.urlopen(f"{index}/{re.sub('[-_.]+', '-', name).lower()}/", timeout=60) as answer:
            found = hashes(answer.read().decode(), Version(version))
        if not found:
            raise SystemExit(f"The index has no file of {line}.")
        yield " \\\n".join([line, *(f"    --hash=sha256:{digest}" for digest in found)])


if __name__ == "__main__":
    stated = [line.strip() for line in sys.stdin if line.strip() and "--hash" not in line]
    print("\n".join(with_hashes([line.removesuffix("\\").strip() for line in stated], index_address())))
