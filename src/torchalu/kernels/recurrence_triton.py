# pyright: reportIndexIssue=false, reportArgumentType=false, reportGeneralTypeIssues=false
# pyright: reportOperatorIssue=false
"""Kernels of the improved Neural GPU's recurrence in Triton.

Those of short sequences take all steps in one launch: a program has one sequence, and the parts of
a step wait for each other within it. Long sequences are shared out among programs, which have no
way to wait for each other: each part of a step is a launch of its own.

:mod:`torchalu.kernels.recurrence_cuda` launches them.
"""

import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]

from torchalu.kernels.recurrence_tiles import (
    blocks_of,
    candidate_back_tile,
    candidate_tile,
    dropout_bits,
    gates_back_tile,
    gates_tile,
    mixture_back_tile,
    threshold,
)

_VARYING = ["rows", "padded", "step", "count", "key"]
"""Arguments for whose values no kernel is compiled anew."""


@triton.jit
def _tile(block_rows: tl.constexpr, block_maps: tl.constexpr):
    """Rows and maps of a program that has one tile."""
    at = tl.program_id(0) * block_rows + tl.arange(0, block_rows)
    return at, tl.program_id(1) * block_maps + tl.arange(0, block_maps)


@triton.jit(do_not_specialize=_VARYING)
def gates_step(
    states, resets, gates, saturated, weight, bias, lengths, steps, rows, padded, step, key,
    amplitude, noisy: tl.constexpr, kept: tl.constexpr, maps: tl.constexpr, taps: tl.constexpr,
    wide: tl.constexpr, precision: tl.constexpr, block_rows: tl.constexpr,
    block_maps: tl.constexpr, block_inner: tl.constexpr,
):  # fmt: skip
    """The first part of a step; see `gates_tile`."""
    at, n = _tile(block_rows, block_maps)
    gates_tile(
        at, n, tl.program_id(1), rows, states, resets, gates, saturated, weight, bias, lengths,
        steps, rows, padded, step, key, amplitude, noisy, kept, maps, taps, wide, precision,
        block_rows, block_maps, block_inner,
    )  # fmt: skip


@triton.jit(do_not_specialize=_VARYING)
def candidate_step(
    states, resets, gates, candidates, saturated, weight, bias, lengths, steps, keep,
    rows, padded, step, key, amplitude, noisy: tl.constexpr, drops: tl.constexpr,
    levels: tl.constexpr, kept: tl.constexpr, maps: tl.constexpr, taps: tl.constexpr,
    wide: tl.constexpr, precision: tl.constexpr, block_rows: tl.constexpr,
    block_maps: tl.constexpr, block_inner: tl.constexpr,
):  # fmt: skip
    """The second part of a step; see `candidate_tile`."""
    at, n = _tile(block_rows, block_maps)
    candidate_tile(
        at, n, tl.program_id(1), rows, states, resets, gates, candidates, saturated, weight, bias,
        lengths, steps, keep, rows, padded, step, key, amplitude, noisy, drops, levels,
        kept, maps, taps, wide, precision, block_rows, block_maps, block_inner,
    )  # fmt: skip


@triton.jit(do_not_specialize=_VARYING)
def mixture_back(
    grads, states, gates, candidates, grad_gates, grad_candidates, carried, grad_saturation,
    lengths, steps, keep, rows, padded, step, key, drops: tl.constexpr,
    maps: tl.constexpr, taps: tl.constexpr, wide: tl.constexpr, block_rows: tl.constexpr,
    block_maps: tl.constexpr,
):  # fmt: skip
    """The beginning of the way back, at the last step; see `mixture_back_tile`."""
    at, n = _tile(block_rows, block_maps)
    mask = (at < rows)[:, None] & (n < maps)[None, :]
    grad = tl.load(grads + at[:, None] * maps + n[None, :], mask=mask, other=0.0)
    mixture_back_tile(
        at, n, rows, grad, states, gates, candidates, grad_gates, grad_candidates, carried,
        grad_saturation, lengths, steps, keep, rows, padded, step, key, drops, maps, taps, wide,
    )  # fmt: skip


@triton.jit(do_not_specialize=_VARYING)
def candidate_back(
    grads, states, gates, grad_gates, grad_candidates, carried, grad_saturation, weight, lengths,
    steps, rows, padded, step, maps: tl.constexpr, taps: tl.constexpr, wide: tl.constexpr,
    precision: tl.constexpr, block_rows: tl.constexpr, block_maps: tl.constexpr,
    block_inner: tl.constexpr,
):  # fmt: skip
    """The first part of a step back; see `candidate_back_tile`."""
    at, n = _tile(block_rows, block_maps)
    candidate_back_tile(
        at, n, rows, grads, states, gates, grad_gates, grad_candidates, carried, grad_saturation,
        weight, lengths, steps, rows, padded, step, maps, taps, wide, precision, block_rows,
        block_maps, block_inner,
    )  # fmt: skip


@triton.jit(do_not_specialize=_VARYING)
def gates_back(
    grads, states, gates, candidates, grad_gates, grad_candidates, carried, grad_saturation, weight,
    lengths, steps, keep, rows, padded, step, key, drops: tl.constexpr,
    maps: tl.constexpr, taps: tl.constexpr, wide: tl.constexpr, precision: tl.constexpr,
    block_rows: tl.constexpr, block_maps: tl.constexpr, block_inner: tl.constexpr,
):  # fmt: skip
    """The second part of a step back; see `gates_back_tile`."""
    at, n = _tile(block_rows, block_maps)
    gates_back_tile(
        at, n, rows, grads, states, gates, candidates, grad_gates, grad_candidates, carried,
        grad_saturation, weight, lengths, steps, keep, rows, padded, step, key, drops,
        maps, taps, wide, precision, block_rows, block_maps, block_inner,
    )  # fmt: skip


@triton.jit(do_not_specialize=_VARYING)
def all_steps(
    states, resets, gates, candidates, saturated, gate_weight, gate_bias, candidate_weight,
    candidate_bias, lengths, steps, keep, rows, padded, count, key, amplitude,
    noisy: tl.constexpr, drops: tl.constexpr, levels: tl.constexpr, kept: tl.constexpr,
    sets: tl.constexpr, maps: tl.constexpr, taps: tl.constexpr, wide: tl.constexpr,
    precision: tl.constexpr, block_rows: tl.constexpr, block_maps: tl.constexpr,
    block_inner: tl.constexpr,
):  # fmt: skip
    """All steps of one sequence."""
    first = tl.program_id(0) * padded
    end = first + padded
    for step in range(count):
        which = step % sets
        for row in range(first, end, block_rows):
            at = row + tl.arange(0, block_rows)
            for block in range(blocks_of(2 * maps, block_maps)):
                n = block * block_maps + tl.arange(0, block_maps)
                gates_tile(
                    at, n, block, end, states, resets, gates, saturated,
                    gate_weight + which * (2 * taps * maps * maps), gate_bias + which * 2 * maps,
                    lengths, steps, rows, padded, step, key, amplitude, noisy, kept, maps, taps,
                    wide, precision, block_rows, block_maps, block_inner,
                )  # fmt: skip
        tl.debug_barrier()
        for row in range(first, end, block_rows):
            at = row + tl.arange(0, block_rows)
            for block in range(blocks_of(maps, block_maps)):
                n = block * block_maps + tl.arange(0, block_maps)
                candidate_tile(
                    at, n, block, end, states, resets, gates, candidates, saturated,
                    candidate_weight + which * (taps * maps * maps), candidate_bias + which * maps,
                    lengths, steps, keep, rows, padded, step, key, amplitude, noisy,
                    drops, levels, kept, maps, taps, wide, precision, block_rows, block_maps,
                    block_inner,
                )  # fmt: skip
        tl.debug_barrier()


@triton.jit(do_not_specialize=_VARYING)
def all_steps_back(
    grads, states, gates, candidates, grad_gates, grad_candidates, carried, grad_saturation,
    gate_weight, candidate_weight, lengths, steps, keep, rows, padded, count, key,
    drops: tl.constexpr, sets: tl.constexpr, maps: tl.constexpr, taps: tl.constexpr,
    wide: tl.constexpr, precision: tl.constexpr, block_rows: tl.constexpr,
    block_maps: tl.constexpr, block_inner: tl.constexpr,
):  # fmt: skip
    """All steps of one sequence back."""
    first = tl.program_id(0) * padded
    end = first + padded
    for row in range(first, end, block_rows):
        at = row + tl.arange(0, block_rows)
        for block in range(blocks_of(maps, block_maps)):
            n = block * block_maps + tl.arange(0, block_maps)
            mask = (at < end)[:, None] & (n < maps)[None, :]
            grad = tl.load(grads + at[:, None] * maps + n[None, :], mask=mask, other=0.0)
            mixture_back_tile(
                at, n, end, grad, states, gates, candidates, grad_gates, grad_candidates, carried,
                grad_saturation, lengths, steps, keep, rows, padded, count - 1, key, drops,
                maps, taps, wide,
            )  # fmt: skip
    tl.debug_barrier()
    for later in range(count):
        step = count - 1 - later
        which = step % sets
        for row in range(first, end, block_rows):
            at = row + tl.arange(0, block_rows)
            for block in range(blocks_of(maps, block_maps)):
                n = block * block_maps + tl.arange(0, block_maps)
                candidate_back_tile(
                    at, n, end, grads, states, gates, grad_gates, grad_candidates, carried,
                    grad_saturation, candidate_weight + which * (taps * maps * maps), lengths,
                    steps, rows, padded, step, maps, taps, wide, precision, block_rows, block_maps,
                    block_inner,
                )  # fmt: skip
        tl.debug_barrier()
        for row in range(first, end, block_rows):
            at = row + tl.arange(0, block_rows)
            for block in range(blocks_of(maps, block_maps)):
                n = block * block_maps + tl.arange(0, block_maps)
                gates_back_tile(
                    at, n, end, grads, states, gates, candidates, grad_gates, grad_candidates,
                    carried, grad_saturation, gate_weight + which * (2 * taps * maps * maps),
                    lengths, steps, keep, rows, padded, step, key, drops, maps, taps,
                    wide, precision, block_rows, block_maps, block_inner,
                )  # fmt: skip
        tl.debug_barrier()


@triton.jit(do_not_specialize=["elements", "key"])
def dropout_at_start(stays, keep, elements, key, block: tl.constexpr):
    """Which elements of a sequence stay before the first step, whose number is -1."""
    sequence = tl.program_id(0)
    element = tl.program_id(1) * block + tl.arange(0, block)
    own = dropout_bits(key, sequence, element) < threshold(tl.load(keep + sequence))
    place = tl.cast(sequence, tl.int64) * elements + element
    tl.store(stays + place, own, mask=element < elements)
