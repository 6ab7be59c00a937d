"""The loaders against files that the tests write, and against CIFAR-10's published facts."""

import dataclasses
import hashlib

import numpy as np
import pytest
import torch

from data_sets import needs
from torchalu.tasks import DataError, cifar, load_cifar10, load_cifar100, normalize_pictures

ROWS = {"cifar10": 3, "cifar100": 10_002}


@pytest.fixture
def files(monkeypatch, tmp_path):
    """Small files in both formats, whose sums take the place of the published ones."""
    random = np.random.default_rng(0)
    content = {}
    for files, classes in ((cifar.CIFAR10, (10,)), (cifar.CIFAR100, (20, 100))):
        folder = tmp_path / files.layouts[0]
        folder.mkdir()
        for name in files.sums:
            rows = ROWS[files.name] if name != "data_batch_5.bin" else 10_000
            pixels = random.integers(256, size=(rows, 3072), dtype=np.uint8)
            labels = [random.integers(count, size=rows, dtype=np.uint8) for count in classes]
            content[name] = np.column_stack((*labels, pixels))
            (folder / name).write_bytes(content[name].tobytes())
        sums = {name: hashlib.sha256(content[name]).hexdigest() for name in files.sums}
        changed = dataclasses.replace(files, sums=sums)
        monkeypatch.setattr(cifar, files.name.upper(), changed)
    return content


def rows_of(pictures):
    return pictures.images.reshape(len(pictures.images), -1).numpy(), pictures.labels.tolist()


def test_splits_of_cifar10_are_the_files(tmp_path, files):
    test = load_cifar10("test", tmp_path)
    assert test.images.shape == (3, 3, 32, 32)
    assert (test.images.dtype, test.labels.dtype) == (torch.uint8, torch.int64)
    red, green = files["test_batch.bin"][0, 1:1025], files["test_batch.bin"][0, 1025:2049]
    np.testing.assert_array_equal(test.images[0, 0].flatten(), red)
    np.testing.assert_array_equal(test.images[0, 1, 2], green[64:96])
    train = np.concatenate([files[f"data_batch_{number}.bin"] for number in (1, 2, 3, 4)])
    for pictures, expected in (
        (load_cifar10("train", tmp_path), train),
        (load_cifar10("validation", tmp_path), files["data_batch_5.bin"]),
        (
            load_cifar10("train+validation", tmp_path),
            np.concatenate((train, files["data_batch_5.bin"])),
        ),
    ):
        images, labels = rows_of(pictures)
        np.testing.assert_array_equal(images, expected[:, 1:])
        assert labels == expected[:, 0].tolist()


def test_splits_and_labels_of_cifar100(tmp_path, files):
    for pictures, rows in (
        (load_cifar100("train", tmp_path), files["train.bin"][:2]),
        (load_cifar100("validation", tmp_path), files["train.bin"][2:]),
        (load_cifar100("train+validation", tmp_path), files["train.bin"]),
        (load_cifar100("test", tmp_path), files["test.bin"]),
    ):
        images, labels = rows_of(pictures)
        np.testing.assert_array_equal(images, rows[:, 2:])
        assert labels == rows[:, 1].tolist()
    _, coarse = rows_of(load_cifar100("test", tmp_path, labels="coarse"))
    assert coarse == files["test.bin"][:, 0].tolist()


def test_a_file_cut_short_is_named(tmp_path, files):
    path = tmp_path / "cifar-10-batches-bin" / "test_batch.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"test_batch\.bin' has sha256"):
        load_cifar10("test", tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has 0 bytes, which is no multiple of 3073"),
        (bytes(3072), "has 3072 bytes, which is no multiple of 3073"),
        (bytes(3074), "has 3074 bytes"),
        (bytes([10]) + bytes(3072), "has a label 10, and there are 10 classes, 0 to 9"),
    ],
)
def test_what_is_no_such_file_says_why(content, message):
    with pytest.raises(DataError, match=message):
        cifar.read_pictures(content, "file", 10)


def test_the_second_label_is_checked_too():
    with pytest.raises(DataError, match="a label 100, and there are 100 classes"):
        cifar.read_pictures(bytes([0, 100]) + bytes(3072), "file", 20, 100)


def test_cifar100_says_where_it_has_to_be_put(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TORCHALU_DATA", raising=False)
    with pytest.raises(FileNotFoundError) as raised:
        load_cifar100("test")
    assert str(tmp_path / "torchalu" / "cifar100" / "cifar-100-binary") in str(raised.value)


def test_unknown_arguments():
    with pytest.raises(ValueError, match="split is 'dev'; choose from train, validation, train"):
        load_cifar10("dev")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="split is 'dev'"):
        load_cifar100("dev")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="labels is 'all'; choose from fine, coarse"):
        load_cifar100("test", labels="all")  # pyright: ignore[reportArgumentType]


def test_normalization_is_the_closed_form():
    values = torch.tensor([0, 51, 255], dtype=torch.uint8).view(3, 1, 1)
    found = normalize_pictures(values, (0.1, 0.2, 0.3), (0.5, 0.4, 0.2)).flatten().tolist()
    expected = [(v / 255 - m) / s for v, m, s in ((0, 0.1, 0.5), (51, 0.2, 0.4), (255, 0.3, 0.2))]
    assert found == pytest.approx(expected, abs=1e-6)


@needs("cifar10")
def test_cifar10_has_its_published_labels_counts_and_moments():
    train, test = load_cifar10("train+validation"), load_cifar10("test")
    assert train.labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert test.labels[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    assert train.labels.bincount().tolist() == [5000] * 10
    assert test.labels.bincount().tolist() == [1000] * 10
    values = np.arange(256) / 255
    for color, (mean, std) in enumerate(((0.4914, 0.2470), (0.4822, 0.2435), (0.4465, 0.2616))):
        share = np.bincount(train.images[:, color].flatten(), minlength=256) / (50_000 * 1024)
        assert share @ values == pytest.approx(mean, abs=5e-5)
        assert (share @ (values - share @ values) ** 2) ** 0.5 == pytest.approx(std, abs=5e-5)
