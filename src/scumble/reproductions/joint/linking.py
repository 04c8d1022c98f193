"""The linking attack of the several-owners paper's introduction: the surgery of a Mover who is 34 years old.

Table I has eleven patients of three hospitals. Someone who knows that a patient is a Mover of 34 finds his record, and
with it his surgery, if the integrated table is published as it is. The paper says that k-anonymity, which earlier
methods for several owners guarantee, is vulnerable to other attacks, and that differential privacy is not. Two
attackers try both:

- one who knows the job, sex and age of the patient, and picks the commonest surgery among records that could be his;
- one who also knows the ten other records, and subtracts them first.

What an attacker learns *from the patient's own record* is the difference to the same attack on a table without it.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from scumble.charts import BarPanel, Chart
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.flows.evaluate import training_sample
from scumble.flows.release import run
from scumble.methods import method_named
from scumble.model.budget import budget_text
from scumble.model.counts import Floats, Integers
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.values import recoding
from scumble.privacy.noise import PaidNoise
from scumble.reproductions.figure import Claim, Figure, Request

SCHEMA = """\
scumble: schema/1
target: Class
attributes:
  Job: {taxonomy: {Any_Job: {White-collar: {Doctor: , Lawyer: }, Blue-collar: {Janitor: , Mover: }}}}
  Sex: {taxonomy: {Any_Sex: {M: , F: }}}
  Age: {numeric: {low: 1, high: 99, step: 1}}
  Surgery: {taxonomy: {Any_Surgery: {Transgender: , Plastic: , Urology: , Vascular: }}}
  Class: {classes: [Y, N]}
"""
PATIENTS = (
    ("Janitor", "M", 34, "Transgender", "Y"),
    ("Lawyer", "F", 58, "Plastic", "N"),
    ("Mover", "M", 58, "Urology", "N"),
    ("Lawyer", "M", 24, "Vascular", "N"),
    ("Mover", "M", 34, "Transgender", "Y"),
    ("Janitor", "M", 44, "Plastic", "Y"),
    ("Doctor", "F", 44, "Vascular", "N"),
    ("Doctor", "M", 58, "Plastic", "N"),
    ("Doctor", "M", 24, "Urology", "N"),
    ("Janitor", "F", 63, "Vascular", "Y"),
    ("Mover", "F", 63, "Plastic", "Y"),
)
VICTIM = 4
"""The place of record 5."""
KNOWN = ("Job", "Sex", "Age")
SECRET = "Surgery"
GROUP_SIZES = (2, 3, 4)
EPSILONS = ("0.5", "1", "2")
RUNS = 200
CELLS = "table"
"""The table of cells of a release of `diffgen`."""
WORLDS = ("with him", "without him")
ATTACKERS = ("knows job, sex and age", "knows all other records, too")


def patients_schema() -> Schema:
    """The public schema: the taxonomies of the paper's Figure 1, with ages in years."""
    return parse_schema(SCHEMA)


def coded_patients(schema: Schema) -> Integers:
    """The patients as codes, a line each."""
    return np.array(
        [
            [
                int(str(value)) - 1 if attribute.name == "Age" else attribute.domain.labels.index(str(value))
                for attribute, value in zip(schema.attributes, patient, strict=True)
            ]
            for patient in PATIENTS
        ],
        dtype=np.int64,
    )


def votes(release: Release, schema: Schema, victim: Sequence[int]) -> Floats:
    """The number of published records with each surgery that could be the victim's. A generalized surgery counts
    evenly for all that it covers."""
    places = {attribute.name: place for place, attribute in enumerate(schema.attributes)}
    size = schema[SECRET].domain.size
    found = np.zeros(size)
    groups = release.generalized
    if groups is not None:
        published = {name: recoding(schema[name].domain, groups.schema[name].domain) for name in places}
        order = [attribute.name for attribute in groups.schema.predictors]
        fits = np.ones(len(groups.boxes), dtype=bool)
        for name in KNOWN:
            code, ranges = published[name][victim[places[name]]], groups.boxes[:, order.index(name)]
            fits &= (ranges[:, 0] <= code) & (code < ranges[:, 1])
        np.add.at(found, groups.boxes[fits, order.index(SECRET), 0], groups.count[fits].sum(axis=1))
        return found
    return _votes_of_rows(release, attacked_table(release, schema, victim), schema, victim)


def attacked_table(release: Release, schema: Schema, victim: Sequence[int]) -> str:
    """The table that an attacker uses: the recommended one, or the cells if no record of it could be the victim's."""
    fits = _votes_of_rows(release, release.recommended, schema, victim).sum() > 0
    return release.recommended if fits else CELLS


def _votes_of_rows(release: Release, table: str, schema: Schema, victim: Sequence[int]) -> Floats:
    """The votes of one table of a differentially private release."""
    names = [attribute.name for attribute in schema.attributes]
    published, sample = release.tables[table], training_sample(release, table)
    order = [attribute.name for attribute in published.predictors]
    maps = {name: recoding(schema[name].domain, published[name].domain) for name in (*KNOWN, SECRET)}
    fits = np.ones(len(sample.labels), dtype=bool)
    for name in KNOWN:
        fits &= sample.codes[:, order.index(name)] == maps[name][victim[names.index(name)]]
    found = np.zeros(schema[SECRET].domain.size)
    for surgery, code in enumerate(maps[SECRET]):
        here = fits & (sample.codes[:, order.index(SECRET)] == code)
        found[surgery] = sample.counts[here].sum() / (maps[SECRET] == code).sum()
    return found


def success(release: Release, schema: Schema, rows: Integers, *, knows_others: bool) -> float:
    """The probability that the attacker names the victim's surgery; ties are broken at random."""
    found = votes(release, schema, rows[VICTIM].tolist())
    if knows_others:
        others = np.delete(rows, VICTIM, axis=0)
        without = _publish_known(release, schema, others)
        found = found - without
    best = np.flatnonzero(found >= found.max() - 1e-9)
    secret = rows[VICTIM][[attribute.name for attribute in schema.attributes].index(SECRET)]
    return float(secret in best) / len(best)


def _publish_known(release: Release, schema: Schema, others: Integers) -> Floats:
    """How many of the known records the release would count among those that could be the victim's."""
    victim = coded_patients(schema)[VICTIM]
    counted = np.zeros(schema[SECRET].domain.size)
    names = [attribute.name for attribute in schema.attributes]
    groups = release.generalized
    if groups is not None:
        published = release.schema
        order = [attribute.name for attribute in published.predictors]
        maps = {name: recoding(schema[name].domain, published[name].domain) for name in KNOWN}
        for other in others:
            for box in groups.boxes:
                both = all(
                    box[order.index(name), 0] <= maps[name][each[names.index(name)]] < box[order.index(name), 1]
                    for name in KNOWN
                    for each in (other, victim)
                )
                if both:
                    counted[other[names.index(SECRET)]] += 1
                    break
        return counted
    published = release.tables[attacked_table(release, schema, victim.tolist())]
    maps = {name: recoding(schema[name].domain, published[name].domain) for name in (*KNOWN, SECRET)}
    for other in others:
        if all(maps[name][other[names.index(name)]] == maps[name][victim[names.index(name)]] for name in KNOWN):
            alike = maps[SECRET] == maps[SECRET][other[names.index(SECRET)]]
            counted += alike / alike.sum()
    return counted


def released(method: str, schema: Schema, rows: Integers, **parameters: Any) -> Release:
    """One release of some rows, in memory."""
    chosen = method_named(method)
    settings = chosen.parameters(**parameters)
    engine = MemoryEngine([tuple(column.astype(np.uint8) for column in rows.T)], schema)
    return run(chosen, schema, settings, engine, PaidNoise(), plan=chosen.plan(schema, settings))


def attack_rows(runs: int) -> list[dict[str, Any]]:
    """The success of both attackers on each release, of tables with and without the victim's record."""
    schema = patients_schema()
    rows = coded_patients(schema)
    cases: list[tuple[str, str, dict[str, Any], int]] = [
        (method, f"{method}, k = {k}", {"k": k, "quasi": KNOWN}, 1)
        for method in ("mondrian", "tds")
        for k in GROUP_SIZES
    ]
    cases += [("diffgen", f"diffgen, epsilon = {epsilon}", {"epsilon": epsilon}, runs) for epsilon in EPSILONS]
    found = []
    for method, label, parameters, times in cases:
        line: dict[str, Any] = {"release": label, "runs": times, "epsilon": parameters.get("epsilon", "")}
        for world, table in zip(WORLDS, (rows, np.delete(rows, VICTIM, axis=0)), strict=True):
            made = [released(method, schema, table, **parameters) for _ in range(times)]
            for attacker in ATTACKERS:
                each = [success(one, schema, rows, knows_others=attacker != ATTACKERS[0]) for one in made]
                line[f"{attacker}: {world}"] = float(np.mean(each))
        for attacker in ATTACKERS:
            line[f"{attacker}: learned"] = line[f"{attacker}: with him"] - line[f"{attacker}: without him"]
        found.append(line)
    return found


def allowed(epsilon: str) -> float:
    """The most that a record can add to the success of any guess about it: the largest total variation distance of the
    releases of two neighbouring tables."""
    return math.tanh(float(Fraction(epsilon)) / 2)


def linking_figure(request: Request) -> Figure:
    """The attack on the raw table, on k-anonymous ones, and on differentially private ones."""
    runs = request.runs or RUNS
    rows = attack_rows(runs)
    request.progress("attacking", 1, 1)
    anonymous = [row for row in rows if not row["epsilon"]]
    private = [row for row in rows if row["epsilon"]]
    certain = [row["release"] for row in anonymous if row[f"{ATTACKERS[0]}: with him"] > 0.999]
    subtracting = min(row[f"{ATTACKERS[1]}: with him"] for row in anonymous)
    error = 1.96 * math.sqrt(0.5 / runs)
    within = all(
        row[f"{attacker}: learned"] <= allowed(row["epsilon"]) + 1.5 * error
        for row in private
        for attacker in ATTACKERS
    )
    most = {row["epsilon"]: max(row[f"{attacker}: learned"] for attacker in ATTACKERS) for row in private}
    alike = [patient for patient in PATIENTS if patient[0] == "Mover" and patient[2] == PATIENTS[VICTIM][2]]
    claims = (
        Claim(
            text="the only Mover of 34 in the raw table, and his surgery",
            paper="record 5, Transgender",
            ours=f"{len(alike)} record, {alike[0][3]}",
            holds=len(alike) == 1 and alike[0] == PATIENTS[VICTIM],
        ),
        Claim(
            text="k-anonymous tables are vulnerable: the commonest surgery of his group is his own",
            paper="vulnerable to various attacks",
            ours=", ".join(certain) or "none",
            holds=bool(certain),
        ),
        Claim(
            text="k-anonymous tables are vulnerable: his surgery for someone who knows all other records, at any k",
            paper="vulnerable to various attacks",
            ours=f"right with a probability of at least {subtracting:.2f}",
            holds=subtracting > 0.999,
        ),
        Claim(
            text="differential privacy, whatever an attacker knows: what his record adds to the success",
            paper="immune, by definition",
            ours="; ".join(
                f"{learned:+.2f} of at most {allowed(epsilon):.2f} at epsilon {budget_text(Fraction(epsilon))}"
                for epsilon, learned in most.items()
            ),
            holds=within,
        ),
    )
    return Figure(
        title="The linking attack: the surgery of the Mover of 34",
        rows=rows,
        claims=claims,
        chart=_chart(rows),
        notes=(
            (
                f"Each differentially private release was made {runs} times with and {runs} times without his record; "
                "the others always give the same table. Guessing at random is right with a probability of 0.25."
            ),
            (
                "The quasi-identifier is job, sex and age. Surgery is published exactly by the k-anonymous methods, as "
                "k-anonymity allows. The releases of diffgen are its default ones: the attacker uses the fine rows, or "
                "the cells if no fine row could be his."
            ),
            "Eleven records are too few for a useful private release: this is about the attack, not about utility.",
        ),
    )


def _chart(rows: Sequence[dict[str, Any]]) -> Chart:
    panels = tuple(
        BarPanel(
            title=f"attacker {attacker}",
            x_label="probability of the right surgery",
            names=tuple(row["release"] for row in rows),
            values={world: tuple(row[f"{attacker}: {world}"] for row in rows) for world in WORLDS},
        )
        for attacker in ATTACKERS
    )
    return Chart(title="The linking attack on k-anonymous and on private tables", panels=panels)
