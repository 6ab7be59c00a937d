"""A model as a function of bits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from torchalu.export.module_numbers import double_copy
from torchalu.nn import GroupSum, LogicGates
from torchalu.nn.sequential import runs_in_order

Threshold = float | Literal["argmax"]
"""What an output has to exceed to be true: a number, or "argmax" for all the others."""

MOST_INPUTS = 20
"""With more inputs than this, not all of their values are tried."""

TRANSPARENT = (nn.Identity, nn.Dropout, nn.Flatten)
"""Layers that hand on the features that they are given, in evaluation mode."""

_CHUNK, _PAIRS = 1 << 14, 32


@dataclass(frozen=True)
class BitModel:
    """A model whose inputs are encoded bits, and whose outputs are decisions.

    Args:
        predict: takes float64, (rows, inputs), and gives (rows,) or (rows, outputs).
        low: the number that stands for a false input.
        high: the number that stands for a true input.
        threshold: an output above it is true; "argmax": the greatest one, the first of equals.
    """

    predict: Callable[[Tensor], Any]
    low: float
    high: float
    threshold: Threshold

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
            found = [self._decide(torch.from_numpy(encode(part))) for part in parts]
            decisions = np.concatenate(found)
            for start in np.unique(np.linspace(0, max(0, len(rows) - 2), _PAIRS, dtype=int)):
                pair = slice(start, start + 2)
                again = self._decide(torch.from_numpy(encode(rows[pair])))
                if not np.array_equal(again, decisions[pair]):
                    raise ValueError(
                        "model decides rows otherwise where it is given fewer at a time; allowed: "
                        "one whose outputs for a row depend on that row alone, without statistics "
                        "of the batch and without random numbers"
                    )
        return decisions

    def _decide(self, numbers: Tensor) -> np.ndarray:
        """The decisions for some rows."""
        outputs = torch.as_tensor(self.predict(numbers)).detach().cpu()
        if outputs.ndim not in (1, 2) or len(outputs) != len(numbers) or 0 in outputs.shape[1:]:
            raise ValueError(
                f"model returned the shape {tuple(outputs.shape)} for {len(numbers)} rows; "
                "allowed: (rows,) or (rows, outputs)"
            )
        if outputs.is_floating_point() and outputs.isnan().any():
            raise ValueError(
                "model returned NaN; allowed: numbers; take a run that did not diverge"
            )
        if self.threshold != "argmax":
            return (outputs > self.threshold).reshape(len(numbers), -1).numpy()
        if outputs.ndim == 1 or outputs.shape[1] == 1:
            raise ValueError(
                "threshold is 'argmax', and model has one output; allowed: a number, above which "
                "the output is true"
            )
        # NumPy's argmax is the first of equals, as the circuit's label is; torch's may be any.
        return np.arange(outputs.shape[1]) == outputs.numpy().argmax(1)[:, None]


def bit_model(
    model: Callable[[Tensor], Any],
    names: Sequence[str],
    encoding: tuple[float, float] | None,
    threshold: Threshold | None,
) -> BitModel:
    """A model as a function of bits: a copy in evaluation mode and float64, on the CPU.

    Args:
        model: a module, or any function of a tensor.
        names: the names of the inputs.
        encoding: the numbers that stand for a false and a true input; by default 0 and 1 where
            the model begins with gates, else -1 and 1.
        threshold: an output above it is true; "argmax": the greatest output alone is, the first
            of equals. By default "argmax" where the model ends with `GroupSum`, 1/2 where it ends
            with gates or a `Sigmoid`, else 0.

    Raises:
        TypeError: `model` cannot be called.
        ValueError: the first layer takes another number of inputs; `encoding` is no pair of
            ascending numbers, or `threshold` is neither finite nor "argmax"; or one of them is
            left out and the layer that would decide is of another class and has gates inside, or
            counts them in one group; or a weight is on the device `meta`.
    """
    if not callable(model):
        raise TypeError(f"model is {type(model).__name__}; allowed: a module or a function")
    first, last = _ends(model) if isinstance(model, nn.Module) else (None, None)
    inputs = getattr(first, "in_features", len(names))
    if inputs != len(names):
        raise ValueError(f"names has {len(names)} entries; allowed: {inputs}, one for each input")
    if encoding is None:
        _check_gates(first, "encoding", "(0, 1) for bits that go into gates, (-1, 1) for logits")
        encoding = (0.0, 1.0) if isinstance(first, LogicGates) else (-1.0, 1.0)
    low, high = _check_encoding(encoding)
    if threshold is None:
        _check_gates(last, "threshold", "0.5 for bits that come from gates, 0 for logits")
        threshold = _default_threshold(last)
    if threshold != "argmax" and (isinstance(threshold, str) or not np.isfinite(threshold)):
        raise ValueError(
            f"threshold is {threshold!r}; allowed: a finite number, or 'argmax' for the label of "
            "a classifier"
        )
    if isinstance(model, nn.Module):
        model = double_copy("model", model)
    return BitModel(model, low, high, threshold if threshold == "argmax" else float(threshold))


def leaves(module: nn.Module) -> Iterator[nn.Module]:
    """The layers of nested `Sequential`s, in order; one with a forward of its own is a layer."""
    if isinstance(module, nn.Sequential) and runs_in_order(module) and len(module):
        for layer in module:
            yield from leaves(layer)
    else:
        yield module


def _ends(module: nn.Module) -> tuple[nn.Module | None, nn.Module | None]:
    """The first and the last layer that do something."""
    layers = [layer for layer in leaves(module) if not isinstance(layer, TRANSPARENT)]
    return (layers[0], layers[-1]) if layers else (None, None)


def _default_threshold(last: nn.Module | None) -> Threshold:
    """What makes an output of the last layer true."""
    match last:
        case GroupSum(num_groups=1):
            raise ValueError(
                "threshold is left out, and model ends with GroupSum(1), which counts gates; give "
                "a number that the count has to exceed"
            )
        case GroupSum():
            return "argmax"
        case LogicGates() | nn.Sigmoid():
            return 0.5
        case _:
            return 0.0


def _check_gates(layer: nn.Module | None, name: str, choice: str) -> None:
    """Refuse to guess what goes into a layer, or comes out of it, that has gates inside."""
    if layer is None or isinstance(layer, LogicGates | GroupSum):
        return
    if any(isinstance(part, LogicGates) for part in layer.modules()):
        raise ValueError(
            f"{name} is left out, and {type(layer).__name__} has LogicGates inside, so that it "
            f"may work with bits or with logits; give {choice}"
        )


def _check_encoding(encoding: Any) -> tuple[float, float]:
    """The two numbers that stand for false and true."""
    wanted = ValueError(f"encoding is {encoding!r}; allowed: two ascending numbers, such as (0, 1)")
    try:
        low, high = map(float, encoding)
    except (TypeError, ValueError):
        raise wanted from None
    if not -np.inf < low < high < np.inf:
        raise wanted
    return low, high


def all_bits(inputs: int) -> np.ndarray:
    """All rows of so many bits, in the order in which they count in binary, the first highest."""
    counts, places = np.arange(1 << inputs, dtype=np.uint32), np.arange(inputs, dtype=np.uint32)
    return counts[:, None] >> places[::-1] & 1 == 1


def random_bits(rows: int, inputs: int, generator: torch.Generator | None) -> np.ndarray:
    """Rows of fair bits."""
    device = "cpu" if generator is None else generator.device
    drawn = torch.randint(2, (rows, inputs), generator=generator, device=device, dtype=torch.uint8)
    return drawn.cpu().numpy() == 1
