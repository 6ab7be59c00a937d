"""What the baselines have in common: they read a string, then answer symbol by symbol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn


class AnsweringNetwork(nn.Module, ABC):
    r"""A network that reads a string whole and then writes the answer, a symbol a step.

    .. math:: p(y \mid x) = \prod_j p(y_j \mid y_{<j}, x)

    Answers are greedy: each step reads the most likely symbol of the step before. A string is
    right under that law exactly if each symbol is the most likely one after the true ones before
    it, so that whole-string accuracy is what it would be with the truth read back in.

    Args:
        num_symbols: how many there are, padding counted; `num_symbols` itself is the symbol that
            starts an answer.

    Raises:
        ValueError: fewer than two symbols.
    """

    def __init__(self, num_symbols: int) -> None:
        super().__init__()
        if num_symbols < 2:
            raise ValueError(
                f"num_symbols is {num_symbols}; give 2 or more, padding and one symbol at least"
            )
        self.num_symbols = num_symbols

    @abstractmethod
    def read(self, symbols: Int64[Tensor, "batch length"], lengths: Int64[Tensor, " batch"]) -> Any:
        """What the network keeps of the strings.

        Args:
            symbols: of the strings, 0 beyond the end of each.
            lengths: of the strings.
        """

    @abstractmethod
    def answer(
        self, state: Any, previous: Int64[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch symbols"], Any]:
        """One step of the answer.

        Args:
            state: what `read` or the step before gave.
            previous: the symbol of the step before, `num_symbols` at first.

        Returns:
            Logits of this step's symbol, and the state after it.
        """

    def forward(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"] | None = None,
        targets: Int64[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch length num_symbols"]:
        """Logits of as many answer symbols as there are input symbols.

        Args:
            symbols: of the strings, 0 beyond the end of each.
            lengths: of the strings; up to the last symbol that is not 0 if left out.
            targets: the true answers, which each step then reads back (teacher forcing); without
                them it reads its own, and there are no gradients.

        Raises:
            ValueError: no symbols, or symbols or lengths out of range.
        """
        lengths = checked_lengths(symbols, lengths, self.num_symbols)
        if targets is None:
            with torch.no_grad():
                return self._written(symbols, lengths, None)
        return self._written(symbols, lengths, targets)

    def taught(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"],
        targets: Int64[Tensor, "batch length"],
        seed: int,  # noqa: ARG002
    ) -> Float[Tensor, "batch length num_symbols"]:
        """Logits for a step of training: `forward` with targets, and whatever is random in it.

        Args:
            symbols: of the strings, 0 beyond the end of each.
            lengths: of the strings.
            targets: the true answers.
            seed: of what is random.
        """
        return self(symbols, lengths, targets)

    def _written(
        self, symbols: Tensor, lengths: Tensor, targets: Tensor | None
    ) -> Float[Tensor, "batch length num_symbols"]:
        """The steps of the answer one after the other."""
        state = self.read(symbols, lengths)
        previous = torch.full_like(symbols[:, 0], self.num_symbols)
        steps = []
        for position in range(symbols.shape[1]):
            logits, state = self.answer(state, previous)
            steps.append(logits)
            previous = logits.argmax(-1) if targets is None else targets[:, position]
        return torch.stack(steps, 1)


def checked_lengths(
    symbols: Int64[Tensor, "batch length"], lengths: Int64[Tensor, " batch"] | None, count: int
) -> Int64[Tensor, " batch"]:
    """The lengths of strings, after a look at both.

    Args:
        symbols: of the strings, 0 beyond the end of each.
        lengths: of the strings; up to the last symbol that is not 0 if left out, at least 1.
        count: how many symbols there are, padding counted.

    Raises:
        ValueError: no symbols, or symbols or lengths out of range.

    Example:
        >>> checked_lengths(torch.tensor([[1, 2, 0], [0, 0, 0]]), None, 3)
        tensor([2, 1])
    """
    if symbols.dim() != 2 or not symbols.numel():
        raise ValueError(
            f"symbols has the shape {tuple(symbols.shape)}; give (batch, length), neither of them 0"
        )
    low, high = symbols.min().item(), symbols.max().item()
    if low < 0 or high >= count:
        raise ValueError(f"symbols lie in [{low}, {high}]; allowed: 0 to {count - 1}")
    longest = symbols.shape[1]
    if lengths is None:
        places = torch.arange(1, longest + 1, device=symbols.device)
        return (places * (symbols != 0)).amax(1).clamp(min=1)
    if lengths.shape != symbols.shape[:1] or lengths.min() < 1 or lengths.max() > longest:
        raise ValueError(
            f"lengths is {lengths.tolist()[:8]} for symbols of shape {tuple(symbols.shape)}; give "
            f"one length a string, from 1 to {longest}"
        )
    return lengths
