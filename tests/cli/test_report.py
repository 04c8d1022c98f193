"""`scumble report --audience technical`: all of its parts, marked on every page, and never in a release folder."""

from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble

from scumble.auditing.audience_reports import OWNER_ONLY, OWNER_ONLY_AUDIT
from scumble.cli.report import report
from scumble.flows.release import release, verify


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two releases, the rows behind them, and other rows."""
    folder = tmp_path_factory.mktemp("technical")
    for seed, name in enumerate(("people", "test", "control"), start=1):
        (folder / f"{name}.csv").write_text(people(120, seed=seed), encoding="utf-8")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    for name in ("out", "other"):
        release(
            folder / "people.csv",
            schema=folder / "schema.yaml",
            epsilon="1",
            rounds=2,
            detail="no",
            ledger=folder / f"{name}.db",
            witness=folder / f"{name}-witness.db",
            out=folder / name,
        )
    return folder


def rows(place: Path, *names: str) -> list[object]:
    files = {"train": "people.csv", "test": "test.csv", "control": "control.csv"}
    return [word for name in names for word in (f"--{name}", place / files[name])]


PARTS = {
    "evaluation.html": ("Distances", "Predicting the class", "Random queries", "Associations"),
    "attacks.html": ("membership inference", "attribute inference", "singling out", "linkage"),
    "risk.html": ("prosecutor", "journalist", "marketer"),
}
"""The pages that are computed from raw rows, and words of their parts. Fidelity is part of the evaluation."""


def check_pages(place: Path, out: Path, *, runs: int, parts: dict[str, tuple[str, ...]]) -> str:
    """Write the report, check its pages and that the release is unchanged, and return what went to standard error."""
    before = {path.name: path.read_bytes() for path in (place / "out").iterdir()}
    words = ["report", place / "out", "--audience", "technical", "--out", out, "--runs", runs, "--json"]
    ended = scumble(*words, *rows(place, "train", "test", "control"))
    assert {Path(page).name for page in ended.json["pages"]} == set(parts)
    pages = {path.name: path.read_text("utf-8") for path in out.glob("*.html")}
    assert set(pages) == set(parts), "no page is written that is not named"
    for name, page in pages.items():
        raw = name != "audit.html"
        assert page.count(OWNER_ONLY if raw else OWNER_ONLY_AUDIT) == 1, name
        assert page.count("For the owner of the data alone: ") == 1, name
        assert "Do not publish." in page, name
    for name, texts in parts.items():
        assert [text for text in texts if text.lower() not in pages[name].lower()] == [], name
        assert "<script" not in pages[name], name
    assert {path.name: path.read_bytes() for path in (place / "out").iterdir()} == before
    assert verify(place / "out")
    return ended.err


def test_attacks_fidelity_risk_and_evaluation_are_in_it_and_every_page_is_marked(place: Path, tmp_path: Path) -> None:
    said = check_pages(place, tmp_path / "pages", runs=0, parts=PARTS)
    assert said == "notice: No audit: give --runs.\n"


@pytest.mark.audit
def test_with_an_audit_nothing_is_missing(place: Path, tmp_path: Path) -> None:
    parts = {**PARTS, "audit.html": ("declared epsilon", "lower bound")}
    assert check_pages(place, tmp_path / "pages", runs=100, parts=parts) == ""


def test_what_is_missing_is_named(place: Path, tmp_path: Path) -> None:
    words = ["report", place / "out", "--audience", "technical", "--out", tmp_path / "pages", "--runs", "0"]
    ended = scumble(*words, *rows(place, "train"))
    assert ended.code == 0, ended.err
    assert [line.partition(":")[0] for line in ended.err.splitlines()] == ["notice"] * 3
    for text in ("No classifiers were tested", "No attacks", "No audit"):
        assert text in ended.err
    assert OWNER_ONLY in ended.out
    assert {path.name for path in (tmp_path / "pages").glob("*.html")} == {"evaluation.html", "risk.html"}


def test_too_few_runs_are_refused_before_a_page_is_written(place: Path, tmp_path: Path) -> None:
    words = ["report", place / "out", "--audience", "technical", "--out", tmp_path / "pages", "--runs", "10"]
    assert "too few" in scumble(*words, *rows(place, "train", "test", "control")).error
    assert not (tmp_path / "pages").exists()


INSIDE = ("out", "out/pages", "out/a/b", "other", "other/pages", "link", "link/pages", "out/../out")


@pytest.mark.parametrize("inside", INSIDE)
def test_nothing_of_it_is_written_into_a_release_folder(
    place: Path, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither into the folder itself, nor below it, nor into another release, nor through a link."""
    monkeypatch.chdir(place)
    if not Path("link").is_symlink():
        Path("link").symlink_to("out")
    before = sorted(path for name in ("out", "other") for path in (place / name).rglob("*"))
    words = ["report", "out", "--audience", "technical", "--out", inside, *rows(place, "train", "test", "control")]
    assert "which is for publication" in scumble(*words).error
    assert sorted(path for name in ("out", "other") for path in (place / name).rglob("*")) == before
    assert report.__doc__ is not None
