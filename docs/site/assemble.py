"""Assembles the pages of the documentation site, and checks every link between them.

The pages in docs/, the README, the proofs beside the code and a generated reference of the Python API go into one
folder, in which Sphinx builds the site. Links between pages are adapted to the new places. A link to a file of the
source code becomes plain text, because the site does not contain it; a link to nothing is an error.
"""

import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)")
FENCE = re.compile(r"^(```|~~~)", re.M)
OTHERS = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages outside docs/ that are part of the site."""
GENERATED = {"docs/site/reference.py": "api.md"}
"""Programs that write a page of the site. In the repository, a link leads to the program; on the site, to the page."""


class BrokenLinkError(Exception):
    """A link to a page, file or heading that does not exist."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where every page comes from and goes to, both as paths relative to their folders."""

    pages: Mapping[str, str]

    @classmethod
    def of(cls, root: Path) -> "Site":
        pages = {f"docs/{path.name}": path.name for path in sorted((root / "docs").glob("*.md"))}
        pages |= {name: new for name, new in OTHERS.items() if (root / name).exists()}
        for proof in sorted((root / "src" / "scumble").rglob("PROOF.md")):
            name = "-".join(proof.parent.relative_to(root / "src" / "scumble").parts)
            pages[proof.relative_to(root).as_posix()] = f"proofs/{name}.md"
        return cls(pages=pages)


def assemble(root: Path, out: Path) -> int:
    """Write all pages and pictures into a new folder; returns the number of links that were checked."""
    site, checked, broken = Site.of(root), 0, []
    shutil.rmtree(out, ignore_errors=True)
    for old, new in site.pages.items():
        try:
            text, links = moved(root, site, old)
        except BrokenLinkError as error:
            broken.append(str(error))
            continue
        checked += links
        place = out / new
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    if broken:
        raise BrokenLinkError("\n".join(broken))
    return checked


def moved(root: Path, site: Site, page: str) -> tuple[str, int]:
    """The text of a page with links as they are on the site, and their number."""
    new = site.pages[page]
    links = 0

    def adapted(match: re.Match[str]) -> str:
        nonlocal links
        target = match["target"]
        if re.match(r"[a-z]+:", target):
            return match.group()
        links += 1
        path, _, heading = target.partition("#")
        here = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if not (root / here).exists():
            raise BrokenLinkError(f"{page}: the link to {target} leads nowhere.")
        if heading and heading not in headings(root / here):
            raise BrokenLinkError(f"{page}: {here} has no heading #{heading}.")
        if written := site.pages.get(here) or GENERATED.get(here):
            there = posixpath.relpath(written, posixpath.dirname(new) or ".")
            return f"{match['image']}[{match['text']}]({there}{'#' + heading if heading else ''})"
        if (root / here).suffix in {".svg", ".png"}:
            return f"{match['image']}[{match['text']}]({copied(root, here, new)})"
        return match["text"]

    parts = list(_parts((root / page).read_text("utf-8")))
    return "".join(part if code else LINK.sub(adapted, _plain_headings(part)) for code, part in parts), links


def _plain_headings(text: str) -> str:
    """Headings without links, which Sphinx does not allow in a table of contents."""
    return re.sub(
        r"^#{1,6} .*$", lambda heading: LINK.sub(lambda link: link["text"], heading.group()), text, flags=re.M
    )


def copied(root: Path, picture: str, page: str) -> str:
    """The place of a picture relative to a page. Pictures keep their place below docs/."""
    return posixpath.relpath(posixpath.relpath(picture, "docs"), posixpath.dirname(page) or ".")


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub and MyST make them."""
    found: set[str] = set()
    for code, part in _parts(page.read_text("utf-8")):
        for title in () if code else re.findall(r"^#{1,6} (.+)$", part, re.M):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower()
            anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            number = 0
            while (unique := anchor if not number else f"{anchor}-{number}") in found:
                number += 1
            found.add(unique)
    return found


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces, each with whether it is code between fences."""
    begin, inside = 0, False
    for fence in FENCE.finditer(text):
        end = fence.start() if not inside else text.find("\n", fence.end()) + 1 or len(text)
        yield inside, text[begin:end]
        begin, inside = end, not inside
    yield inside, text[begin:]
