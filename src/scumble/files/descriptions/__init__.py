"""What lets a release travel: descriptions of its tables for other programs, written into every release folder.

- `croissant.json`: Croissant 1.1, the metadata of machine-learning catalogues (JSON-LD);
- `datapackage.json`: a Frictionless data package;
- `values.csv`: which raw values each published value stands for, if values are generalized;
- `read.R`: reads the tables with base R;
- `deployment.yaml`: the start of an entry for the OpenDP registry of deployments, if the guarantee has an epsilon.

All of them follow from the release and from the hashes of its tables, which are published: nothing else about the rows
enters them.
"""

from collections.abc import Mapping

from scumble.files.descriptions.croissant import croissant
from scumble.files.descriptions.datapackage import datapackage
from scumble.files.descriptions.deployment import deployment
from scumble.files.descriptions.r_script import r_script
from scumble.files.descriptions.tables import described_tables
from scumble.files.descriptions.values import values_csv
from scumble.model.guarantee import epsilon_of
from scumble.model.release import Release

VALUES = "values.csv"
COUNTS = "counts.csv"


def descriptions(release: Release, recommended: str, hashes: Mapping[str, str]) -> dict[str, str]:
    """The text of each file. `hashes` has the SHA-256 of each CSV table of the folder, without `values.csv`."""
    tables = described_tables(release, hashes)
    files = {}
    if tables:
        files["croissant.json"] = croissant(release, tables)
        files["datapackage.json"] = datapackage(release, tables)
        files["read.R"] = r_script(tables, recommended)
    if COUNTS in hashes:
        files[VALUES] = values_csv(release.schema)
    if epsilon_of(release.plan.guarantee) is not None:
        files["deployment.yaml"] = deployment(release)
    return files
