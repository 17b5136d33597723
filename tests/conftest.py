"""What all tests share."""

import os
from collections.abc import Generator
from pathlib import Path

# As the command line does, before numpy is loaded: threads for matrices of this size only get in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

SHARED = Path(__file__).parents[2] / "shared"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where skips are forbidden (`.ci/run`), let a skipped test fail with the reason of its skip.

    The public forge can't have what is in ../shared: only there a test may skip that says it wants it.
    """
    report = yield
    excused = hasattr(report, "wasxfail") or ("../shared" in str(report.longrepr) and not SHARED.is_dir())
    if report.skipped and not excused and os.environ.get("TUNNIHIND_TESTS_NO_SKIPS"):
        report.outcome = "failed"
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real history and recorded answers, which is beside the project where there is one."""
    if not SHARED.is_dir():
        pytest.skip("needs the real history in ../shared, which is never part of the project")
    return SHARED
