"""Reads the reports of the load generator `wrk`."""

import re
from dataclasses import dataclass
from typing import Final

_MS: Final = {"us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True, slots=True)
class Load:
    """The result of some seconds of requests. Socket errors, timeouts and statuses of 400 and above count as failed."""

    requests: int
    failed: int
    per_second: float
    p99_ms: float


def read_report(report: str) -> Load:
    """Read the output of `wrk --latency`. Raises ValueError."""
    per_second, requests = re.search(r"Requests/sec:\s+([\d.]+)", report), re.search(r"(\d+) requests in", report)
    p99 = re.search(r"99%\s+([\d.]+)(us|ms|s)", report)
    if not (per_second and requests and p99):
        raise ValueError(f"wrk's report can't be read:\n{report}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", report)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", report)
    failed = (int(refused[1]) if refused else 0) + (sum(map(int, broken.groups())) if broken else 0)
    return Load(int(requests[1]), failed, float(per_second[1]), float(p99[1]) * _MS[p99[2]])
