"""What a message shows of a source: paths as they are, addresses without what may be a password."""

import pytest

from scumble.sources.addresses import is_address, is_postgres, shown_address


@pytest.mark.parametrize(
    "path", ["people.csv", "/data/people.csv", "a b/c=d.csv", "C:/people.csv", "x.duckdb::t", "*.csv"]
)
def test_paths_are_shown_as_they_are(path: str) -> None:
    assert not is_address(path)
    assert shown_address(path) == path


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:secret@host:1/people", "postgresql://ann@host:1/people"),
        ("POSTGRESQL://ann:secret@host/people", "POSTGRESQL://ann@host/people"),
        ("mysql://ann:secret@host/people", "mysql://ann@host/people"),
        ("mysql://ann:se/cret@host/people", "the database of this connection string"),
        ("mysql:/ann:secret@host/people", "the database of this connection string"),
        ("HOST=h PassWord = secret", "the database of this connection string"),
        ("Postgres://ann:se@cret@host/people", "the PostgreSQL database"),
        ("s3a://key:secret@bucket/table.parquet", "s3a://key@bucket/table.parquet"),
    ],
)
def test_addresses_are_shown_without_passwords(address: str, shown: str) -> None:
    assert is_address(address)
    assert shown_address(address) == shown


def test_the_scheme_of_postgresql_is_known_in_any_case() -> None:
    assert is_postgres("PostgreSQL://host/people")
    assert not is_postgres("postgresql:people")
