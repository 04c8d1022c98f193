"""Changes of inputs: of bytes, of lines, of numbers, and of the values of a JSON document."""

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

LONGEST = 1 << 17
"""Longer inputs are cut: they cost time and find little."""
NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
PLAIN_NUMBERS = (
    b"0 -0 -1 1 0.5 255 256 65536 2147483648 4294967296 9007199254740993 9223372036854775807 9223372036854775808 "
    b"18446744073709551616 1e308 1e309 -1e309 1e-400 1e999999999 0e999999999 1/0 1/3 1e5 NaN nan Infinity -inf 0x10 "
    b"1_0 00012 .5 5. +1 1e400 170141183460469231731687303715884105728"
)
NUMBERS = [*PLAIN_NUMBERS.split(), b"9" * 400, b"9" * 5000, b"0." + b"1" * 3000, "٣".encode(), "½".encode()]
PLAIN_TOKENS = (
    b"\x00 \xff \xfe\xff \xef\xbb\xbf \xed\xa0\x80 \r\n \r \n\n \t '' \"\" \" ' ` ; , : | > & * ! % @ # ? - --- ... "
    b"{ } [ ] ( ) {} [] null true false yes no ~ <<: &a *a !!python/object !!binary !!set %YAML %TAG ../ "
    b"../../etc/passwd /dev/zero /dev/stdin \\ \\u0000 \\ud800 and or not in between is missing = != <> <= >= < like "
    b"[0,1) [0-9]{5} [A-Z] {999999} {99999999999} * %Y %d.%m.%Y 2020-01-01 2020-13-45 0000-00-00 9999-12-31 +00:00"
)
TOKENS = [*PLAIN_TOKENS.split(b" "), "\u202e".encode(), "\u2028".encode(), "e\u0301".encode(), b"\x1b[2J"]
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    1.5,
    -0.0,
    1e308,
    10**30,
    10**400,
    2**63,
    2**64,
    float("nan"),
    float("inf"),
    "",
    "a",
    "\x00",
    "\ud800",
    "1e999999999",
    "1/0",
    "1/3",
    "9" * 5000,
    "../x",
    "release/1",
    [],
    {},
    [[]],
    {"": None},
    [None] * 50,
    list(range(300)),
    "x" * 2000,
)

VERY_DEEP = 0.01
"""How often nested brackets are thousands. Such an input takes longer than all others together and shows little new."""

Mutator = Callable[[Random, bytes], bytes]


def _slice(random: Random, data: bytes, most: int = 64) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.randrange(1, most + 1))


def _flip(random: Random, data: bytes) -> bytes:
    if not data:
        return data
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :]


def _overwrite(random: Random, data: bytes) -> bytes:
    start, end = _slice(random, data, 8)
    return data[:start] + random.randbytes(end - start) + data[end:]


def _insert(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.randbytes(random.randrange(1, 9)) + data[place:]


def _token(random: Random, data: bytes) -> bytes:
    start, end = _slice(random, data, 8)
    return data[:start] + random.choice(TOKENS) + data[random.choice((start, end)) :]


def _delete(random: Random, data: bytes) -> bytes:
    start, end = _slice(random, data)
    return data[:start] + data[end:]


def _repeat(random: Random, data: bytes) -> bytes:
    start, end = _slice(random, data)
    times = random.choice((2, 3, 10, 300)) if end - start < 20 else 2
    return data[:start] + data[start:end] * times + data[end:]


def _cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _move(random: Random, data: bytes) -> bytes:
    start, end = _slice(random, data)
    rest = data[:start] + data[end:]
    place = random.randrange(len(rest) + 1)
    return rest[:place] + data[start:end] + rest[place:]


def _number(random: Random, data: bytes) -> bytes:
    found = list(NUMBER.finditer(data[:LONGEST]))
    if not found:
        return _token(random, data)
    match = random.choice(found)
    return data[: match.start()] + random.choice(NUMBERS) + data[match.end() :]


def _line(random: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(5):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case 3:
            lines[one] = b"  " + lines[one]
        case _:
            lines[one] = lines[one].lstrip()
    return b"\n".join(lines)


def _words(random: Random, data: bytes) -> bytes:
    """Exchange two words."""
    found = list(re.finditer(rb"[\w.-]+", data[:LONGEST]))
    if len(found) < 2:
        return _flip(random, data)
    first, second = sorted(random.sample(found, 2), key=lambda match: match.start())
    return data[: first.start()] + second[0] + data[first.end() : second.start()] + first[0] + data[second.end() :]


def _nest(random: Random, data: bytes) -> bytes:
    opening, closing = random.choice(((b"[", b"]"), (b"{a: ", b"}"), (b"(", b")"), (b"not ", b""), (b'{"a":', b"}")))
    depth = 3000 if random.random() < VERY_DEEP else random.choice((3, 20, 50, 120, 250))
    start, end = _slice(random, data)
    return data[:start] + opening * depth + data[start:end] + closing * depth + data[end:]


def document(random: Random, data: bytes) -> bytes:
    """Change values of a JSON document; bytes that are none are changed as bytes."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return changed_bytes(random, data)
    box = [tree]
    try:
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            change_value(random, box)
        return json.dumps(box[0]).encode("utf-8", "surrogatepass")
    except (ValueError, OverflowError, RecursionError):  # a number of too many digits, or too many levels
        return data


def change_value(random: Random, box: list[Any]) -> None:
    """Walk down to a random value and change it."""
    place: Any = box
    key: Any = 0
    while True:
        inner = place[key]
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner))) if isinstance(inner, list) else []
        if not keys or (place is not box and random.random() < 0.25):
            break
        place, key = inner, random.choice(keys)
    value = place[key]
    match random.randrange(8):
        case 0 | 1 | 2:
            place[key] = random.choice(VALUES)
        case 3 if place is not box:
            del place[key]
        case 4 if isinstance(place, dict):
            place[random.choice(("", "a", "\x00", "scumble", "count", "__class__"))] = value
        case 4 if isinstance(place, list) and place is not box:
            place.insert(0, value)
        case 5:
            place[key] = [value]
        case 6 if isinstance(value, str) and value:
            place[key] = changed_bytes(random, value.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        case 6 if isinstance(value, int | float) and not isinstance(value, bool):
            place[key] = random.choice((-value, value + 1, value * 10**6, str(value), float(min(value, 10**300))))
        case _:
            nested = value
            for _ in range(random.choice((2, 30, 150, 300))):
                nested = [nested]
            place[key] = nested


BYTE_CHANGES: Sequence[Mutator] = (_flip, _overwrite, _insert, _token, _token, _delete, _repeat, _cut, _move, _number)
TEXT_CHANGES: Sequence[Mutator] = (*BYTE_CHANGES, _number, _number, _line, _line, _line, _words, _words, _nest)


def changed_bytes(random: Random, data: bytes) -> bytes:
    """One to four changes of bytes, numbers and tokens."""
    return _some(random, data, BYTE_CHANGES)


def text(random: Random, data: bytes) -> bytes:
    """One to four changes of a text that has lines, words and numbers."""
    return _some(random, data, TEXT_CHANGES)


def _some(random: Random, data: bytes, changes: Sequence[Mutator]) -> bytes:
    for _ in range(random.choice((1, 1, 2, 4))):
        data = random.choice(changes)(random, data)
    return data[:LONGEST]


def json_or_text(random: Random, data: bytes) -> bytes:
    """Change a document by its values, and sometimes as text."""
    return document(random, data) if random.random() < 0.7 else text(random, data)


def spliced(random: Random, one: bytes, other: bytes) -> bytes:
    """The beginning of one input and the end of another."""
    return (one[: random.randrange(len(one) + 1)] + other[random.randrange(len(other) + 1) :])[:LONGEST]
