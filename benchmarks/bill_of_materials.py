"""The software bill of materials of a wheel, as CycloneDX 1.6 JSON; used by `make wheel`.

Lists what an installed scumble needs: its dependencies and theirs, in the versions of `requirements.lock`, with their
licences and what each depends on. Packages of extras and of development are left out. The same wheel and the same lock
file give the same bytes. Run it in the environment that `make` installs from the lock file.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "scumble"


def bill_of_materials(wheel: Path, lock: Path, moment: int) -> dict[str, Any]:
    """The document for a wheel that was built at a moment (seconds since 1970) and tested with a lock file."""
    closure = dependencies(PROJECT)
    pins = pinned(lock.read_text(encoding="utf-8"))
    project = distribution(PROJECT)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "library",
                "bom-ref": reference(PROJECT, project.version),
                "name": PROJECT,
                "version": project.version,
                "purl": reference(PROJECT, project.version),
                "licenses": licences(project),
                "hashes": [{"alg": "SHA-256", "content": sha256(wheel)}],
            },
            "properties": [
                {"name": "scumble:wheel", "value": wheel.name},
                {"name": "scumble:lock:sha256", "value": sha256(lock)},
            ],
        },
        "components": [component(name, pins) for name in sorted(closure) if name != PROJECT],
        "dependencies": [
            {
                "ref": reference(name, version_of(name, pins)),
                "dependsOn": sorted(reference(each, version_of(each, pins)) for each in needed),
            }
            for name, needed in sorted(closure.items())
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(document, sort_keys=True))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "serialNumber": f"urn:uuid:{serial}",
        **document,
    }


def component(name: str, pins: dict[str, str]) -> dict[str, Any]:
    """The entry of a package."""
    version = version_of(name, pins)
    installed = distribution(name)
    if installed.version != version:
        raise SystemExit(
            f"{name} {installed.version} is installed, but {version} is locked: run `make` in a fresh clone."
        )
    entry = {
        "type": "library",
        "bom-ref": reference(name, version),
        "name": name,
        "version": version,
        "purl": reference(name, version),
        "licenses": licences(installed),
    }
    return {key: value for key, value in entry.items() if value}


def dependencies(project: str) -> dict[str, set[str]]:
    """What a package needs, directly and through others: for each package the names of those that it requires."""
    found: dict[str, set[str]] = {}
    waiting = [project]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = set(required(name))
            waiting.extend(found[name])
    return found


def required(name: str) -> Iterator[str]:
    """The packages that an installed package requires on this machine, without its extras."""
    for line in distribution(name).requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)


def pinned(lock: str) -> dict[str, str]:
    """The versions in a lock file, by canonical name."""
    return {
        canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s\\]+)", lock, re.MULTILINE)
    }


def version_of(name: str, pins: dict[str, str]) -> str:
    if name == PROJECT:
        return distribution(PROJECT).version
    if name not in pins:
        raise SystemExit(f"{name} is needed but not in the lock file: run `make lock`.")
    return pins[name]


def licences(package: Distribution) -> list[dict[str, Any]]:
    """The licence that a package states: an SPDX expression, or else the names in its classifiers."""
    expression = package.metadata.get("License-Expression")
    if expression:
        return [{"expression": expression}]
    classifiers = package.metadata.get_all("Classifier") or []
    names = {each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: ")} - {"OSI Approved"}
    return [{"license": {"name": name}} for name in sorted(names)]


def reference(name: str, version: str) -> str:
    """The package URL."""
    return f"pkg:pypi/{name}@{version}"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
