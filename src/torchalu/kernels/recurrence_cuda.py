# pyright: reportIndexIssue=false, reportArgumentType=false
"""The unrolled recurrence of the improved Neural GPU on CUDA devices.

Imported only where a CUDA tensor comes and Triton is installed. Sequences of up to `_SHORT`
positions take all steps in one launch. Of longer ones a step is two launches, since its second
convolution reads what the first one makes of its neighbors; so is a step back. Gradients of the
kernels are matrix products over all steps at once.
"""

from typing import Any, NamedTuple

import torch
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor
from torch.nn.functional import pad

from torchalu.kernels.recurrence_forms import seed_key
from torchalu.kernels.recurrence_triton import (
    all_steps,
    all_steps_back,
    candidate_back,
    candidate_step,
    dropout_at_start,
    gates_back,
    gates_step,
    mixture_back,
)

_SHORT = 128
_TILE: dict[str, Any] = {"block_rows": 64, "block_maps": 32, "block_inner": 32, "num_warps": 4}
"""Rows and maps of a tile, over how many maps a product is summed at a time, and warps."""
_BLOCK = 1024
"""Elements that a program of the dropout at the start decides on."""
_KEPT = 5
"""Numbers that are kept of each map in each step: state, reset state, two gates, candidate."""


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
        self.whole = sequences.length <= _SHORT
        self.key = _signed_key(seed)
        self.noise = float(noise)
        self.ends = lengths, steps
        self.drops = keep is not None
        self.keep = lengths if keep is None else keep  # what is not read
        self.sizes = {"maps": sequences.maps, "taps": sequences.taps}
        double = dtype == torch.float64
        self.dot = {
            "wide": tl.float64 if double else tl.float32,
            "precision": "ieee" if double else "tf32x3",
        }

    def grid(self, columns: int) -> tuple[int, int]:
        """Programs for as many columns, where each has one tile."""
        return -(-self.sequences.rows // _TILE["block_rows"]), _blocks(columns)

    def where(self, step: int) -> tuple[int, int, int]:
        """The arguments that change from call to call."""
        return self.sequences.rows, self.sequences.padded, step


def recurrence_forward(
    state: Tensor,
    lengths: Tensor,
    steps: Tensor,
    parameters: tuple[Tensor, ...],
    most: int,
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
        steps: of the sequences.
        parameters: kernels and biases of the gates, then of the candidate.
        most: of `steps`, at least 1.
        levels: 0 rounds nothing.
        keep: in float64; no dropout without it.
        noise: 0 adds none.
        seed: 64 bits.
        kept: whether a backward pass follows.

    Returns:
        The final state, the saturation of each sequence, and what the backward pass needs.
    """
    sequences = _sequences(state, parameters, most)
    launch = _Launch(sequences, lengths, steps, keep, noise, seed, state.dtype)
    inside = torch.arange(sequences.length, device=state.device) < lengths[:, None]
    slots = sequences if kept else sequences._replace(steps=1)
    memory = state.new_empty(sequences.rows * sequences.maps * (_KEPT * slots.steps + 1))
    states, resets, gates, candidates = slots.parts(memory)
    states[0] = sequences.pad(state * inside[:, :, None, None])
    maps = sequences.maps
    blocks = _blocks(2 * maps) + _blocks(maps)
    saturated = state.new_zeros(sequences.rows, blocks, dtype=torch.float64)
    gate_weight, candidate_weight = (_weights(w, back=False) for w in parameters[::2])
    numbers = launch.key, launch.noise
    same = {"noisy": noise > 0, "kept": kept, **launch.sizes, **launch.dot, **_TILE}
    memories = states, resets, gates, candidates, saturated
    more = {"drops": launch.drops, "levels": levels, **same}
    if launch.whole:
        all_steps[(sequences.batch,)](
            *memories, gate_weight, parameters[1], candidate_weight, parameters[3], *launch.ends,
            launch.keep, *launch.where(sequences.steps), *numbers, sets=len(gate_weight),
            **more,
        )  # fmt: skip
    for step in range(0 if launch.whole else sequences.steps):
        which = step % len(gate_weight)
        gates_step[launch.grid(2 * maps)](
            states, resets, gates, saturated, gate_weight[which], parameters[1][which],
            *launch.ends, *launch.where(step), *numbers, **same,
        )  # fmt: skip
        candidate_step[launch.grid(maps)](
            *memories, candidate_weight[which], parameters[3][which], *launch.ends,
            launch.keep, *launch.where(step), *numbers, **more,
        )  # fmt: skip
    final = sequences.unpad(states[sequences.steps if kept else sequences.steps % 2])
    total = saturated.reshape(sequences.batch, -1).sum(1)
    return final, total.to(state.dtype), memory if kept else state.new_empty(0)


def recurrence_backward(
    grad_final: Tensor,
    grad_saturation: Tensor,
    kept: Tensor,
    lengths: Tensor,
    steps: Tensor,
    parameters: tuple[Tensor, ...],
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
    slope = grad_saturation.to(kept.dtype).contiguous()
    within = grad_gates, grad_candidates, torch.empty_like(grads), slope
    gate_weight, candidate_weight = (_weights(w, back=True) for w in parameters[::2])
    mixture = {"drops": launch.drops, **launch.sizes, "wide": launch.dot["wide"]}
    kinds = {**launch.sizes, **launch.dot, **_TILE}
    same = {**mixture, **launch.dot, **_TILE}
    all_but_grads = states, gates, candidates, *within
    if launch.whole:
        all_steps_back[(sequences.batch,)](
            grads, *all_but_grads, gate_weight, candidate_weight, *launch.ends, launch.keep,
            *launch.where(count), launch.key, sets=len(gate_weight), **same,
        )  # fmt: skip
    else:
        grid = launch.grid(sequences.maps)
        tile = {name: size for name, size in _TILE.items() if name != "block_inner"}
        mixture_back[grid](
            grads, *all_but_grads, *launch.ends, launch.keep, *launch.where(count - 1),
            launch.key, **mixture, **tile,
        )  # fmt: skip
        for step in range(count - 1, -1, -1):
            which = step % len(gate_weight)
            candidate_back[grid](
                grads, states, gates, *within, candidate_weight[which], *launch.ends,
                *launch.where(step), **kinds,
            )  # fmt: skip
            gates_back[grid](
                grads, *all_but_grads, gate_weight[which], *launch.ends, launch.keep,
                *launch.where(step), launch.key, **same,
            )  # fmt: skip
    of_gates = _parameter_gradients(states, grad_gates, parameters[0])
    of_candidates = _parameter_gradients(resets, grad_candidates, parameters[2])
    return sequences.unpad(grads), *of_gates, *of_candidates


def kept_at_start(state: Tensor, keep: Tensor, seed: int) -> Tensor:
    """Which elements of a state dropout keeps before the first step.

    Args:
        state: `(batch, length, width, maps)`.
        keep: probability that an element of a sequence stays.
        seed: 64 bits.
    """
    stays = torch.empty(state.shape, dtype=torch.bool, device=state.device)
    elements = state[0].numel()
    dropout_at_start[(len(state), -(-elements // _BLOCK))](
        stays, keep.double(), elements, _signed_key(seed), block=_BLOCK
    )
    return stays


def _sequences(state: Tensor, parameters: tuple[Tensor, ...], steps: int) -> _Sequences:
    """The sizes of a batch."""
    batch, length, _, maps = state.shape
    return _Sequences(batch, length, maps, parameters[0].shape[-2], steps)


def _blocks(columns: int) -> int:
    """How many blocks as many columns fill, the last in part."""
    return -(-columns // _TILE["block_maps"])


def _signed_key(seed: int) -> int:
    """32 bits of a seed as a number with a sign, so that all are of one type."""
    key = seed_key(seed)
    return key - 2**32 if key >= 2**31 else key


def _weights(weight: Tensor, *, back: bool) -> Tensor:
    """Kernels of a convolution or of its transpose, (sets, taps, inner, outer)."""
    order = (0, 3, 1, 2) if back else (0, 3, 2, 1)
    return weight[:, 0, :, :, :, 0].permute(order).contiguous()


def _parameter_gradients(inputs: Tensor, grads: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of a convolution's kernels and biases, over all steps.

    Args:
        inputs: what it read in each step, (steps or one more, rows, inner).
        grads: gradients by its outputs, (steps, rows, outer), 0 between sequences.
        weight: (sets, 1, outer, inner, taps, 1).
    """
    sets, _, outer, inner, taps, _ = weight.shape
    products, sums = [], []
    for which in range(sets):
        read = inputs[: len(grads)][which::sets].reshape(-1, inner)
        grad = grads[which::sets].reshape(-1, outer)
        sums.append(grad.sum(0))
        for move in range(-(taps // 2), taps - taps // 2):
            first, end = max(0, -move), max(0, -move, len(grad) - max(0, move))
            products.append(grad[first:end].t() @ read[first + move : end + move])
    of_weight = torch.stack(products).view(sets, 1, taps, outer, inner, 1)
    return of_weight.permute(0, 1, 3, 4, 2, 5).contiguous(), torch.stack(sums).unsqueeze(1)
