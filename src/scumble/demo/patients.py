"""Synthetic patients: a table and its schema for the demo, the docs and the tests. No real person is in it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from scumble.files.schema_file import parse_schema
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation

PATIENTS_SCHEMA = """\
# Everything in this file is public: it was written without looking at the rows.
scumble: schema/1
unit: add-remove        # the guarantee is about adding or removing one patient
target: readmitted      # the class a miner will predict
attributes:
  age: {numeric: {low: 0, high: 100, step: 1}}
  sex: {taxonomy: {Any: {female: , male: }}}
  ward:
    taxonomy:
      Any:
        Medicine: {Cardiology: , Pulmonology: , Oncology: , Geriatrics: }
        Surgery: {Orthopaedics: , Trauma: , Vascular: }
        Women-and-children: {Obstetrics: , Paediatrics: }
  admission:
    taxonomy:
      Any:
        Planned: {Referral: , Transfer: }
        Emergency:
  stay: {numeric: {low: 1, high: 61, step: 1}, missing: "?"}   # days
  medicines: {numeric: {low: 0, high: 30, step: 1}}
  earlier-stays: {numeric: {edges: [0, 1, 2, 3, 5, 10, 20]}}
  insurance: {taxonomy: {Any: {Public: {Basic: , Supplementary: }, Private: , None: }}}
  readmitted: {classes: ["no", "yes"]}
"""

WARDS = (
    "Cardiology",
    "Pulmonology",
    "Oncology",
    "Geriatrics",
    "Orthopaedics",
    "Trauma",
    "Vascular",
    "Obstetrics",
    "Paediatrics",
)


def patients_schema() -> Schema:
    return parse_schema(PATIENTS_SCHEMA, name="the patients' schema")


def patients(rows: int, seed: int) -> pa.Table:
    """Patients whose readmission depends on earlier stays, medicines, the kind of admission, and the ward."""
    draw = simulation(seed)
    ward = draw.choice(len(WARDS), rows, p=[0.16, 0.12, 0.1, 0.14, 0.14, 0.1, 0.06, 0.1, 0.08])
    typical_age = np.array([66, 62, 61, 81, 58, 45, 67, 31, 8])[ward]
    age = np.clip(draw.normal(typical_age, 12), 0, 99).astype(int)
    emergency = draw.random(rows) < np.where(np.isin(ward, [0, 1, 3, 5]), 0.6, 0.2)
    earlier = np.minimum(draw.poisson(0.2 + age / 45 + 0.6 * np.isin(ward, [1, 2])), 19)
    medicines = np.clip(draw.poisson(1 + age / 11), 0, 29)
    stay = np.clip(draw.gamma(2, 1 + age / 35 + 2 * emergency), 1, 60).astype(int)
    signal = 0.75 * earlier + 0.16 * medicines + 1.1 * emergency + 0.9 * (ward == 3) - 3.9
    readmitted = draw.random(rows) < 1 / (1 + np.exp(-signal))
    unknown = draw.random(rows) < 0.02
    return pa.table(
        {
            "name": [f"patient {number}" for number in range(1, rows + 1)],
            "age": age,
            "sex": np.where(draw.random(rows) < np.where(ward == 7, 1.0, 0.5), "female", "male"),
            "ward": np.array(WARDS)[ward],
            "admission": np.where(emergency, "Emergency", np.where(draw.random(rows) < 0.8, "Referral", "Transfer")),
            "stay": np.where(unknown, "?", stay.astype(str)),
            "medicines": medicines,
            "earlier-stays": earlier,
            "insurance": draw.choice(["Basic", "Supplementary", "Private", "None"], rows, p=[0.6, 0.2, 0.17, 0.03]),
            "readmitted": np.where(readmitted, "yes", "no"),
        }
    )


def write_patients(folder: Path, *, rows: int = 20_000, seed: int = 1) -> None:
    """Write patients.csv, test.csv (a quarter as many other patients) and schema.yaml into a folder."""
    pacsv.write_csv(patients(rows, seed), folder / "patients.csv")
    pacsv.write_csv(patients(rows // 4, seed + 1), folder / "test.csv")
    (folder / "schema.yaml").write_text(PATIENTS_SCHEMA, encoding="utf-8")
