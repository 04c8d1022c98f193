# %% [markdown]
# # A survey whose organizer learns nobody's answers
#
# Each person perturbs their own answers before sending them. The organizer reconstructs distributions and learns a decision tree
# (Agrawal & Srikant, SIGMOD 2000), which the people apply to their true values. Everything is generated.

# %%
import csv
import random
import secrets
import tempfile
from pathlib import Path

import numpy as np

import scumble

folder = Path(tempfile.mkdtemp(prefix="survey-"))
(folder / "schema.yaml").write_text(
    """\
scumble: schema/1
target: tired
attributes:
  age: {numeric: {low: 18, high: 78, step: 1}}
  sleep: {numeric: {low: 3, high: 11, step: 0.25}}
  coffee: {numeric: {low: 0, high: 12, step: 0.5}}
  tired: {classes: ["no", "yes"]}
""",
    encoding="utf-8",
)

# %% [markdown]
# ## On the device of one person
#
# The noise model is public; the secret stays on the device. The same answers give the same report, so asking twice reveals nothing more.
# An epsilon of 8 for four answers is weak protection against a determined reader, and reports of a single person look like this:

# %%
noise = scumble.noise_model(folder / "schema.yaml", epsilon="8")
mine = scumble.Perturber(noise, secret=secrets.token_bytes(32))
answers = {"age": 41, "sleep": 5.5, "coffee": 4, "tired": "yes"}
print("true answers:  ", answers)
print("what is sent:  ", mine.perturb(answers, entity="me"))
print("sent once more:", mine.perturb(answers, entity="me"))

# %% [markdown]
# ## Twelve thousand people do the same
#
# `scumble.perturb` perturbs every row by itself, as each person would. The true table exists here only because this example invents it.


# %%
def person(draw: random.Random) -> dict[str, object]:
    sleep = min(max(draw.gauss(6.8, 1.4), 3), 10.9)
    coffee = min(max(draw.gauss(3, 2), 0), 11.9)
    odds = 0.85 if sleep < 6 else 0.15 + 0.2 * (coffee > 5)
    return {
        "age": draw.randrange(18, 78),
        "sleep": round(sleep * 4) / 4,
        "coffee": round(coffee * 2) / 2,
        "tired": "yes" if draw.random() < odds else "no",
    }


draw = random.Random(3)
people = [person(draw) for _ in range(12_000)]
blurred = folder / "blurred"
sent = scumble.perturb(people, schema=folder / "schema.yaml", epsilon="8", out=blurred)
print(sent.release.plan.guarantee.sentence)

# %% [markdown]
# ## What the organizer reconstructs
#
# The noise is known, so its effect on the distribution can be undone, although no value can. Distances are total variation: 0 is equal.
# Only an example can compare with the original.

# %%
with (folder / "original.csv").open("w", newline="", encoding="utf-8") as file:
    table = csv.DictWriter(file, people[0])
    table.writeheader()
    table.writerows(people)
for found in scumble.reconstruct(blurred, original=folder / "original.csv"):
    if found.group is None:
        distance = found.distances()
        print(
            f"{found.attribute:8} distance of the reports {distance['randomized']:.2f}, "
            f"of the reconstruction {distance['reconstructed']:.2f}"
        )

# %% [markdown]
# ## A tree from perturbed records, applied to true ones

# %%
with (blurred / "table.csv").open(newline="", encoding="utf-8") as file:
    reports = list(csv.DictReader(file))
columns = ["age", "sleep", "coffee"]
seen = np.array([[float(each[name]) for name in columns] for each in reports])
labels = np.array([each["tired"] for each in reports])
tree = scumble.PerturbedTreeClassifier(noise, algorithm="byclass").fit(seen, labels)
print(*tree.export_text().splitlines()[:6], "...", sep="\n")

others = [person(draw) for _ in range(3_000)]
true = np.array([[float(str(each[name])) for name in columns] for each in others])
right = np.mean(tree.predict(true) == np.array([each["tired"] for each in others]))
commonest = max(np.mean([each["tired"] == label for each in others]) for label in ("no", "yes"))
print(
    f"Of 3,000 people who were not asked, the tree is right about {right:.1%}; the commonest answer is, about {commonest:.1%}."
)
