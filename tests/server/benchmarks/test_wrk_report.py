"""Reports of the load generator `wrk`."""

from typing import Final

import pytest

from tests.benchmarks.wrk_report import Load, read_report

REPORT: Final = """
  2 threads and 16 connections
    99%   12.34ms
  3000 requests in 3.00s, 12.00MB read
  Socket errors: connect 1, read 2, write 0, timeout 3
  Non-2xx or 3xx responses: 4
Requests/sec:   1000.50
"""


def test_all_that_wrk_calls_an_error_counts_as_failed() -> None:
    assert read_report(REPORT) == Load(3000, 10, 1000.5, 12.34)
    with pytest.raises(ValueError, match="can't be read"):
        read_report("unable to connect")
