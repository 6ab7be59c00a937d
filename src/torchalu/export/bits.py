"""A model as a function of bits."""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchalu.nn import LogicGates

MOST_INPUTS = 20
"""With more inputs than this, not all of their values are tried."""

_CHUNK = 1 << 14


@dataclass(frozen=True)
class BitModel:
    """A model whose inputs are encoded bits, and whose outputs are decisions.

    Args:
        predict: takes float64, (rows, inputs), and gives (rows,) or (rows, outputs).
        low: the number that stands for a false input.
        high: the number that stands for a true input.
        threshold: an output above it is true.
    """

    predict: Callable[[Tensor], Any]
    low: float
    high: float
    threshold: float

    def decide(self, bits: np.ndarray) -> np.ndarray:
        """The decisions for rows of bits, (rows, outputs)."""
        return self._decide_all(bits, lambda part: np.where(part, self.high, self.low))

    def decide_numbers(self, numbers: np.ndarray) -> np.ndarray:
        """The decisions for rows of encoded inputs, (rows, outputs)."""
        return self._decide_all(numbers, lambda part: part)

    def bits_of(self, numbers: np.ndarray) -> np.ndarray:
        """The bits that numbers stand for: whether they are above the middle."""
        return numbers > (self.low + self.high) / 2

    def _decide_all(
        self, rows: np.ndarray, encode: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """The decisions for all rows, a part of them at a time."""
        parts = (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))
        with torch.no_grad():
            return np.concatenate([self._decide(torch.from_numpy(encode(part))) for part in parts])

    def _decide(self, numbers: Tensor) -> np.ndarray:
        """The decisions for some rows."""
        outputs = torch.as_tensor(self.predict(numbers)).detach().cpu()
        if outputs.ndim not in (1, 2) or len(outputs) != len(numbers):
            raise ValueError(
                f"model returned the shape {tuple(outputs.shape)} for {len(numbers)} rows; "
                "allowed: (rows,) or (rows, outputs)"
            )
        if outputs.is_floating_point() and outputs.isnan().any():
            raise ValueError(
                "model returned NaN; allowed: numbers; take a run that did not diverge"
            )
        return (outputs > self.threshold).reshape(len(numbers), -1).numpy()


def bit_model(
    model: Callable[[Tensor], Any],
    names: Sequence[str],
    encoding: tuple[float, float] | None,
    threshold: float | None,
) -> BitModel:
    """A model as a function of bits: a copy in evaluation mode and float64, on the CPU.

    Args:
        model: a module, or any function of a tensor.
        names: the names of the inputs.
        encoding: the numbers that stand for a false and a true input; by default 0 and 1 where
            the model begins with gates, else -1 and 1.
        threshold: an output above it is true; by default 1/2 where the model ends with gates,
            else 0.

    Raises:
        TypeError: `model` cannot be called.
        ValueError: the first layer takes another number of inputs, the numbers of `encoding`
            are not ascending, or `threshold` is not finite.
    """
    if not callable(model):
        raise TypeError(f"model is {type(model).__name__}; allowed: a module or a function")
    layers = list(leaves(model)) if isinstance(model, nn.Module) else [None]
    inputs = getattr(layers[0], "in_features", len(names))
    if inputs != len(names):
        raise ValueError(f"names has {len(names)} entries; allowed: {inputs}, one for each input")
    if encoding is None:
        encoding = (0.0, 1.0) if isinstance(layers[0], LogicGates) else (-1.0, 1.0)
    low, high = encoding
    if not -np.inf < low < high < np.inf:
        raise ValueError(
            f"encoding is {encoding!r}; allowed: two ascending numbers, such as (0, 1)"
        )
    if threshold is None:
        threshold = 0.5 if isinstance(layers[-1], LogicGates) else 0.0
    if not np.isfinite(threshold):
        raise ValueError(f"threshold is {threshold}; allowed: a finite number")
    if isinstance(model, nn.Module):
        model = copy.deepcopy(model).to(device="cpu", dtype=torch.float64).eval()
    return BitModel(model, float(low), float(high), float(threshold))


def leaves(module: nn.Module) -> Iterator[nn.Module]:
    """The layers of nested `Sequential`s, in order."""
    if isinstance(module, nn.Sequential) and len(module):
        for layer in module:
            yield from leaves(layer)
    else:
        yield module


def all_bits(inputs: int) -> np.ndarray:
    """All rows of so many bits, in the order in which they count in binary, the first highest."""
    counts, places = np.arange(1 << inputs, dtype=np.uint32), np.arange(inputs, dtype=np.uint32)
    return counts[:, None] >> places[::-1] & 1 == 1


def random_bits(rows: int, inputs: int, generator: torch.Generator | None) -> np.ndarray:
    """Rows of fair bits."""
    device = "cpu" if generator is None else generator.device
    drawn = torch.randint(2, (rows, inputs), generator=generator, device=device, dtype=torch.uint8)
    return drawn.cpu().numpy() == 1
