"""The improved Neural GPU without what makes it diagonal: memory that stays where it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import conv2d, hardtanh

from torchalu.kernels.recurrence_forms import Dropout, Layer, hard_sigmoid, saturation
from torchalu.nn import DiagonalNeuralGPU, Unrolled


class UnshiftedNeuralGPU(DiagonalNeuralGPU):
    r"""`torchalu.nn.DiagonalNeuralGPU` whose update gate keeps each map at its own position.

    .. math:: s' = g \odot s + (1 - g) \odot c

    It is there for the ablation, takes one set of parameters, and runs in torch's own operations.

    Source:
        Freivalds & Liepins 2017, section 3, where s is shifted in the first term.

    Example:
        >>> model = UnshiftedNeuralGPU(4, maps=6, generator=torch.Generator().manual_seed(0))
        >>> model(torch.tensor([[1, 3, 2], [2, 1, 0]])).shape
        torch.Size([2, 3, 4])
    """

    def unroll(
        self,
        symbols: Tensor,
        lengths: Tensor | None = None,
        steps: Tensor | None = None,
        *,
        seed: int | None = None,
    ) -> Unrolled:
        """Take all steps; the arguments are those of `torchalu.nn.DiagonalNeuralGPU.unroll`."""
        lengths, steps = self._arguments(symbols, lengths, steps)
        keep = self._keep(lengths) if self.training and self.dropout else None
        if seed is None:
            seed = 0 if keep is None else int(torch.randint(2**63 - 1, ()))
        mask = self._mask(symbols, lengths)
        state, saturated = self._start(symbols, steps, mask, keep, seed)
        dropout = None if keep is None else Dropout(state, keep, seed)
        image, inside = (tensor.permute(0, 3, 1, 2) for tensor in (state, mask))
        layer = Layer(*(part[0, 0] for part in self._shared()))
        for step in range(int(steps.max())):
            drop = None if dropout is None else partial(dropout, step=step)
            new, added = unshifted_step(image, layer, inside, drop)
            running = step < steps
            image = torch.where(running[:, None, None, None], new, image)
            saturated = saturated + torch.where(running, added, 0)
        state = image.permute(0, 2, 3, 1)
        logits = torch.nn.functional.linear(state[:, :, 0], self.output_weight, self.output_bias)
        return Unrolled(logits, state, saturated)


def unshifted_step(
    image: Float[Tensor, "batch maps length width"],
    layer: Layer,
    mask: Float[Tensor, "batch 1 length 1"],
    dropout: Callable[[Tensor], Tensor] | None = None,
) -> tuple[Float[Tensor, "batch maps length width"], Float[Tensor, " batch"]]:
    """A step, and its saturation.

    Args:
        image: the state, its maps in the second dimension.
        layer: the parameters.
        mask: 1 at the positions of each sequence.
        dropout: of the candidate.
    """
    padding = layer.gate_weight.shape[2] // 2, 0
    gates = conv2d(image, layer.gate_weight, layer.gate_bias, padding=padding)
    reset, update = hard_sigmoid(gates).chunk(2, 1)
    candidate = conv2d(reset * image, layer.candidate_weight, layer.candidate_bias, padding=padding)
    new = hardtanh(candidate)
    if dropout is not None:
        new = dropout(new)
    state = (update * image + (1 - update) * new) * mask
    return state, saturation(gates, mask) + saturation(candidate, mask)
