"""The improved Neural GPU without what makes it diagonal: memory that stays where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import hardtanh

from torchalu.kernels.recurrence_forms import (
    Disturb,
    Dropout,
    Layer,
    Noise,
    candidate_input,
    gate_inputs,
    hard_sigmoid,
    rounded,
    saturation,
)
from torchalu.nn import DiagonalNeuralGPU, Unrolled


class UnshiftedNeuralGPU(DiagonalNeuralGPU):
    r"""`torchalu.nn.DiagonalNeuralGPU` whose update gate keeps each map at its own position.

    .. math:: s' = g \odot s + (1 - g) \odot c

    It is there for the ablation, takes one set of parameters, and runs in torch's own operations.

    Args:
        num_symbols: as of `torchalu.nn.DiagonalNeuralGPU`.
        parameter_sets: 1.
        options: the others of `torchalu.nn.DiagonalNeuralGPU`.

    Raises:
        ValueError: more than one set of parameters, or as `torchalu.nn.DiagonalNeuralGPU`.

    Source:
        Freivalds & Liepins 2017, section 3, where s is shifted in the first term.

    Example:
        >>> model = UnshiftedNeuralGPU(4, maps=6, generator=torch.Generator().manual_seed(0))
        >>> model(torch.tensor([[1, 3, 2], [2, 1, 0]])).shape
        torch.Size([2, 3, 4])
    """

    def __init__(self, num_symbols: int, *, parameter_sets: int = 1, **options: Any) -> None:
        if parameter_sets != 1:
            raise ValueError(f"parameter_sets is {parameter_sets}; this form takes 1")
        super().__init__(num_symbols, **options)

    def unroll(
        self,
        symbols: Tensor,
        lengths: Tensor | None = None,
        steps: Tensor | None = None,
        *,
        seed: int | None = None,
    ) -> Unrolled:
        """Take all steps; the arguments are those of `torchalu.nn.DiagonalNeuralGPU.unroll`."""
        lengths, steps = self.lengths_and_steps(symbols, lengths, steps)
        *_, (state, saturated) = self._taken(
            symbols, lengths, steps, *self._disturbance(lengths, seed)
        )
        logits = torch.nn.functional.linear(state[:, :, 0], self.output_weight, self.output_bias)
        return Unrolled(logits, state, saturated)

    @torch.no_grad()
    def states(
        self, symbols: Tensor, lengths: Tensor | None = None, steps: Tensor | None = None
    ) -> Iterator[Tensor]:
        """The state before and after each step, as `torchalu.nn.DiagonalNeuralGPU.states`."""
        lengths, steps = self.lengths_and_steps(symbols, lengths, steps)
        for state, _ in self._taken(symbols, lengths, steps, None, 0.0, 0):
            yield state

    def _taken(
        self,
        symbols: Tensor,
        lengths: Tensor,
        steps: Tensor,
        keep: Tensor | None,
        noise: float,
        seed: int,
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """The state and its saturation so far, before the first step and after each."""
        mask = self._mask(symbols, lengths)
        state, saturated = self._start(symbols, steps, mask, keep, seed)
        dropout = None if keep is None else Dropout(state, keep, seed)
        disturb = Noise(state, noise, seed) if noise else None
        image, inside = (tensor.permute(0, 3, 1, 2) for tensor in (state, mask))
        layer = Layer(*(part[0, 0] for part in self._shared()))
        yield state, saturated
        for step in range(int(steps.max())):
            drop = None if dropout is None else partial(dropout, step=step)
            add = None if disturb is None else partial(disturb, step=step)
            new, added = unshifted_step(image, layer, inside, drop, add)
            new = rounded(new, self.levels)
            running = step < steps
            image = torch.where(running[:, None, None, None], new, image)
            saturated = saturated + torch.where(running, added, 0)
            yield image.permute(0, 2, 3, 1), saturated


def unshifted_step(
    image: Float[Tensor, "batch maps length width"],
    layer: Layer,
    mask: Float[Tensor, "batch 1 length 1"],
    dropout: Callable[[Tensor], Tensor] | None = None,
    disturb: Disturb | None = None,
) -> tuple[Float[Tensor, "batch maps length width"], Float[Tensor, " batch"]]:
    """A step, and its saturation.

    Args:
        image: the state, its maps in the second dimension.
        layer: the parameters.
        mask: 1 at the positions of each sequence.
        dropout: of the candidate.
        disturb: adds noise to pre-activations.
    """
    gates = gate_inputs(image, layer, disturb)
    reset, update = hard_sigmoid(gates).chunk(2, 1)
    candidate = candidate_input(reset * image, layer, disturb)
    new = hardtanh(candidate)
    if dropout is not None:
        new = dropout(new)
    state = (update * image + (1 - update) * new) * mask
    return state, saturation(gates, mask) + saturation(candidate, mask)
