"""Rules learned from 128 rows a step, snapped, and right far outside the training range."""

import pytest
import torch

from torchalu import nn
from torchalu.export import snap, to_sympy

FAR = torch.tensor([[-200.0, 3.0], [40.0, -8.0], [-0.5, -64.0], [7.0, 1e-3]])


def product(x):
    return x[:, :1] * x[:, 1:]


def quotient(x):
    return x[:, :1] / x[:, 1:]


def total(x):
    return x[:, :1] + x[:, 1:]


def learn(unit, target, generator):
    """300 steps on numbers of either sign between 1 and 2."""
    optimizer = torch.optim.Adam(unit.parameters(), lr=0.05)
    nn.constrain_after(optimizer, unit)
    for step in range(300):
        signs = torch.randint(0, 2, (128, 2), generator=generator) * 2 - 1
        x = signs * (1 + torch.rand(128, 2, generator=generator))
        loss = torch.nn.functional.mse_loss(unit(x), target(x))
        loss = loss + 0.1 * nn.penalty_ramp(step, 100, 200) * unit.penalty()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(unit.parameters(), 1.0)
        optimizer.step()


@pytest.mark.parametrize(
    ("unit", "options", "seed", "target", "formula"),
    [
        (nn.NMRU, {}, 0, quotient, "a/b"),
        (nn.RealNPU, {"modified": True}, 1, quotient, "a/b"),
        (nn.INALU, {}, 0, product, "a*b"),
        (nn.INALU, {}, 0, total, "a + b"),
        (nn.SNMU, {}, 0, product, "a*b"),
    ],
)
def test_one_unit_learns_a_rule_with_signs(unit, options, seed, target, formula):
    generator = torch.Generator().manual_seed(seed)
    layer = unit(2, 1, generator=generator, **options)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        learn(layer, target, generator)
    snap(layer)
    layer.eval()
    torch.testing.assert_close(layer(FAR), target(FAR), rtol=2e-4, atol=0)
    assert str(to_sympy(layer, ["a", "b"], keep_eps=False)) == formula
