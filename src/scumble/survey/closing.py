"""Closing a survey: its reports become a release of perturbed records, of the same kind that `perturb` writes.

A release is written once, at the end, and not while records arrive: its files have fixed hashes, a record that is
replaced or withdrawn must not have been published before, and two states of a growing table would show whose record
came in between. The rows are shuffled, so that their order says nothing about tokens. After that, the collected
records and their tokens are overwritten.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from scumble.errors import InputError
from scumble.files.atomic_folder import staging
from scumble.flows.load import load_blurred
from scumble.flows.perturb import perturbation_plan, write_perturbed
from scumble.model.guarantee_json import to_json
from scumble.model.local.noise_model import NoiseModel
from scumble.model.plan import Plan
from scumble.model.release import BlurredRelease
from scumble.model.values import text_of
from scumble.privacy.noise import Keying, keyed_permutation, secret_key
from scumble.survey.records import CollectedRecords, StoredRecord, collecting_folder

T = TypeVar("T")
TRUTHS_FILE = "truths.csv"
COLLECTED = (
    "The records were perturbed in the browsers of the people who answered, and collected by a survey. Each person "
    "keeps the secret of their noise. The order of the rows is random."
)


@dataclass(frozen=True, kw_only=True)
class ClosedResult:
    """The result of `close_survey`."""

    folder: Path
    release: BlurredRelease
    truths: Path | None
    """The true answers that people chose to send, for the owner only."""

    def to_json(self) -> dict[str, Any]:
        return {
            "release": str(self.folder),
            "guarantee": to_json(self.release.plan.guarantee),
            "records": self.release.records,
            "truths": None if self.truths is None else str(self.truths),
        }


def close_survey(out: Path) -> ClosedResult:
    """Close the survey that collects for `out`, write the release, and overwrite the collected records.

    Closing is final. If it was interrupted, repeat it: no record is lost, and none is published twice.
    """
    collected = CollectedRecords(collecting_folder(out))
    survey, path = collected.survey, collected.folder / TRUTHS_FILE
    records = collected.close()
    shuffled = shuffle(records)
    if out.exists():
        release = _written(out, survey.noise, shuffled)
    else:
        _write_truths(path, survey.noise, survey.truths, shuffled)
        with staging(out) as stage:
            plan, blocks = survey_plan(survey.noise), [_columns(survey.noise, shuffled)]
            release = write_perturbed(stage.folder, survey.noise, plan, survey.parameters, blocks)
            stage.publish()
    collected.forget()
    return ClosedResult(folder=out, release=release, truths=path if path.exists() else None)


def shuffle(records: list[T]) -> list[T]:
    """The records in a uniform random order."""
    return [records[place] for place in keyed_permutation(secret_key(), b"survey rows", len(records)).tolist()]


def survey_plan(noise: NoiseModel) -> Plan:
    """The plan of the release: that of a perturbed table with secrets, which the people themselves hold."""
    return perturbation_plan(noise, keying=Keying.HMAC_SHA256, collected=COLLECTED)


def _written(out: Path, noise: NoiseModel, records: list[StoredRecord]) -> BlurredRelease:
    """The release of a closing that was interrupted after it was published."""
    release = load_blurred(out)
    if release.noise != noise or (records and release.records != len(records)):
        raise InputError(
            f"{out} exists already, and is not the release of this survey. Move it away, then close again."
        )
    return release


def _columns(noise: NoiseModel, records: list[StoredRecord]) -> dict[str, Any]:
    table = np.array([each.reports for each in records], dtype=np.int64).reshape(len(records), len(noise.reported))
    return dict(zip(noise.reported, table.T, strict=True))


def _write_truths(path: Path, noise: NoiseModel, names: tuple[str, ...], records: list[StoredRecord]) -> None:
    """One row for each person who sent a true answer, in another order than the rows of the release."""
    chosen = [each.truths for each in records if each.truths]
    if not chosen:
        return
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for codes in shuffle(chosen):
            writer.writerow([text_of(noise.schema[n].domain, codes[n]) if n in codes else "" for n in names])
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
