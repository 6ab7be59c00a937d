"""The loader against files that the tests write, and against MNIST's published facts."""

import gzip
import hashlib
import struct

import numpy as np
import pytest
import torch

from data_sets import needs
from torchalu.tasks import (
    MNIST,
    DataError,
    Digits,
    cache_folder,
    idx_bytes,
    idx_values,
    load_mnist,
    normalize,
)
from torchalu.tasks.data_folder import data_folder

ROWS = {"train": 5003, "t10k": 7}


@pytest.fixture
def files(monkeypatch):
    """Small files in MNIST's format, whose sums take the place of the published ones."""
    random = np.random.default_rng(0)
    content = {}
    for kind, rows in ROWS.items():
        pixels = random.integers(256, size=(rows, 28, 28), dtype=np.uint8)
        labels = random.integers(10, size=rows, dtype=np.uint8)
        content[f"{kind}-images-idx3-ubyte"] = (
            struct.pack(">BBBBIII", 0, 0, 8, 3, rows, 28, 28) + pixels.tobytes()
        )
        content[f"{kind}-labels-idx1-ubyte"] = (
            struct.pack(">BBBBI", 0, 0, 8, 1, rows) + labels.tobytes()
        )
    for name, data in content.items():
        monkeypatch.setitem(MNIST.sums, name, hashlib.sha256(data).hexdigest())
    return content


def write(folder, files, packed=False):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        path = folder / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(data) if packed else data)


@pytest.mark.parametrize("layout", ["MNIST/raw", "raw", "."])
@pytest.mark.parametrize("packed", [False, True])
def test_all_layouts_raw_and_packed(tmp_path, files, layout, packed):
    write(tmp_path / layout, files, packed)
    test = load_mnist("test", tmp_path)
    assert test.images.numpy().tobytes() == files["t10k-images-idx3-ubyte"][16:]
    assert bytes(test.labels.tolist()) == files["t10k-labels-idx1-ubyte"][8:]
    assert test.images.dtype == torch.uint8
    assert test.labels.dtype == torch.int64


def test_the_last_5000_of_the_training_file_validate(tmp_path, files):
    write(tmp_path, files)
    train, validation = load_mnist("train", tmp_path), load_mnist("validation", tmp_path)
    assert (len(train.images), len(validation.images)) == (3, 5000)
    both = torch.cat((train.labels, validation.labels))
    assert bytes(both.tolist()) == files["train-labels-idx1-ubyte"][8:]


def test_the_argument_goes_before_the_variable_and_that_before_the_cache(
    tmp_path, files, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("TORCHALU_DATA", raising=False)
    assert cache_folder("mnist") == tmp_path / "caches" / "torchalu" / "mnist"
    with pytest.raises(FileNotFoundError, match="torchalu data mnist"):
        MNIST.folder()
    write(cache_folder("mnist"), files)
    assert MNIST.folder() == cache_folder("mnist") / "."
    write(tmp_path / "variable", files)
    monkeypatch.setenv("TORCHALU_DATA", str(tmp_path / "variable"))
    assert MNIST.folder() == tmp_path / "variable"
    write(tmp_path / "argument" / "MNIST" / "raw", files)
    assert MNIST.folder(tmp_path / "argument") == tmp_path / "argument" / "MNIST" / "raw"


def test_a_named_folder_without_the_files_is_an_error_whatever_the_cache_holds(
    tmp_path, files, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    write(cache_folder("mnist"), files)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(FileNotFoundError, match="no train-images-idx3-ubyte, train-labels"):
        load_mnist("test", empty)
    write(empty, {name: data for name, data in files.items() if "labels" not in name})
    with pytest.raises(FileNotFoundError, match="no train-labels-idx1-ubyte, t10k-labels"):
        load_mnist("test", empty)
    with pytest.raises(FileNotFoundError, match=r"root is .*nowhere.*, which is no folder"):
        data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("TORCHALU_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"\$TORCHALU_DATA is"):
        load_mnist("test")


@pytest.mark.parametrize("packed", [False, True])
def test_a_damaged_file_is_named_with_both_sums(tmp_path, files, packed):
    changed = {name: data[:-1] + bytes([data[-1] ^ 1]) for name, data in files.items()}
    write(tmp_path, changed, packed)
    with pytest.raises(DataError, match=r"t10k-images.*has sha256 \w{64} .* where \w{64} is due"):
        load_mnist("test", tmp_path)


def test_a_broken_gzip_file_is_named(tmp_path, files):
    write(tmp_path, files, packed=True)
    path = tmp_path / "t10k-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"ubyte\.gz' is no complete gzip file"):
        load_mnist("test", tmp_path)
    path.write_bytes(b"no gzip")
    with pytest.raises(DataError, match="is no complete gzip file"):
        load_mnist("test", tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with ''"),
        (b"P6\x08\x01", "begins with '50 36 08 01'"),
        (b"\0\0\x0d\x01\0\0\0\x01\0\0\0\0", "begins with '00 00 0d 01'"),
        (b"\0\0\x08\x01\0\0\0\x05abc", "takes 13 bytes, and has 11"),
        (b"\0\0\x08\x03\0\0\0\x05", "and has 8"),
        (b"\0\0\x08\x01\0\0\0\x02abc", "takes 10 bytes, and has 11"),
    ],
)
def test_what_is_no_idx_file_says_why(content, message):
    with pytest.raises(DataError, match=f"'digits'.*{message}"):
        idx_values(content, "digits")


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (4, 28, 28)])
def test_idx_there_and_back(shape):
    values = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    np.testing.assert_array_equal(idx_values(idx_bytes(values), "values"), values)


def test_unknown_split():
    with pytest.raises(ValueError, match="split is 'valid'; choose from train, validation, test"):
        load_mnist("valid")  # pyright: ignore[reportArgumentType]


def test_normalization_is_the_closed_form():
    gray = torch.tensor([[0, 51, 255]], dtype=torch.uint8)
    expected = [(v / 255 - 0.1307) / 0.3081 for v in (0, 51, 255)]
    assert normalize(gray)[0].tolist() == pytest.approx(expected, rel=1e-6)


@needs("mnist")
def test_the_files_have_the_md5_that_the_publisher_names():
    published = {
        "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
        "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
        "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
        "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
    }
    assert {name: hashlib.md5(MNIST.read(name)).hexdigest() for name in MNIST.sums} == published


@needs("mnist")
def test_mnist_has_its_published_counts_and_moments():
    splits = [load_mnist(split) for split in ("train", "validation", "test")]
    assert [len(split.labels) for split in splits] == [55_000, 5_000, 10_000]
    assert splits[0].labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert splits[2].labels.bincount().tolist() == [
        *(980, 1135, 1032, 1010, 982),
        *(892, 958, 1028, 974, 1009),
    ]
    images = torch.cat((splits[0].images, splits[1].images))
    values = normalize(images).double()
    assert values.mean().item() == pytest.approx(0, abs=1e-3)
    assert values.std().item() == pytest.approx(1, abs=1e-3)
    assert isinstance(splits[0], Digits)
