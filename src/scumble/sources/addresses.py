"""Addresses of databases in messages, without passwords.

Whatever looks like a connection string may contain a password, whether or not scumble can read such a database. Every
message about a source shows it through `shown_address`.
"""

import re

POSTGRES = ("postgresql://", "postgres://")
SCHEME = re.compile(r"\s*[a-z][a-z0-9+.\-]+:/", re.IGNORECASE)
SECRET = re.compile(r"\b(?:password|passwd|passphrase|pwd|secret|token|sslpassword)\s*=", re.IGNORECASE)
SAFE_ADDRESS = re.compile(
    r"(?P<scheme>\w+://)(?:(?P<user>[^/?#@:]*)(?::[^/?#@]*)?(?=@))?(?P<place>@?[\w.\-\[\]:,%]*(?:/[\w.%~\-]*)?)(?:\?[^@]*)?$",
    re.ASCII,
)
"""An address in which it is clear what is the password: no `/`, `?`, `#` or `@` in it, unless percent-encoded."""


def is_address(text: str) -> bool:
    """Whether a text looks like the address of a database or a connection string rather than like the path of a file.

    >>> [is_address(each) for each in ("MySQL://ann:secret@host/people", "host=h password = secret", "a/people.csv")]
    [True, True, False]
    """
    return SCHEME.match(text) is not None or SECRET.search(text) is not None


def is_postgres(text: str) -> bool:
    """Whether a text is the address of a PostgreSQL database, in small letters or large ones."""
    return text.lower().startswith(POSTGRES)


def shown_address(text: str) -> str:
    """A source in a message: a path as it is, and an address as far as it cannot contain a password.

    An address that has another form, such as one whose password contains an `@`, is not shown at all.

    >>> shown_address("postgresql://ann:secret@host/people?password=other")
    'postgresql://ann@host/people'
    >>> shown_address("postgresql://ann:se@cret@host/people"), shown_address("host=h password=secret")
    ('the PostgreSQL database', 'the database of this connection string')
    >>> shown_address("people.csv")
    'people.csv'
    """
    if not is_address(text):
        return text
    found = SAFE_ADDRESS.match(text)
    if found is not None:
        return f"{found['scheme']}{found['user'] or ''}{found['place']}"
    return "the PostgreSQL database" if is_postgres(text) else "the database of this connection string"
