"""Checks of a release folder by other programs, run in an environment of their own: `python travelling.py FOLDER`.

Prints, as JSON, the records that mlcroissant reads from each table, and whether frictionless calls the package valid.
"""

import json
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")


def croissant(folder: Path) -> dict[str, object]:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    found = {}
    for record_set in dataset.metadata.record_sets:
        records = list(dataset.records(record_set=record_set.uuid))
        first = {name.partition("/")[2]: value for name, value in records[0].items()} if records else {}
        decoded = {name: value.decode() if isinstance(value, bytes) else value for name, value in first.items()}
        found[record_set.uuid] = {"records": len(records), "first": decoded}
    return found


def datapackage(folder: Path) -> dict[str, object]:
    from frictionless import validate

    report = validate(str(folder / "datapackage.json"))
    return {"valid": report.valid, "errors": report.flatten(["title", "note"])[:3]}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    print(json.dumps({"croissant": croissant(place), "datapackage": datapackage(place)}, default=str))  # noqa: T201
