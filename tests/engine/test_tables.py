"""Training on the rows of a table: which rows a batch has, and how the rest is measured."""

import numpy as np
import pytest
import torch
from torch import nn

from torchalu.engine import train
from torchalu.engine.rows import native_task
from torchalu.engine.stack import read_stack
from torchalu.nn import NACMul, RealNPU
from torchalu.tasks import Table

ROWS = np.random.default_rng(0).uniform(1, 3, (1000, 3))


@pytest.mark.parametrize(("rows", "batch_size"), [(64, 16), (17, 16), (50, 32), (203, 48), (9, 16)])
def test_each_row_counts_the_same_in_the_mean_over_all_batches(rows, batch_size):
    """By the numbers that the trainer reads: a batch begins at any multiple of 16."""
    network = read_stack([nn.Linear(1, 1)])
    table = Table(np.arange(rows)[:, None] + 1.0, np.ones(rows))
    native = native_task(table, None, network, 0, np.array([0]), torch.float64, batch_size)
    x, y, weight, count = native["table"]
    assert (count, set(y.flatten().tolist())) == (rows, {1.0})
    starts = range(0, rows, 16) if rows > batch_size else [0]
    size = min(rows, batch_size)
    share = np.zeros(rows)
    for start in starts:
        for place in range(start, start + size):
            share[int(x[0, place]) - 1] += weight[place].item() / (len(starts) * size)
    np.testing.assert_allclose(share, 1 / rows, rtol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 8, 10, 16, 24, 63, 64])
def test_no_row_is_left_out(batch_size):
    """A weight of each row's own moves as soon as its row is in a batch."""
    table = Table(np.eye(64), np.ones(64))
    initial = {"0.weight": torch.zeros(1, 64)}
    result = train(
        [nn.Linear(64, 1, bias=False)], table, steps=200, batch_size=batch_size, initial=initial
    )
    assert bool(result.parameters["0.weight"].ne(0).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("rows", "validation", "batch_size"),
    [(10, 100, 128), (50, 60, 128), (1000, 1000, 100), (40, 999, 24), (3, 1, 5)],
)
@pytest.mark.parametrize("kind", ["dense", "power"])
def test_losses_are_those_of_pytorch_whatever_the_sizes(kind, rows, validation, batch_size, dtype):
    torch.manual_seed(1)
    stack = nn.Sequential(
        *([nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)] if kind == "dense" else [RealNPU(3, 1)])
    ).to(dtype)
    held_out = ROWS[:validation]
    result = train(
        stack, Table(ROWS[:rows], ROWS[:rows].sum(1)), steps=1, learning_rate=0.0, dtype=dtype,
        batch_size=batch_size, validation=Table(held_out, held_out[:, 0]),
        initial=dict(stack.state_dict()),
    )  # fmt: skip
    answer = stack(torch.from_numpy(held_out).to(dtype))[:, 0].detach().double()
    expected = (answer - torch.from_numpy(held_out[:, 0])).square().mean().item()
    assert result.records["validation_loss"][-1] == pytest.approx(expected, rel=1e-5)


def test_a_start_beyond_the_bounds_is_one_at_them():
    """As the module has it, whose weights are clamped before they are used."""
    table = Table([[2.0]], [3.0])
    result = train(
        [nn.Linear(1, 1, bias=False), NACMul(1, 1, parametrization="clamped")], table, steps=1,
        learning_rate=0.0,
        initial={"0.weight": torch.ones(1, 1), "1.weight": torch.full((1, 1), 3.0)},
    )  # fmt: skip
    assert result.parameters["1.weight"].item() == 1.0
    assert result.records["training_loss"][-1] == pytest.approx(1.0, rel=1e-5)


def test_what_the_trainer_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"X holds 1e\+60, too large for torch\.float32; give"):
        train([nn.Linear(1, 1)], Table([[1e60], [2.0]], [1.0, 2.0]), steps=1)
    wide = train(
        [nn.Linear(1, 1)], Table([[1e60], [2.0]], [1.0, 2.0]), steps=1, dtype=torch.float64
    )
    assert wide.steps.tolist() == [1]
    X, y = [[1.0], [2.0], [3.0]], [3e-24, 6e-24, 9e-24]
    with pytest.raises(
        ValueError, match=r"y has a column of at most 9e-24, whose square torch\.fl"
    ):
        train([nn.Linear(1, 1)], Table(X, y), steps=1)
    with pytest.raises(ValueError, match="X has a column of at most 1e-50, whose square"):
        train(
            [nn.Linear(2, 1)],
            Table([[1.0, 0.0], [2.0, 1e-50], [3.0, 0.0]], [1.0, 2.0, 3.0]),
            steps=1,
        )
    assert train([nn.Linear(1, 1)], Table(X, y), steps=1, dtype=torch.float64).steps.tolist() == [1]
    with pytest.raises(ValueError, match="eps is 1e-50; the logarithm"):
        train([NACMul(1, 1, eps=1e-50)], Table([[1.0], [2.0]], [1.0, 2.0]), steps=1)


def test_a_last_step_into_infinity_is_no_success():
    initial = {"0.weight": torch.full((1, 1), 1.0)}
    result = train(
        [nn.Linear(1, 1, bias=False)], Table([[1.0], [2.0]], [3.0, 6.0]), steps=1,
        learning_rate=1e39, initial=initial,
    )  # fmt: skip
    assert result.status == ["nan"]
