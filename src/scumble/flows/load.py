"""Reading releases back from their folders.

`load_release` reads any kind; `load_cells`, `load_records`, `load_generalized`, `load_blurred` and `load_classifier`
read one kind and refuse the others, so that a type checker knows which attributes the result has.
"""

from pathlib import Path
from typing import cast

from scumble.files.kinds.blurred import BLURRED
from scumble.files.kinds.cells import CELLS
from scumble.files.kinds.classifier import CLASSIFIER
from scumble.files.kinds.generalized import GENERALIZED
from scumble.files.kinds.records import RECORDS
from scumble.files.release_folder import read_release, read_release_of
from scumble.model.release import (
    AnyRelease,
    BlurredRelease,
    CellRelease,
    ClassifierRelease,
    GeneralizedRelease,
    RecordRelease,
)


def load_release(folder: str | Path) -> AnyRelease:
    """The release in a folder, of whatever kind.

    Raises `InputError` if the folder has no release, or one that this version cannot read. `verify` checks the files.
    """
    return cast(AnyRelease, read_release(Path(folder)))


def load_cells(folder: str | Path) -> CellRelease:
    """The release in a folder of noisy counts, as `scumble release` writes them with the method diffgen.

    Raises `InputError` if the folder has a release of another kind; otherwise as `load_release`.
    """
    return read_release_of(CELLS, Path(folder))


def load_records(folder: str | Path) -> RecordRelease:
    """The release in a folder of synthetic or averaged records.

    Raises `InputError` if the folder has a release of another kind; otherwise as `load_release`.
    """
    return read_release_of(RECORDS, Path(folder))


def load_generalized(folder: str | Path) -> GeneralizedRelease:
    """The release in a folder of k-anonymous groups, as the methods mondrian and tds make them.

    Raises `InputError` if the folder has a release of another kind; otherwise as `load_release`.
    """
    return read_release_of(GENERALIZED, Path(folder))


def load_blurred(folder: str | Path) -> BlurredRelease:
    """The release in a folder of perturbed records, as `scumble perturb` writes them. The records stay in table.csv.

    Raises `InputError` if the folder has a release of another kind; otherwise as `load_release`.
    """
    return read_release_of(BLURRED, Path(folder))


def load_classifier(folder: str | Path) -> ClassifierRelease:
    """The release in a folder of one classifier and no table, as `scumble release --method diffp-c45` writes it.

    Raises `InputError` if the folder has a release of another kind; otherwise as `load_release`.
    """
    return read_release_of(CLASSIFIER, Path(folder))
