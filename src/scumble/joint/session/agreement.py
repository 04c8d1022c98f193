"""`agreement.yaml`: the public parameters of a joint release, which must be the same for all parties.

It contains no secret. Before anything is shared, every party compares hashes of all fields with every other party and
refuses to continue if one differs.
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
from scumble.files.schema_file import schema_data, schema_from, yaml_text
from scumble.foreign.files import read_text
from scumble.foreign.yaml_text import parse_yaml
from scumble.joint.network.certificates import certificate_bytes
from scumble.joint.protocol.roles import Roles
from scumble.model.schema import Schema
from scumble.model.validation import first_problem

FORMAT = "agreement/1"
LONGEST_PARTY_NAME = 40
MOST_ROWS = 1 << 40


@dataclass(frozen=True, kw_only=True)
class Address:
    """A host and a port."""

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
            raise InputError(f"{text!r} is not an address. Give HOST:PORT, an IPv6 address in brackets: [::1]:7001.")
        if not 0 < int(port) < 1 << 16:
            raise InputError(f"{text!r} has an invalid port. Give a port from 1 to 65535.")
        return cls(host=host[1:-1] if bracketed else host, port=int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class PartyPart(_Part):
    """One party: its address, its certificate and its roles."""

    address: str
    owner: Annotated[bool, Field(description="Whether the party owns rows.")] = True
    computes: Annotated[
        bool, Field(description="Whether the party computes on shares; if not, it only submits its counts.")
    ] = True
    rows_at_most: Annotated[
        int | None,
        Field(ge=1, le=MOST_ROWS, description="Public bound on every count of this owner; absent: the common bound."),
    ] = None
    certificate: Annotated[str, Field(description="The party's self-signed certificate (PEM).")]

    @model_validator(mode="after")
    def _has_a_role(self) -> Self:
        if not (self.owner or self.computes):
            raise ValueError("a party must own rows or compute: set `owner` or `computes` to true")
        if self.rows_at_most is not None and not self.owner:
            raise ValueError("a party without rows has no `rows_at_most`: remove it")
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
    """Time limits, in seconds."""

    start: Annotated[int, Field(ge=1, le=86_400, description="until all parties are connected")] = 600
    stall: Annotated[
        int,
        Field(ge=1, le=86_400, description="until an expected message arrives from a party whose heartbeats continue"),
    ] = 600
    silence: Annotated[int, Field(ge=2, le=60, description="between heartbeats of a connected party")] = 8


class Agreement(_Part):
    """The contents of the file. Parties are numbered from 0 in the order in which they are listed."""

    scumble: Literal["agreement/1"] = "agreement/1"
    session: Annotated[str, Field(pattern="^[0-9a-f]{32}$", description="Identifies this joint release; never reused.")]
    method: str
    parameters: dict[str, str | int | bool]
    threshold: Annotated[
        int, Field(description="The largest coalition of computing parties that learns nothing but the release.")
    ]
    rows_at_most: Annotated[
        int, Field(ge=1, le=MOST_ROWS, description="Public upper bound on the rows of an owner that states none.")
    ]
    deadlines: Deadlines = Deadlines()
    parties: dict[str, PartyPart]
    table: Annotated[dict[str, Any], Field(alias="schema")]

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        for name in self.parties:
            if not (name.isprintable() and name == name.strip() and 0 < len(name) <= LONGEST_PARTY_NAME):
                raise ValueError(
                    f"{name!r} is not a valid party name: use 1 to {LONGEST_PARTY_NAME} printable characters, without "
                    "spaces at either end"
                )
        try:
            _ = self.roles
        except InputError as error:
            raise ValueError(str(error)) from error
        for what in ("address", "certificate"):
            if len({getattr(party, what) for party in self.parties.values()}) < len(self.parties):
                raise ValueError(f"two parties have the same {what}: each needs its own")
        return self

    @cached_property
    def schema_(self) -> Schema:
        """The schema of all owners' tables."""
        return schema_from(self.table, name="the agreement's schema")

    @cached_property
    def roles(self) -> Roles:
        """Which parties own rows and which compute, by number."""
        return Roles(
            parties=len(self.parties),
            compute=tuple(n for n, party in enumerate(self.parties.values()) if party.computes),
            owners=tuple(n for n, party in enumerate(self.parties.values()) if party.owner),
            threshold=self.threshold,
        )

    @property
    def bounds(self) -> dict[int, int]:
        """The public bound on every count of each owner, by party number.

        An owner without one has the bound of the whole agreement, as in agreements of earlier versions, whose only
        bound was meant for all owners together.
        """
        parts = list(self.parties.values())
        return {owner: parts[owner].rows_at_most or self.rows_at_most for owner in self.roles.owners}

    @property
    def records_at_most(self) -> int:
        """The sum of the owners' bounds. If no owner exceeds its bound, no more records than this are counted, up to
        noise. The reverse does not hold: one owner can exceed its bound while the others have few rows."""
        return sum(self.bounds.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.parties)

    def party_number(self, name: str) -> int:
        """A party's number."""
        if name not in self.parties:
            raise InputError(f"The agreement has no party {name!r}. Its parties: {', '.join(self.names)}.")
        return self.names.index(name)

    def fields(self) -> dict[str, str]:
        """The SHA-256 of every field, from which two parties see in which fields their agreements differ."""
        data = self.model_dump(mode="json", exclude={"table"}, exclude_none=True)
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
        """The SHA-256 of the whole agreement."""
        return bytes.fromhex(_digest(self.fields()))

    @property
    def trust(self) -> tuple[str, ...]:
        """The trust assumptions in words, for every party to read before it takes part."""
        computing = [name for name, party in self.parties.items() if party.computes]
        submitting = [name for name, party in self.parties.items() if not party.computes]
        enough = self.threshold + 1
        few = "Any one of them alone learns" if enough == 2 else f"Any {self.threshold} of them together learn"
        sentence = (
            f"Computing parties: {', '.join(computing)}. {few} nothing but the release, as long as all parties follow "
            f"the protocol. Any {enough} of them together could see every owner's counts."
        )
        sentences = [sentence]
        outsiders = [name for name in computing if not self.parties[name].owner]
        if outsiders and enough == 2:
            sentences.append(f"So {outsiders[0]} together with one owner could see everything: choose it with care.")
        if submitting:
            sentences.append(
                f"Owners that only submit shares and rely on the computing parties: {', '.join(submitting)}."
            )
        sentences.append("There is no protection against parties that deviate from the protocol or submit false rows.")
        return tuple(sentences)

    def text(self) -> str:
        """The contents of the file; `parse_agreement` returns an equal agreement."""
        data = self.model_dump(mode="json", exclude={"table"}, exclude_none=True)
        heading = "The agreement of a joint release. It contains no secrets and must be the same for all parties.\n"
        return yaml_text({**data, "schema": schema_data(self.schema_)}, heading=heading + "\n".join(self.trust))


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def differing_fields(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """The names of the fields in which two agreements differ, in our order."""
    return [name for name in dict.fromkeys((*ours, *theirs)) if ours.get(name) != theirs.get(name)]


def read_agreement(path: Path) -> Agreement:
    try:
        text = read_text(path, follow_links=True)
    except FileNotFoundError:
        raise InputError(f"The agreement {path} does not exist. Create one with `scumble join init`.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The agreement {path} cannot be read: {error}. Give a UTF-8 text file.") from error
    return parse_agreement(text, name=str(path))


def parse_agreement(text: str, *, name: str = "the agreement") -> Agreement:
    """Read an agreement from text."""
    data = parse_yaml(text, name)
    if not isinstance(data, Mapping):
        raise InputError(f"{name} is not a YAML mapping. Its first key must be `scumble: {FORMAT}`.")
    return agreement_from(data, name=name)


def agreement_from(data: Mapping[str, Any], *, name: str = "the agreement") -> Agreement:
    """Validate plain data as an agreement, including its schema."""
    try:
        agreement = Agreement.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error)}. See docs/joint.md.") from error
    _ = agreement.schema_
    return agreement
