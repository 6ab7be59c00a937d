"""The loader against tables that the tests write, and against Covertype's published facts."""

import dataclasses
import hashlib
import io

import numpy as np
import pytest
import torch

from data_sets import needs
from torchalu.tasks import DataError, Patches, covertype, load_covertype, split_covertype


def content_of(table):
    buffer = io.BytesIO()
    np.save(buffer, table)
    return buffer.getvalue()


@pytest.fixture
def store(monkeypatch, tmp_path):
    """Puts a table into a folder, its sum in the place of the published one."""

    def put(content):
        (tmp_path / "covertype.npy").write_bytes(content)
        sums = {"covertype.npy": hashlib.sha256(content).hexdigest()}
        changed = dataclasses.replace(covertype.COVERTYPE, sums=sums)
        monkeypatch.setattr(covertype, "COVERTYPE", changed)
        return tmp_path

    return put


def test_numbers_of_area_and_soil_become_columns(store):
    measures = np.arange(20).reshape(2, 10) - 7
    table = np.column_stack((measures, [[3, 0, 6], [0, 39, 0]])).astype(np.int16)
    patches = load_covertype(store(content_of(table)))
    expected = np.zeros((2, 54), np.float32)
    expected[:, :10] = measures
    expected[0, [13, 14]] = 1
    expected[1, [10, 53]] = 1
    np.testing.assert_array_equal(patches.features, expected)
    assert patches.labels.tolist() == [6, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no table in NumPy's format"),
        (b"a,b\n1,2\n", "is no table in NumPy's format"),
        (content_of(np.zeros((2, 13), np.int16))[:-1], "is no table in NumPy's format"),
        (content_of(np.zeros((2, 12), np.int16)), "13 columns"),
        (content_of(np.zeros(13, np.int16)), "13 columns"),
        (content_of(np.zeros((2, 13))), "13 columns"),
        (content_of(np.full((1, 13), 4, np.int16)), r"below \(4, 40, 7\)"),
        (content_of(np.full((1, 13), -1, np.int16)), r"below \(4, 40, 7\)"),
    ],
)
def test_what_is_no_such_table_says_why(store, content, message):
    with pytest.raises(DataError, match=message):
        load_covertype(store(content))


def test_a_table_of_python_objects_is_never_unpickled(store):
    class Hostile:
        def __reduce__(self):
            return (pytest.fail, ("it ran",))

    buffer = io.BytesIO()
    np.save(buffer, np.array([Hostile()], object), allow_pickle=True)
    with pytest.raises(DataError, match="is no table in NumPy's format"):
        load_covertype(store(buffer.getvalue()))


def test_a_damaged_table_is_named(store):
    folder = store(content_of(np.zeros((2, 13), np.int16)))
    (folder / "covertype.npy").write_bytes(b"other")
    with pytest.raises(DataError, match=r"covertype\.npy' has sha256"):
        load_covertype(folder)


def patches(rows):
    features = torch.randn(rows, 54, generator=torch.Generator().manual_seed(1)) * 100 + 1000
    features[:, 3] = 5.0
    return Patches(features, torch.arange(rows) % 7)


def test_the_published_split_is_by_order():
    made = patches(15_130)
    split = split_covertype(made)
    assert [len(part.labels) for part in split] == [11_340, 3_780, 10]
    assert torch.equal(split.test.labels, made.labels[-10:])
    assert torch.equal(split.validation.features[:, 10:], made.features[11_340:15_120, 10:])


def test_measures_are_standardized_by_the_training_rows_alone():
    made = patches(15_130)
    split = split_covertype(made)
    train = made.features[:11_340, :10].numpy().astype(np.float64)
    mean, std = train.mean(0), train.std(0)
    std[3] = 1.0
    expected = (made.features[11_340:15_120, :10].numpy() - mean) / std
    np.testing.assert_allclose(split.validation.features[:, :10], expected, atol=1e-6)
    assert split.train.features[:, 3].abs().max() == 0
    assert made.features[0, 3] == 5.0


def test_the_random_split_deals_each_row_once_and_follows_from_the_generator():
    made = Patches(torch.rand(100, 54), torch.arange(100))
    split = split_covertype(made, torch.Generator().manual_seed(3), (0.5, 0.2))
    labels = [part.labels.tolist() for part in split]
    assert [len(part) for part in labels] == [50, 20, 30]
    assert sorted(row for part in labels for row in part) == list(range(100))
    again = split_covertype(made, torch.Generator().manual_seed(3), (0.5, 0.2))
    assert [part.labels.tolist() for part in again] == labels
    other = split_covertype(made, torch.Generator().manual_seed(4), (0.5, 0.2))
    assert other.train.labels.tolist() != labels[0]


@pytest.mark.parametrize("parts", [(0.0, 0.5), (0.5, 0.5), (-0.1, 0.2), (0.9, 0.2)])
def test_parts_that_leave_a_part_empty(parts):
    with pytest.raises(ValueError, match="give two positive numbers whose sum is less than 1"):
        split_covertype(patches(10), torch.Generator(), parts)


def test_too_few_rows_for_the_published_split():
    with pytest.raises(ValueError, match="needs more than 15120: give a generator"):
        split_covertype(patches(15_120))


@needs("covertype")
def test_covertype_has_its_published_counts():
    made = load_covertype()
    counts = [211_840, 283_301, 35_754, 2_747, 9_493, 17_367, 20_510]
    assert made.labels.bincount().tolist() == counts
    assert made.features[0, :10].tolist() == [2596, 51, 3, 258, 0, 510, 221, 232, 148, 6279]
    assert made.features[:, 10:14].sum(0).tolist() == [260_796, 29_884, 253_364, 36_968]
    assert made.features[:, 10:].sum(1).unique().tolist() == [2.0]
    assert (made.features[:, 0].min(), made.features[:, 0].max()) == (1859, 3858)
    split = split_covertype(made)
    assert split.train.labels.bincount().tolist() == [1_620] * 7
    assert split.validation.labels.bincount().tolist() == [540] * 7
