"""The unrolled recurrence of the Neural GPUs in torch's own operations.

They run on any device and in any floating dtype, autograd differentiates them, and the native
operator must equal them. An image is a state with its maps in the second dimension,
(batch, maps, length, width), and its memory in the order of the state (channels last).
"""

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple, TypeVar

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import conv2d, hardtanh, pad, relu

from torchalu.kernels.tracing import is_vmapped

Cell = Literal["cgru", "diagonal"]
Disturb = Callable[[Tensor, int], Tensor]
"""Adds noise to the gates' (1) or the candidate's (2) pre-activations of a layer."""

_Word = TypeVar("_Word", int, Tensor)
_WORD = 0xFFFFFFFF
_SATURATED = 0.9
MOST_LEVELS = 2**20
"""Beyond it a number of float32 cannot be rounded as the native core does it."""


class Layer(NamedTuple):
    """The parameters of one layer: those of both gates, reset first, and of the candidate."""

    gate_weight: Float[Tensor, "2*maps maps kernel_length kernel_width"]
    gate_bias: Float[Tensor, " 2*maps"]
    candidate_weight: Float[Tensor, "maps maps kernel_length kernel_width"]
    candidate_bias: Float[Tensor, " maps"]


class Dropout:
    """Dropout whose choice depends on seed, sequence, step and place alone.

    Args:
        state: any tensor with the shape and device of the state, (batch, length, width, maps).
        keep: probability that an element of a sequence stays.
        seed: 64 bits.
    """

    def __init__(self, state: Tensor, keep: Float[Tensor, " batch"], seed: int) -> None:
        self.bits = _RandomBits(state, seed)
        self.keep = keep.to(state.dtype).reshape(-1, 1, 1, 1)
        self.threshold = (keep.double() * 2**24).floor().long().reshape(-1, 1, 1, 1)

    def __call__(self, image: Tensor, step: int) -> Tensor:
        """Zero the elements that do not stay in this step, and divide the others by `keep`."""
        stays = self.bits(image, self.bits.words(step)) < self.threshold
        return torch.where(stays, image / self.keep, 0)


class Noise:
    """Uniform noise that depends on seed, sequence, step and place alone.

    Args:
        state: any tensor with the device of the state and as many sequences.
        amplitude: it lies between -amplitude and amplitude.
        seed: 64 bits.
    """

    def __init__(self, state: Tensor, amplitude: float, seed: int) -> None:
        self.bits = _RandomBits(state, seed)
        self.amplitude = amplitude

    def __call__(self, image: Tensor, stream: int, step: int) -> Tensor:
        """Add noise; streams 1, 2, ... of a step differ."""
        words = mix((self.bits.words(step) + 0x27D4EB2F * stream) & _WORD)
        between = self.bits(image, words).to(image.dtype) * 2.0**-23 - 1
        return image + self.amplitude * between


class _RandomBits:
    """24 bits for each element of a batch of images."""

    def __init__(self, state: Tensor, seed: int) -> None:
        sequence = torch.arange(len(state), device=state.device)
        self.sequence = mix((seed_key(seed) + 0x9E3779B1 * sequence) & _WORD)

    def words(self, step: int) -> Int64[Tensor, " batch"]:
        """What the bits of each sequence in a step come from."""
        return mix((self.sequence + (0x85EBCA6B * step & _WORD)) & _WORD)

    def __call__(self, image: Tensor, words: Int64[Tensor, " batch"]) -> Tensor:
        """As many as the image, (batch, maps, length, width), has elements."""
        _, maps, length, width = image.shape
        element = torch.arange(length * width * maps, device=image.device)
        place = (0xC2B2AE35 * element & _WORD).reshape(1, length, width, maps).permute(0, 3, 1, 2)
        return mix((words.reshape(-1, 1, 1, 1) + place) & _WORD) >> 8


def mix(word: _Word) -> _Word:
    """Scramble 32 bits, each word held in 64; a bijection."""
    word = (word ^ word >> 16) * 0x21F0AAAD & _WORD
    word = (word ^ word >> 15) * 0x735A2D97 & _WORD
    return word ^ word >> 15


def gate_cutoff(x: Tensor) -> Tensor:
    """A sigmoid that reaches 0 and 1."""
    return (1.2 * torch.sigmoid(x) - 0.1).clamp(0, 1)


def hard_sigmoid(x: Tensor) -> Tensor:
    """The line through (-1, 0) and (1, 1), cut off there."""
    return (0.5 * x + 0.5).clamp(0, 1)


def rounded(image: Tensor, levels: int) -> Tensor:
    """Multiples of 1 / levels, halves to even, with the gradient of what is rounded.

    Args:
        image: any tensor.
        levels: 0 leaves it as it is.
    """
    if not levels:
        return image
    return (image.detach() * levels).round() / levels + (image - image.detach())


def diagonal_shift(image: Tensor) -> Tensor:
    """A third of the maps from one position to the left, a third from the right, a third stays."""
    first, second, last = image.chunk(3, 1)
    return torch.cat([pad(first, (0, 0, 1, -1)), pad(second, (0, 0, -1, 1)), last], 1)


def cgru(
    image: Tensor,
    layer: Layer,
    mask: Tensor | None,
    disturb: Disturb | None = None,
    *,
    cutoff: bool,
) -> Tensor:
    """One layer of a step of the Neural GPU."""
    gate = gate_cutoff if cutoff else torch.sigmoid
    gates = gate(gate_inputs(image, layer, disturb))
    reset, update = gates.chunk(2, 1)
    candidate = candidate_input(reset * image, layer, disturb).tanh()
    return _masked(update * image + (1 - update) * candidate, mask)


def diagonal_cgru(
    image: Tensor,
    layer: Layer,
    mask: Tensor | None,
    dropout: Callable[[Tensor], Tensor] | None = None,
    disturb: Disturb | None = None,
) -> tuple[Tensor, Float[Tensor, " batch"]]:
    """A step of the diagonal Neural GPU, and its saturation."""
    gates = gate_inputs(image, layer, disturb)
    reset, update = hard_sigmoid(gates).chunk(2, 1)
    candidate = candidate_input(reset * image, layer, disturb)
    new = hardtanh(candidate)
    if dropout is not None:
        new = dropout(new)
    state = _masked(update * diagonal_shift(image) + (1 - update) * new, mask)
    return state, saturation(gates, mask) + saturation(candidate, mask)


def saturation(image: Tensor, mask: Tensor | None) -> Float[Tensor, " batch"]:
    """By how much the elements of each sequence lie outside [-0.9, 0.9]."""
    return _masked(relu(image.abs() - _SATURATED), mask).sum((1, 2, 3))


def position_mask(
    lengths: Int64[Tensor, " batch"], longest: int, dtype: torch.dtype
) -> Float[Tensor, "batch 1 longest 1"]:
    """1 at the positions of each sequence, 0 behind its end, for images."""
    positions = torch.arange(longest, device=lengths.device)
    return (positions < lengths[:, None]).to(dtype)[:, None, :, None]


def unroll(
    state: Float[Tensor, "batch length width maps"],
    lengths: Int64[Tensor, " batch"],
    steps: Int64[Tensor, " batch"],
    gate_weight: Float[Tensor, "sets layers 2*maps maps kernel_length kernel_width"],
    gate_bias: Float[Tensor, "sets layers 2*maps"],
    candidate_weight: Float[Tensor, "sets layers maps maps kernel_length kernel_width"],
    candidate_bias: Float[Tensor, "sets layers maps"],
    *,
    cell: Cell,
    cutoff: bool = True,
    levels: int = 0,
    keep: Float[Tensor, " batch"] | None = None,
    noise: float = 0.0,
    seed: int = 0,
) -> tuple[Float[Tensor, "batch length width maps"], Float[Tensor, " batch"]]:
    """The definition of :func:`torchalu.kernels.unroll`."""
    fewest, most, shortest = _least(steps), -_least(-steps), _least(lengths)
    longest = state.shape[1]
    mask = position_mask(lengths, longest, state.dtype) if shortest < longest else None
    dropout = None if keep is None else Dropout(state, keep, seed)
    disturb = Noise(state, noise, seed) if noise else None
    sets = _layers(gate_weight, gate_bias, candidate_weight, candidate_bias)
    image = _masked(state.permute(0, 3, 1, 2), mask)
    take_step = partial(_cgru_step, cutoff=cutoff) if cell == "cgru" else _diagonal_step
    take_step = partial(take_step, levels=levels)
    saturations: list[Tensor] = []
    for step in range(most):
        drop = None if dropout is None else partial(dropout, step=step)
        add = None if disturb is None else partial(disturb, step=step)
        new, added = take_step(image, sets[step % len(sets)], mask, drop, add)
        if added is not None:
            saturations.append(added)
        if step >= fewest:
            new = torch.where((step < steps)[:, None, None, None], new, image)
        image = new
    return image.permute(0, 2, 3, 1), _sum_of_steps(saturations, steps, state)


def _cgru_step(
    image: Tensor,
    layers: list[Layer],
    mask: Tensor | None,
    dropout: Callable[[Tensor], Tensor] | None,
    disturb: Disturb | None,
    *,
    cutoff: bool,
    levels: int,
) -> tuple[Tensor, None]:
    """Dropout on the state, then all layers; nothing saturates."""
    if dropout is not None:
        image = dropout(image)
    for number, layer in enumerate(layers):
        add = None if disturb is None else partial(_later_stream, disturb, 2 * number)
        image = rounded(cgru(image, layer, mask, add, cutoff=cutoff), levels)
    return image, None


def _later_stream(disturb: Disturb, later: int, image: Tensor, stream: int) -> Tensor:
    """Noise of a layer that is not the first."""
    return disturb(image, stream + later)


def _diagonal_step(
    image: Tensor,
    layers: list[Layer],
    mask: Tensor | None,
    dropout: Callable[[Tensor], Tensor] | None,
    disturb: Disturb | None,
    *,
    levels: int,
) -> tuple[Tensor, Tensor]:
    """The cell has one layer."""
    (layer,) = layers
    image, saturated = diagonal_cgru(image, layer, mask, dropout, disturb)
    return rounded(image, levels), saturated


def _layers(*parameters: Tensor) -> list[list[Layer]]:
    """The layers of each set, their kernels in the memory order of the images.

    Taken apart once: a choice of set in each step would give a gradient of all sets in each.
    """
    order = torch.contiguous_format if is_vmapped() else torch.channels_last
    rows = zip(*(parameter.unbind(0) for parameter in parameters), strict=True)
    return [
        [
            Layer(
                gate_weight.contiguous(memory_format=order),
                gate_bias,
                candidate_weight.contiguous(memory_format=order),
                candidate_bias,
            )
            for gate_weight, gate_bias, candidate_weight, candidate_bias in zip(
                *(part.unbind(0) for part in row), strict=True
            )
        ]
        for row in rows
    ]


def gate_inputs(image: Tensor, layer: Layer, disturb: Disturb | None) -> Tensor:
    """Pre-activations of both gates."""
    gates = _convolution(image, layer.gate_weight, layer.gate_bias)
    return gates if disturb is None else disturb(gates, 1)


def candidate_input(image: Tensor, layer: Layer, disturb: Disturb | None) -> Tensor:
    """Pre-activations of the candidate."""
    candidate = _convolution(image, layer.candidate_weight, layer.candidate_bias)
    return candidate if disturb is None else disturb(candidate, 2)


def _convolution(image: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A cross-correlation with zeros around the image, which keeps its size."""
    return conv2d(image, weight, bias, padding=(weight.shape[2] // 2, weight.shape[3] // 2))


def _masked(image: Tensor, mask: Tensor | None) -> Tensor:
    """The image with zeros behind the end of each sequence."""
    return image if mask is None else image * mask


def _sum_of_steps(terms: list[Tensor], steps: Tensor, state: Tensor) -> Tensor:
    """The sum of what each sequence added in the steps that it took."""
    if not terms:
        return state.new_zeros(len(state))
    taken = torch.arange(len(terms), device=steps.device)[:, None] < steps
    return torch.where(taken, torch.stack(terms), 0).sum(0)


def _least(numbers: Int64[Tensor, " batch"]) -> int:
    """The smallest of some numbers, 0 if there are none."""
    return int(numbers.min().item()) if len(numbers) else 0


def seed_key(seed: int) -> int:
    """64 bits of a seed in 32."""
    return mix(seed & _WORD ^ mix(seed >> 32 & _WORD))
