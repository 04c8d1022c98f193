"""The documentation site: every page is there, every link leads somewhere, and a planted broken one is found."""

from pathlib import Path

import pytest
from assemble import ROOT, BrokenLinkError, Site, assemble, headings, moved
from build_site import CONTENTS, contents
from reference import reference

import scumble


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "src" / "scumble" / "methods" / "some").mkdir(parents=True)
    (tmp_path / "src" / "scumble" / "methods" / "some" / "PROOF.md").write_text(
        "# Proof\n\n[words](../../../../docs/a.md#one)\n"
    )
    (tmp_path / "README.md").write_text("# Readme\n\n[a](docs/a.md), ![plot](docs/plot.svg)\n")
    (tmp_path / "docs" / "plot.svg").write_text("<svg/>")
    (tmp_path / "docs" / "a.md").write_text(
        "# A\n\n## One\n\n[read](../README.md) [code](../src/scumble/methods/some/PROOF.md)\n"
    )
    return tmp_path


def test_links_are_adapted_to_the_places_on_the_site(small: Path) -> None:
    site = Site.of(small)
    assert moved(small, site, "docs/a.md")[0].endswith("[read](readme.md) [code](proofs/methods-some.md)\n")
    assert moved(small, site, "README.md")[0].endswith("[a](a.md), ![plot](plot.svg)\n")
    assert "(../a.md#one)" in moved(small, site, "src/scumble/methods/some/PROOF.md")[0]


@pytest.mark.parametrize("link", ["[x](nowhere.md)", "[x](a.md#two)", "![x](missing.svg)", "[x](#two)"])
def test_a_link_to_nothing_is_an_error(small: Path, link: str) -> None:
    page = small / "docs" / "a.md"
    page.write_text(page.read_text() + link)
    with pytest.raises(BrokenLinkError, match=r"a\.md"):
        moved(small, Site.of(small), "docs/a.md")


def test_links_in_code_and_to_other_sites_are_left_alone(small: Path) -> None:
    (small / "docs" / "a.md").write_text("# A\n\n```\n[x](nowhere.md)\n```\n[y](https://example.org/z)\n")
    text, links = moved(small, Site.of(small), "docs/a.md")
    assert links == 0 and "[x](nowhere.md)" in text and "(https://example.org/z)" in text


def test_a_link_to_source_code_becomes_text(small: Path) -> None:
    (small / "src" / "scumble" / "a.py").write_text("")
    (small / "docs" / "a.md").write_text("# A\n\n[`a.py`](../src/scumble/a.py)\n")
    assert moved(small, Site.of(small), "docs/a.md")[0].endswith("\n`a.py`\n")


def test_a_link_to_a_generator_leads_to_its_page(small: Path) -> None:
    (small / "docs" / "site").mkdir()
    (small / "docs" / "site" / "reference.py").write_text("")
    (small / "docs" / "a.md").write_text("# A\n\n[API](site/reference.py)\n")
    assert moved(small, Site.of(small), "docs/a.md")[0].endswith("[API](api.md)\n")
    assert "(api.md)" in moved(ROOT, Site.of(ROOT), "docs/index.md")[0]


def test_headings_have_the_anchors_of_github(small: Path) -> None:
    page = small / "docs" / "a.md"
    page.write_text("# What is `x`?\n## Two words, and more\n## Two words, and more\n```\n# code\n```\n")
    assert headings(page) == {"what-is-x", "two-words-and-more", "two-words-and-more-1"}


def test_every_link_between_our_pages_leads_somewhere(tmp_path: Path) -> None:
    assert assemble(ROOT, tmp_path / "source") > 150
    assert (tmp_path / "source" / "proofs" / "methods-diffgen.md").exists()


def test_every_page_is_in_the_contents_once() -> None:
    pages = [*Site.of(ROOT).pages.values(), "api.md"]
    listed = [line for line in contents(pages).splitlines() if line and not line.startswith(("`", ":"))]
    assert sorted(listed) == sorted(page.removesuffix(".md") for page in pages if page != "index.md")
    assert {page for part in CONTENTS.values() for page in part} <= set(listed)


def test_the_reference_has_every_public_name() -> None:
    text = reference()
    assert [name for name in scumble.__all__ if f"### {name}\n" not in text] == []
    assert "```python\nquery(" in text
