"""`scumble doctor`: what is installed, what is missing, and where the files of this user lie."""

import os
import platform
import sys
from pathlib import Path
from typing import Any

import scumble
from scumble.cli.options import Json
from scumble.cli.output import out, print_json, print_table, print_text
from scumble.installation import EXTRAS, install_line, installed_version, is_installed
from scumble.privacy.ledger_place import default_path, default_witness, keys_folder
from scumble.settings import FILE_VARIABLE, SETTINGS, config_path, configured

CORE = (
    "jinja2",
    "narwhals",
    "numba",
    "numpy",
    "opendp",
    "pyarrow",
    "pydantic",
    "rich",
    "ruamel.yaml",
    "scipy",
    "typer",
)
"""The packages that scumble itself asks for."""


def doctor(*, json: Json = False) -> None:
    """Show what is installed, what is missing and how to install it, and where ledger and settings lie."""
    found = examination()
    if json:
        print_json(found)
        return
    print_text(f"scumble {found['version']}, Python {found['python']}, {found['system']}")
    packages = [[name, version or "MISSING: reinstall scumble"] for name, version in found["packages"].items()]
    print_table("Packages of the core", ["package", "version"], packages)
    rows = []
    for name, extra in found["extras"].items():
        state = "installed" if extra["installed"] else extra["install"]
        rows.append([name, state, extra["purpose"]])
    print_table("Optional parts", ["extra", "", "for"], rows)
    out.print("Places", style="bold")
    for name, place in found["places"].items():
        out.print(f"  {name}: {place['path'] or '-'} ({place['state']})")
    out.print("Settings", style="bold")
    for key, each in found["settings"].items():
        value = f"{each['value']} (from the {each['from']})" if each["from"] else "not set"
        out.print(f"  {each['variable']}, {key!r} in the file: {value}")


def examination() -> dict[str, Any]:
    """What `scumble doctor` reports, as plain data. It opens neither the ledger nor any table."""
    extras = {
        name: {
            "installed": is_installed(name),
            "packages": {package: installed_version(package) for package in extra.packages},
            "install": install_line(name) + (f", and {extra.also}" if extra.also else ""),
            "purpose": extra.purpose,
        }
        for name, extra in EXTRAS.items()
    }
    from_file = configured()
    settings = {
        key: {
            "variable": setting.variable,
            "value": os.environ.get(setting.variable) or from_file.get(key),
            "from": "environment" if os.environ.get(setting.variable) else "file" if key in from_file else None,
            "help": setting.help,
        }
        for key, setting in SETTINGS.items()
    }
    ledger = default_path()
    places = {
        "ledger": ledger,
        "key of the ledger": keys_folder() or ledger.with_name(f"{ledger.name}.key"),
        "witness": default_witness(),
        f"settings ({FILE_VARIABLE})": config_path(),
        **_compiled_code(),
    }
    return {
        "version": scumble.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "interpreter": sys.executable,
        "packages": {name: installed_version(name) for name in CORE},
        "extras": extras,
        "places": {name: {"path": None if at is None else str(at), "state": _state(at)} for name, at in places.items()},
        "settings": settings,
    }


def _compiled_code() -> dict[str, Path]:
    """Where the machine code of loops is kept: in a folder for each folder of modules, or in one that is named."""
    from scumble.compiled.store import users_own

    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return {"compiled code (NUMBA_CACHE_DIR)": Path(named)}
    beside = Path(scumble.__file__).parent
    return {"compiled code, in each __pycache__ below": beside, "compiled code, if that is not writable": users_own()}


def _state(path: Path | None) -> str:
    if path is None:
        return "switched off"
    if path.exists():
        return "exists" if os.access(path, os.W_OK) else "exists, cannot be written"
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    return "does not exist yet" if os.access(parent, os.W_OK) else f"cannot be created in {parent}"
