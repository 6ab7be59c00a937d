# pyright: reportIndexIssue=false, reportArgumentType=false
"""The unrolled recurrence of the improved Neural GPU on CUDA devices.

Imported only where a CUDA tensor comes and Triton is installed. A step is two launches, since its
second convolution reads what the first one makes of its neighbors; so is a step back. Gradients of
the kernels are matrix products over all steps at once.
"""

from typing import NamedTuple

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor
from torch.nn.functional import pad

from torchalu.kernels.recurrence_forms import seed_key
from torchalu.kernels.recurrence_triton import (
    candidate_back,
    candidate_step,
    gates_back,
    gates_step,
    last_mixture_back,
)

BLOCK = {"block_rows": 64, "block_maps": 32, "block_inner": 32}
"""Rows and maps of a tile, and over how many maps a product is summed at a time."""
_KEPT = 5
"""Numbers that are kept of each map in each step: state, reset state, two gates, candidate."""
_HALF = 2**31


class _Sequences(NamedTuple):
    """A batch of sequences, padded: its sizes, and what says how each is treated."""

    batch: int
    length: int
    maps: int
    taps: int
    steps: int

    @property
    def margin(self) -> int:
        """Rows of zeros on either side of a sequence, at least one for the maps that move."""
        return max(self.taps // 2, 1)

    @property
    def padded(self) -> int:
        """Rows of a sequence, with zeros on both sides."""
        return self.length + 2 * self.margin

    @property
    def rows(self) -> int:
        """Rows of all sequences."""
        return self.batch * self.padded

    def pad(self, state: Tensor) -> Tensor:
        """A state (batch, length, 1, maps) as (rows, maps)."""
        sides = (0, 0, self.margin, self.margin)
        return pad(state[:, :, 0], sides).reshape(self.rows, self.maps)

    def unpad(self, rows: Tensor) -> Tensor:
        """The inverse of `pad`."""
        image = rows.reshape(self.batch, self.padded, self.maps)
        return image.narrow(1, self.margin, self.length).unsqueeze(2).contiguous()

    def parts(self, kept: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """States, what is behind the reset gate, gates and candidates, for each step."""
        size, steps = self.rows * self.maps, self.steps
        counts = size * (steps + 1), size * steps, 2 * size * steps, size * steps
        states, resets, gates, candidates = kept.split(counts)
        return (
            states.view(steps + 1, self.rows, self.maps),
            resets.view(steps, self.rows, self.maps),
            gates.view(steps, self.rows, 2 * self.maps),
            candidates.view(steps, self.rows, self.maps),
        )


class _Launch:
    """What all launches for a batch of sequences have in common."""

    def __init__(
        self,
        sequences: _Sequences,
        lengths: Tensor,
        steps: Tensor,
        keep: Tensor | None,
        noise: float,
        seed: int,
        dtype: torch.dtype,
    ) -> None:
        self.sequences = sequences
        key = seed_key(seed)
        self.key = key - 2 * _HALF if key >= _HALF else key  # one type for every seed
        self.noise = float(noise)
        self.ends = lengths, steps
        self.drops = keep is not None
        chance = torch.ones_like(lengths, dtype=torch.float64) if keep is None else keep.double()
        self.dropout = chance.to(dtype), (chance * 2**24).floor().to(torch.int32)
        self.sizes = {"maps": sequences.maps, "taps": sequences.taps}
        double = dtype == torch.float64
        self.wide = tl.float64 if double else tl.float32
        self.dot = {"wide": self.wide, "precision": "ieee" if double else "tf32x3"}

    def grid(self, columns: int) -> tuple[int, int]:
        """Programs for as many columns."""
        tiles = triton.cdiv(self.sequences.rows, BLOCK["block_rows"])
        return tiles, triton.cdiv(columns, BLOCK["block_maps"])

    def where(self, step: int) -> tuple[int, int, int]:
        """The arguments that change from step to step."""
        return self.sequences.rows, self.sequences.padded, step


def recurrence_forward(
    state: Tensor,
    lengths: Tensor,
    steps: Tensor,
    parameters: tuple[Tensor, Tensor, Tensor, Tensor],
    *,
    levels: int,
    keep: Tensor | None,
    noise: float,
    seed: int,
    kept: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Take all steps of the diagonal cell; see :func:`torchalu.kernels.unroll`.

    Args:
        state: `(batch, length, 1, maps)`.
        lengths: of the sequences.
        steps: at least one sequence takes a step.
        parameters: kernels and biases of the gates, then of the candidate.
        levels: 0 rounds nothing.
        keep: no dropout without it.
        noise: 0 adds none.
        seed: 64 bits.
        kept: whether a backward pass follows.

    Returns:
        The final state, the saturation of each sequence, and what the backward pass needs.
    """
    sequences = _sequences(state, parameters, int(steps.max()))
    launch = _Launch(sequences, lengths, steps, keep, noise, seed, state.dtype)
    inside = torch.arange(sequences.length, device=state.device) < lengths[:, None]
    start = sequences.pad(state * inside[:, :, None, None])
    slots = sequences if kept else sequences._replace(steps=1)
    size = sequences.rows * sequences.maps * (_KEPT * slots.steps + 1)
    memory = state.new_empty(size)
    states, resets, gates, candidates = slots.parts(memory)
    states[0] = start
    maps = sequences.maps
    wide, narrow = launch.grid(2 * maps), launch.grid(maps)
    shape = wide[1] + narrow[1], sequences.rows
    saturated = state.new_zeros(shape, dtype=torch.float64)
    gate_weight, candidate_weight = (_weights(w, back=False) for w in parameters[::2])
    same = {"noisy": noise > 0, "kept": kept, **launch.sizes, **launch.dot, **BLOCK}
    for step in range(sequences.steps):
        which = step % len(gate_weight)
        gates_step[wide](
            states, resets, gates, saturated, gate_weight[which], parameters[1][which],
            *launch.ends, *launch.where(step), launch.key, launch.noise, **same,
        )  # fmt: skip
        candidate_step[narrow](
            states, resets, gates, candidates, saturated, candidate_weight[which],
            parameters[3][which], *launch.ends, *launch.dropout, *launch.where(step), launch.key,
            launch.noise, drops=launch.drops, levels=levels, **same,
        )  # fmt: skip
    final = sequences.unpad(states[sequences.steps if kept else sequences.steps % 2])
    total = saturated.sum(0).reshape(sequences.batch, sequences.padded).sum(1)
    return final, total.to(state.dtype), memory if kept else state.new_empty(0)


def recurrence_backward(
    grad_final: Tensor,
    grad_saturation: Tensor,
    kept: Tensor,
    lengths: Tensor,
    steps: Tensor,
    parameters: tuple[Tensor, Tensor, Tensor, Tensor],
    *,
    keep: Tensor | None,
    noise: float,
    seed: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients by the state and the parameters, from what :func:`recurrence_forward` kept."""
    sequences = _sequences(grad_final, parameters, 1)
    count = (kept.numel() // (sequences.rows * sequences.maps) - 1) // _KEPT
    sequences = sequences._replace(steps=count)
    launch = _Launch(sequences, lengths, steps, keep, noise, seed, kept.dtype)
    states, resets, gates, candidates = sequences.parts(kept)
    grads = sequences.pad(grad_final).contiguous()
    grad_gates, grad_candidates = torch.empty_like(gates), torch.empty_like(candidates)
    carried = torch.empty_like(grads)
    slope = grad_saturation.to(kept.dtype).contiguous()
    gate_weight, candidate_weight = (_weights(w, back=True) for w in parameters[::2])
    narrow = launch.grid(sequences.maps)
    mixture = {"drops": launch.drops, **launch.sizes}
    kinds = {**launch.sizes, **launch.dot, **BLOCK}
    within = states, gates, candidates, grad_gates, grad_candidates, carried, slope
    tile = {name: BLOCK[name] for name in ("block_rows", "block_maps")}
    last = sequences.steps - 1
    last_mixture_back[narrow](
        grads, *within, *launch.ends, *launch.dropout, *launch.where(last), launch.key,
        **mixture, **tile,
    )  # fmt: skip
    for step in range(last, -1, -1):
        which = step % len(gate_weight)
        candidate_back[narrow](
            grads, states, gates, grad_gates, grad_candidates, carried, slope,
            candidate_weight[which], *launch.ends, *launch.where(step), **kinds,
        )  # fmt: skip
        gates_back[narrow](
            grads, *within, gate_weight[which], *launch.ends, *launch.dropout,
            *launch.where(step), launch.key, **mixture, **launch.dot, **BLOCK,
        )  # fmt: skip
    inside = torch.arange(sequences.length, device=kept.device) < lengths[:, None]
    grad_state = sequences.unpad(grads) * inside[:, :, None, None]
    of_gates = _parameter_gradients(states, grad_gates, parameters[0])
    of_candidates = _parameter_gradients(resets, grad_candidates, parameters[2])
    return grad_state, *of_gates, *of_candidates


def _sequences(state: Tensor, parameters: tuple[Tensor, ...], steps: int) -> _Sequences:
    """The sizes of a batch."""
    batch, length, _, maps = state.shape
    return _Sequences(batch, length, maps, parameters[0].shape[-2], steps)


def _weights(weight: Tensor, *, back: bool) -> list[Tensor]:
    """Kernels of a convolution or of its transpose, (taps, inner, outer) for each set."""
    order = (0, 3, 1, 2) if back else (0, 3, 2, 1)
    return list(weight[:, 0, :, :, :, 0].permute(order).contiguous())


def _parameter_gradients(inputs: Tensor, grads: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of a convolution's kernels and biases, over all steps.

    Args:
        inputs: what it read in each step, (steps or one more, rows, inner).
        grads: gradients by its outputs, (steps, rows, outer), 0 between sequences.
        weight: (sets, 1, outer, inner, taps, 1).
    """
    sets, _, outer, inner, taps, _ = weight.shape
    grad_weight, grad_bias = torch.zeros_like(weight), weight.new_zeros(sets, 1, outer)
    for which in range(min(sets, len(grads))):
        read = inputs[: len(grads)][which::sets].reshape(-1, inner)
        grad = grads[which::sets].reshape(-1, outer)
        grad_bias[which, 0] = grad.sum(0)
        for tap in range(taps):
            move = tap - taps // 2
            first, end = max(0, -move), len(grad) - max(0, move)
            product = grad[first:end].t() @ read[first + move : end + move]
            grad_weight[which, 0, :, :, tap, 0] = product
    return grad_weight, grad_bias
