"""Folders, noise models and trees from hostile hands are refused in a sentence, quickly, and read nothing else."""

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import SCHEMA, people
from hostile_folders import (
    DEEP,
    LONG_NUMBER,
    Change,
    alias_bomb,
    edited,
    in_document,
    linked,
    pipe,
    reseal,
    seal,
    stated,
    text,
    use,
)

import scumble
from scumble.errors import ScumbleError
from scumble.files.release_folder import read_manifest
from scumble.files.verify import verify_folder
from scumble.flows.mine import noise_of, train
from scumble.mining.tree_model import TreeModel

SECONDS = 20
"""On a busy machine. Without bounds each of these takes hours, or forever."""
SECRET = "the secret line of another file"
TAXONOMY = "  job:\n    taxonomy: {csv: ../secret.txt}\n"
HUGE = ("1e999999999", "-1e999999999", "1e-999999999", "0e999999999", "9" * 5000, "1/" + "9" * 5000, DEEP[:50])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of each kind, a tree, and a secret file beside them."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(people(200), encoding="utf-8")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (folder / "secret.txt").write_text(f"{SECRET};a\n{SECRET};b\n", encoding="utf-8")
    table, options = folder / "people.csv", {"schema": folder / "schema.yaml"}
    scumble.release(table, out=folder / "cells", epsilon=1, ledger=folder / "1.db", **options)
    scumble.release(table, out=folder / "records", epsilon=1, method="histograms", ledger=folder / "2.db", **options)
    scumble.perturb(table, out=folder / "blurred", epsilon=4, **options)
    scumble.perturb(table, out=folder / "widths", privacy="50%", accept=["interval"], **options)
    train(folder / "blurred").write(folder / "model.json")
    return folder


def refused(reader: Callable[[], object]) -> str:
    began = time.monotonic()
    with pytest.raises(ScumbleError) as caught:
        reader()
    assert time.monotonic() - began < SECONDS
    assert SECRET not in str(caught.value)
    assert len(str(caught.value)) < 2000
    return str(caught.value)


CHANGES: list[tuple[str, str, Change]] = [
    *(("cells", f"epsilon {each[:12]}", stated("guarantee", "epsilon", value=each)) for each in HUGE),
    *(("cells", f"spend {each[:12]}", stated("spends", 0, "epsilon", value=each)) for each in HUGE),
    *(("widths", f"width {each[:12]}", stated("guarantee", "intervals", "age", value=["0.95", each])) for each in HUGE),
    *(
        ("widths", f"sigma {each[:12]}", in_document("noise.json", "attributes", "age", "blur", "sigma", value=each))
        for each in HUGE
    ),
    ("widths", "confidence", in_document("noise.json", "confidence", value="1e-999999999")),
    (
        "blurred",
        "local epsilon",
        in_document("noise.json", "attributes", "age", "blur", "epsilon", value="1e999999999"),
    ),
    ("cells", "aliases", edited("schema.yaml", "scumble: schema/1\n", f"scumble: schema/1\n{alias_bomb()}")),
    ("cells", "recursive alias", edited("schema.yaml", "attributes:", "attributes: &a {a: *a}\nb:")),
    ("cells", "other file", text("schema.yaml", f"scumble: schema/1\nattributes:\n{TAXONOMY}")),
    (
        "cells",
        "other file, absolute",
        text("schema.yaml", "scumble: schema/1\nattributes: {x: {taxonomy: {csv: /etc/passwd}}}\n"),
    ),
    (
        "cells",
        "other codes",
        text("schema.yaml", "scumble: schema/1\nattributes: {x: {prefix: {levels: [1], csv: ../secret.txt}}}\n"),
    ),
    ("cells", "file of fine schema", text("fine.schema.yaml", f"scumble: schema/1\nattributes:\n{TAXONOMY}")),
    (
        "blurred",
        "file of noise",
        in_document("noise.json", "schema", "attributes", "job", value={"taxonomy": {"csv": "../secret.txt"}}),
    ),
    ("cells", "document elsewhere", stated("documents", value=["../model", "detail"])),
    ("cells", "endless counts", linked("counts.csv", "/dev/zero")),
    ("cells", "endless schema", linked("schema.yaml", "/dev/zero")),
    ("cells", "linked counts", linked("counts.csv", "../secret.txt")),
    ("cells", "linked schema", linked("schema.yaml", "../secret.txt")),
    ("cells", "linked report", linked("report.html", "../secret.txt")),
    ("cells", "linked manifest", linked("release.json", "../secret.txt")),
    ("records", "linked table", linked("table.csv", "/dev/zero")),
    ("blurred", "endless table", linked("table.csv", "/dev/zero")),
    ("blurred", "endless noise", linked("noise.json", "/dev/zero")),
    *(
        ("cells", f"pipe {name}", pipe(name))
        for name in ("counts.csv", "schema.yaml", "report.html", "release.json", "table.csv", "fine.csv", "detail.json")
    ),
    ("records", "pipe table", pipe("table.csv")),
    ("blurred", "pipe noise", pipe("noise.json")),
    ("blurred", "pipe table", pipe("table.csv")),
    ("cells", "deep manifest", text("release.json", DEEP)),
    ("cells", "deep document", text("detail.json", DEEP)),
    ("blurred", "deep noise", text("noise.json", DEEP)),
    ("cells", "long number", edited("release.json", '"cells":', f'"much": {LONG_NUMBER}, "cells":')),
    ("blurred", "long number", edited("noise.json", '"confidence": "0.95"', f'"confidence": {LONG_NUMBER}')),
    ("cells", "deep schema", text("schema.yaml", DEEP)),
    ("cells", "long line", text("schema.yaml", "a: " + "x" * 9_000_000)),
    ("cells", "empty manifest", text("release.json", "")),
    ("cells", "list", text("release.json", "[]")),
    ("cells", "no guarantee", stated("guarantee", value=[])),
    ("cells", "k", stated("guarantee", value={"kind": "KAnonymity", "k": 1e400})),
]


@pytest.mark.parametrize(("kind", "change"), [(k, c) for k, _, c in CHANGES], ids=[f"{k}: {n}" for k, n, _ in CHANGES])
def test_a_changed_folder_is_refused(made: Path, tmp_path: Path, kind: str, change: Change) -> None:
    folder = tmp_path / kind
    shutil.copytree(made / kind, folder)
    shutil.copy(made / "secret.txt", tmp_path)
    change(folder)
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):  # release.json may be unreadable
        reseal(folder)
    refused(lambda: scumble.verify(folder))


@pytest.mark.parametrize(
    "reader", [scumble.load_release, lambda folder: scumble.evaluate(folder, test=folder.parent / "people.csv")]
)
@pytest.mark.parametrize(
    "change",
    [pipe("counts.csv"), linked("schema.yaml", "/dev/zero"), text("detail.json", DEEP), text("release.json", DEEP)],
)
def test_loading_and_evaluating_refuse_it_too(
    made: Path, tmp_path: Path, reader: Callable[[Path], object], change: Change
) -> None:
    shutil.copytree(made / "cells", tmp_path / "cells")
    shutil.copy(made / "people.csv", tmp_path)
    change(tmp_path / "cells")
    refused(lambda: reader(tmp_path / "cells"))


def test_a_schema_of_a_noise_model_reads_no_file_of_the_working_folder(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(made / "blurred", tmp_path / "blurred")
    named = {"taxonomy": {"csv": "secret.txt"}}
    in_document("noise.json", "schema", "attributes", "job", value=named)(tmp_path / "blurred")
    monkeypatch.chdir(made)
    assert "must be complete" in refused(lambda: noise_of(tmp_path / "blurred"))


def sparse(name: str, size: int) -> Change:
    """A file of so many bytes that takes no space."""

    def change(folder: Path) -> None:
        os.truncate(folder / name, size)

    return change


@pytest.mark.parametrize("name", ["table.csv", "report.html", "counts.csv"])
@pytest.mark.parametrize("states", [True, False])
def test_a_file_of_30_gigabytes_is_refused_unread(made: Path, tmp_path: Path, name: str, states: bool) -> None:
    """release.json states the size of each file; folders of earlier versions do not."""
    folder = tmp_path / "cells"
    shutil.copytree(made / "cells", folder)
    if not states:
        manifest = read_manifest(folder)
        (folder / "release.json").write_text(json.dumps({k: v for k, v in manifest.items() if k != "sizes"}))
        seal(folder)
        assert verify_folder(folder)
    sparse(name, 30 << 30)(folder)
    assert f"{name} cannot be read: it is larger than" in refused(lambda: verify_folder(folder))


ODD = (None, -1, "x", [[1], {}], 10**300, 1e300, {"a": [1]})
USED: list[tuple[str, str, Change]] = [
    *(
        (kind, f"{name} {number}", stated(name, value=value))
        for kind in ("cells", "records")
        for name in ("method", "parameters", "files", "recommended", "documents")
        for number, value in enumerate(ODD)
    ),
    *(
        ("cells", f"{name} {number}", stated(name, value=value))
        for name in ("resolution", "variance", "rounding", "cells_at_most", "unit", "receipt", "story", "notes", "kind")
        for number, value in enumerate(ODD)
    ),
    *(
        ("records", f"{place[-1]} {number}", in_document("tables.json", *place, value=value))
        for place in (
            *(("noise",), ("format",), ("tables",), ("inferred",), ("tables", 0)),
            *(("tables", 0, name) for name in ("attributes", "bins", "unit", "terms", "counts", "variance")),
        )
        for number, value in enumerate(ODD)
    ),
    *(
        ("cells", f"detail {place[-1]} {number}", in_document("detail.json", *place, value=value))
        for place in (("measured",), ("noise",), ("measured", 0), ("measured", 0, "deviation"), ("class totals",))
        for number, value in enumerate(ODD)
    ),
]


@pytest.mark.parametrize(("kind", "change"), [(k, c) for k, _, c in USED], ids=[f"{k}: {n}" for k, n, _ in USED])
def test_a_changed_folder_is_used_or_refused_in_a_sentence(
    made: Path, tmp_path: Path, kind: str, change: Change
) -> None:
    """Whoever loads, shows, queries or exports a folder without verifying it first gets an answer or a sentence."""
    folder = tmp_path / kind
    shutil.copytree(made / kind, folder)
    change(folder)
    began = time.monotonic()
    with suppress(ScumbleError):
        use(folder, tmp_path)
    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize("name", ["release.json", "tables.json"])
def test_half_a_pair_of_surrogates_is_refused(made: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(made / "records", tmp_path / "records")
    edited(name, "{", '{"odd": "\\ud800",')(tmp_path / "records")
    refused(lambda: scumble.load_release(tmp_path / "records"))


MODELS: list[Change] = [
    text("model.json", DEEP),
    text("model.json", f'{{"scumble": {LONG_NUMBER}}}'),
    text("model.json", "[1]"),
    text("model.json", "3"),
    text("model.json", "null"),
    text("model.json", "\x00"),
    linked("model.json", "/dev/zero"),
    pipe("model.json"),
    *(
        in_document("model.json", *place, value=value)
        for place in [("features",), ("classes",), ("nodes",), ("nodes", "feature"), ("nodes", "shares"), ("scumble",)]
        for value in (None, 3, "x", [], {}, [[1], [2, 3]], [{}], 10**4000, [10**4000], {"a": 1}, [None])
    ),
    *(
        in_document("model.json", "features", 0, value=value)
        for value in (None, 3, "x", [], {}, {"name": "a", "values": 3})
    ),
]


@pytest.mark.parametrize("change", MODELS, ids=range(len(MODELS)))
def test_a_changed_tree_is_refused(made: Path, tmp_path: Path, change: Change) -> None:
    shutil.copy(made / "model.json", tmp_path)
    change(tmp_path)
    refused(lambda: TreeModel.read(tmp_path / "model.json"))
