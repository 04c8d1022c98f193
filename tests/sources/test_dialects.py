"""Delimiters and quotes found in the header, encodings, and archives."""

import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.model.dialect import ENCODINGS
from scumble.sources import CSVSource, Dialect, check_columns, open_source, readings
from scumble.sources.byte_streams import ByteStream, zip_member
from scumble.sources.encodings import to_utf8
from scumble.sources.header_line import read_header

TEXT = "größe,city\n1,Köln\n2,Ωμέγα 🎨\n"
SECRET = "Zaphod,41.99887\n"


def rows(data: Any, **stated: Any) -> list[tuple[bytes, ...]]:
    """All cells as bytes."""
    source = open_source(data, dialect=Dialect(**stated))
    found: list[tuple[bytes, ...]] = []
    for batch in source.batches(source.columns()):
        columns = [column.dictionary_decode().cast("binary").to_pylist() for column in batch.columns]
        found += zip(*columns, strict=True)
    return found


# The header -----------------------------------------------------------------------------------------------------------

HEADERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "age,work": (",", '"', ("age", "work")),
    "age;work": (";", '"', ("age", "work")),
    "age\twork": ("\t", '"', ("age", "work")),
    "age|work": ("|", '"', ("age", "work")),
    "age": (",", '"', ("age",)),
    "": (",", '"', ()),
    '"age, in years";"work"': (";", '"', ("age, in years", "work")),
    "name;income, net;age": (";", '"', ("name", "income, net", "age")),
    "'age','work'": (",", "'", ("age", "work")),
    "'net; income';'work'": (";", "'", ("net; income", "work")),
    "age,worker's": (",", '"', ("age", "worker's")),
    "\"'age'\",'work'": (",", '"', ("'age'", "'work'")),
}


@pytest.mark.parametrize("line", HEADERS)
def test_delimiter_and_quote_are_found_in_the_header(line: str) -> None:
    delimiter, quote, names = HEADERS[line]
    header = read_header(line)
    assert (header.delimiter, header.quote, header.names) == (delimiter, quote, names)


def test_what_was_found_is_used_and_stated(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("'age';'work'\n'41';'a;''b'\n\"x\";y\n")
    assert rows(path) == [(b"41", b"a;'b"), (b'"x"', b"y")]
    assert readings(open_source(path)) == [f"{path} was read as CSV separated by ';', quoted by ', in UTF-8."]
    windows = Dialect(encoding="windows-1252")
    assert readings(open_source(path, dialect=windows))[0].endswith("quoted by ', in CP1252.")
    path.write_text("age,work\n1,2\n")
    assert readings(open_source(path)) == []


def test_a_tsv_file_is_separated_by_tabs(tmp_path: Path) -> None:
    path = tmp_path / "people.tsv"
    path.write_text("age, in years,whole,or not\twork\n41\ta,b\n")
    assert rows(path) == [(b"41", b"a,b")]
    assert readings(open_source(path)) == [f"{path} was read as CSV separated by 'tab', in UTF-8."]
    assert readings(open_source(path, dialect=Dialect(delimiter="\t"))) == []


# Encodings ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", [*ENCODINGS, "utf-8-sig", "UTF16", "ISO-8859-1", "windows-1252"])
def test_every_encoding(tmp_path: Path, encoding: str) -> None:
    text = TEXT if encoding.lower().startswith("utf") else TEXT.replace("Ωμέγα 🎨", "œ" if "1252" in encoding else "ÿ")
    (tmp_path / "people.csv").write_bytes(text.encode(encoding))
    expected = [tuple(cell.encode() for cell in line.split(",")) for line in text.splitlines()[1:]]
    assert rows(tmp_path / "people.csv", encoding=encoding) == expected
    assert open_source(tmp_path / "people.csv", dialect=Dialect(encoding=encoding)).columns() == ("größe", "city")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_all_256_bytes(encoding: str) -> None:
    """Each byte becomes its character, or bytes that are not UTF-8 whatever surrounds them."""
    undefined = {0x81, 0x8D, 0x8F, 0x90, 0x9D} if encoding == "cp1252" else set()
    for byte in range(256):
        found = b"".join(to_utf8([bytes([byte])], encoding))
        if byte in undefined:
            for before, after in ((b"", b""), (b"a", b"b"), (b"\xe9", b"\xe9"), (b"\x81", b"\x81")):
                with pytest.raises(UnicodeDecodeError):
                    b"".join(to_utf8([before, bytes([byte]), after], encoding)).decode()
        else:
            assert found.decode() == bytes([byte]).decode(encoding)


def units_twin(content: bytes, order: Any) -> bytes:
    """UTF-16 unit by unit."""
    units = [int.from_bytes(content[place : place + 2], order) for place in range(0, len(content) - 1, 2)]
    text, place = b"", 0
    while place < len(units):
        pair = units[place : place + 2]
        if len(pair) == 2 and 0xD800 <= pair[0] < 0xDC00 <= pair[1] < 0xE000:
            text += chr(0x10000 + ((pair[0] - 0xD800) << 10) + pair[1] - 0xDC00).encode()
            place += 1
        else:
            text += chr(pair[0]).encode("utf-8", "surrogatepass")
        place += 1
    return text + (b"\xff" if len(content) % 2 else b"")


UNITS = st.lists(
    st.binary(max_size=3) | st.sampled_from([b"\xd8\x00", b"\x00\xd8", b"\xdc\x00", b"\x00\xdc", b"\n\x00", b"\x00\n"])
).map(b"".join)


@given(content=UNITS, size=st.integers(1, 7), order=st.sampled_from(["little", "big"]))
@example(content="🎨".encode("utf-16-le"), size=2, order="little")
@example(content=b"\x00\xd8", size=2, order="little")
def test_any_bytes_are_converted_from_utf16(content: bytes, size: int, order: Any) -> None:
    chunks = [content[start : start + size] for start in range(0, len(content), size)]
    encoding = "utf-16-le" if order == "little" else "utf-16-be"
    assert b"".join(to_utf8(chunks, encoding)) == units_twin(content, order)


@given(lines=st.lists(UNITS.map(lambda raw: raw[: len(raw) // 2 * 2].replace(b"\n", b"")), max_size=3))
def test_a_line_of_utf16_is_converted_on_its_own(lines: list[bytes]) -> None:
    whole = [line[: len(line) // 2 * 2] for line in lines]
    apart = [b"".join(to_utf8([line], "utf-16-le")) for line in whole]
    assert b"".join(to_utf8([b"\n\x00".join(whole)], "utf-16-le")) == b"\n".join(apart)


def test_a_header_in_another_encoding_is_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"

    def refusal(content: bytes, **stated: Any) -> str:
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            open_source(path, dialect=Dialect(**stated)).columns()
        assert "Zaphod" not in str(caught.value)
        return str(caught.value)

    secret = SECRET.encode()
    assert "is not UTF-8 text. Pass --encoding latin-1" in refusal("größe\n".encode("latin-1") + secret)
    assert "is not UTF-8 text. Pass --encoding utf-16" in refusal(f"größe\n{SECRET}".encode("utf-16"))
    assert "is not CP1252 text. Pass --encoding latin-1" in refusal(b"gr\x81\n" + secret, encoding="cp1252")
    assert "has no byte order mark. Pass --encoding utf-16-le" in refusal("x\n".encode("utf-16-le"), encoding="utf-16")
    with pytest.raises(InputError, match=r"Unknown encoding 'utf-7'\. Available: utf-8, latin-1"):
        Dialect(encoding="utf-7")


def test_a_value_that_is_undefined_in_its_encoding_is_off_the_domain(tmp_path: Path) -> None:
    from scumble.engines import ENGINES

    schema = parse_schema("scumble: schema/1\nattributes: {city: {taxonomy: {Any: {'K\u00f6ln': , Bonn: }}}}")
    (tmp_path / "people.csv").write_bytes(b"city,n\nK\xf6ln,1\nK\x81ln,2\nBonn,3\n")
    source = open_source(tmp_path / "people.csv", dialect=Dialect(encoding="cp1252"))
    engine = ENGINES["memory"].open(source.batches(["city"]), schema)
    assert [block[0].tolist() for block in engine.blocks()] == [[0, 1]]


# Archives -------------------------------------------------------------------------------------------------------------


def archive(path: Path, members: dict[str, str], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return path


def test_the_csv_file_of_an_archive(tmp_path: Path) -> None:
    members = {"a/inner.csv": "x;y\n1;2\n", "readme.md": "", "__MACOSX/a/._inner.csv": ""}
    path = archive(tmp_path / "people.zip", members)
    for data in (path, str(path), f"{path}::a/inner.csv"):
        assert rows(data) == [(b"1", b"2")]
    assert open_source(path).name == "inner"
    archive(tmp_path / "two.zip", {"a.csv": "x,y\n1,2\n", "b.tsv": "x\ty\n3\t4\n"}, zipfile.ZIP_STORED)
    assert rows(f"{tmp_path}/two.zip::b.tsv") == [(b"3", b"4")]
    assert sorted(rows(tmp_path / "peop*.zip")) == [(b"1", b"2")]


def test_archives_that_cannot_be_read(tmp_path: Path) -> None:
    def refusal(data: Any) -> str:
        with pytest.raises(InputError) as caught:
            rows(data)
        return str(caught.value)

    two = archive(tmp_path / "two.zip", {"a.csv": "x,y\n1,2\n", "b.tsv": "x\ty\n3\t4\n"})
    assert f"two.zip has 2 CSV files. Name one: {two}::" in refusal(two)
    assert "has no CSV file 'c.csv'" in refusal(f"{two}::c.csv")
    assert "has 0 CSV files" in refusal(archive(tmp_path / "none.zip", {"people.parquet": ""}))
    (tmp_path / "text.zip").write_text(SECRET)
    assert "it is not a complete zip file" in refusal(tmp_path / "text.zip")
    noise = "".join(f"{number * number * 7919 % 1_000_003},{number % 89}\n" for number in range(20_000))
    raw = bytearray(archive(tmp_path / "damaged.zip", {"a.csv": f"x,y\n{noise}"}).read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    (tmp_path / "damaged.zip").write_bytes(raw)
    assert "damaged.zip::a.csv cannot be read: it is not a complete zip file" in refusal(tmp_path / "damaged.zip")
    source = open_source(two.with_name("two.zip::a.csv"))
    assert isinstance(source, CSVSource)
    check_columns(source, ["x", "y"])


def test_streams_know_their_names_and_sizes(tmp_path: Path) -> None:
    path = archive(tmp_path / "people.zip", {"a/inner.csv": "x,y\n1,2\n"})
    member = zip_member(str(path))
    assert member is not None
    assert (str(member), member.plain_name, member.size) == (f"{path}::a/inner.csv", "inner.csv", None)
    assert list(member.chunks(3)) == [b"x,y", b"\n1,", b"2\n"]
    (tmp_path / "people.csv").write_text("x,y\n")
    plain = ByteStream(path=tmp_path / "people.csv")
    assert (plain.plain_name, plain.size) == ("people.csv", 4)
    assert ByteStream(path=tmp_path / "people.csv.gz").plain_name == "people.csv"
    for other in ("people.csv", "absent.zip", "people.duckdb::a.zip::b"):
        assert zip_member(str(tmp_path / other)) is None


def test_a_header_may_be_longer_than_a_field_that_the_module_csv_reads() -> None:
    names = tuple(f"column number {place:06d}" for place in range(8_000))
    assert read_header(",".join(names)).names == names


def test_a_damaged_archive_is_an_error_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "people.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("people.csv", "a,b\n" + "".join(f"{row},{row * 7 % 13}\n" for row in range(200_000)))
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 50] = bytes(each ^ 0x5A for each in damaged[middle : middle + 50])
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=r"damaged|complete"):
        list(open_source(path).batches(["a"]))
