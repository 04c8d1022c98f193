"""Further documents of a release: JSON objects, one file each, exactly those that the manifest lists."""

import json
from pathlib import Path

import pytest

from scumble.errors import MalformedEntry
from scumble.files.kinds.documents import read_documents, write_documents

DOCUMENTS = {"groups": {"groups": [1, "Zoë"]}, "detail": {"x": None}}
MANIFEST = {"documents": ["detail", "groups"], "files": {"groups.json": "", "detail.json": "", "table.csv": ""}}


def test_documents_are_read_back(tmp_path: Path) -> None:
    write_documents(DOCUMENTS, tmp_path)
    assert read_documents(tmp_path, MANIFEST) == DOCUMENTS
    assert "Zoë" in (tmp_path / "groups.json").read_text("utf-8")


def test_what_is_not_a_number_is_neither_written_nor_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_documents({"detail": {"x": float("nan")}}, tmp_path)
    write_documents(DOCUMENTS, tmp_path)
    (tmp_path / "detail.json").write_text('{"x": NaN}', encoding="utf-8")
    with pytest.raises(ValueError, match="NaN"):
        read_documents(tmp_path, MANIFEST)


def test_a_document_that_the_manifest_does_not_list_is_refused(tmp_path: Path) -> None:
    write_documents(DOCUMENTS, tmp_path)
    with pytest.raises(ValueError, match="documents"):
        read_documents(tmp_path, {**MANIFEST, "documents": ["groups"]})


def test_a_document_that_is_not_an_object_is_refused(tmp_path: Path) -> None:
    write_documents(DOCUMENTS, tmp_path)
    (tmp_path / "detail.json").write_text(json.dumps([1]), encoding="utf-8")
    with pytest.raises(MalformedEntry, match="'detail'"):
        read_documents(tmp_path, MANIFEST)
