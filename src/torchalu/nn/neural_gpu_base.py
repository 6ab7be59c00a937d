"""What the Neural GPU and its improved form have in common."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import NamedTuple, Self

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch._subclasses.fake_tensor import is_fake

from torchalu import kernels
from torchalu.arguments import check_positive_integers
from torchalu.kernels.recurrence_forms import MOST_LEVELS, Cell, position_mask
from torchalu.nn.sequence_arguments import check_counts, check_symbols
from torchalu.nn.unit import Factory

_SHARED = ("gate_weight", "gate_bias", "candidate_weight", "candidate_bias")


class Unrolled(NamedTuple):
    """What a Neural GPU says of a batch of sequences.

    Attributes:
        logits: scores of the symbols, (batch, length, num_symbols).
        state: the last state, (batch, length, width, maps).
        saturation: by how much pre-activations were outside [-0.9, 0.9], summed for each
            sequence, (batch,).
    """

    logits: Float[Tensor, "batch length num_symbols"]
    state: Float[Tensor, "batch length width maps"]
    saturation: Float[Tensor, " batch"]


class NeuralGPUBase(nn.Module, ABC):
    """A state as long as the input, the same cell applied to it many times, and a reading.

    A subclass holds its options, how a sequence becomes a state, and the parameters' start.
    """

    cell: Cell
    cutoff: bool
    num_symbols: int
    maps: int
    width: int
    dropout: float
    noise: float
    levels: int
    extra_steps: int
    gate_weight: nn.Parameter
    gate_bias: nn.Parameter
    candidate_weight: nn.Parameter
    candidate_bias: nn.Parameter
    output_weight: nn.Parameter
    output_bias: nn.Parameter | None

    @property
    def parameter_sets(self) -> int:
        """How many sets of parameters the steps use in turn."""
        return self.gate_weight.shape[0]

    @abstractmethod
    def configuration(self) -> dict[str, int | float | bool]:
        """The constructor's arguments that rebuild the module, without its parameters."""

    @abstractmethod
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the parameters anew; see *Initialization*.

        Args:
            generator: where the random numbers come from; torch's own if left out.
        """

    @abstractmethod
    def _trained_steps(self, symbols: Tensor, lengths: Tensor) -> Int64[Tensor, " batch"]:
        """How many steps a sequence takes in training mode, if nothing is said."""

    @abstractmethod
    def _keep(self, lengths: Tensor) -> Float[Tensor, " batch"]:
        """The probability that dropout keeps an element of a sequence."""

    @abstractmethod
    def _start(
        self, symbols: Tensor, steps: Tensor, mask: Tensor, keep: Tensor | None, seed: int
    ) -> tuple[Float[Tensor, "batch length width maps"], Float[Tensor, " batch"]]:
        """The state before the first step, and its saturation."""

    def forward(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"] | None = None,
        steps: Int64[Tensor, " batch"] | None = None,
        *,
        seed: int | None = None,
    ) -> Float[Tensor, "batch length num_symbols"]:
        """Scores of the symbols; the arguments are those of :meth:`unroll`."""
        return self.unroll(symbols, lengths, steps, seed=seed).logits

    def unroll(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"] | None = None,
        steps: Int64[Tensor, " batch"] | None = None,
        *,
        seed: int | None = None,
    ) -> Unrolled:
        """Take all steps.

        Args:
            symbols: numbers of symbols, 0 is padding.
            lengths: of the sequences; up to the last symbol that is no padding if left out.
            steps: how many steps each sequence takes; see :meth:`lengths_and_steps`.
            seed: of dropout and noise, in training mode; drawn from torch's own generator if
                left out, which breaks the graph of `torch.compile`.

        Raises:
            TypeError: an argument does not hold int64 numbers, or `seed` is no integer.
            ValueError: the shapes do not fit, or a symbol, length or number of steps is out of
                range; the last is a RuntimeError in a graph of `torch.compile`.
        """
        lengths, steps = self.lengths_and_steps(symbols, lengths, steps)
        keep, noise, seed = self._disturbance(lengths, seed)
        mask = self._mask(symbols, lengths)
        state, saturation = self._start(symbols, steps, mask, keep, seed)
        state, added = kernels.unroll(
            state,
            lengths,
            steps,
            *self._shared(),
            cell=self.cell,
            cutoff=self.cutoff,
            levels=self.levels,
            keep=keep,
            noise=noise,
            seed=seed,
        )
        logits = nn.functional.linear(state[:, :, 0], self.output_weight, self.output_bias)
        return Unrolled(logits, state, saturation + added)

    @torch.no_grad()
    def embed(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch length width maps"]:
        """The state before the first step, without dropout and without gradients.

        Args:
            symbols: as in :meth:`unroll`.
            lengths: as in :meth:`unroll`.
        """
        lengths, steps = self.lengths_and_steps(symbols, lengths, None)
        return self._start(symbols, steps, self._mask(symbols, lengths), None, 0)[0]

    @torch.no_grad()
    def states(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"] | None = None,
        steps: Int64[Tensor, " batch"] | None = None,
    ) -> Iterator[Float[Tensor, "batch length width maps"]]:
        """The state before the first step, after it, and so on to the last one.

        There is no dropout, and there are no gradients.

        Args:
            symbols: as in :meth:`unroll`.
            lengths: as in :meth:`unroll`.
            steps: as in :meth:`unroll`.
        """
        lengths, steps = self.lengths_and_steps(symbols, lengths, steps)
        state = self.embed(symbols, lengths)
        yield state
        for step in range(int(steps.max()) if len(steps) else 0):
            number = step % self.parameter_sets
            state, _ = kernels.unroll(
                state,
                lengths,
                (step < steps).long(),
                *(part[number : number + 1] for part in self._shared()),
                cell=self.cell,
                cutoff=self.cutoff,
                levels=self.levels,
            )
            yield state

    def lengths_and_steps(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"] | None = None,
        steps: Int64[Tensor, " batch"] | None = None,
    ) -> tuple[Int64[Tensor, " batch"], Int64[Tensor, " batch"]]:
        """Lengths and steps of sequences, checked, with the defaults where they are left out.

        Args:
            symbols: as in :meth:`unroll`.
            lengths: up to the last symbol that is no padding if left out.
            steps: those of the training, and outside training mode `extra_steps` more, if left out.

        Raises:
            TypeError: as in :meth:`unroll`.
            ValueError: as in :meth:`unroll`.
        """
        check_symbols(symbols, self.num_symbols)
        length = symbols.shape[1]
        if lengths is None:
            positions = torch.arange(1, length + 1, device=symbols.device)
            lengths = (positions * (symbols != 0)).amax(1).clamp(min=1)
        else:
            check_counts("lengths", lengths, symbols, 1, length)
        if steps is None:
            steps = self._trained_steps(symbols, lengths)
            return lengths, steps if self.training else steps + self.extra_steps
        check_counts("steps", steps, symbols, 0)
        return lengths, steps

    def relaxation_penalty(self) -> Float[Tensor, ""]:
        """Squared deviations of the parameter sets from their mean, summed."""
        parts = [(part - part.mean(0)).square().sum() for part in self._shared()]
        return torch.stack(parts).sum()

    @torch.no_grad()
    def average_parameter_sets(self) -> None:
        """Put the mean of the parameter sets in their place, as the only set.

        The parameters are then other objects, of another shape: give them to a new optimizer.
        """
        for name in _SHARED:
            sets = getattr(self, name)
            mean = sets.mean(0, keepdim=True)
            setattr(self, name, nn.Parameter(mean, requires_grad=sets.requires_grad))

    @torch.no_grad()
    def sharpen_update_gates_(self, factor: float) -> Self:
        r"""Make the update gates steeper: multiply what they are computed from.

        .. math:: \theta_g \leftarrow \kappa \, \theta_g

        for their kernels and biases. A gate that is almost open is then open, so that a number
        which a cell holds does not drift while signals pass by. See
        :class:`torchalu.train.algorithms.Sharpening`.

        Args:
            factor: kappa; 1 changes nothing.

        Raises:
            ValueError: a factor that is not positive and finite.

        Source:
            Ours.
        """
        if not 0 < factor < math.inf:
            raise ValueError(f"factor is {factor}; give a positive number, such as 2")
        for gates in (self.gate_weight, self.gate_bias):
            gates[:, :, self.maps :].mul_(factor)
        return self

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return ", ".join(f"{name}={value}" for name, value in self.configuration().items())

    def _make_cell(self, sets: int, layers: int, kernel: tuple[int, int], make: Factory) -> None:
        """The parameters that all steps share."""
        maps = self.maps
        self.gate_weight = make.parameter(sets, layers, 2 * maps, maps, *kernel)
        self.gate_bias = make.parameter(sets, layers, 2 * maps)
        self.candidate_weight = make.parameter(sets, layers, maps, maps, *kernel)
        self.candidate_bias = make.parameter(sets, layers, maps)

    def _shared(self) -> list[nn.Parameter]:
        """The parameters of the steps, in the order in which the operator takes them."""
        return [getattr(self, name) for name in _SHARED]

    def _disturbance(
        self, lengths: Tensor, seed: int | None
    ) -> tuple[Float[Tensor, " batch"] | None, float, int]:
        """What dropout keeps, the noise and the seed of both: nothing outside training mode."""
        keep = self._keep(lengths) if self.training and self.dropout else None
        noise = self.noise if self.training else 0.0
        if seed is None:
            seed = _drawn_seed() if keep is not None or noise else 0
        if isinstance(seed, bool) or not isinstance(seed, Integral):
            raise TypeError(f"seed is {seed!r}; give an integer, or none to have one drawn")
        return keep, noise, seed if isinstance(seed, int) else int(seed)

    def _mask(self, symbols: Tensor, lengths: Tensor) -> Float[Tensor, "batch length 1 1"]:
        """1 at the positions of each sequence, 0 behind its end."""
        return position_mask(lengths, symbols.shape[1], self.gate_weight.dtype).movedim(1, -1)


def _drawn_seed() -> int:
    """A seed from torch's generator; 0 where tensors are without numbers."""
    drawn = torch.randint(2**63 - 1, ())
    return 0 if not torch.compiler.is_compiling() and is_fake(drawn) else int(drawn)


def check_options(
    *,
    sizes: dict[str, int],
    kernel_size: int,
    dropout: float,
    noise: float,
    levels: int,
    extra_steps: int,
    thirds: bool = False,
) -> None:
    """Refuse options that no Neural GPU can have.

    Args:
        sizes: by name, those that must be positive integers.
        kernel_size: must be odd.
        dropout: must lie in [0, 1).
        noise: must be finite and not negative.
        levels: must be an integer of 0 or more, `MOST_LEVELS` at most.
        extra_steps: must be an integer of 0 or more.
        thirds: whether the number of maps has to be a multiple of 3.

    Raises:
        TypeError: a size, `levels` or `extra_steps` is no integer.
        ValueError: an option is out of its range.
    """
    check_positive_integers(**sizes, kernel_size=kernel_size)
    for name, count, example in (("levels", levels, 2), ("extra_steps", extra_steps, 16)):
        if isinstance(count, bool) or not isinstance(count, Integral):
            raise TypeError(f"{name} is {count!r}; give an integer, such as {example}")
        if count < 0:
            raise ValueError(f"{name} is {count}; give 0 or more")
    if levels > MOST_LEVELS:
        raise ValueError(f"levels is {levels}; give {MOST_LEVELS} at most, such as 2")
    if sizes["num_symbols"] < 2:
        raise ValueError(
            f"num_symbols is {sizes['num_symbols']}; padding counts, so give 2 or more"
        )
    if kernel_size % 2 == 0:
        raise ValueError(f"kernel_size is {kernel_size}; give an odd number, such as 3")
    if thirds and sizes["maps"] % 3:
        raise ValueError(f"maps is {sizes['maps']}; give a multiple of 3, such as 96")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout is {dropout}; give a share of at least 0 and less than 1")
    if not 0 <= noise < math.inf:
        raise ValueError(f"noise is {noise}; give an amplitude from 0 up, such as 0.5")
