"""The file of an SQLite database: made for its owner's eyes, and known again when it is looked at later."""

import os
import stat
from pathlib import Path
from typing import Final

from tunnihind.errors import StoreError

OWNER_ONLY: Final = 0o600
_GROUP_READS: Final = 0o640


class DatabaseFile:
    """A file at a path, and which one it was when it was opened: another may take its place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened: tuple[int, int] | None = None

    def make(self) -> bool:
        """Make an empty file unless there is one; return whether that was needed. Raises StoreError.

        SQLite would let everybody read it. Its group may where the folder hands its own group on to its files (setgid).
        What SQLite makes beside the file, and only then, gets the file's owner and mode.
        """
        # A link may point to where there is no file yet.
        path = self.path.resolve()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"can't make the folder {path.parent} for the database: {error.strerror}") from error
        # Only then: closing any descriptor of a file gives up the locks that SQLite holds on it.
        if path.exists():
            return False
        has_group = path.parent.stat().st_mode & stat.S_ISGID
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _GROUP_READS if has_group else OWNER_ONLY))
        except FileExistsError:
            return False  # another process was quicker
        except OSError as error:
            raise StoreError(f"can't make the database {path}: {error.strerror}") from error
        return True

    def remember(self) -> None:
        """Take the file that is there now for the one that is opened."""
        self._opened = self._found()

    def is_there(self) -> bool:
        """Return whether any file is there."""
        return self._found() is not None

    def is_same(self) -> bool:
        """Return whether the file that was opened is still there, and not another in its place."""
        return self._found() == self._opened

    def has_log(self) -> bool:
        """Return whether the write-ahead log beside the file has content: a process is writing, or was killed."""
        log = Path(f"{self.path}-wal")
        return log.exists() and log.stat().st_size > 0

    def mode(self) -> int:
        """Return the file's permissions, the owner's only where there is none."""
        try:
            return stat.S_IMODE(self.path.stat().st_mode)
        except OSError:
            return OWNER_ONLY

    def _found(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino
