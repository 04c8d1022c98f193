"""Croissant 1.1 (MLCommons): one file object and one record set for each table.

What a catalogue asks for and a release does not know (license, address, date, creator) is left out; the data owner adds
it where the release is published.
"""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from scumble.files.descriptions.tables import DescribedTable
from scumble.files.kinds.kind import INTEGER, NUMBER, TEXT
from scumble.model.release import Release

TYPES = {TEXT: "sc:Text", NUMBER: "sc:Float", INTEGER: "sc:Integer"}
NAME = "scumble-release"
# The terms of Croissant that the document uses, mapped to their addresses, as its specification requires.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(release: Release, tables: Sequence[DescribedTable]) -> str:
    """The text of croissant.json."""
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": NAME,
        "description": f"A table published by scumble, method {release.method}. {release.plan.guarantee.sentence}",
        "version": "1.0.0",
        "isLiveDataset": False,
        "rai:personalSensitiveInformation": release.plan.guarantee.sentence,
        "distribution": [_file(table) for table in tables],
        "recordSet": [_records(table) for table in tables],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _file(table: DescribedTable) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": table.file,
        "name": table.file,
        "contentUrl": table.file,
        "encodingFormat": "text/csv",
        "sha256": table.sha256,
    }


def _records(table: DescribedTable) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table.name}/{quote(column.name, safe='')}",
            "name": column.name,
            "description": column.meaning,
            "dataType": TYPES[column.type],
            "source": {"fileObject": {"@id": table.file}, "extract": {"column": column.name}},
        }
        for column in table.columns
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "field": fields,
    }
