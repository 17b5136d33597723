"""Stores in files what a model has learnt, so that a new process does not need to replay the past.

Each file contains a `Learner` or a `ReplayResult` for one version of the history, or a `Season`. The file's name is a
digest of the content's name, the model's identity, the machine's architecture, the version of Python and `_FORMAT`. If
two servers write a file with the same name, both write the same bytes. Any file may be deleted at any time.
"""

import errno
import logging
import os
import platform
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.replay.learnt import LearntData

_LOG: Final = logging.getLogger(__name__)

_FORMAT: Final = 1
"""Increase this number whenever a change of this module alters the format of the files."""
MAX_FILES: Final = 12
"""A folder keeps at most this many files. The least recently used files are deleted first. A zone's model uses about
ten: two `Learner`, two `ReplayResult` and one `Season` before the publication of the next day's prices, and as many
after it."""
MIN_FREE_BYTES: Final = 64 * 1024 * 1024
"""A file is written only if at least this many bytes of the disk are free. The last free bytes are left
to the database, because its data can't be made again."""

_ENDING: Final = ".learnt"
_UNFINISHED: Final = ".part"
_DIGEST_BYTES: Final = 32
_READ_WRITE: Final = 0o666
_OWNER_ONLY: Final = 0o600


class LearntFiles:
    """A folder of files that store what a model has learnt. Each file consists of a digest and numpy arrays.

    If a file can't be read or written, the model learns the file's content again. If the disk is nearly full when a
    file is to be written, all files are deleted, because the database needs the space.
    """

    def __init__(self, folder: Path, model: str, *, mode: int = _OWNER_ONLY) -> None:
        """Prepare to store the learnt data in `folder`. `model` is the model's identity.

        The files get the read and write permissions of `mode`.
        """
        self._folder = folder
        self._label_prefix = f"{_FORMAT} {model} {platform.machine()} {platform.python_version()}"
        self._mode = mode & _READ_WRITE

    def find(self, name: str) -> LearntData | None:
        """Return the learnt data that were stored under `name`. If no readable and sound file exists, return None."""
        path = self._path(name)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _LOG.warning("can't read %s: %s; its content is learnt again", path, error.strerror)
            return None
        if blake2b(content[_DIGEST_BYTES:], digest_size=_DIGEST_BYTES).digest() != content[:_DIGEST_BYTES]:
            _LOG.warning("%s is damaged: its content is learnt again", path)
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        label, document, *arrays = _read_arrays(content)
        if label.tobytes().decode() != self._label(name):
            return None
        return LearntData(document.tobytes(), tuple(arrays))

    def keep(self, name: str, learnt: LearntData) -> None:
        """Store `learnt` under `name`, and delete the least recently used files beyond `MAX_FILES`.

        If the file can't be written, log a warning.
        """
        path = self._path(name)
        unfinished = path.with_suffix(f".{os.getpid()}{_UNFINISHED}")
        try:
            self._make_folder()
            self._require_room()
            with os.fdopen(os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, self._mode), "wb") as file:
                _write_arrays(file, _as_array(self._label(name).encode()), _as_array(learnt.document), *learnt.arrays)
            # The file need not be flushed to the disk: after a power cut, the digest shows whether the file is damaged.
            unfinished.replace(path)
            self._delete_unused_files()
        except OSError as error:
            _LOG.warning(
                "can't store the model's learnt data in %s: %s; the model computes them again whenever it needs them",
                self._folder,
                error.strerror,
            )
            with suppress(OSError):
                unfinished.unlink()
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                self._delete(self._folder.glob(f"*{_ENDING}"))

    def _path(self, name: str) -> Path:
        digest = blake2b(self._label(name).encode(), digest_size=16).hexdigest()
        return self._folder / f"{digest}{_ENDING}"

    def _label(self, name: str) -> str:
        return f"{self._label_prefix} {name}"

    def _make_folder(self) -> None:
        if not self._folder.exists():
            may_read = self._mode & (stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
            for folder in (self._folder.parent, self._folder):
                folder.mkdir(mode=self._mode | may_read >> 2, parents=True, exist_ok=True)

    def _require_room(self) -> None:
        if shutil.disk_usage(self._folder).free < MIN_FREE_BYTES:
            raise OSError(errno.ENOSPC, f"less than {MIN_FREE_BYTES // 1024**2} MB are free")

    def _delete_unused_files(self) -> None:
        """Delete the least recently used files beyond `MAX_FILES`, and all unfinished files but the newest.

        The newest unfinished file is kept, because another process may be writing it.
        """
        used = sorted(_files_with_times(self._folder, _ENDING), reverse=True)
        left = sorted(_files_with_times(self._folder, _UNFINISHED), reverse=True)
        self._delete(path for _, path in [*used[MAX_FILES:], *left[1:]])

    @staticmethod
    def _delete(paths: Iterable[Path]) -> None:
        for path in paths:
            with suppress(OSError):
                path.unlink()


def _files_with_times(folder: Path, ending: str) -> Iterator[tuple[int, Path]]:
    for path in folder.glob(f"*{ending}"):
        with suppress(OSError):
            yield path.stat().st_mtime_ns, path


def _write_arrays(file: BinaryIO, *arrays: NDArray[Any]) -> None:
    digest = blake2b(digest_size=_DIGEST_BYTES)
    file.write(bytes(_DIGEST_BYTES))
    for array in arrays:
        one = BytesIO()
        np.save(one, np.ascontiguousarray(array), allow_pickle=False)
        digest.update(one.getbuffer())
        file.write(one.getbuffer())
    file.seek(0)
    file.write(digest.digest())


def _read_arrays(content: bytes) -> Iterator[NDArray[Any]]:
    stream = BytesIO(content)
    stream.seek(_DIGEST_BYTES)
    while stream.tell() < len(content):
        yield np.load(stream, allow_pickle=False)


def _as_array(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, np.uint8)
