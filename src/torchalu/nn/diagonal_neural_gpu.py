"""The improved Neural GPU."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.kernels.recurrence_forms import rounded, saturation
from torchalu.kernels.start_dropout import kept_at_start
from torchalu.nn.neural_gpu_base import NeuralGPUBase, check_options
from torchalu.nn.unit import Factory

_RESET_BIAS, _UPDATE_BIAS = 0.5, 0.7
_HALF = 2**63


class DiagonalNeuralGPU(NeuralGPUBase):
    r"""Improved Neural GPU: hard nonlinearities, and gates whose memory moves.

    .. math:: s_0 = \operatorname{ht}(E(x)), \qquad s_{t+1} = \mathrm{DCGRU}(s_t), \qquad
              y = O \, s_n

    The state has one column, which :func:`torchalu.functional.diagonal_cgru` changes in n
    steps. It learns in fewer steps than :class:`NeuralGPU`, and holds on longer strings.

    Args:
        num_symbols: size of the alphabet, padding (number 0) included.
        maps: numbers at each position of the state, a multiple of 3.
        kernel_size: odd.
        parameter_sets: more than 1 relaxes the sharing of parameters: step t uses set
            t mod `parameter_sets`; see :meth:`relaxation_penalty`.
        dropout: probability that an element of the candidate, or of the state before the first
            step, is dropped in training mode.
        noise: in training mode each pre-activation of gates and candidates has a uniform random
            number between -`noise` and `noise` added to it in each step. What learns to do its
            work all the same holds on longer strings.
        levels: each number of the state is rounded to a multiple of 1 / `levels`, before the first
            step and after each one, so that none drifts over thousands of steps: the module is a
            cellular automaton then. Gradients go through as if it were not. 0 rounds nothing.
        extra_steps: how many more steps each sequence takes outside training mode: time for a carry
            that comes at the very end.
        generator: where the initial parameters come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters and of the state.

    Shape:
        Symbols `(batch, length)` to logits `(batch, length, num_symbols)`. Sequences in a batch
        may differ in length; unless `steps` says otherwise, all take `length` steps, padding
        included.

    Initialization:
        Kernels, each gate's by itself, and the matrices of input and output from Glorot's
        uniform distribution; biases of the reset gate 0.5, of the update gate 0.7, others 0.

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive, the kernel's is even, `maps` is no multiple of 3, or
            `dropout` is not in [0, 1), or `noise`, `levels` or `extra_steps` is negative.

    Source:
        Freivalds & Liepins 2017, and the authors' program for the initialization, the dropout
        and the mask. The saturation that :meth:`unroll` gives is that of the input layer, times
        the number of steps, and of all steps' gates and candidates. Departures: saturation
        behind the end of a sequence does not count; `parameter_sets` other than 1, which is
        Kaiser & Sutskever's; `noise`, `levels` and `extra_steps`, which are ours.

    Example:
        >>> model = DiagonalNeuralGPU(4, maps=6, generator=torch.Generator().manual_seed(0))
        >>> model(torch.tensor([[1, 3, 2], [2, 1, 0]])).shape
        torch.Size([2, 3, 4])
    """

    cell = "diagonal"
    cutoff = False
    width = 1

    def __init__(
        self,
        num_symbols: int,
        *,
        maps: int = 96,
        kernel_size: int = 3,
        parameter_sets: int = 1,
        dropout: float = 0.1,
        noise: float = 0.0,
        levels: int = 0,
        extra_steps: int = 0,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        sizes = {"num_symbols": num_symbols, "maps": maps, "parameter_sets": parameter_sets}
        check_options(
            sizes=sizes,
            kernel_size=kernel_size,
            dropout=dropout,
            noise=noise,
            levels=levels,
            extra_steps=extra_steps,
            thirds=True,
        )
        self.num_symbols = int(num_symbols)
        self.maps = int(maps)
        self.dropout = float(dropout)
        self.noise = float(noise)
        self.levels = int(levels)
        self.extra_steps = int(extra_steps)
        make = Factory(device, dtype)
        self.input_weight = make.parameter(num_symbols, maps)
        self.input_bias = make.parameter(maps)
        self._make_cell(parameter_sets, 1, (kernel_size, 1), make)
        self.output_weight = make.parameter(num_symbols, maps)
        self.output_bias = make.parameter(num_symbols)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the parameters anew; see *Initialization*."""
        for weight, both_ends in (
            (self.input_weight, self.num_symbols + self.maps),
            (self.gate_weight, 2 * self.maps * self.gate_weight.shape[-2]),
            (self.candidate_weight, 2 * self.maps * self.gate_weight.shape[-2]),
            (self.output_weight, self.num_symbols + self.maps),
        ):
            bound = math.sqrt(6 / both_ends)
            nn.init.uniform_(weight, -bound, bound, generator=generator)
        nn.init.constant_(self.gate_bias[..., : self.maps], _RESET_BIAS)
        nn.init.constant_(self.gate_bias[..., self.maps :], _UPDATE_BIAS)
        for name in ("candidate_bias", "input_bias", "output_bias"):
            nn.init.zeros_(self.get_parameter(name))

    def configuration(self) -> dict[str, int | float | bool]:
        """The constructor's arguments that rebuild the module, without its parameters."""
        return {
            "num_symbols": self.num_symbols,
            "maps": self.maps,
            "kernel_size": self.gate_weight.shape[-2],
            "parameter_sets": self.parameter_sets,
            "dropout": self.dropout,
            "noise": self.noise,
            "levels": self.levels,
            "extra_steps": self.extra_steps,
        }

    def _trained_steps(self, symbols: Tensor, lengths: Tensor) -> Tensor:
        return torch.full_like(lengths, symbols.shape[1])

    def _keep(self, lengths: Tensor) -> Float[Tensor, " batch"]:
        return torch.full_like(lengths, 1 - self.dropout, dtype=torch.float32)

    def _start(
        self, symbols: Tensor, steps: Tensor, mask: Tensor, keep: Tensor | None, seed: int
    ) -> tuple[Tensor, Tensor]:
        column = nn.functional.embedding(symbols, self.input_weight) + self.input_bias
        before = column.unsqueeze(2) * mask
        saturated = steps * saturation(before, None)
        state = rounded(nn.functional.hardtanh(before), self.levels)
        if keep is not None:
            stays = kept_at_start(state.detach(), keep, (seed + _HALF) % (2 * _HALF) - _HALF)
            state = torch.where(stays, state / keep.to(state.dtype).reshape(-1, 1, 1, 1), 0)
        return state, saturated
