"""Which strings a module answers right, every symbol of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from torchalu.arguments import check_positive_integers, check_texts
from torchalu.evaluate.intervals import wilson
from torchalu.evaluate.memory import check_memory, free_bytes, unroll_bytes
from torchalu.evaluate.mode import evaluation_mode
from torchalu.tasks.algorithms import AlgorithmicTask, SymbolBatch, encode

_STRING_BYTES = 64
"""Memory that it takes to draw, to write down and to encode a symbol, with its answer."""


@dataclass(frozen=True)
class StringAccuracy:
    """How many of a list of strings are right.

    Attributes:
        correct: for each string whether every symbol of the answer is right.
        digits: the fraction of all symbols that is.
        loss: the mean cross-entropy of a symbol.
        margins: by how much the logit of the right symbol exceeds that of any other, at the place
            of a string where it does so least; not positive for a wrong string, or NaN.
    """

    correct: Bool[np.ndarray, " strings"]
    digits: float
    loss: float
    margins: Float[np.ndarray, " strings"]

    @property
    def right(self) -> int:
        """How many strings are right."""
        return int(self.correct.sum())

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.correct)

    @property
    def rate(self) -> float:
        """The fraction of strings that is right."""
        return self.right / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of `rate`, 95%."""
        low, high = wilson(self.right, self.count)
        return (0.0, 1.0) if low is None or high is None else (low, high)

    @property
    def failures(self) -> list[int]:
        """The places of the wrong ones in the list."""
        return np.flatnonzero(~self.correct).tolist()


def string_accuracy(
    module: nn.Module,
    task: AlgorithmicTask,
    texts: Sequence[str],
    *,
    batch_symbols: int = 1 << 14,
    progress: Callable[[int, int], None] | None = None,
) -> StringAccuracy:
    """Count the strings of which a module answers every symbol right.

    Strings of the same length run together, and none is padded beyond what its task asks for. A
    string is right if at each of its n places the likeliest symbol is the target's; where logits
    are NaN it is wrong.

    Args:
        module: maps symbols and lengths to logits, as `torchalu.nn.NeuralGPU` does; it runs in
            evaluation mode without gradients, and is left as it was.
        task: knows the right answers.
        texts: inputs.
        batch_symbols: how many symbols run at once, where memory allows; one string at least.
        progress: called after each batch with the number of strings done, and of all.

    Raises:
        TypeError: `texts` is no list of strings, or `batch_symbols` no integer.
        ValueError: `texts` is empty or holds one that is no input of the task, a string takes more
            memory than is free, or `batch_symbols` is not positive.

    Source:
        Kaiser & Sutskever 2016, section 3.1: the rate of fully correct output sequences.

    Example:
        >>> from torchalu.tasks.algorithms import algorithm
        >>> class Copy(nn.Module):
        ...     def forward(self, symbols, lengths):
        ...         return nn.functional.one_hot(symbols, 8).float()
        >>> accuracy = string_accuracy(Copy(), algorithm("reverse"), ["0110", "01", "10101"])
        >>> accuracy.right, accuracy.rate, accuracy.failures
        (2, 0.666..., [1])
    """
    check_texts("texts", texts)
    if not texts:
        raise ValueError("texts is empty; give at least one string")
    check_positive_integers(batch_symbols=batch_symbols)
    longest = max(task.symbols(task.length_of(text)) for text in texts)
    check_strings(module, longest, len(texts), f"texts holds a string of {longest} symbols")
    batch = encode(task, list(texts))
    device = _device(module)
    correct, margins = np.zeros(len(texts), bool), np.zeros(len(texts))
    symbols, loss, done = 0, 0.0, 0
    with evaluation_mode(module):
        for places in _batches(module, batch, batch_symbols, device):
            right, margin, entropy = _answers(module, batch, places, device)
            correct[places.numpy()] = right.all(1).numpy()
            margins[places.numpy()] = margin.numpy()
            symbols += int(right.sum())
            loss += entropy
            done += len(places)
            if progress is not None:
                progress(done, len(texts))
    total = int(batch.lengths.sum())
    return StringAccuracy(correct, symbols / total, loss / total, margins)


def check_strings(module: nn.Module, symbols: int, count: int, what: str) -> None:
    """Refuse strings that a module cannot be tried on for want of memory, before they are drawn.

    Args:
        module: answers them, one at a time at least.
        symbols: of the longest.
        count: how many there are; all are drawn and encoded at once.
        what: the argument and its value, for the error.

    Raises:
        ValueError: more memory is needed than is free, with an estimate.

    Example:
        >>> check_strings(nn.Linear(1, 1), 41, 10**15, "count is 10**15")
        Traceback (most recent call last):
        ValueError: count is 10**15, which takes about 2.4e+09 GiB, and ... GiB are free; ...
    """
    check_memory(unroll_bytes(module, 1, symbols), _device(module), what)
    check_memory(count * symbols * _STRING_BYTES, torch.device("cpu"), what)


def _device(module: nn.Module) -> torch.device:
    """Where a module lies."""
    return next((p.device for p in module.parameters()), torch.device("cpu"))


def _batches(
    module: nn.Module, batch: SymbolBatch, batch_symbols: int, device: torch.device
) -> Iterator[Tensor]:
    """The places of the strings that run together."""
    for length in batch.lengths.unique().tolist():
        places = torch.nonzero(batch.lengths == length).flatten()
        fitting = free_bytes(device) // (2 * unroll_bytes(module, 1, length))
        yield from places.split(max(1, min(batch_symbols // length, fitting)))


@torch.no_grad()
def _answers(
    module: nn.Module, batch: SymbolBatch, places: Tensor, device: torch.device
) -> tuple[Tensor, Tensor, float]:
    """Which symbols of strings of one length are right, by what margin, and the cross-entropy."""
    lengths = batch.lengths[places].to(device)
    length = int(lengths[0])
    inputs = batch.inputs[places, :length].to(device)
    assert batch.targets is not None
    targets = batch.targets[places, :length].to(device)
    logits = module(inputs, lengths)
    target = targets[..., None]
    others = logits.scatter(-1, target, -torch.inf).amax(-1)
    margins = logits.gather(-1, target).squeeze(-1) - others
    right = (logits.argmax(-1) == targets) & ~margins.isnan()
    entropy = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
    return right.cpu(), margins.amin(1).cpu(), entropy.item()
