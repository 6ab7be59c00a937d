"""The perceptron fits what it sees, and its randomness is its own."""

import numpy as np
import pytest
import torch

from torchalu.report import fit_mlp
from torchalu.tasks import Needle, Table


def test_fits_inside_and_fails_outside():
    x = np.linspace(1, 4, 60)[:, None]
    predict = fit_mlp(Table(x, x[:, 0] ** 2))
    assert np.abs(predict(x) - x[:, 0] ** 2).max() < 0.3
    assert abs(predict(np.array([[40.0]]))[0] - 1600) > 800


def test_fits_the_needle_inside():
    hidden = Needle(columns=20, width=5, shared=2)
    table = hidden.sample(300, 1.0, 2.0)
    error = fit_mlp(table, steps=600)(table.X) - table.y
    assert np.sqrt((error**2).mean()) < 0.2 * table.y.std()


def test_depends_on_its_seed_and_leaves_the_global_one():
    table = Table([[1.0], [2.0], [4.0]], [1.0, 3.0, 2.0])
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, same, other = (fit_mlp(table, steps=20, seed=seed)(table.X) for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_weights_count():
    table = Table([[1.0], [1.0]], [0.0, 4.0], sample_weight=[3.0, 1.0])
    assert fit_mlp(table, steps=800)(table.X) == pytest.approx([1.0, 1.0], abs=1e-3)


def test_a_constant_feature_does_no_harm():
    table = Table([[1.0, 7.0], [2.0, 7.0]], [1.0, 2.0])
    assert np.isfinite(fit_mlp(table, steps=50)(table.X)).all()
