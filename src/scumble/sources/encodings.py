"""Converts text files of other encodings to UTF-8 before they are split into records. Nothing raises.

Bytes that have no meaning in the encoding become bytes that are not UTF-8, so the value that contains them is off the
domain: the five undefined bytes of cp1252, and in UTF-16 the surrogates without a partner and an odd byte at the end.
Conversion is local: it looks at one byte, or in UTF-16 at one unit of 16 bits and its partner, and a line feed is never
a partner. So a line is converted in the same way whatever the other lines are.
"""

from collections.abc import Iterable, Iterator

BYTE_ORDERS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def to_utf8(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The text of a file as UTF-8, a byte order mark included. `utf-16` needs such a mark to state the byte order;
    without one, the order is taken to be little-endian."""
    if encoding == "utf-8":
        yield from chunks
    elif encoding.startswith("utf-16"):
        yield from _from_units(chunks, encoding)
    else:
        for chunk in chunks:
            yield chunk.decode(encoding, "surrogateescape").encode("utf-8", "surrogateescape")


def _from_units(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    begun = b""
    for chunk in chunks:
        begun += chunk
        if len(begun) < 2:
            continue
        if encoding == "utf-16":
            encoding = BYTE_ORDERS.get(begun[:2], "utf-16-le")
        whole = len(begun) - len(begun) % 2
        if _is_first_surrogate(begun[whole - 2 : whole], encoding):
            whole -= 2
        yield _units(begun[:whole], encoding)
        begun = begun[whole:]
    whole = len(begun) - len(begun) % 2
    yield _units(begun[:whole], encoding) + (b"\xff" if len(begun) % 2 else b"")


def _is_first_surrogate(unit: bytes, encoding: str) -> bool:
    first, last = 0xD800, 0xDBFF
    return first <= int.from_bytes(unit, "little" if encoding == "utf-16-le" else "big") <= last


def _units(data: bytes, encoding: str) -> bytes:
    return data.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
