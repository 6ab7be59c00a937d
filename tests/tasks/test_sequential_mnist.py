"""Sequences, their targets, and the order of an epoch."""

import itertools
import math

import pytest
import torch

from torchalu.tasks import Digits, SequentialMNIST


def digits(labels):
    """Digits whose image holds their own position, so that they can be told apart."""
    labels = torch.tensor(labels)
    images = torch.arange(len(labels), dtype=torch.uint8)[:, None, None].expand(-1, 28, 28)
    return Digits(images.clone(), labels)


def position(image):
    return round((image.flatten()[0].item() * 0.3081 + 0.1307) * 255)


TEN = digits([3, 0, 7, 9, 2, 1, 0, 8, 5, 4, 6])


@pytest.mark.parametrize(
    ("operation", "of"), [("sum", sum), ("product", math.prod)], ids=["sum", "product"]
)
def test_target_of_each_prefix_is_that_of_the_images_so_far(operation, of):
    task = SequentialMNIST(operation, 3, TEN, seed=4)
    images, targets = task.batch(0, batch_size=100)
    assert images.shape == (len(task), 3, 1, 28, 28)
    assert targets.shape == (len(task), 3, 1)
    for row, wanted in zip(images, targets, strict=True):
        shown = [TEN.labels[position(image)].item() for image in row]
        assert wanted.flatten().tolist() == [of(shown[: k + 1]) for k in range(3)]


def test_products_are_made_of_digits_from_1():
    task = SequentialMNIST("product", 1, TEN)
    assert sorted(TEN.labels[task.sequences].flatten().tolist()) == list(range(1, 10))
    assert len(SequentialMNIST("sum", 1, TEN)) == 11


def test_a_digit_belongs_to_one_sequence_at_most():
    task = SequentialMNIST("sum", 4, TEN, seed=1)
    used = task.sequences.flatten().tolist()
    assert len(task) == 2
    assert len(set(used)) == len(used) == 8


def test_an_epoch_goes_once_through_all_sequences_in_another_order_each_time():
    task = SequentialMNIST("sum", 1, TEN, seed=3)
    assert task.epoch_steps(4) == 3
    orders = []
    for epoch in range(3):
        batches = [task.batch(3 * epoch + k, 4).images for k in range(3)]
        assert [len(batch) for batch in batches] == [4, 4, 3]
        orders.append([position(image) for image in itertools.chain(*batches)])
    assert all(sorted(order) == list(range(11)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3


def test_a_batch_follows_from_seed_and_step_alone():
    first, second = (SequentialMNIST("sum", 2, TEN, seed=5) for _ in range(2))
    ahead = first.batch(7, 2)
    for step in range(7):
        first.batch(step, 2)
    assert second.batch(7, 2).images.equal(ahead.images)
    assert first.batch(7, 2).targets.equal(ahead.targets)
    other = SequentialMNIST("sum", 2, TEN, seed=6)
    assert not other.sequences.equal(first.sequences)


def test_batches_are_all_sequences_in_their_order():
    task = SequentialMNIST("product", 2, TEN)
    targets = torch.cat([batch.targets for batch in task.batches(3)])
    assert targets.double().equal(task.targets())


def test_a_product_beyond_64_bit_integers_is_right():
    nines = digits([9] * 20)
    assert SequentialMNIST("product", 20, nines).targets()[0, -1].item() == pytest.approx(
        9**20, rel=1e-15
    )


def test_global_random_numbers_are_left_alone():
    state = torch.get_rng_state()
    SequentialMNIST("sum", 2, TEN).batch(0, 2)
    assert torch.get_rng_state().equal(state)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="operation is 'mul'; choose from sum, product"):
        SequentialMNIST("mul", 2, TEN)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="length is 0; give a whole number from 1 to 11"):
        SequentialMNIST("sum", 0, TEN)
    with pytest.raises(ValueError, match="length is 10; give a whole number from 1 to 9"):
        SequentialMNIST("product", 10, TEN)
    with pytest.raises(ValueError, match="batch_size is 0"):
        SequentialMNIST("sum", 1, TEN).batch(0, 0)
