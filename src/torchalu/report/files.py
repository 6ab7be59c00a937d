"""Files that are either written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Writes a file by way of a neighbor that then takes its name.

    Whoever reads the path sees the old content or the new, never half of it; an interrupted write
    leaves nothing behind.

    Args:
        path: the file to write; an existing one is replaced.
        content: text (written as UTF-8) or bytes.

    Raises:
        OSError: if the folder does not exist or cannot be written to.

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
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _umask() -> int:
    """The permissions that new files are denied; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
