# %% [markdown]
# # Three hospitals publish one table together
#
# None may see the rows of another, and no fourth party may either. Three processes on this machine play the hospitals: real keys, real
# TLS connections, a ledger each. Counts travel as secret shares; only noisy answers are opened. Everything is generated.

# %%
import csv
import random
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import scumble

folder = Path(tempfile.mkdtemp(prefix="hospitals-"))
(folder / "schema.yaml").write_text(
    """\
scumble: schema/1
target: readmitted
attributes:
  age: {numeric: {low: 0, high: 100, step: 10}}
  admission: {taxonomy: {Any: {Planned: {Referral: , Transfer: }, Emergency: }}}
  smokes: {boolean: {false: ["no"], true: ["yes"]}}
  readmitted: {classes: ["no", "yes"]}
""",
    encoding="utf-8",
)

# %% [markdown]
# ## Each hospital has its own patients
#
# The one in the city has more emergencies, the clinic hardly any.

# %%
HOSPITALS = {"city": (3_000, 0.6), "county": (2_000, 0.4), "clinic": (800, 0.1)}
draw = random.Random(5)
everybody = []
for name, (patients, emergencies) in HOSPITALS.items():
    rows = []
    for _ in range(patients):
        age = draw.randrange(100)
        admission = "Emergency" if draw.random() < emergencies else draw.choice(["Referral", "Transfer"])
        odds = 0.1 + 0.003 * age + 0.3 * (admission == "Emergency")
        rows.append([age, admission, draw.choice(["no", "yes"]), "yes" if draw.random() < odds else "no"])
    everybody += rows
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["age", "admission", "smokes", "readmitted"], *rows])

# %% [markdown]
# ## The agreement
#
# All of it is public: schema, epsilon, addresses, certificates, and a bound on the rows of each hospital. In earnest every party makes
# its own key (`scumble join key`), and all compare the hash of this file by telephone.


# %%
def free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "scumble", *map(str, words)]


parties = [
    word
    for name, port in zip(HOSPITALS, free_ports(3), strict=True)
    for word in ("--party", f"{name}=127.0.0.1:{port}")
]
init = command(
    "join", "init", "--schema", folder / "schema.yaml", "--epsilon", 1, "--detail", "no", "--rows-at-most", 5000
)
subprocess.run([*init, *parties, "--out", str(folder / "agreed")], check=True, capture_output=True)
agreement = folder / "agreed" / "agreement.yaml"
print(*agreement.read_text("utf-8").splitlines()[:12], sep="\n")

# %% [markdown]
# ## All three run at the same time

# %%
running = [
    subprocess.Popen(
        command(
            *("join", "run", "--agreement", agreement, "--party", name, "--data", folder / f"{name}.csv"),
            *("--ledger", folder / f"{name}.db", "--witness", folder / f"{name}.witness", "--out", folder / name),
        ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    for name in HOSPITALS
]
for process in running:
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said

# %% [markdown]
# ## One release, three identical folders

# %%
tables = {name: (folder / name / "counts.csv").read_bytes() for name in HOSPITALS}
print(f"The counts of all three are the same, byte for byte: {len(set(tables.values())) == 1}.")
made = scumble.load_cells(folder / "city")
print(made.plan.guarantee.sentence)
print(f"{len(scumble.verify(folder / 'clinic'))} checks of the clinic's folder passed.")

# %%
for admission in ("Planned", "Emergency"):
    answer = scumble.query(folder / "county", f"admission = '{admission}'")
    true = sum((row[1] == "Emergency") == (admission == "Emergency") for row in everybody)
    print(
        f"{admission}: {answer.value:,.0f} patients of all hospitals together; the truth, which nobody of them knows: {true:,}."
    )
