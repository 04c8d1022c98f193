"""Atomic folders: complete or absent, even if the process is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scumble.errors import InputError, ScumbleError
from scumble.files.atomic_folder import PREFIX, staging
from scumble.locked_folders import GRACE_SECONDS

RUN = """
import sys, time
from pathlib import Path
from scumble.files.atomic_folder import staging

with staging(Path(sys.argv[1])) as stage:
    (stage.folder / "counts.csv").write_text("half")
    print("working", flush=True)
    time.sleep(60)
    stage.publish()
"""


def unfinished(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{PREFIX}*"))


def make_old(folder: Path) -> None:
    long_ago = time.time() - 2 * GRACE_SECONDS
    os.utime(folder, (long_ago, long_ago))


@contextmanager
def running(target: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in another process that has written half of its files."""
    with subprocess.Popen([sys.executable, "-c", RUN, str(target)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "working\n"
            yield process
        finally:
            process.kill()


def test_nothing_is_visible_before_it_is_published(tmp_path: Path) -> None:
    target = tmp_path / "new" / "release"
    with staging(target) as stage:
        (stage.folder / "a.csv").write_text("a", encoding="utf-8")
        assert not target.exists()
        assert [path.name[: len(PREFIX)] for path in target.parent.iterdir()] == [PREFIX]
        assert stage.folder.stat().st_mode & 0o077 == 0, "nobody else can look into it"
        stage.publish()
        assert (target / "a.csv").read_text(encoding="utf-8") == "a"
    assert list(target.parent.iterdir()) == [target]
    assert target.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_run_that_fails_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    def run() -> None:
        with staging(tmp_path / "new" / "release") as stage:
            (stage.folder / "a.csv").write_text("a", encoding="utf-8")
            raise failure

    with pytest.raises(failure):
        run()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_does_not_publish_leaves_nothing(tmp_path: Path) -> None:
    with staging(tmp_path / "release"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "empty folder", "file", "dangling link"])
def test_an_existing_target_is_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "release"
    if kind == "file":
        target.write_text("mine", encoding="utf-8")
    elif kind == "dangling link":
        target.symlink_to(tmp_path / "nowhere")
    else:
        target.mkdir()
        if kind == "folder":
            (target / "mine").write_text("mine", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="exists already"), staging(target):
        raise AssertionError("the run must not start")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_target_that_appears_meanwhile_is_refused_and_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with staging(target) as stage:
        (stage.folder / "a.csv").write_text("a", encoding="utf-8")
        target.mkdir()
        with pytest.raises(InputError, match="was created during the run"):
            stage.publish()
    assert list(tmp_path.iterdir()) == [target]
    assert list(target.iterdir()) == []


def test_two_runs_for_one_target_end_in_one_release(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with staging(target) as slow:
        (slow.folder / "who").write_text("slow", encoding="utf-8")
        with staging(target) as quick:
            (quick.folder / "who").write_text("quick", encoding="utf-8")
            quick.publish()
        with pytest.raises(InputError, match="was created during the run"):
            slow.publish()
    assert (target / "who").read_text(encoding="utf-8") == "quick"
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_where_no_folder_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ScumbleError, match="Nothing was charged") as failure, staging(tmp_path / "file" / "release"):
        raise AssertionError("the run must not start")
    assert failure.value.exit_code == 1


def test_a_killed_run_leaves_no_release_and_is_swept_later(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with running(target) as process:
        (folder,) = unfinished(tmp_path)
        assert not target.exists()
        make_old(folder)
        with staging(tmp_path / "other"):
            assert folder.exists(), "a run that is alive keeps its folder, however old it is"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.returncode == -signal.SIGKILL
    assert not target.exists()
    assert (folder / "counts.csv").read_text(encoding="utf-8") == "half"
    os.utime(folder)
    with staging(tmp_path / "other"):
        assert folder.exists(), "so young a folder may belong to a run that has not locked it yet"
    make_old(folder)
    with staging(target) as stage:
        assert unfinished(tmp_path) == [stage.folder]
        stage.publish()
    assert list(tmp_path.iterdir()) == [target]


def test_folders_that_cannot_be_looked_at_do_not_stop_a_run(tmp_path: Path) -> None:
    """A folder may vanish after it was listed, or belong to another user. A broken link simulates both."""
    (tmp_path / f"{PREFIX}gone").symlink_to(tmp_path / "nowhere")
    with staging(tmp_path / "release") as stage:
        stage.publish()
    assert (tmp_path / "release").is_dir()
