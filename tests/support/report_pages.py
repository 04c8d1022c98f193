"""Shared by the tests of report pages: a strict HTML parser, hostile names, attributes in one line."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser

from scumble.model.domain import Domain
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree

CODE_BLOCK = r"(?ms)^```python\n(.*?)^```$"
RECEIPT = {"entry": "ab" * 32, "charged": "1", "spent": "1.5", "ceiling": "3"}
VOID = {"meta", "br", "link", "img", "input", "hr"}
TAGS = """html head meta title style body header main footer section figure figcaption h1 h2 p div span b i strong code
    pre ul ol li dl dt dd table thead tbody tr th td details summary svg rect line"""
EXPECTED_TAGS = set(TAGS.split())
HOSTILE = ("<script>alert(1)</script>", "\"quote' & <b>bold</b>", "`tick` ``two`` |pipe| *star*", "{{ 7 * 7 }} \\ \\n")


def attribute(name: str, domain: Domain, missing: str | None = None) -> Attribute:
    return Attribute(name=name, domain=domain, outside=Outside.CLAMP, missing=missing)


def flat(name: str, labels: Sequence[str]) -> Attribute:
    return attribute(name, Tree.flat(labels))


class Page(HTMLParser):
    """Parses a page and checks that its tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, f"<{tag}/> means nothing in HTML"
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())


def code_blocks(markdown: str) -> list[str]:
    return re.findall(CODE_BLOCK, markdown)
