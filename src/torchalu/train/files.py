"""Files that are either written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
from pathlib import Path

_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.unfinished")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_DIRECTORY_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Writes a file by way of a neighbor that then takes its name.

    Whoever reads the path sees the old content or the new, never half of it. A failed write
    leaves nothing behind; what a killed process leaves, `remove_unfinished` removes. On return
    the file is on the disk, not only in the system's memory.

    Args:
        path: the file to write; an existing one is replaced.
        content: text (written as UTF-8) or bytes.

    Raises:
        OSError: if the folder does not exist, cannot be written to, or the disk is full; it names
            the path and says what to do.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_atomic(Path(folder) / "formula.txt", "a * b")
        ...     [entry.name for entry in Path(folder).iterdir()]
        ['formula.txt']
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        _write(path, data)
    except OSError as error:
        raise unwritten(path, len(data), error) from error


def unwritten(path: str | os.PathLike[str], size: int, error: OSError) -> OSError:
    """The error of a file that could not be written, with what to do.

    Args:
        path: of the file.
        size: how many bytes it was to have.
        error: what the operating system said.

    Example:
        >>> print(unwritten("a", 5, OSError(errno.EROFS, "Read-only file system")))
        [Errno 30] 'a' cannot be written: Read-only file system; mend that, or name another place
    """
    if error.errno in _FULL:
        problem = (
            f"no disk space for the {size} bytes of {str(path)!r}; free some and run the "
            "same command again: what was written before is kept"
        )
    else:
        why = error.strerror or error
        problem = f"{str(path)!r} cannot be written: {why}; mend that, or name another place"
    return OSError(error.errno, problem)


def check_folder(path: str | os.PathLike[str], name: str) -> None:
    """Refuses what can be no folder to write to, before anything is done for it.

    Args:
        path: of the folder; it may be one that is still to be made.
        name: of the argument or option that gave it, for the error.

    Raises:
        ValueError: something else has its name or that of a folder above it, or it may not be
            written to.

    Example:
        >>> check_folder("/dev/null/results", "--results")
        Traceback (most recent call last):
        ValueError: --results is '/dev/null/results', but '/dev/null' is no folder; name another
    """
    there = Path(path)
    while not (there.exists() or there.is_symlink()) and there != there.parent:
        there = there.parent  # a link to nothing stays
    problem = "may not be written to" if there.is_dir() else "is no folder"
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"{name} is {str(path)!r}, but {str(there)!r} {problem}; name another")


def set_aside(path: Path, suffix: str) -> Path:
    """Renames a file that cannot be used, and nothing that was set aside before is lost.

    Args:
        path: of the file.
        suffix: that is added to its name, with a number where there is such a file.

    Returns:
        Where it is.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a")
        ...     for _ in range(2):
        ...         _ = path.write_text("?")
        ...         print(set_aside(path, ".broken").name)
        a.broken
        a.broken-2
    """
    number, aside = 1, path.with_name(f"{path.name}{suffix}")
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}{suffix}-{number}")
    return path.rename(aside)


def remove_unfinished(folder: str | os.PathLike[str], *, below: bool = False) -> None:
    """Removes what `write_atomic` left in a folder when its process was killed.

    Args:
        folder: where to look; nothing happens if there is none. Nobody may be writing to it.
        below: whether to look in the folders below it, too.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     remove_unfinished(folder)
    """
    pattern = ".*.unfinished"
    for path in Path(folder).rglob(pattern) if below else Path(folder).glob(pattern):
        if is_unfinished(path.name):
            path.unlink(missing_ok=True)


def is_unfinished(name: str) -> bool:
    """Whether a file of this name is one that `write_atomic` has not finished.

    Example:
        >>> is_unfinished("formula.txt")
        False
    """
    return _UNFINISHED.fullmatch(name) is not None


def _write(path: Path, data: bytes) -> None:
    """Writes, renames, and waits for the disk."""
    unfinished = path.parent / f".{secrets.token_hex(8)}.unfinished"
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Waits until the folder's list of names is on the disk, where the system can do that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NO_DIRECTORY_SYNC:
            raise
