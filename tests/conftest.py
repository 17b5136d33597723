"""What all tests share."""

import os
from collections.abc import Generator
from pathlib import Path

# As the command line does, before numpy is loaded: threads for matrices of this size only get in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

SHARED = Path(__file__).parents[2] / "shared"

_NEVER_PUBLISHED = "../shared"
"""What the reason of a skip names where it is for want of data that nobody but the developers can have."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where skips are forbidden (`.ci/run`), let a skipped test fail with the reason of its skip."""
    report = yield
    is_avoidable = not hasattr(report, "wasxfail") and _NEVER_PUBLISHED not in str(report.longrepr)
    if report.skipped and is_avoidable and os.environ.get("TUNNIHIND_TESTS_NO_SKIPS"):
        report.outcome = "failed"
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real history and recorded answers, which is beside the project where there is one."""
    if not SHARED.is_dir():
        pytest.skip("needs the real history in ../shared, which is never part of the project")
    return SHARED
