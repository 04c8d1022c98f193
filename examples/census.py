# %% [markdown]
# # A statistical office publishes a census
#
# There is no class to predict: people will ask anything. So the method is `explore`, which keeps the distribution of every attribute and
# the strongest associations, and answers counts with intervals. Everything is generated.

# %%
import math
import random
import tempfile
from pathlib import Path

import scumble

folder = Path(tempfile.mkdtemp(prefix="census-"))

# %%
(folder / "schema.yaml").write_text(
    """\
scumble: schema/1
attributes:
  age: {numeric: {low: 0, high: 100, step: 5}, public because: five-year groups of the questionnaire}
  region:
    taxonomy:
      Country:
        North: {Coast: , Lakes: }
        South: {Hills: , Plain: , Capital: }
    public because: the districts of the country
  household: {ordered: [one, two, three, four or more], public because: the questionnaire}
  work:
    taxonomy:
      Any:
        Works: {Employed: , Self-employed: }
        Does not work: {Looking for work: , Retired: , In education: }
    public because: the questionnaire
  rent: {numeric: {edges: [0, 1, 300, 600, 900, 1200, 2000, 5000]}, missing: owner, public because: round amounts}
""",
    encoding="utf-8",
)


# %% [markdown]
# ## The people
#
# Rows can be dictionaries. Age decides much of the rest, and the capital is dear.


# %%
def person(draw: random.Random) -> dict[str, object]:
    age = min(int(draw.betavariate(1.6, 2.1) * 95), 99)
    region = draw.choices(["Coast", "Lakes", "Hills", "Plain", "Capital"], [2, 1, 1, 3, 4])[0]
    if age < 22:
        work = "In education"
    elif age > 66:
        work = "Retired"
    else:
        work = draw.choices(["Employed", "Self-employed", "Looking for work"], [8, 2, 1])[0]
    household = draw.choices(["one", "two", "three", "four or more"], [4, 4, 2, 2] if age > 60 else [2, 3, 3, 3])[0]
    rent = None if draw.random() < 0.3 else 250 + draw.expovariate(1 / (700 if region == "Capital" else 350))
    return {"age": age, "region": region, "household": household, "work": work, "rent": rent}


draw = random.Random(7)
people = [person(draw) for _ in range(30_000)]

# %% [markdown]
# ## Which epsilon?
#
# A plan costs nothing and reads nothing. It also says whether a delta would lessen the noise.

# %%
for epsilon in ("0.1", "0.5", "2"):
    plan = scumble.plan(schema=folder / "schema.yaml", epsilon=epsilon)
    print(f"epsilon {epsilon}: a 50 % suspicion can rise to {1 / (1 + math.exp(-float(epsilon))):.1%}.")
    print(f"  {plan.notes[-1]}")

# %%
published = scumble.release(
    people,
    schema=folder / "schema.yaml",
    epsilon="0.5",
    dataset="census",
    out=folder / "release",
    ledger=folder / "ledger.db",
    witness=folder / "witness.db",
)
print(published.release.plan.guarantee.sentence)

# %% [markdown]
# ## Questions, and how far the answers are from the truth
#
# Intervals cover the noise with a probability of 95 %. Where the source is `rows`, the answer comes from a model and has no interval.
# Only this example can print the truth beside it.

# %%
questions = {
    "region = 'Capital'": lambda each: each["region"] == "Capital",
    "age >= 65": lambda each: each["age"] >= 65,
    "work = 'Looking for work'": lambda each: each["work"] == "Looking for work",
    "age < 25 and region = 'North'": lambda each: each["age"] < 25 and each["region"] in {"Coast", "Lakes"},
    "rent >= 1200 and region = 'Capital'": lambda each: (each["rent"] or 0) >= 1200 and each["region"] == "Capital",
}
print(f"{'question':36} {'answer':>8} {'95 % interval':>18} {'truth':>8}")
for question, true in questions.items():
    answer = scumble.query(folder / "release", question)
    low, high = answer.interval or (None, None)
    interval = "from a model" if low is None else f"{low:,.0f} to {high:,.0f}"
    print(f"{question:36} {answer.value:8,.0f} {interval:>18} {sum(map(true, people)):8,}")

# %% [markdown]
# ## A table for a yearbook

# %%
print(scumble.query(folder / "release", "age >= 20 and age < 65", by="work"))
print(scumble.query(folder / "release", by="household"))
