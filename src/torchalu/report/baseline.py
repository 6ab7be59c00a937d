"""A plain multi-layer perceptron on the rows of a table: what a formula is compared with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float64

from torchalu.tasks import Table
from torchalu.train import seeded

Predict = Callable[[np.ndarray], np.ndarray]
"""Maps features (rows, columns) to predictions (rows,)."""


def fit_mlp(table: Table, *, hidden: int = 16, steps: int = 1000, seed: int = 0) -> Predict:
    """Fits a perceptron with one hidden layer of ReLU units to all rows of a table.

    Equation:
        y = w2 relu(W1 x + b1) + b2, with x and y standardized over the table.

    Args:
        table: the rows to learn from.
        hidden: number of hidden units.
        steps: Adam steps on the whole table, learning rate 1e-2 falling to 0 on a cosine.
        seed: of the starting weights; the global random state is left as it is.

    Returns:
        A function from features to predictions, in the table's units.

    Shape:
        (rows, features) to (rows,).

    Source:
        The baseline of Trask et al. 2018 (arXiv:1808.00508), section 4.1 and appendix B: a
        multi-layer perceptron with one hidden layer. Departure: `hidden` is a choice here, not
        always 2, and the data is standardized, both in the perceptron's favor.

    Example:
        >>> table = Table([[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0])
        >>> predict = fit_mlp(table, steps=300)
        >>> bool(abs(predict(table.X) - table.y).max() < 0.2)
        True
    """
    center, scale = _standard(table.X)
    center_y, scale_y = _standard(table.y)
    inputs = torch.from_numpy((table.X - center) / scale)
    targets = torch.from_numpy((table.y - center_y) / scale_y)
    with seeded(seed):
        model = torch.nn.Sequential(
            torch.nn.Linear(table.X.shape[1], hidden),
            torch.nn.ReLU(),
            torch.nn.Linear(hidden, 1),
        ).double()
    weight = torch.ones_like(targets)
    if table.sample_weight is not None:
        weight = torch.from_numpy(table.sample_weight / table.sample_weight.mean())
    _train(model, inputs, targets, weight, steps)

    def predict(X: np.ndarray) -> Float64[np.ndarray, " rows"]:
        with torch.no_grad():
            scaled = torch.from_numpy((np.asarray(X, dtype=np.float64) - center) / scale)
            return model(scaled)[:, 0].numpy() * scale_y + center_y

    return predict


def _standard(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column, the latter 1 where nothing varies."""
    scale = values.std(axis=0)
    return values.mean(axis=0), np.where(scale > 0, scale, 1.0)


def _train(
    model: torch.nn.Module,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    weight: torch.Tensor,
    steps: int,
) -> None:
    """Minimizes the weighted mean square error over the whole table."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=max(steps, 1))
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = (weight * (model(inputs)[:, 0] - targets) ** 2).mean()
        loss.backward()
        optimizer.step()
        schedule.step()
