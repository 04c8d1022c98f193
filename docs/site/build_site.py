"""Builds the documentation site into build/docs: `make docs`. A warning is an error; nothing is fetched."""

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from assemble import ROOT, Site, assemble  # noqa: E402
from reference import reference  # noqa: E402

CONTENTS = {
    "Start": ["start", "tutorial-one-owner", "tutorial-several-owners", "tutorial-nobody", "examples"],
    "Guides": [
        "install",
        "writing-a-schema",
        "choosing-epsilon",
        "for-miners",
        "query",
        "persons",
        "risk",
        "regulations",
    ],
    "Reference": ["schema", "sources", "settings", "ledger", "measures", "glossary", "api"],
    "Methods": ["detail", "explore", "approximate", "microaggregation", "anonymity", "joint", "perturb", "survey"],
    "Trust": ["mathematics", "threat-model", "known-limits", "audit", "faults", "fuzzing"],
    "Figures": [
        "benchmarks",
        "scale",
        "zoo",
        "exploring-figures",
        "joint-figures",
        "joint-paper",
        "diffgen-figures",
        "perturb-figures",
        "microaggregation-figures",
        "s-mdav-violation",
    ],
    "Project": ["architecture", "readme", "contributing", "changelog"],
}
"""The pages of each part of the sidebar. Pages that are not listed come last."""


def contents(pages: Iterable[str]) -> str:
    """The table of contents, below the text of the first page."""
    left = sorted({page.removesuffix(".md") for page in pages} - {"index"})
    listed = {page for part in CONTENTS.values() for page in part}
    parts = {**CONTENTS, "Proofs": [page for page in left if page.startswith("proofs/")]}
    parts["More"] = [page for page in left if page not in listed and not page.startswith("proofs/")]
    blocks = [
        "\n".join(["```{toctree}", f":caption: {title}", ":hidden:", "", *here, "```"])
        for title, every in parts.items()
        if (here := [page for page in every if page in left])
    ]
    return "\n\n" + "\n\n".join(blocks) + "\n"


def main() -> int:
    source, out = ROOT / "build" / "docs-source", ROOT / "build" / "docs"
    links = assemble(ROOT, source)
    for picture in (ROOT / "docs").rglob("*.*"):
        if picture.suffix in {".svg", ".png"}:
            place = source / picture.relative_to(ROOT / "docs")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, place)
    with (source / "index.md").open("a", encoding="utf-8") as index:
        index.write(contents([*Site.of(ROOT).pages.values(), "api.md"]))
    (source / "api.md").write_text(reference(), encoding="utf-8")
    (source / "_static").mkdir()
    shutil.copyfile(HERE / "site.css", source / "_static" / "site.css")
    shutil.copyfile(HERE / "conf.py", source / "conf.py")
    shutil.rmtree(out, ignore_errors=True)
    code = sphinx_build(["-q", "-W", "--keep-going", "-b", "html", str(source), str(out)])
    print(f"{len(Site.of(ROOT).pages) + 1} pages, {links} links between them checked: {out / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
