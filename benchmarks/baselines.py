"""The same work as a user of PyTorch would write it: eager, autograd, torch.optim.Adam."""

from collections.abc import Callable

import torch
from torch import Tensor


def eager_training_step(
    layers: list[Callable[..., Tensor]],
    parameters: list[list[Tensor]],
    bounds: list[tuple[float, float] | None],
    penalized: list[Tensor],
) -> Callable[[int], None]:
    """A step of the simple function task (100 inputs, batch 128): draw, loss, Adam, clamp."""
    flat = [p for group in parameters for p in group]
    optimizer = torch.optim.Adam(flat, lr=1e-3)

    def step(number: int) -> None:
        x = torch.rand(128, 100) + 1
        y = (x[:, 10:35].sum(1) * x[:, 23:48].sum(1)).unsqueeze(1)
        z = x
        for layer, group in zip(layers, parameters, strict=True):
            z = layer(z, *group)
        loss = torch.nn.functional.mse_loss(z, y)
        if penalized:
            ramp = 10 * min(max((number - 1e6) / 1e6, 0.0), 1.0)
            loss = loss + ramp * sum(
                torch.minimum(w.abs(), (1 - w.abs()).abs()).mean() for w in penalized
            )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for group, bound in zip(parameters, bounds, strict=True):
                if bound is not None:
                    group[0].clamp_(*bound)

    return step


def nau(x: Tensor, weight: Tensor) -> Tensor:
    """Sum."""
    return torch.nn.functional.linear(x, weight)


def nmu(x: Tensor, weight: Tensor) -> Tensor:
    """Product, written out."""
    return (weight * x.unsqueeze(-2) + 1 - weight).prod(-1)


def nalu(x: Tensor, w_hat: Tensor, m_hat: Tensor, gate_weight: Tensor) -> Tensor:
    """Sum and log-space product behind a gate, as in the paper."""
    weight = torch.tanh(w_hat) * torch.sigmoid(m_hat)
    added = torch.nn.functional.linear(x, weight)
    multiplied = torch.exp(torch.nn.functional.linear(torch.log(x.abs() + 1e-7), weight))
    gate = torch.sigmoid(torch.nn.functional.linear(x, gate_weight))
    return gate * added + (1 - gate) * multiplied


def uniform(low: float, high: float, *shape: int) -> Tensor:
    """A trainable parameter drawn from U(low, high)."""
    return torch.empty(*shape).uniform_(low, high).requires_grad_()


def nau_nmu_step() -> Callable[[int], None]:
    """NAU 100 -> 2, NMU 2 -> 1."""
    first, second = uniform(-0.24, 0.24, 2, 100), uniform(0.25, 0.75, 1, 2)
    return eager_training_step(
        [nau, nmu], [[first], [second]], [(-1.0, 1.0), (0.0, 1.0)], [first, second]
    )


def nalu_step() -> Callable[[int], None]:
    """NALU 100 -> 2, NALU 2 -> 1, shared weights."""
    groups = [[uniform(-0.2, 0.2, out, size) for _ in range(3)] for out, size in ((2, 100), (1, 2))]
    return eager_training_step([nalu, nalu], groups, [None, None], [])
