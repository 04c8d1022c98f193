"""What a survey is: its noise model, the owner's texts, its closing date, and what people may choose at a question.

All of it is public and stored as survey.json, in the folder that collects the reports.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scumble.errors import InputError
from scumble.files.noise_file import noise_data, noise_from
from scumble.foreign.documents import read_json
from scumble.foreign.files import read_text
from scumble.foreign.numbers import shown
from scumble.foreign.yaml_text import parse_yaml
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomizers import Truthful
from scumble.survey.description import describe

FORMAT = "survey/1"


class SurveyTexts(BaseModel):
    """What the owner writes on the page. All of it is plain text."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    title: str = Field(default="Survey", min_length=1, max_length=200)
    introduction: str = Field(default="", max_length=5000)
    consent: str = Field(
        default="I take part voluntarily. I have read what is sent, and what is not protected.",
        min_length=1,
        max_length=5000,
    )
    questions: dict[str, str] = Field(default_factory=dict)
    """The question for an attribute; without one, its name is shown."""


def read_texts(path: Path | None) -> SurveyTexts:
    """The owner's texts from a YAML file; the usual ones without a file."""
    if path is None:
        return SurveyTexts()
    try:
        text = read_text(path, follow_links=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The texts {path} cannot be read: {error}. Give a YAML file in UTF-8.") from error
    try:
        return SurveyTexts.model_validate(parse_yaml(text, str(path)) or {})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(
            f"{path}: {place}: {first['msg']}. Write title, introduction, consent, and questions by attribute."
        ) from error


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A survey. `truths` are the attributes whose true answer a person may send beside the report, by choice.

    An answer may be withheld where its attribute has a missing value, except for the attributes in `required`.
    """

    noise: NoiseModel
    texts: SurveyTexts = field(default_factory=SurveyTexts)
    truths: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    closes: datetime | None = None
    invited: bool = False
    """Whether only people with an invitation take part, each with one record."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The strength as the owner stated it, for the release."""

    def __post_init__(self) -> None:
        reported = self.noise.reported
        for name in self.texts.questions:
            if name not in reported:
                raise InputError(f"There is a question for {name!r}, which is not asked. Asked: {', '.join(reported)}.")
        for name in self.truths:
            if name not in reported or isinstance(self.noise.randomizers[name], Truthful):
                raise InputError(
                    f"The true answer to {name!r} is optional, but it is not a perturbed attribute. Perturbed: "
                    f"{', '.join(n for n in reported if not isinstance(self.noise.randomizers[n], Truthful))}."
                )
        for name in self.required:
            if name not in reported:
                raise InputError(
                    f"An answer to {name!r} is required, but it is not asked. Asked: {', '.join(reported)}."
                )
        _ = self.questions

    @cached_property
    def questions(self) -> dict[str, Any]:
        """The noise model as the browser needs it."""
        return describe(self.noise)

    @cached_property
    def identity(self) -> str:
        """Identifies the survey in a browser: a digest of everything that is stored."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:32]

    def is_over(self, now: datetime | None = None) -> bool:
        """Whether the closing date has passed."""
        return self.closes is not None and (now or datetime.now(UTC)) >= self.closes

    def to_json(self) -> dict[str, Any]:
        return {
            "scumble": FORMAT,
            "noise": noise_data(self.noise),
            "texts": self.texts.model_dump(),
            "truths": list(self.truths),
            "required": list(self.required),
            "closes": None if self.closes is None else self.closes.isoformat(),
            "invited": self.invited,
            "parameters": dict(self.parameters),
        }

    @classmethod
    def from_json(cls, data: Any) -> "Survey":
        try:
            if data["scumble"] != FORMAT:
                raise InputError(f"The survey has format {shown(data['scumble'])}, not {FORMAT!r}. Update scumble.")
            return cls(
                noise=noise_from(data["noise"]),
                texts=SurveyTexts.model_validate(data["texts"]),
                truths=tuple(data["truths"]),
                required=tuple(data["required"]),
                closes=None if data["closes"] is None else datetime.fromisoformat(data["closes"]),
                invited=bool(data["invited"]),
                parameters=dict(data["parameters"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"This is not a survey: {error!r}. Use the folder that `scumble survey` made.") from error

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Survey":
        try:
            return cls.from_json(read_json(path))
        except OSError:
            raise InputError(f"{path.parent} has no survey. Begin with `scumble survey serve --schema ...`.") from None
        except ValueError as error:
            raise InputError(f"{path} is not a survey: {error}. Restore the file.") from error


def parse_closing(text: str | None) -> datetime | None:
    """The moment a survey closes: the end of a day in UTC, or a moment with its time zone.

    >>> parse_closing("2026-12-31").isoformat()
    '2027-01-01T00:00:00+00:00'
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"The closing date {text!r} is not a date. Write one such as 2026-12-31.") from None
    if "T" not in text and " " not in text:
        return moment.replace(tzinfo=UTC) + timedelta(days=1)
    if moment.tzinfo is None:
        raise InputError(f"The closing time {text!r} has no time zone. Write one such as 2026-12-31T18:00+01:00.")
    return moment.astimezone(UTC)
