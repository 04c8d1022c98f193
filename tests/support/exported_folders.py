"""One folder of every kind of release, of the same small table, for tests of exports."""

import random
from pathlib import Path

import pandas as pd

import scumble

SCHEMA = """\
scumble: schema/1
target: readmitted
attributes:
  age: {numeric: {low: 0, high: 100, step: 5}}
  "weight (kg)": {numeric: {edges: [0, 2.5, 40, 70.5, 200]}, missing: "?"}
  stay: {numeric: {tree: {"[0,60)": {"[0,7)": {"[0,1)": , "[1,7)": }, "[7,60)": }}}}
  ward: {taxonomy: {Any: {Medicine: {Cardiology: , Neurology: }, Surgery: }}, missing: "NA"}
  pain: {ordered: [none, mild, severe]}
  readmitted: {classes: ["no", "yes"]}
"""
EXTRA = {
    "cells": {"method": "diffgen"},
    "records": {"method": "microaggregate"},
    "generalized": {"method": "mondrian", "k": 5, "accept": ("k-anonymity",)},
    "classifier": {"method": "diffp-c45"},
}
KINDS = (*EXTRA, "blurred")


def rows(number: int = 400) -> pd.DataFrame:
    draw = random.Random(7)
    lines = []
    for _ in range(number):
        age = draw.randrange(100)
        lines.append(
            {
                "age": age,
                "weight (kg)": draw.choice([1.2, 39.9, 40, 70.4, 199, None]),
                "stay": draw.choice([0, 1, 6, 7, 59]),
                "ward": draw.choice(["Cardiology", "Neurology", "Surgery", None]),
                "pain": draw.choice(["none", "mild", "severe"]),
                "readmitted": "yes" if draw.random() < age / 100 else "no",
            }
        )
    return pd.DataFrame(lines)


def write_folder(kind: str, place: Path) -> Path:
    """Write a release of this kind into a new folder of `place`."""
    schema = place / "schema.yaml"
    schema.write_text(SCHEMA, encoding="utf-8")
    folder = place / kind
    if kind == "blurred":
        scumble.perturb(rows(), schema=schema, epsilon="6", out=folder)
        return folder
    options = {**EXTRA[kind]}
    epsilon = {} if kind == "generalized" else {"epsilon": "20"}
    scumble.release(rows(), schema=schema, out=folder, dataset=kind, ledger=place / "ledger.db", **epsilon, **options)
    return folder
