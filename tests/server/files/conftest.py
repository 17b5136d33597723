"""Files for imports."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

type Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a file of lines or of bytes, gzipped or not."""

    def make(*lines: str | bytes, gzipped: bool = False) -> Path:
        content = b"".join(line.encode() + b"\n" if isinstance(line, str) else line for line in lines)
        file = tmp_path / ("history.csv.gz" if gzipped else "history.csv")
        file.write_bytes(gzip.compress(content) if gzipped else content)
        return file

    return make
