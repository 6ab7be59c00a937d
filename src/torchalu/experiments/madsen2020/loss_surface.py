"""Figure 2: the loss of a NAC in log space, over its two free parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl
import torch

from torchalu.functional import nac_mul
from torchalu.train import JSON, Chunk, Part, Report


@dataclass
class LossSurface:
    r"""The root mean square loss on a grid, without training; a chunk an epsilon.

    .. math:: L(w_1, w_2) = |y - t|, \quad y = \mathrm{NAC}_\bullet(W_1 x), \quad
              W_1 = \begin{pmatrix} w_1 & w_1 & 0 & 0 \\ w_1 & w_1 & w_1 & w_1 \end{pmatrix},
              \quad W_2 = (w_2 \; w_2)

    Args:
        eps: the small numbers that keep the logarithm of 0 finite.
        points: of the grid over [-1, 1], in each direction.

    Raises:
        ValueError: no eps or one that is not positive, fewer than 2 points.

    Source:
        Madsen & Johansen 2020, section 2.3, figure 2: x = (1, 1.2, 1.8, 2). Departure: t = 13.2,
        the product that the caption asks for; the authors' script has 11.25.

    Example:
        >>> surface = LossSurface(eps=(1e-7,), points=3)
        >>> part = surface.run(surface.chunks()[0], Path(), lambda fraction: None)
        >>> solution = part.outcomes.filter(w1=1.0, w2=1.0)
        >>> solution["loss"].item() < 1e-5
        True
    """

    eps: tuple[float, ...] = (1e-7, 0.1, 1.0)
    points: int = 41
    name: str = "madsen2020.figure2"
    keys: tuple[str, ...] = ("eps", "w1", "w2", "seed")
    extent: ClassVar[frozenset[str]] = frozenset({"eps"})
    configuration: Mapping[str, JSON] = field(init=False)

    def __post_init__(self) -> None:
        if not self.eps or min(self.eps) <= 0:
            raise ValueError(f"eps is {self.eps}; give positive numbers")
        if len(set(self.eps)) < len(self.eps):
            raise ValueError(f"eps is {self.eps}; give each once")
        if self.points < 2:
            raise ValueError(f"points is {self.points}; give 2 or more")
        self.configuration = {"eps": list(self.eps), "points": self.points}

    def chunks(self) -> list[Chunk]:
        """One for each epsilon."""
        return [Chunk(f"eps{k}", self.points**2) for k in range(len(self.eps))]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:  # noqa: ARG002
        """The losses of one epsilon; see `torchalu.train.Study`."""
        eps = self.eps[int(chunk.name.removeprefix("eps"))]
        grid = torch.linspace(-1, 1, self.points, dtype=torch.float64)
        first, second = (axis.flatten() for axis in torch.meshgrid(grid, grid, indexing="ij"))
        outcomes = pl.DataFrame(
            {
                "eps": [eps] * len(first),
                "w1": first.numpy(),
                "w2": second.numpy(),
                "seed": [0] * len(first),
                "loss": self._loss(first, second, eps).numpy(),
            }
        )
        report(1.0)
        return Part(outcomes, outcomes)

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The table `figure2`: eps, w1, w2, loss."""
        return {"figure2": outcomes.select("eps", "w1", "w2", "loss").sort("eps", "w1", "w2")}

    @staticmethod
    def _loss(first: torch.Tensor, second: torch.Tensor, eps: float) -> torch.Tensor:
        x = torch.tensor([1.0, 1.2, 1.8, 2.0], dtype=torch.float64)
        sums = torch.stack([x[:2].sum(), x.sum()])
        hidden = first[:, None] * sums
        weight = second[:, None].expand(-1, 2)
        each = [nac_mul(h, w[None], eps) for h, w in zip(hidden, weight, strict=True)]
        return (torch.cat(each) - sums.prod()).abs()


def figure2(*, eps: tuple[float, ...] = (1e-7, 0.1, 1.0), points: int = 41) -> LossSurface:
    """Figure 2: the loss surface of the problem with two parameters.

    Args:
        eps: the small numbers that keep the logarithm of 0 finite.
        points: of the grid over [-1, 1], in each direction.

    Raises:
        ValueError: no eps or one that is not positive, fewer than 2 points.

    Example:
        >>> [chunk.name for chunk in figure2().chunks()]
        ['eps0', 'eps1', 'eps2']
    """
    return LossSurface(eps, points)
