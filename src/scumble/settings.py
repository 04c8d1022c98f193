"""The user's settings: environment variables `SCUMBLE_*`, and a configuration file for those that are not set.

An option of a command overrides the variable, and the variable overrides the file. The Python API reads the same
settings, so both use the same ledger. `docs/settings.md` lists them.
"""

import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scumble.errors import InputError, did_you_mean
from scumble.foreign.files import read_text

FILE_VARIABLE = "SCUMBLE_CONFIG"
"""The variable that names another configuration file; if it is empty, no file is read."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting: its key in the file, its variable, and what it means."""

    key: str
    help: str
    is_path: bool = True

    @property
    def variable(self) -> str:
        """The environment variable.

        >>> Setting(key="ledger-keys", help="").variable
        'SCUMBLE_LEDGER_KEYS'
        """
        return f"SCUMBLE_{self.key.replace('-', '_').upper()}"


SETTINGS: Mapping[str, Setting] = {
    setting.key: setting
    for setting in (
        Setting(key="ledger", help="The ledger file, unless --ledger names one."),
        Setting(key="witness", help="The file that knows what the ledger contained, unless --witness names one."),
        Setting(key="ledger-keys", help="The folder for the keys of new ledgers (default: beside each ledger)."),
        Setting(key="data", help="The folder of the reference tables of `compare`, `reproduce` and the tests."),
        Setting(key="peers", help="The folder with the environments of other projects' methods, for `compare`."),
        Setting(key="spark-master", help="The master of the Spark cluster, for --engine spark.", is_path=False),
    )
}


def setting(key: str) -> str | None:
    """The value of a setting, from its variable or the configuration file; None if neither has one."""
    return os.environ.get(SETTINGS[key].variable) or configured().get(key)


def config_path() -> Path | None:
    """The configuration file, whether it exists or not; None if `SCUMBLE_CONFIG` is set to nothing."""
    named = os.environ.get(FILE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    return user_folder("config") / "scumble" / "config.toml"


def configured() -> dict[str, str]:
    """What the configuration file says. Raises `InputError` if it is wrong."""
    path = config_path()
    if path is None:
        return {}
    try:
        found = tomllib.loads(read_text(path, follow_links=True))
    except FileNotFoundError:
        if os.environ.get(FILE_VARIABLE):
            raise InputError(f"The configuration file {path} ({FILE_VARIABLE}) does not exist.") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"The configuration file {path} cannot be read: {error}. Correct or delete it.") from error
    return {key: _checked(path, key, value) for key, value in found.items()}


def _checked(path: Path, key: str, value: object) -> str:
    if key not in SETTINGS:
        raise InputError(f"{path} has the unknown setting {key!r}.{did_you_mean(key, SETTINGS)}")
    if not isinstance(value, str) or not value:
        raise InputError(f"{path}: the setting {key!r} is not a text in quotes.")
    if not SETTINGS[key].is_path:
        return value
    place = Path(value)
    if place.parts[0] == "~":
        place = Path.home().joinpath(*place.parts[1:])
    if not place.is_absolute():
        raise InputError(f"{path}: the setting {key!r} is {value!r}. Write a path that starts with / or ~.")
    return str(place)


def user_folder(kind: str) -> Path:
    """The system's folder of this user for `data`, `config` or `cache`: XDG's on Linux, as the system says elsewhere.

    These are the folders that the package platformdirs names.
    """
    if sys.platform == "darwin":
        library = Path.home() / "Library"
        return library / ("Caches" if kind == "cache" else "Application Support")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    usual = {"data": Path(".local", "share"), "config": Path(".config"), "cache": Path(".cache")}[kind]
    named = Path(os.environ.get(f"XDG_{kind.upper()}_HOME", ""))
    # The XDG specification: a relative path is to be ignored.
    return named if named.is_absolute() else Path.home() / usual
