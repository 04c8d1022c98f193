"""Measures the cost of a joint release: whole runs as processes over mutually authenticated TLS, growth with threads.

Rounds of messages and bytes follow from the schema, the parameters and the answers, so they are the same on every
machine, and the same for threads except for framing and TLS. Seconds depend on the machine and its load.
"""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from scumble.charts import Chart, Panel, Point, Series, write_svg
from scumble.comparison.cached_runs import keep, kept_path, recall
from scumble.comparison.several_owners import joint_roles, split_among_owners
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.trials import CodedTable
from scumble.datasets import load
from scumble.demo.rehearsal import rehearse
from scumble.engines.memory import MemoryEngine
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import JointHolder
from scumble.joint.network.mesh import LocalMesh
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.session_keys import exchange_keys
from scumble.methods import method_named
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import simulation
from scumble.sources import open_source

PLOT = "joint-cost.svg"
APART = ("connecting", "meeting", "reading rows", "keys", "parting", "publishing")
"""The phases that do not compute on secret shares. `parting` includes the drawing of fine rows."""
POSITIONS_OF_ALL = 999
"""The number of split positions on Adult's longest grid."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One joint release of Adult. More classes are made by dividing its two at random, so selections stay similar."""

    owners: int = 3
    aggregator: bool = False
    positions: str = "all"
    rounds: int | None = 8
    """The number of specializations of a release of cells alone; None for the default release, with detail."""
    classes: int = 2
    delay_ms: float = 0

    @property
    def parties(self) -> int:
        return self.owners + self.aggregator

    @property
    def parameters(self) -> dict[str, Any]:
        chosen = {} if self.rounds is None else {"rounds": self.rounds}
        return {"epsilon": "1", "positions": self.positions, **chosen}


USUAL = Setting()
TWO_AND_AGGREGATOR = replace(USUAL, owners=2, aggregator=True)
SMALL = replace(USUAL, positions="32", rounds=4)
GROWTH: Mapping[str, Sequence[Setting]] = {
    "parties": [replace(USUAL, positions="32", owners=owners) for owners in (3, 5, 7)],
    "positions": [replace(USUAL, positions=str(most)) for most in (8, 32, 128)] + [USUAL],
    "rounds": [replace(USUAL, rounds=rounds) for rounds in (2, 4, 8, 11)],
    "classes": [replace(SMALL, classes=classes) for classes in (2, 4, 8, 16)],
}
NAMES = {"rounds": "specializations"}
"""Names of the parameters in tables where `rounds` means rounds of messages."""
DEFAULT = replace(USUAL, rounds=None)
CELLS = {"loopback": USUAL, "20 ms one way": replace(USUAL, delay_ms=20)}
WHOLE = {
    "three owners": DEFAULT,
    "two owners and an aggregator": replace(DEFAULT, owners=2, aggregator=True),
    "three owners, 20 ms one way": replace(DEFAULT, delay_ms=20),
}


def section(results: Path, pictures: Path, before: Path | None) -> str:
    """`before` is a clone of an earlier version, whose cost is stated beside this one's."""
    text = ["### The default release, one process per party", ""]
    for name, setting in WHOLE.items():
        result = measured("processes", setting, results)
        text += [f"{name[0].upper()}{name[1:]}, mean over the parties:", "", *phases_table(result), ""]
    text += ["### Cells alone, eight specializations", "", *cells_table(results, before), ""]
    grown = {
        setting: measured("threads", setting, results)
        for setting in dict.fromkeys(each for settings in GROWTH.values() for each in settings)
    }
    write_svg(chart(grown), pictures / PLOT)
    text += [f"### Growth ([plot]({PLOT}))", "", *growth_table(grown)]
    return "\n".join([*text, ""])


def cells_table(results: Path, before: Path | None) -> list[str]:
    lines = ["| version | network | rounds on shares | MB sent | seconds on shares |", "|---|---|---|---|---|"]
    for name, setting in CELLS.items():
        runs = {"now": measured("processes", setting, results)}
        if before is not None:
            runs = {"before": elsewhere(before, setting, results)} | runs
        for version, result in runs.items():
            parties = list(result["parties"].values())
            shared = [phase["name"] for phase in parties[0]["phases"] if phase["name"] not in APART]
            seconds, rounds, sent, _ = _figures(parties, shared)
            lines.append(f"| {version} | {name} | {rounds} | {sent} | {seconds} |")
    return lines


def elsewhere(clone: Path, setting: Setting, results: Path) -> dict[str, Any]:
    """The cost of a setting by the code of another clone, measured now or read from the cache."""
    code = f"import joint_cost as c, json; print(json.dumps(c.by_processes(c.Setting(delay_ms={setting.delay_ms}))))"
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True).stdout
    path = kept_path(results / "cost", {**vars(setting), "how": "elsewhere", "version": commit})
    known = recall(path)
    if known is None:
        print(f"{clone}: {setting}", file=sys.stderr, flush=True)
        paths = os.pathsep.join([str(clone / "src"), str(clone / "benchmarks")])
        run = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True
        )
        known = json.loads(run.stdout)
        keep(path, known)
    return known


def measured(how: str, setting: Setting, results: Path) -> dict[str, Any]:
    """The cost of a setting, measured now or read from the cache."""
    version = digest_of_sources("scumble.flows.join")
    path = kept_path(results / "cost", {**vars(setting), "how": how, "version": version})
    known = recall(path)
    if known is None:
        print(f"{how}: {setting}", file=sys.stderr, flush=True)
        known = {"setting": vars(setting), **(by_processes if how == "processes" else by_threads)(setting)}
        keep(path, known)
    return known


def by_processes(setting: Setting) -> dict[str, Any]:
    schema, table = adult(setting.classes)
    load_before, cpu_before = os.getloadavg()[0], children_seconds()
    rehearsed = rehearse(
        owners=setting.owners,
        aggregator=setting.aggregator,
        rows=table.num_rows,
        delay_ms=setting.delay_ms,
        schema=schema,
        table=table,
        parameters=setting.parameters,
    )
    return {**rehearsed.to_json(), "load": load_before, "cpu_seconds": children_seconds() - cpu_before}


def by_threads(setting: Setting) -> dict[str, Any]:
    """The computation on shares alone: CPU seconds, rounds and bytes, mean over the parties."""
    schema, rows = adult(setting.classes)
    method = method_named("diffgen")
    parameters = method.parameters(**method.parameters.jointly(setting.parameters))
    roles = joint_roles(setting.owners)
    plan = joint_plan(method.plan(schema, parameters), roles, schema)
    parts = split_among_owners(CodedTable.read(open_source(rows), schema).columns, setting.owners, seed=0)
    meshes = LocalMesh.connect(roles.parties, deadline=600)
    cells: list[int] = []

    def party(mesh: LocalMesh) -> None:
        engine = MemoryEngine([parts[mesh.party]], schema) if mesh.party in roles.owners else None
        keys = exchange_keys(roles, mesh)
        holder = JointHolder(
            roles=roles,
            mesh=mesh,
            keys=keys,
            nonce=b"benchmark",
            engine=engine,
            plan=plan,
            rows_at_most=dict.fromkeys(roles.owners, rows.num_rows),
            log=MemoryAnswerLog(),
        )
        cells.append(len(method.run(schema, parameters, holder).count))

    began = time.process_time()
    threads = [threading.Thread(target=party, args=(mesh,)) for mesh in meshes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cells) == len(meshes), "a party failed"
    return {
        "cells": cells[0],
        "cpu_seconds": (time.process_time() - began) / len(meshes),
        "rounds": fmean(mesh.rounds for mesh in meshes),
        "bytes_sent": fmean(mesh.bytes_sent for mesh in meshes),
    }


def adult(classes: int) -> tuple[Schema, pa.Table]:
    dataset = load("adult")
    schema, table = dataset.schema, pacsv.read_csv(dataset.path)
    target = str(schema.target)
    if classes == len(schema.classes):
        return schema, table
    labels = [f"{label}-{part}" for label in schema.classes for part in range(classes // len(schema.classes))]
    parts = simulation(classes).integers(0, classes // len(schema.classes), table.num_rows)
    drawn = [f"{label}-{part}" for label, part in zip(table[target].to_pylist(), parts, strict=True)]
    attributes = tuple(
        replace(each, domain=Tree.flat(labels)) if each.name == target else each for each in schema.attributes
    )
    place = table.column_names.index(target)
    return replace(schema, attributes=attributes), table.set_column(place, target, pa.array(drawn))


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def phases_table(result: Mapping[str, Any]) -> list[str]:
    parties = list(result["parties"].values())
    lines = ["| phase | seconds | rounds | MB sent | MB received |", "|---|---|---|---|---|"]
    names = [phase["name"] for phase in parties[0]["phases"]]
    shared = [name for name in names if name not in APART]
    for kind, members in _kinds(names).items():
        lines.append(f"| {kind} | {' | '.join(_figures(parties, members))} |")
    lines.append(f"| all on shares | {' | '.join(_figures(parties, shared))} |")
    lines.append(f"| all | {' | '.join(_figures(parties, names))} |")
    seconds, rounds = (fmean(_sum(party, shared, what) for party in parties) for what in ("seconds", "rounds"))
    by_party = ", ".join(
        f"{name} {_sum(party, names, 'bytes_sent') / 1e6:.2f}" for name, party in result["parties"].items()
    )
    lines += [
        "",
        f"{_circumstances(result)} {1000 * seconds / rounds:.1f} ms per round on shares. MB sent by {by_party}.",
    ]
    return lines


def _kinds(names: Sequence[str]) -> dict[str, list[str]]:
    """The phases of a table: the many counts of one kind are one line."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kind = "count attributes by class" if name.endswith("by class") else name
        kind = "count combinations" if name.startswith("count combination") else kind
        kinds.setdefault(kind, []).append(name)
    return kinds


def _circumstances(result: Mapping[str, Any]) -> str:
    cells = next(iter(result["parties"].values()))["cells"]
    return (
        f"{cells:,} cells; {result['seconds']:.1f} s wall-clock and {result['cpu_seconds']:.1f} CPU seconds of all "
        f"processes, including {len(result['parties'])} starts of Python; load average before the start: "
        f"{result['load']:.1f} on {os.cpu_count()} cores."
    )


def _figures(parties: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    seconds, rounds, sent, received = (
        fmean(_sum(party, names, what) for party in parties)
        for what in ("seconds", "rounds", "bytes_sent", "bytes_received")
    )
    return [f"{seconds:.2f}", f"{rounds:,.0f}", f"{sent / 1e6:.3f}", f"{received / 1e6:.3f}"]


def _sum(party: Mapping[str, Any], names: Sequence[str], what: str) -> float:
    return sum(phase[what] for phase in party["phases"] if phase["name"] in names)


def growth_table(grown: Mapping[Setting, Mapping[str, Any]]) -> list[str]:
    lines = [
        "| parameter | value | cells at the end | CPU s | rounds of messages | MB sent |",
        "|---|---|---|---|---|---|",
    ]
    for name, settings in GROWTH.items():
        for setting in settings:
            result, value = grown[setting], getattr(setting, name)
            lines.append(
                f"| {NAMES.get(name, name)} | {value} | {result['cells']:,} | {result['cpu_seconds']:.2f} | "
                f"{result['rounds']:,.0f} | {result['bytes_sent'] / 1e6:.2f} |"
            )
    return lines


def chart(grown: Mapping[Setting, Mapping[str, Any]]) -> Chart:
    panels = []
    for name, settings in GROWTH.items():
        lines = {"MB sent": ("bytes_sent", 1e6), "hundreds of message rounds": ("rounds", 100)}
        series = tuple(
            Series(
                label=label,
                points=tuple(Point(x=_place(setting, name), y=grown[setting][what] / unit) for setting in settings),
            )
            for label, (what, unit) in lines.items()
        )
        panels.append(
            Panel(
                title=NAMES.get(name, name),
                x_label=NAMES.get(name, name),
                y_label="MB, or hundreds of rounds, for each party",
                series=series,
                logarithmic=True,
                from_zero=True,
            )
        )
    return Chart(title="Cost of a joint release of Adult", panels=tuple(panels), note="epsilon 1, one run per point")


def _place(setting: Setting, name: str) -> float:
    value = getattr(setting, name)
    return float(POSITIONS_OF_ALL if value == "all" else value)
