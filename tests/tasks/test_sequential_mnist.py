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
    with pytest.raises(ValueError, match="step is -1; give 0 or more"):
        SequentialMNIST("sum", 2, TEN).batch(-1, 2)
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
    with pytest.raises(ValueError, match=r"length is 1\.5; give a whole number from 1 to 11"):
        SequentialMNIST("sum", 1.5, TEN)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="seed is -1; give an integer, 0 or more"):
        SequentialMNIST("sum", 2, TEN, seed=-1)
    with pytest.raises(ValueError, match="length is 10; give a whole number from 1 to 9"):
        SequentialMNIST("product", 10, TEN)
    with pytest.raises(ValueError, match="batch_size is 0"):
        SequentialMNIST("sum", 1, TEN).batch(0, 0)


def test_counts_of_each_prefix():
    task = SequentialMNIST("count", 5, TEN, seed=2)
    images, targets = task.batch(0, 2)
    assert targets.shape == (2, 5, 10)
    for row, wanted in zip(images, targets, strict=True):
        shown = [TEN.labels[position(image)].item() for image in row]
        for k in range(5):
            assert wanted[k].tolist() == [shown[: k + 1].count(digit) for digit in range(10)]


@pytest.mark.parametrize("operation", ["sum", "product", "count"])
def test_the_final_target_is_that_of_the_whole_sequence(operation):
    batch = SequentialMNIST(operation, 4, TEN, seed=2).batch(0, 2)
    labels = torch.tensor(
        [[TEN.labels[position(image)].item() for image in row] for row in batch.images]
    )
    wanted = {
        "sum": labels.sum(1, keepdim=True),
        "product": labels.prod(1, keepdim=True),
        "count": torch.stack([row.bincount(minlength=10) for row in labels]),
    }
    assert torch.equal(batch.final, wanted[operation].float())


def shown_in(task, epoch, steps):
    """The sequences of an epoch, as positions."""
    batches = [task.batch(epoch * steps + k, 2).images for k in range(steps)]
    return [tuple(position(image) for image in row) for row in itertools.chain(*batches)]


def test_recut_gives_each_epoch_its_own_sequences():
    task = SequentialMNIST("sum", 3, TEN, seed=1, recut=True)
    epochs = [shown_in(task, epoch, task.epoch_steps(2)) for epoch in range(20)]
    for sequences in epochs:
        assert len(sequences) == len(task) == 3
        assert len(set(itertools.chain(*sequences))) == 9
    assert len(set(itertools.chain(*epochs))) > 55  # of 60; a fixed cut has 3
    again = SequentialMNIST("sum", 3, TEN, seed=1, recut=True)
    assert shown_in(again, 7, 2) == epochs[7]
    fixed = SequentialMNIST("sum", 3, TEN, seed=1)
    assert again.sequences.equal(fixed.sequences)
    assert again.targets().equal(fixed.targets())


def test_products_that_float32_does_not_hold_are_refused():
    nines = Digits(TEN.images[:1].expand(50, -1, -1), torch.full((50,), 9))
    with pytest.raises(ValueError, match=r"length is 50, and the product .* to 5.15e\+47, which"):
        SequentialMNIST("product", 50, nines).batch(0)
