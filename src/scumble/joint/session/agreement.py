"""`agreement.yaml`: all that the parties of a joint release settle before anybody opens a table.

Everything in it is known to all parties. Each compares it with all others, field by field, before anything is shared.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from scumble.errors import InputError
from scumble.files.schema_file import load_yaml, schema_data, schema_from, yaml_text
from scumble.files.validation import first_problem
from scumble.joint.network.certificates import certificate_bytes
from scumble.joint.protocol.roles import Seats
from scumble.model.schema import Schema

FORMAT = "agreement/1"
LONGEST_PARTY_NAME = 40


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a party listens."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read `host:port`, an IPv6 address in brackets.

        >>> Address.parse("[::1]:7001")
        Address(host='::1', port=7001)
        """
        host, colon, port = text.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        if not colon or not host or (":" in host and not bracketed) or not (port.isascii() and port.isdigit()):
            raise InputError(f"{text!r} is no address. Give HOST:PORT, with an IPv6 address as in [::1]:7001.")
        if not 0 < int(port) < 1 << 16:
            raise InputError(f"{text!r}: there is no such port. Give one between 1 and 65535.")
        return cls(host=host[1:-1] if bracketed else host, port=int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class PartyPart(_Part):
    """One party: where it listens, who it is, and what it does."""

    address: str
    owner: Annotated[bool, Field(description="Whether it brings rows.")] = True
    computes: Annotated[bool, Field(description="Whether it computes on shares; an owner may only submit.")] = True
    certificate: Annotated[str, Field(description="Its self-signed certificate (PEM).")]

    @model_validator(mode="after")
    def _of_use(self) -> Self:
        if not (self.owner or self.computes):
            raise ValueError("a party brings rows or computes, or both: set `owner` or `computes`")
        return self

    @field_validator("address")
    @classmethod
    def _is_address(cls, text: str) -> str:
        try:
            return str(Address.parse(text))
        except InputError as error:
            raise ValueError(str(error)) from error

    @field_validator("certificate")
    @classmethod
    def _is_certificate(cls, text: str) -> str:
        try:
            certificate_bytes(text)
        except InputError as error:
            raise ValueError(str(error)) from error
        return text.strip() + "\n"


class Deadlines(_Part):
    """How long to wait, in seconds."""

    start: Annotated[int, Field(ge=1, le=86_400, description="for all parties to be there")] = 600
    stall: Annotated[int, Field(ge=1, le=86_400, description="for a message of a party that is alive")] = 600
    silence: Annotated[int, Field(ge=2, le=60, description="for any sign of life of a connected party")] = 8


class Agreement(_Part):
    """The whole file. Parties are numbered in the order in which they stand here."""

    scumble: Literal["agreement/1"] = "agreement/1"
    session: Annotated[str, Field(pattern="^[0-9a-f]{32}$", description="Names this joint release and no other.")]
    method: str
    parameters: dict[str, str | int | bool]
    threshold: Annotated[int, Field(description="So many computing parties together learn nothing but the release.")]
    rows_at_most: Annotated[int, Field(ge=1, le=1 << 40, description="Public bound on the rows of all owners.")]
    deadlines: Deadlines = Deadlines()
    parties: dict[str, PartyPart]
    table: Annotated[dict[str, Any], Field(alias="schema")]

    @model_validator(mode="after")
    def _can_keep_secrets(self) -> Self:
        for name in self.parties:
            if not (name.isprintable() and name == name.strip() and 0 < len(name) <= LONGEST_PARTY_NAME):
                raise ValueError(f"{name!r} cannot name a party: give 1 to {LONGEST_PARTY_NAME} printable characters")
        try:
            _ = self.seats
        except InputError as error:
            raise ValueError(str(error)) from error
        for what in ("address", "certificate"):
            if len({getattr(party, what) for party in self.parties.values()}) < len(self.parties):
                raise ValueError(f"two parties have the same {what}: each needs its own")
        return self

    @cached_property
    def schema_(self) -> Schema:
        """The public schema, the same for all owners."""
        return schema_from(self.table, name="the agreement's schema")

    @cached_property
    def seats(self) -> Seats:
        """Who owns and who computes, by number."""
        return Seats(
            parties=len(self.parties),
            compute=tuple(seat for seat, party in enumerate(self.parties.values()) if party.computes),
            owners=tuple(seat for seat, party in enumerate(self.parties.values()) if party.owner),
            threshold=self.threshold,
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.parties)

    def seat(self, name: str) -> int:
        """A party's number."""
        if name not in self.parties:
            raise InputError(f"The agreement has no party {name!r}. It has {', '.join(self.names)}.")
        return self.names.index(name)

    def fields(self) -> dict[str, str]:
        """The SHA-256 of every field, by which parties find out where two agreements differ."""
        data = self.model_dump(mode="json", exclude={"table"})
        flat: dict[str, object] = {}
        for name, value in data.items():
            if name == "parties":
                flat["the order of parties"] = list(value)
                flat |= {f"parties > {party} > {key}": part for party in value for key, part in value[party].items()}
            elif isinstance(value, dict):
                flat |= {f"{name} > {key}": part for key, part in value.items()}
            else:
                flat[name] = value
        stated = schema_data(self.schema_)
        attributes = stated.pop("attributes")
        flat["schema > the order of attributes"] = list(attributes)
        flat |= {f"schema > {key}": part for key, part in stated.items()}
        flat |= {f"schema > attributes > {key}": json.dumps(part) for key, part in attributes.items()}
        return {name: _digest(value) for name, value in flat.items()}

    @cached_property
    def digest(self) -> bytes:
        """The hash of the whole agreement."""
        return bytes.fromhex(_digest(self.fields()))

    @property
    def trust(self) -> tuple[str, ...]:
        """What the parties rely on, in words, for everybody to read before they sign."""
        computing = [name for name, party in self.parties.items() if party.computes]
        submitting = [name for name, party in self.parties.items() if not party.computes]
        enough = self.threshold + 1
        few = "Any one of them alone learns" if enough == 2 else f"Any {self.threshold} of them together learn"
        sentence = (
            f"{', '.join(computing)} compute. {few} nothing but the release, as long as they follow the protocol. Any "
            f"{enough} of them together would see every owner's counts."
        )
        told = [sentence]
        outsiders = [name for name in computing if not self.parties[name].owner]
        if outsiders and enough == 2:
            told.append(f"So {outsiders[0]} together with one owner would see everything: choose it with care.")
        if submitting:
            told.append(f"Only submitting shares, and relying on those who compute: {', '.join(submitting)}.")
        told.append("A party that deviates from the protocol, or brings false rows, is not guarded against.")
        return tuple(told)

    def text(self) -> str:
        """The file, such that `parse_agreement` gives the agreement back."""
        data = self.model_dump(mode="json", exclude={"table"})
        heading = "What the parties of a joint release agree on: the same file for all of them, nothing secret in it.\n"
        return yaml_text({**data, "schema": schema_data(self.schema_)}, heading=heading + "\n".join(self.trust))


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """The fields in which two agreements differ, ours first."""
    return [name for name in dict.fromkeys((*ours, *theirs)) if ours.get(name) != theirs.get(name)]


def read_agreement(path: Path) -> Agreement:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"There is no agreement {path}. `scumble join init` makes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The agreement {path} cannot be read: {error}. Give a UTF-8 text file.") from error
    return parse_agreement(text, name=str(path))


def parse_agreement(text: str, *, name: str = "the agreement") -> Agreement:
    """Read an agreement from text."""
    data = load_yaml(text, name)
    if not isinstance(data, Mapping):
        raise InputError(f"{name} is not a mapping. Start it with `scumble: {FORMAT}`.")
    return agreement_from(data, name=name)


def agreement_from(data: Mapping[str, Any], *, name: str = "the agreement") -> Agreement:
    """An agreement from plain data, checked, its schema included."""
    try:
        agreement = Agreement.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error)}. See docs/joint.md.") from error
    _ = agreement.schema_
    return agreement
