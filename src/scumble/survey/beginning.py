"""Beginning a survey, or continuing one: a noise model from the owner's options, and a folder that collects reports.

Everything that can be wrong with the schema, the strength, the texts and the invitations is refused here, before a page
is served.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.files.atomic_folder import staging
from scumble.flows.charge import check_accepted
from scumble.flows.perturb import noise_model
from scumble.foreign.documents import read_json
from scumble.foreign.files import read_text
from scumble.mining.tree_model import TreeModel
from scumble.privacy.noise import Keying
from scumble.survey.definition import Survey, parse_closing, read_texts
from scumble.survey.pages import page_files
from scumble.survey.records import SURVEY_FILE, ClosedSurvey, CollectedRecords, UnknownToken, collecting_folder
from scumble.survey.submission import SubmissionReader, new_token, token_digest


def begin_survey(
    out: Path,
    *,
    schema: Path | None = None,
    strength: Mapping[str, Any] | None = None,
    accept: Sequence[str] = (),
    texts: Path | None = None,
    closes: str | None = None,
    invitations: Path | None = None,
    truths: Sequence[str] = (),
    required: Sequence[str] = (),
) -> CollectedRecords:
    """The survey that collects for the release `out`. It is created, or continued if it exists with the same settings.

    `strength` takes the arguments of `scumble.noise_model`. Without a schema, an existing survey is continued as it is;
    further invitations can be added. Raises `InputError` if a setting is wrong or differs from the existing survey's.
    """
    folder = collecting_folder(out)
    exists = (folder / SURVEY_FILE).exists()
    digests = [] if invitations is None else read_invitations(invitations)
    if schema is None:
        if not exists:
            raise InputError(f"No survey collects for {out} yet. Give --schema and the strength to begin one.")
        collected = CollectedRecords(folder)
    else:
        survey = _survey(schema, strength or {}, accept, texts, closes, invitations is not None, truths, required)
        if not exists:
            if out.exists():
                raise InputError(f"{out} exists already, and is never overwritten. Give another --out.")
            return CollectedRecords.create(folder, survey, digests)
        collected = CollectedRecords(folder)
        if collected.survey.to_json() != survey.to_json():
            raise InputError(
                f"{folder} has a survey with other settings, which people have agreed to. Leave out --schema to "
                "continue it, or give another --out."
            )
    if digests:
        collected.invite(digests)
    return collected


def _survey(
    schema: Path,
    strength: Mapping[str, Any],
    accept: Sequence[str],
    texts: Path | None,
    closes: str | None,
    invited: bool,
    truths: Sequence[str],
    required: Sequence[str],
) -> Survey:
    noise = noise_model(schema, **strength)
    check_accepted(noise.guarantee, accept)
    stated = {name: value for name, value in strength.items() if value}
    return Survey(
        noise=noise,
        texts=read_texts(texts),
        truths=tuple(truths),
        required=tuple(required),
        closes=parse_closing(closes),
        invited=invited,
        parameters={**stated, "keyed": Keying.HMAC_SHA256.value},
    )


def read_invitations(path: Path) -> list[bytes]:
    """The digests of the tokens in a file: one token on each line, alone or behind the # of a link."""
    try:
        lines = read_text(path, follow_links=True).split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The invitations {path} cannot be read: {error}. Make them with `scumble survey invite`."
        ) from error
    try:
        return [token_digest(line.rpartition("#")[2]) for line in lines]
    except InputError:
        raise InputError(
            f"{path} has a line that is not an invitation. Make invitations with `scumble survey invite`."
        ) from None


def write_invitations(path: Path, number: int, address: str) -> None:
    """New tokens, one on each line, as links if there is an address. Only the owner can read the file."""
    if number < 1:
        raise InputError(f"{number} invitations cannot be made. Give a number above zero.")
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise InputError(f"{path} exists already. People may have its invitations: give another --out.") from None
    start = f"{address}#" if address else ""
    path.write_text("".join(f"{start}{new_token()}\n" for _ in range(number)), encoding="utf-8")


def build_pages(collected: CollectedRecords, folder: Path, *, tree: TreeModel | None = None) -> dict[str, str]:
    """Write the pages as one static folder, which works without a server. Returns the SHA-256 of each file."""
    files = page_files(collected.survey, served=False, tree=tree)
    with staging(folder) as stage:
        for name, content in files.items():
            (stage.folder / name).write_bytes(content)
        stage.publish()
    return {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}


def add_records(collected: CollectedRecords, paths: Sequence[Path]) -> dict[str, str]:
    """Store records that people sent as files. Returns what is wrong with each file that was refused."""
    reader = SubmissionReader(collected.survey)
    refused = {}
    for path in paths:
        try:
            collected.put(reader.read(read_json(path, follow_links=True)))
        except (InputError, ValueError, OSError) as error:
            refused[str(path)] = str(error)
    return refused


def withdraw_records(collected: CollectedRecords, tokens: Sequence[str]) -> list[str]:
    """Delete the records of people who asked the owner to. Returns the tokens that have no record.

    Raises `InputError` if something is not a token, before any record is deleted, or if the survey was closed.
    """
    unknown = []
    for token, digest in [(token, token_digest(token)) for token in tokens]:
        try:
            collected.withdraw(digest, by_owner=True)
        except UnknownToken:
            unknown.append(token)
        except ClosedSurvey as error:
            raise InputError(
                "This survey was closed: its release has the records without their tokens, so none can be found."
            ) from error
    return unknown
