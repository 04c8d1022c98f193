"""Reads the code of the documentation's pages: what is run, what is written to a file, and what is not run and why.

| in the page | what happens to it |
|---|---|
| ```console | commands after a dollar sign run, and below each stands its output |
| ```sh | every line is a command; the output is not shown |
| ```python | runs in a new interpreter |
| ```yaml file=schema.yaml (or toml, text, ...) | is written to this file; without `file=` it is only shown |
| `<!-- not run: reason -->` before a block | the block is not run, and the reason is listed |
| `<!-- first: commands -->` | runs here and is not shown: what a reader of this place has done already |

After `console` and `sh`, `exit=3` states another exit code than 0. After `console`, `lines=12` shortens the shown
output, `noise=numbers`, `choices`, `lines` or `all` says how much of it is random (`printed`), and `commands=1` says
that only the first dollar sign is ours: the command prints others. `stderr=yes` shows warnings too, after the output;
without it, the standard error is shown only beside an exit code. An option that does not exist is an error.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = frozenset({"console", "sh", "python"})
SHOWN = frozenset({"yaml", "toml", "text", "json", "csv", "nginx"})
"""Languages in which nothing can be run."""
PIECE = re.compile(
    r"^<!-- first:(?P<first>.*?)-->$"
    r"|^(?:<!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"(?P<fence>```(?P<language>\w*)(?P<options>[^\n]*)\n(?P<body>.*?)^```$)",
    re.M | re.S,
)
OPTIONS = {
    "file": r"[\w./-]+",
    "exit": r"\d+",
    "lines": r"\d+",
    "noise": "numbers|choices|lines|all",
    "commands": "1",
    "stderr": "yes",
}
"""What may follow the language of a block, and the form of each value."""
ODD_FENCE = re.compile(r"^(?:[ \t]+```|~~~)", re.M)
"""Code that `PIECE` would not see."""


class UnmarkedCodeError(Exception):
    """A block of a page that is neither run nor marked as not run."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of code of a page. Its language is 'first' if the page does not show it."""

    page: str
    line: int
    language: str
    body: str
    text: str = ""
    options: Mapping[str, str]
    reason: str | None = None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> bool:
        return self.reason is None and (self.language == "first" or self.language in COMMANDS)


def pages(root: Path = ROOT) -> list[Path]:
    """All pages whose code is run."""
    return [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]


def blocks(page: Path, root: Path = ROOT) -> Iterator[Block]:
    """The code of a page, in order. Raises `UnmarkedCodeError` at a block that is neither run nor marked."""
    name, text = page.relative_to(root).as_posix(), page.read_text("utf-8")
    if odd := ODD_FENCE.search(text):
        raise UnmarkedCodeError(f"{name}:{_line(text, odd.start())}: begin blocks of code with ``` at the left margin.")
    for piece in PIECE.finditer(text):
        if piece["first"] is not None:
            body, language, options = piece["first"].strip() + "\n", "first", ""
        else:
            body, language, options = piece["body"], piece["language"], piece["options"]
        block = Block(
            page=name,
            line=_line(text, piece.start()),
            language=language,
            body=body,
            text=piece["fence"] or "",
            options=_options(options, f"{name}:{_line(text, piece.start())}"),
            reason=piece["reason"],
        )
        if not block.runs and block.reason is None and language not in SHOWN:
            raise UnmarkedCodeError(
                f"{block.place}: this block is not run. Write ```console, ```sh or ```python if it can be, ```text if "
                f"it is no code, else put <!-- not run: reason --> before it."
            )
        yield block


def logical_lines(body: str) -> list[str]:
    """The commands of a script, without comments: a backslash joins a line to the next.

    >>> logical_lines("# first\\nls \\\\\\n  -l   # all\\n\\ntrue\\n")
    ['ls \\\\\\n  -l', 'true']
    """
    found: list[str] = []
    going_on = False
    for line in body.splitlines():
        plain = re.sub(r"(^|\s+)#.*", "", line)
        if going_on:
            found[-1] = f"{found[-1]}\n{plain}"
        elif plain.strip():
            found.append(plain)
        going_on = plain.endswith("\\")
    return found


def _options(words: str, place: str) -> dict[str, str]:
    found = {}
    for word in words.split():
        option, _, value = word.partition("=")
        if option not in OPTIONS or not re.fullmatch(OPTIONS[option], value):
            raise UnmarkedCodeError(f"{place}: no option {word!r} of a block. Available: {', '.join(OPTIONS)}.")
        found[option] = value
    return found


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
