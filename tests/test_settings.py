"""Settings: an environment variable before the configuration file, and what is wrong with a file is said."""

from pathlib import Path

import pytest

from scumble.errors import InputError
from scumble.privacy.ledger_place import default_path
from scumble.settings import SETTINGS, config_path, configured, setting, user_folder

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("SCUMBLE_CONFIG", str(path))
    for each in SETTINGS.values():
        monkeypatch.delenv(each.variable, raising=False)
    return path


def test_the_variable_comes_before_the_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('ledger = "/srv/ledger.db"\nspark-master = "local[2]"\n')
    assert setting("ledger") == "/srv/ledger.db"
    assert default_path() == Path("/srv/ledger.db")
    assert setting("spark-master") == "local[2]"
    assert setting("witness") is None
    monkeypatch.setenv("SCUMBLE_LEDGER", "elsewhere.db")
    assert setting("ledger") == "elsewhere.db"


def test_a_tilde_is_the_home_folder(config: Path) -> None:
    config.write_text('ledger = "~/ledger.db"\n')
    assert default_path() == Path.home() / "ledger.db"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('leger = "/a"', "unknown setting 'leger'. Did you mean 'ledger'?"),
        ("ledger = 3", "is not a text in quotes"),
        ('ledger = ""', "is not a text in quotes"),
        ('ledger = "here.db"', "Write a path that starts with"),
        ("ledger = ", "cannot be read"),
        ("[ledger]\npath = 'a'", "is not a text in quotes"),
    ],
)
def test_a_wrong_file_is_refused_even_if_the_setting_is_another(config: Path, text: str, words: str) -> None:
    config.write_text(text)
    with pytest.raises(InputError, match=str(config)) as refused:
        setting("witness")
    assert words in str(refused.value)


def test_a_named_file_must_exist_and_none_is_read_if_the_name_is_empty(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="does not exist"):
        configured()
    monkeypatch.setenv("SCUMBLE_CONFIG", "")
    assert config_path() is None
    assert configured() == {}


@pytest.mark.parametrize(
    ("system", "kind", "expected"),
    [
        ("linux", "config", ".config"),
        ("linux", "data", ".local/share"),
        ("linux", "cache", ".cache"),
        ("darwin", "config", "Library/Application Support"),
        ("darwin", "cache", "Library/Caches"),
        ("win32", "data", "AppData/Local"),
    ],
)
def test_folders_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, kind: str, expected: str
) -> None:
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert user_folder(kind) == tmp_path / expected
    if system == "linux":
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", "relative")
        assert user_folder(kind) == tmp_path / expected
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / "named"))
        assert user_folder(kind) == tmp_path / "named"


def test_the_page_lists_every_setting() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    for key, each in SETTINGS.items():
        assert f"| `{each.variable}` | `{key}` |" in page
