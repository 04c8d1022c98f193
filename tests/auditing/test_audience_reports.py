"""Reports by audience: nothing computed from raw rows is public, and the owner's pages say so."""

from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble

from scumble.auditing.audience_reports import OWNER_ONLY, Audience, marked, write_reports
from scumble.cli.report import report
from scumble.errors import InputError
from scumble.flows.release import release, verify


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("reports")
    (place / "people.csv").write_text(people(200), encoding="utf-8")
    (place / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    release(
        place / "people.csv",
        schema=place / "schema.yaml",
        method="histograms",
        epsilon="1",
        ledger=place / "ledger.db",
        witness=place / "witness.db",
        out=place / "out",
    )
    return place


def test_the_public_report_is_that_of_the_folder(folder: Path, tmp_path: Path) -> None:
    pages = write_reports(folder / "out", audience=Audience.PUBLIC, out=tmp_path / "public", runs=0)
    assert [page.name for page in pages] == ["report.html"]
    assert pages[0].read_bytes() == (folder / "out" / "report.html").read_bytes()


def test_a_public_report_never_reads_raw_rows(folder: Path, tmp_path: Path) -> None:
    for option in ("train", "test", "control"):
        with pytest.raises(InputError, match="never computed from raw rows"):
            write_reports(
                folder / "out", audience=Audience.PUBLIC, out=tmp_path, **{option: str(folder / "people.csv")}
            )


@pytest.mark.parametrize("audience", Audience)
def test_no_report_is_written_into_a_release(folder: Path, audience: Audience) -> None:
    for place in (folder / "out", folder / "out" / "reports"):
        with pytest.raises(InputError, match="release folder"):
            write_reports(folder / "out", audience=audience, out=place, train=str(folder / "people.csv"))
    assert verify(folder / "out")


def test_a_page_for_the_owner_says_so_once() -> None:
    page = marked("<html><body><h1>x</h1></body></html>")
    assert page.count(OWNER_ONLY) == 1
    assert marked(page) == page


def test_the_command_line(folder: Path, tmp_path: Path) -> None:
    assert report.__name__ == "report"
    words = ("report", folder / "out", "--out", tmp_path / "board", "--audience", "board")
    assert "raw rows" in scumble(*words).error
    ended = scumble(*words, "--train", folder / "people.csv")
    assert ended.code == 0, ended.err
    assert OWNER_ONLY in ended.out
    assert OWNER_ONLY in (tmp_path / "board" / "evaluation.html").read_text("utf-8")
    assert "Unknown audience" in scumble("report", folder / "out", "--out", tmp_path, "--audience", "press").error
