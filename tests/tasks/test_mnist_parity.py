"""Pictures read back square by square, and how their parts are distributed."""

import numpy as np
import pytest
import torch
from scipy import stats

from data_sets import needs
from torchalu.tasks import Digits, MNISTParity, load_mnist


def digits(count=200):
    """Squares without gaps, whose gray value is 50 + their position, so that they can be told."""
    images = (50 + torch.arange(count, dtype=torch.uint8))[:, None, None].expand(-1, 28, 28)
    return Digits(images.clone(), torch.arange(count) % 10)


def squares(image):
    """The digits of a picture by search: position in the data, and upper left corner."""
    pixels = (image[0] * 255).round().long()
    found = []
    while (rest := pixels.nonzero()).numel():
        row, column = rest[0].tolist()
        square = pixels[row : row + 28, column : column + 28]
        assert square.shape == (28, 28)
        assert square.unique().numel() == 1
        found.append((int(square[0, 0]) - 50, row, column))
        square.zero_()
    return found


DIGITS = digits()


def test_pictures_show_whole_digits_and_targets_count_the_even_ones():
    task = MNISTParity(DIGITS, seed=3)
    images, targets = task.batch(0, 200)
    assert images.shape == (200, 1, 100, 100)
    assert targets.dtype == torch.int64
    for image, target in zip(images, targets, strict=True):
        labels = [DIGITS.labels[position].item() for position, _, _ in squares(image)]
        assert 1 <= len(labels) <= 5
        assert target == sum(label in (0, 2, 4, 6, 8) for label in labels)


def test_numbers_of_digits_are_drawn_uniformly():
    images = MNISTParity(DIGITS, seed=1, num_digits=(0, 5)).batch(0, 1200).images
    counts = images.gt(0).sum((1, 2, 3)).div(28**2).long().bincount()
    assert len(counts) == 6
    assert stats.chisquare(counts.numpy()).pvalue > 1e-3


def test_each_digit_is_drawn_alike_and_anywhere():
    images = MNISTParity(DIGITS, seed=2, num_digits=(1, 1)).batch(0, 2000).images
    found = np.array([squares(image)[0] for image in images])
    assert stats.chisquare(np.bincount(found[:, 0], minlength=200)).pvalue > 1e-3
    for axis in (1, 2):
        assert found[:, axis].min() == 0
        assert found[:, axis].max() == 72
        assert stats.chisquare(np.bincount(found[:, axis], minlength=73)).pvalue > 1e-3


def test_arrangements_are_as_likely_as_each_other():
    """Two digits on a line of 62 pixels leave few arrangements, whose shares are known."""
    images = MNISTParity(DIGITS, seed=4, size=60, num_digits=(2, 2)).batch(0, 4000).images
    ends = 60 - 28
    places = np.arange(ends + 1)
    apart = abs(places[:, None] - places) >= 28
    rows = apart.sum() * len(places) ** 2  # arrangements whose rows are apart, columns as they like
    both = apart.sum() ** 2
    expected = rows / (2 * rows - both)
    seen = [abs(one[1] - other[1]) >= 28 for one, other in (squares(image) for image in images)]
    assert stats.binomtest(sum(seen), len(seen), expected).pvalue > 1e-3


def test_a_batch_follows_from_seed_and_step():
    first, same, other = (MNISTParity(DIGITS, seed=seed) for seed in (1, 1, 2))
    assert first.batch(4, 8).images.equal(same.batch(4, 8).images)
    assert not first.batch(4, 8).images.equal(first.batch(5, 8).images)
    assert not first.batch(4, 8).images.equal(other.batch(4, 8).images)


@needs("mnist")
def test_real_digits():
    images, targets = MNISTParity(load_mnist("test"), seed=0).batch(0, 512)
    assert images.min() == 0
    assert images.max() == 1
    # even digits have a share of .4926 in the test file, pictures three digits in the mean
    assert targets.double().mean().item() == pytest.approx(3 * 0.4926, abs=0.25)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="digits holds no digit"):
        MNISTParity(digits(0))
    with pytest.raises(ValueError, match=r"num_digits is \(3, 2\)"):
        MNISTParity(DIGITS, num_digits=(3, 2))
    with pytest.raises(
        ValueError, match=r"size is 80, too small for 5 digits of 28 pixels .* 91 or"
    ):
        MNISTParity(DIGITS, size=80)
    with pytest.raises(ValueError, match=r"size is 20, too small for 1 digits of 28 .* 28 or more"):
        MNISTParity(DIGITS, size=20, num_digits=(1, 1))
    with pytest.raises(ValueError, match="seed is -1"):
        MNISTParity(DIGITS, seed=-1)
    with pytest.raises(ValueError, match="batch_size 0"):
        MNISTParity(DIGITS).batch(0, 0)
