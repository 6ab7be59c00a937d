"""A lock on a folder that its holder's end releases, however it ends."""

from __future__ import annotations

import fcntl
import json
import os
import platform
from pathlib import Path
from typing import Any

from torchalu.train.files import unwritten


class FolderLock:
    """Holds a folder for this process; the operating system lets go of it when the process ends.

    Args:
        path: the file to lock; it is created, and names the holder.

    Raises:
        BlockingIOError: if another process, or another part of this one, holds the folder.
        OSError: if the file cannot be written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     lock = FolderLock(Path(folder) / "lock")
        ...     lock.release()
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read(self._file)
            self.release()
            raise BlockingIOError(
                f"the folder {str(path.parent)!r} is in use by {holder}; wait until it has ended, "
                "or choose another folder"
            ) from None
        except OSError:
            self.release()
            raise
        note = json.dumps({"pid": os.getpid(), "host": platform.node()})
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, note.encode(), 0)
        except OSError as error:
            self.release()
            raise unwritten(path, len(note), error) from error

    def release(self) -> None:
        """Lets go of the folder; the file stays, for removing it could free another's lock."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def _read(file: int) -> str:
    """The holder, as far as the file names it."""
    try:
        note: Any = json.loads(os.pread(file, 4096, 0))
        return f"process {note['pid']} on {note['host']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
