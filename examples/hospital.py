# %% [markdown]
# # A hospital publishes its visits
#
# Patients have several visits, and the columns are of all kinds: numbers, dates, codes, an ordered scale, gaps. Epsilon protects all
# visits of a patient together. Everything is generated; nobody in this table exists.

# %%
import csv
import random
import tempfile
from datetime import date, timedelta
from pathlib import Path

import scumble

folder = Path(tempfile.mkdtemp(prefix="hospital-"))

# %% [markdown]
# ## What is public
#
# The schema is written before anybody looks at the rows. `person` names the column that says who is who, and at most two visits of each
# patient are used. That bound is public, too.

# %%
(folder / "schema.yaml").write_text(
    """\
scumble: schema/1
person: patient
rows_each_at_most: 2
target: readmitted
attributes:
  age: {numeric: {low: 0, high: 110, step: 1}, public because: ages of people}
  admitted: {date: {from: 2024-01-01, to: 2026-01-01, step: month}, public because: the period of the study}
  diagnosis:
    prefix: {levels: [1, 3], codes: [I10, I21, I50, J18, J44, S72, S82], ignore: "."}
    public because: the codes that this department treats
  pain: {ordered: [none, mild, moderate, severe], missing: not asked, public because: the questionnaire}
  stay: {numeric: {low: 0, high: 60, step: 1}, missing: unknown, public because: longer stays count as 59 days}
  readmitted: {classes: ["no", "yes"], public because: the question of the study}
""",
    encoding="utf-8",
)


# %% [markdown]
# ## The private table
#
# Older patients, heart failure and severe pain lead to more readmissions; some entries are missing. A second table of other patients, from the
# same distribution, will show whether the release is any good.


# %%
def write_visits(path: Path, patients: int, seed: int) -> int:
    draw, visits = random.Random(seed), 0
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["patient", "age", "admitted", "diagnosis", "pain", "stay", "readmitted"])
        for patient in range(patients):
            age = min(int(draw.gauss(62, 18)) if draw.random() < 0.8 else draw.randrange(40), 105)
            for _ in range(1 + min(int(draw.expovariate(0.8)), 12)):
                day = date(2024, 1, 1) + timedelta(days=draw.randrange(730))
                code = draw.choice(["I10", "I21.0", "I50", "J18", "J44.1", "S72", "S82"])
                pain = draw.choices(["none", "mild", "moderate", "severe", ""], [4, 3, 2, 1, 1])[0]
                stay = "" if draw.random() < 0.05 else int(draw.expovariate(0.15))
                odds = 0.05 + 0.004 * max(age - 40, 0) + 0.3 * (code == "I50") + 0.2 * (pain == "severe")
                table.writerow(
                    [f"P{patient}", max(age, 0), day, code, pain, stay, "yes" if draw.random() < odds else "no"]
                )
                visits += 1
    return visits


visits = write_visits(folder / "visits.csv", 16_000, seed=1)
write_visits(folder / "others.csv", 2_000, seed=2)
print(f"{visits:,} visits of 16,000 patients are in {folder / 'visits.csv'}.")

# %% [markdown]
# ## What it will cost, before a row is read

# %%
plan = scumble.plan(schema=folder / "schema.yaml", epsilon="2")
print(plan.guarantee.sentence)

# %% [markdown]
# ## Do the rows fit the schema?
#
# Only the owner may see this answer: it is exact, and the release does not contain it.

# %%
fit = scumble.check_rows(folder / "schema.yaml", folder / "visits.csv")
print(f"{fit.kept:,} of {fit.rows:,} visits have a value in every domain.")

# %% [markdown]
# ## Publish
#
# The ledger is charged first, then the rows are read, then the folder is written. A second release needs a grant.

# %%
given = {
    "schema": folder / "schema.yaml",
    "epsilon": "2",
    "ledger": folder / "ledger.db",
    "witness": folder / "witness.db",
}
published = scumble.release(folder / "visits.csv", out=folder / "release", **given)
print(
    f"{len(list(published.folder.iterdir()))} files in {published.folder}; recommended for training: {published.recommended}."
)
try:
    scumble.release(folder / "visits.csv", out=folder / "again", **given)
except scumble.BudgetError as refused:
    print(f"The same again: {refused}")

# %% [markdown]
# ## Is it any good?
#
# Classifiers learn from the release, and are tested on other patients. These figures come from raw rows: keep them to yourself.

# %%
scores = scumble.evaluate(folder / "release", test=folder / "others.csv", classifiers=["c45"])
print(f"C4.5 on the release: {scores['c45']['accuracy']:.1%} right, AUC {scores['c45']['auc']:.3f}.")
print(f"Always the commonest class: {scores['commonest']['accuracy']:.1%} right, AUC 0.5.")

# %% [markdown]
# ## What everybody else does
#
# Whoever has the folder can check it and ask it, without the rows.

# %%
print(f"{len(scumble.verify(folder / 'release'))} checks of the folder passed.")
print(scumble.query(folder / "release", "readmitted = 'yes'", by="diagnosis"))
