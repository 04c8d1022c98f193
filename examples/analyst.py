# %% [markdown]
# # An analyst explores a release
#
# Somebody sent you a folder. You have no rows, no ledger and no budget to think of: whatever you compute from a release is covered by its
# guarantee. What you do need is a feeling for the noise. This example first makes a folder to look at.

# %%
import math
import tempfile
from pathlib import Path

import scumble
from scumble.demo.patients import write_patients

folder = Path(tempfile.mkdtemp(prefix="analyst-"))
write_patients(folder)
received = folder / "release"
scumble.release(
    folder / "patients.csv",
    schema=folder / "schema.yaml",
    method="explore",
    epsilon="1",
    out=received,
    ledger=folder / "ledger.db",
    witness=folder / "witness.db",
)

# %% [markdown]
# ## Is it what it says it is?
#
# `verify` needs nothing but the folder. It finds a damaged or inconsistent folder, not a forged one: for that, owners sign.

# %%
print(f"{len(scumble.verify(received))} checks passed.")
made = scumble.load_release(received)
print(made.plan.guarantee.sentence)

# %% [markdown]
# ## What is in it?

# %%
for attribute in made.schema.attributes:
    labels = attribute.domain.labels
    print(f"{attribute.name:14} {len(labels):4} values, from {labels[0]} to {labels[-1]}")

# %% [markdown]
# ## Counts with intervals
#
# `measured` answers come from noisy counts, and the interval covers their noise. It does not cover that the people in the table are
# themselves a sample.

# %%
print(scumble.query(received, "age >= 65"))
print(scumble.query(received, "admission = 'Emergency'", by="readmitted"))
print(scumble.query(received, mean="stay"))

# %% [markdown]
# ## Is a difference real?
#
# Two shares with their intervals: the noise of the difference is at most the sum of both half widths.


# %%
def share(condition: str) -> tuple[float, float]:
    """The share of readmitted patients under a condition, and half the width of its interval."""
    answer = scumble.query(received, condition, by="readmitted")
    found = next(each for each in answer.estimates if each.group == ("yes",) and each.measure == "share")
    if found.low is None or found.high is None:
        return float(found.value), math.nan
    return float(found.value), (float(found.high) - float(found.low)) / 2


emergency, planned = share("admission = 'Emergency'"), share("admission = 'Planned'")
difference, noise = emergency[0] - planned[0], emergency[1] + planned[1]
print(
    f"Readmitted after an emergency {emergency[0]:.1%} ± {emergency[1]:.1%}, planned {planned[0]:.1%} ± {planned[1]:.1%}."
)
print(
    f"The difference is {difference:.1%} ± {noise:.1%}: {'more than' if difference > noise else 'no more than'} noise explains."
)

# %% [markdown]
# ## A small group
#
# Ask for something rare, and the interval says that there is little to see. That is the guarantee at work.

# %%
print(scumble.query(received, "ward = 'Vascular' and readmitted = 'yes'"))

# %% [markdown]
# ## The rows
#
# `table.csv` has synthetic rows, as many as were counted. They are for models and plots, not for counting people: for counts, use `query`.
# `to_frame` returns pandas, polars or Arrow.

# %%
table = scumble.to_frame(made, "pyarrow")
print(f"{table.num_rows:,} synthetic rows with {table.num_columns} columns; the first:")
print(table.slice(0, 1).to_pylist()[0])
drawn = table["ward"].to_pylist().count("Cardiology")
measured = scumble.query(received, "ward = 'Cardiology'").value
print(f"Cardiology: {drawn:,} of the rows; measured: {measured:,.0f}.")
