"""What a browser sends: one perturbed record under a token. What the noise model cannot have produced is refused.

A refusal depends on the message and on the public survey alone.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scumble.errors import InputError
from scumble.model.local.channel import GroupingChannel, ReplacementChannel
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.values import texts_of
from scumble.privacy.noise import secret_key
from scumble.survey.definition import Survey

TOKEN = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
"""128 random bits in 22 characters of base64url."""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A checked record: reported codes and, where the person chose so, codes of true values."""

    token: bytes
    """The SHA-256 of the token, under which the record is stored."""
    reports: Mapping[str, int]
    truths: Mapping[str, int]


def new_token() -> str:
    """A new random token, for an invitation."""
    return base64.urlsafe_b64encode(secret_key()[:16]).decode().rstrip("=")


def token_digest(token: object) -> bytes:
    """The SHA-256 of a token. Raises `InputError` for anything that is not a token."""
    if not isinstance(token, str) or not TOKEN.fullmatch(token):
        raise InputError("The token is not one of this survey. Use the link of the invitation, as it was sent.")
    return hashlib.sha256(token.encode()).digest()


class SubmissionReader:
    """Reads submissions to one survey."""

    def __init__(self, survey: Survey) -> None:
        noise = survey.noise
        self._identity = survey.identity
        self._possible = {
            name: possible_reports(noise[name], required=name in survey.required) for name in noise.reported
        }
        self._true = {name: _codes(texts_of(noise.schema[name].domain)) for name in survey.truths}

    def read(self, message: Any) -> Submission:
        """Check a message. Raises `InputError` if it is malformed or if this survey cannot have produced it."""
        if not isinstance(message, dict) or set(message) != {"survey", "token", "record", "truths"}:
            raise InputError("A submission has the entries survey, token, record and truths, and no others.")
        if message["survey"] != self._identity:
            raise InputError("The record was made for another survey. Reload the page.")
        token = token_digest(message["token"])
        record, truths = message["record"], message["truths"]
        if not isinstance(record, dict) or set(record) != set(self._possible):
            raise InputError(f"A record has the attributes {', '.join(self._possible)}, and no others.")
        if not isinstance(truths, dict) or not set(truths) <= set(self._true):
            raise InputError("The submission has true answers to questions that do not take them.")
        return Submission(
            token=token,
            reports={name: _code(codes, record[name], name) for name, codes in self._possible.items()},
            truths={name: _code(self._true[name], text, name) for name, text in truths.items()},
        )


def possible_reports(randomized: RandomizedAttribute, *, required: bool = False) -> dict[str, int]:
    """The texts of all reports that some true value gives with a positive probability, and their codes.

    If an answer is `required`, a report that only a withheld answer gives is not among them.
    """
    possible = randomized.channel.possible
    codes = _codes(texts_of(randomized.published.domain))
    refused = _report_of_withheld(randomized) if required else None
    # A code beyond the channel's is that of a missing number, which stays missing.
    return {text: code for text, code in codes.items() if code != refused and (code >= len(possible) or possible[code])}


def _report_of_withheld(randomized: RandomizedAttribute) -> int | None:
    """The report that a withheld answer gives and no other answer can give, or None if there is no such report."""
    missing, channel = randomized.attribute.missing_code, randomized.channel
    if missing == channel.inputs:
        return channel.outputs
    if missing is not None and isinstance(channel, GroupingChannel):
        group = int(channel.groups[missing])
        return group if (channel.groups == group).sum() == 1 else None
    if missing is not None and isinstance(channel, ReplacementChannel) and channel.other == 0:
        return missing
    return None


def _codes(texts: list[str]) -> dict[str, int]:
    return {text: code for code, text in enumerate(texts)}


def _code(codes: Mapping[str, int], text: object, name: str) -> int:
    code = codes.get(text) if isinstance(text, str) else None
    if code is None:
        raise InputError(f"The noise model never reports such a value of {name!r}. Reload the page and send it again.")
    return code
