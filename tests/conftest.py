"""Shared by all tests: the real data sets, when their absence is a failure, the Hypothesis profile, and the number of
examples of the raw neighbour law."""

import atexit
import os
import shutil
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from raw_tables import TRIED

# The same examples in every run, so that results are reproducible; `make search` tries new ones.
hypothesis.settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("search", parent=hypothesis.settings.get_profile("steady"), derandomize=False)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# The output must not depend on the terminal in which the tests run; rich reads this when it is imported.
os.environ["COLUMNS"] = "80"
for setting in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(setting, None)

# Under `nohup` the tests and all processes that they start would ignore this signal.
if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# No test writes to the user's own folder: the witness of all ledgers of this run, and of the processes that it starts.
# In memory where there is such a folder, because every record is flushed to the disk.
MEMORY = Path("/dev/shm")
PREFIX = "scumble-tests-"


def remove_witness(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a fork
        shutil.rmtree(folder, ignore_errors=True)


if PREFIX not in os.environ.get("SCUMBLE_WITNESS", ""):  # a worker of xdist has it from the main process
    made = tempfile.mkdtemp(prefix=PREFIX, dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
    os.environ["SCUMBLE_WITNESS"] = f"{made}/witness.db"
    atexit.register(remove_witness, made, os.getpid())
for setting in ("SCUMBLE_LEDGER", "SCUMBLE_LEDGER_KEYS"):
    os.environ.pop(setting, None)
os.environ["SCUMBLE_CONFIG"] = ""  # no configuration file of the user

REQUIRED = "SCUMBLE_REAL_DATA_REQUIRED"
# Two worker processes, so that a test fails if something is not sent to them.
os.environ.setdefault("SCUMBLE_SPARK_MASTER", "local-cluster[2,1,1024]")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the reference data sets. A test that uses it is marked `real_data` automatically."""
    return Path(os.environ["SCUMBLE_DATA"])


def pytest_itemcollected(item: pytest.Item) -> None:
    if "data_folder" in getattr(item, "fixturenames", ()):
        item.add_marker("real_data")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("real_data") is None:
        return
    folder = os.environ.get("SCUMBLE_DATA")
    if not folder:
        pytest.skip("needs the reference data sets: set SCUMBLE_DATA to their folder")
    if not Path(folder).is_dir():
        pytest.fail("SCUMBLE_DATA names no folder: correct it, or unset it to skip tests on real data", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """If real data is required, a skipped test on it counts as failed, whatever the reason."""
    report = yield
    expected_failure = hasattr(report, "wasxfail")
    if report.skipped and not expected_failure and os.environ.get(REQUIRED) and item.get_closest_marker("real_data"):
        report.outcome = "failed"
        reason = call.excinfo.value if call.excinfo else "no reason given"
        report.longrepr = f"{item.nodeid} was skipped, and {REQUIRED} forbids that: {reason}"
    return report


TRIED_BY_WORKERS: Counter[str] = Counter()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist sends its counts to the main process."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["raw neighbours"] = dict(TRIED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    TRIED_BY_WORKERS.update(getattr(node, "workeroutput", {}).get("raw neighbours", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tried = TRIED + TRIED_BY_WORKERS
    if tried:
        readers = ", ".join(f"{name} {number:,}" for name, number in sorted(tried.items()))
        terminalreporter.write_line(
            f"raw neighbour law: {tried.total():,} examples over {len(tried)} readers ({readers})"
        )
