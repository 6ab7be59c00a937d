"""The Neural GPU."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.kernels.recurrence_forms import rounded
from torchalu.nn.neural_gpu_base import NeuralGPUBase, check_options
from torchalu.nn.unit import Factory

_LEAST_KEEP = 0.1


class NeuralGPU(NeuralGPUBase):
    r"""Neural GPU: learns algorithms on strings, and runs them on longer ones.

    .. math:: s_0 = E(x), \qquad s_{t+1} = \mathrm{CGRU}(s_t), \qquad
              y = O \, s_n[:, 0]

    The input is written into the first column of a state of length n. In each of n steps all
    positions change at once, by one :func:`torchalu.functional.cgru` after another. The output
    is read from the first column.

    Args:
        num_symbols: size of the alphabet, padding (number 0) included.
        maps: numbers in each cell of the state.
        width: columns of the state.
        layers: convolutional gated recurrent units in a step.
        kernel_size: odd; kernels are square.
        parameter_sets: more than 1 relaxes the sharing of parameters: step t uses set
            t mod `parameter_sets`; see :meth:`relaxation_penalty`.
        cutoff: whether the gates reach 0 and 1.
        dropout: in training mode an element of the state is dropped in each step with the
            probability `dropout` * 8 / length, at most 0.9.
        noise: in training mode each pre-activation of gates and candidates has a uniform random
            number between -`noise` and `noise` added to it in each step. What learns to do its
            work all the same holds on longer strings.
        levels: each number of the state is rounded to a multiple of 1 / `levels`, before the first
            step and after each layer, so that none drifts over thousands of steps. Gradients go
            through as if it were not. 0 rounds nothing.
        initial_scale: factor of the uniform distribution that kernels start from.
        extra_steps: how many more steps each sequence takes outside training mode: time for a carry
            that comes at the very end.
        generator: where the initial parameters come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters and of the state.

    Shape:
        Symbols `(batch, length)` to logits `(batch, length, num_symbols)`. Sequences in a batch
        may differ in length; each takes as many steps as it is long.

    Initialization:
        Kernels and the output matrix from U(-a, a), a = `initial_scale` sqrt(3 / inputs), with
        as many inputs as a sum has terms; the embedding from U(-1.7, 1.7); biases of gates 1,
        others 0.

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size or `initial_scale` is not positive, the kernel's size is even, or
            `dropout` is not in [0, 1), or `noise`, `levels` or `extra_steps` is negative.

    Source:
        Kaiser & Sutskever 2016, sections 2 and 3.3. Departures, which follow the authors'
        program: tanh and a linear map behind the embedding, the mask, how dropout depends on
        the length, and the initialization. Departures from it: dropout drops 0.9 at most, which
        concerns lengths below 8 alone; `noise`, `levels` and `extra_steps`, which are ours.

    Example:
        >>> model = NeuralGPU(4, maps=6, generator=torch.Generator().manual_seed(0))
        >>> model(torch.tensor([[1, 3, 2], [2, 1, 0]])).shape
        torch.Size([2, 3, 4])
    """

    cell = "cgru"
    output_bias = None

    def __init__(
        self,
        num_symbols: int,
        *,
        maps: int = 24,
        width: int = 4,
        layers: int = 2,
        kernel_size: int = 3,
        parameter_sets: int = 1,
        cutoff: bool = True,
        dropout: float = 0.0,
        noise: float = 0.0,
        levels: int = 0,
        extra_steps: int = 0,
        initial_scale: float = 1.8,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        sizes = {"num_symbols": num_symbols, "maps": maps, "width": width, "layers": layers}
        sizes["parameter_sets"] = parameter_sets
        check_options(
            sizes=sizes,
            kernel_size=kernel_size,
            dropout=dropout,
            noise=noise,
            levels=levels,
            extra_steps=extra_steps,
        )
        if not 0 < initial_scale < math.inf:
            raise ValueError(f"initial_scale is {initial_scale}; give a positive number")
        self.num_symbols = int(num_symbols)
        self.maps = int(maps)
        self.width = int(width)
        self.cutoff = bool(cutoff)
        self.dropout = float(dropout)
        self.noise = float(noise)
        self.levels = int(levels)
        self.extra_steps = int(extra_steps)
        self.initial_scale = float(initial_scale)
        make = Factory(device, dtype)
        self.embedding = make.parameter(num_symbols, maps)
        self.input_weight = make.parameter(maps, maps)
        self.input_bias = make.parameter(maps)
        self._make_cell(parameter_sets, layers, (kernel_size, kernel_size), make)
        self.output_weight = make.parameter(num_symbols, maps)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the parameters anew; see *Initialization*."""
        nn.init.uniform_(self.embedding, -1.7, 1.7, generator=generator)
        terms = math.prod(self.gate_weight.shape[3:])
        for weight, inputs in (
            (self.input_weight, self.maps),
            (self.gate_weight, terms),
            (self.candidate_weight, terms),
            (self.output_weight, self.maps),
        ):
            bound = self.initial_scale * math.sqrt(3 / inputs)
            nn.init.uniform_(weight, -bound, bound, generator=generator)
        nn.init.ones_(self.gate_bias)
        nn.init.zeros_(self.candidate_bias)
        nn.init.zeros_(self.input_bias)

    def configuration(self) -> dict[str, int | float | bool]:
        """The constructor's arguments that rebuild the module, without its parameters."""
        return {
            "num_symbols": self.num_symbols,
            "maps": self.maps,
            "width": self.width,
            "layers": self.gate_weight.shape[1],
            "kernel_size": self.gate_weight.shape[-1],
            "parameter_sets": self.parameter_sets,
            "cutoff": self.cutoff,
            "dropout": self.dropout,
            "noise": self.noise,
            "levels": self.levels,
            "extra_steps": self.extra_steps,
            "initial_scale": self.initial_scale,
        }

    def _trained_steps(self, symbols: Tensor, lengths: Tensor) -> Tensor:  # noqa: ARG002
        return lengths

    def _keep(self, lengths: Tensor) -> Float[Tensor, " batch"]:
        return (1 - self.dropout * 8 / lengths.float()).clamp(min=_LEAST_KEEP)

    def _start(
        self,
        symbols: Tensor,
        steps: Tensor,
        mask: Tensor,
        keep: Tensor | None,  # noqa: ARG002
        seed: int,  # noqa: ARG002
    ) -> tuple[Tensor, Tensor]:
        table = nn.functional.linear(self.embedding.tanh(), self.input_weight, self.input_bias)
        column = nn.functional.embedding(symbols, table.to(mask.dtype)).unsqueeze(2) * mask
        state = rounded(nn.functional.pad(column, (0, 0, 0, self.width - 1)), self.levels)
        return state, state.new_zeros(steps.shape)
