# pyright: reportIndexIssue=false, reportArgumentType=false, reportGeneralTypeIssues=false
"""What kernels of the improved Neural GPU's recurrence do with a tile of rows and maps, in Triton.

Sequences lie one behind the other, each between rows of zeros, so that a tile of rows may hold
parts of several and no convolution asks where one ends. What a convolution makes of these rows
means nothing and may be no number; it is masked before anything is made of it.

`at` are a tile's rows, of which those before `end` are its own, `n` its maps, and `block` says the
how manyth block of maps they are. `sequence`, `position`, `there` (the row is the tile's own),
`inside` (it is one of its sequence's) and `taken` (the sequence takes the step) are said of each
row.
"""

import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]


@triton.constexpr_function
def margin(taps):
    """Rows of zeros on either side of a sequence, at least one for the maps that move."""
    return max(taps // 2, 1)


@triton.constexpr_function
def blocks_of(columns, block_maps):
    """How many blocks the columns fill, the last in part."""
    return -(-columns // block_maps)


@triton.jit
def _mix(word):
    """Scramble 32 bits."""
    word = (word ^ (word >> 16)) * 0x21F0AAAD
    word = (word ^ (word >> 15)) * 0x735A2D97
    return word ^ (word >> 15)


@triton.jit
def _words(key, sequence, step):
    """What the bits of each sequence in a step come from."""
    own = _mix(key.to(tl.uint32) + sequence.to(tl.uint32) * 0x9E3779B1)
    return _mix(own + tl.cast(step, tl.uint32) * 0x85EBCA6B)


@triton.jit
def _bits(words, element):
    """24 random bits for each element of a sequence."""
    return (_mix(words + element.to(tl.uint32) * 0xC2B2AE35) >> 8).to(tl.int32)


@triton.jit
def dropout_bits(key, sequence, element):
    """The bits of one sequence before the first step."""
    before = tl.full((1,), -1, tl.int32)
    return _bits(_words(key, sequence, before), element)


@triton.jit
def _noise(
    words, stream: tl.constexpr, position, n, maps: tl.constexpr, amplitude, wide: tl.constexpr
):
    """Uniform between -amplitude and amplitude."""
    own = _mix(words + 0x27D4EB2F * stream)[:, None]
    bits = _bits(own, position[:, None] * maps + n[None, :])
    return amplitude * (bits.to(wide) * (1.0 / 8388608) - 1.0)


@triton.jit
def threshold(keep):
    """The number of 24 bits below which an element stays, from a probability in float64."""
    return (keep * 16777216.0).to(tl.int32)


@triton.jit
def _dropout(words, keep, sequence, position, n, there, maps: tl.constexpr, wide: tl.constexpr):
    """What dropout multiplies each element by."""
    share = tl.load(keep + sequence, mask=there, other=1.0)
    bits = _bits(words[:, None], position[:, None] * maps + n[None, :])
    return tl.where(bits < threshold(share)[:, None], (1.0 / share.to(wide))[:, None], 0.0)


@triton.jit
def _between(x, low, high):
    """Cut off below and above; what is no number stays so."""
    return tl.where(x < low, low, tl.where(x > high, high, x))


@triton.jit
def _place(at, end, lengths, steps, padded, step, taps: tl.constexpr):
    """What is said of each row."""
    there = at < end
    sequence = at // padded
    position = at % padded - margin(taps)
    length = tl.load(lengths + sequence, mask=there, other=0)
    inside = there & (position >= 0) & (position < length)
    taken = there & (step < tl.load(steps + sequence, mask=there, other=0))
    return sequence, position, there, inside, taken


@triton.jit
def _elements(source, at, n, exists, stride: tl.constexpr, first: tl.constexpr, end: tl.constexpr):
    """Where the columns first + n of the rows are, and which are before `end`."""
    n = first + n
    return source + at[:, None] * stride + n[None, :], exists[:, None] & (n < end)[None, :]


@triton.jit
def _read(source, at, n, exists, stride: tl.constexpr, first: tl.constexpr, end: tl.constexpr):
    """The columns first + n of the rows, 0 from `end` on."""
    pointers, mask = _elements(source, at, n, exists, stride, first, end)
    return tl.load(pointers, mask=mask, other=0.0)


@triton.jit
def _write(
    target, value, at, n, exists, stride: tl.constexpr, first: tl.constexpr, end: tl.constexpr
):
    """Store the columns first + n of the rows that are before `end`."""
    pointers, mask = _elements(target, at, n, exists, stride, first, end)
    tl.store(pointers, value, mask=mask)


@triton.jit
def _read_moved(source, at, n, rows, maps: tl.constexpr, back: tl.constexpr):
    """The first third of the maps from the row before, the second from the one behind; or back."""
    third = n // (maps // 3)
    move = tl.where(third == 0, -1, tl.where(third == 1, 1, 0)) * (-1 if back else 1)
    row = at[:, None] + move[None, :]
    mask = (row >= 0) & (row < rows) & (n < maps)[None, :]
    return tl.load(source + row * maps + n[None, :], mask=mask, other=0.0)


@triton.jit
def _convolution(
    source, weight, at, n, rows, inner: tl.constexpr, outer: tl.constexpr, taps: tl.constexpr,
    back: tl.constexpr, wide: tl.constexpr, precision: tl.constexpr, block_rows: tl.constexpr,
    block_maps: tl.constexpr, block_inner: tl.constexpr,
):  # fmt: skip
    """A cross-correlation over rows, or its transpose; the weight is (taps, inner, outer)."""
    total = tl.zeros((block_rows, block_maps), wide)
    for tap in range(taps):
        row = at + (tap - taps // 2) * (-1 if back else 1)
        exists = (row >= 0) & (row < rows)
        for first in range(0, inner, block_inner):
            k = first + tl.arange(0, block_inner)
            left = _read(source, row, k, exists, inner, 0, inner)
            right = _read(weight, tap * inner + k, n, k < inner, outer, 0, outer)
            total = tl.dot(left, right, total, input_precision=precision, out_dtype=wide)
    return total


@triton.jit
def _add_saturation(
    saturated, x, at, n, counts, there, block, columns: tl.constexpr, blocks: tl.constexpr
):
    """Add a tile's saturation to the numbers of its rows and block, which are its own."""
    excess = tl.abs(x) - 0.9
    counted = counts[:, None] & (n < columns)[None, :]
    added = tl.sum(tl.where(counted & ~(excess < 0), excess, 0.0).to(tl.float64), 1)
    own = saturated + at * blocks + block
    tl.store(own, tl.load(own, mask=there, other=0.0) + added, mask=there)


@triton.jit
def gates_tile(
    at, n, block, end, states, resets, gates, saturated, weight, bias, lengths, steps, rows, padded,
    step, key, amplitude, noisy: tl.constexpr, kept: tl.constexpr, maps: tl.constexpr,
    taps: tl.constexpr, wide: tl.constexpr, precision: tl.constexpr, block_rows: tl.constexpr,
    block_maps: tl.constexpr, block_inner: tl.constexpr,
):  # fmt: skip
    """Pre-activations of both gates, and the state behind the reset gate."""
    sequence, position, there, inside, taken = _place(at, end, lengths, steps, padded, step, taps)
    size = tl.cast(rows, tl.int64) * maps
    state = states + size * (step if kept else step % 2)
    now = size * (step if kept else 0)
    x = _convolution(
        state, weight, at, n, rows, maps, 2 * maps, taps, False,
        wide, precision, block_rows, block_maps, block_inner,
    )  # fmt: skip
    x += tl.load(bias + n, mask=n < 2 * maps, other=0.0)[None, :]
    if noisy:
        x += _noise(_words(key, sequence, step), 1, position, n, 2 * maps, amplitude, wide)
    _write(gates + 2 * now, x, at, n, there, 2 * maps, 0, 2 * maps)
    reset = _between(0.5 * x + 0.5, 0.0, 1.0) * _read(state, at, n, there, maps, 0, maps)
    reset = tl.where(inside[:, None], reset, 0.0)  # a neighbor's rows, which x is of, may be unset
    _write(resets + now, reset, at, n, there, maps, 0, maps)
    blocks: tl.constexpr = blocks_of(2 * maps, block_maps) + blocks_of(maps, block_maps)
    _add_saturation(saturated, x, at, n, inside & taken, there, block, 2 * maps, blocks)


@triton.jit
def candidate_tile(
    at, n, block, end, states, resets, gates, candidates, saturated, weight, bias, lengths, steps,
    keep, rows, padded, step, key, amplitude, noisy: tl.constexpr, drops: tl.constexpr,
    levels: tl.constexpr, kept: tl.constexpr, maps: tl.constexpr, taps: tl.constexpr,
    wide: tl.constexpr, precision: tl.constexpr, block_rows: tl.constexpr,
    block_maps: tl.constexpr, block_inner: tl.constexpr,
):  # fmt: skip
    """The candidate's pre-activations, and the state after the step."""
    sequence, position, there, inside, taken = _place(at, end, lengths, steps, padded, step, taps)
    size = tl.cast(rows, tl.int64) * maps
    state = states + size * (step if kept else step % 2)
    next_state = states + size * ((step + 1) if kept else (step + 1) % 2)
    now = size * (step if kept else 0)
    x = _convolution(
        resets + now, weight, at, n, rows, maps, maps, taps, False,
        wide, precision, block_rows, block_maps, block_inner,
    )  # fmt: skip
    x += tl.load(bias + n, mask=n < maps, other=0.0)[None, :]
    words = _words(key, sequence, step)
    if noisy:
        x += _noise(words, 2, position, n, maps, amplitude, wide)
    if kept:
        _write(candidates + now, x, at, n, there, maps, 0, maps)
    new = _between(x, -1.0, 1.0)
    if drops:
        new *= _dropout(words, keep, sequence, position, n, there, maps, wide)
    update = _read(gates + 2 * now, at, n, there, 2 * maps, maps, 2 * maps)
    update = _between(0.5 * update + 0.5, 0.0, 1.0)
    moved = _read_moved(state, at, n, rows, maps, False)
    mixed = tl.where(inside[:, None], update * moved + (1.0 - update) * new, 0.0)
    if levels > 0:
        mixed = _halves_to_even(mixed * levels) / levels
    old = _read(state, at, n, there, maps, 0, maps)
    _write(next_state, tl.where(taken[:, None], mixed, old), at, n, there, maps, 0, maps)
    first: tl.constexpr = blocks_of(2 * maps, block_maps)
    blocks: tl.constexpr = first + blocks_of(maps, block_maps)
    _add_saturation(saturated, x, at, n, inside & taken, there, first + block, maps, blocks)


@triton.jit
def _halves_to_even(x):
    """The nearest whole number."""
    floor = tl.floor(x)
    rest = x - floor
    odd = floor - 2.0 * tl.floor(0.5 * floor)
    return floor + tl.where((rest > 0.5) | ((rest == 0.5) & (odd > 0)), 1.0, 0.0)


@triton.jit
def _saturation_slope(x, slope, counts):
    """Gradient of the saturation by pre-activations."""
    sign = tl.where(x > 0, 1.0, -1.0)
    return tl.where(counts[:, None] & (tl.abs(x) > 0.9), sign * slope[:, None], 0.0)


@triton.jit
def _gate_slope(x):
    """Derivative of the hard sigmoid."""
    y = 0.5 * x + 0.5
    return tl.where((y >= 0.0) & (y <= 1.0), 0.5, 0.0)


@triton.jit
def mixture_back_tile(
    at, n, end, grad, states, gates, candidates, grad_gates, grad_candidates, carried,
    grad_saturation, lengths, steps, keep, rows, padded, step, key, drops: tl.constexpr,
    maps: tl.constexpr, taps: tl.constexpr, wide: tl.constexpr,
):  # fmt: skip
    """From the gradient after a step to those of the candidate, the update gate and the memory."""
    sequence, position, there, inside, taken = _place(at, end, lengths, steps, padded, step, taps)
    counts = inside & taken
    now = tl.cast(rows, tl.int64) * maps * step
    candidate = _read(candidates + now, at, n, there, maps, 0, maps)
    gate = _read(gates + 2 * now, at, n, there, 2 * maps, maps, 2 * maps)
    moved = _read_moved(states + now, at, n, rows, maps, False)
    update = _between(0.5 * gate + 0.5, 0.0, 1.0)
    grad = tl.where(counts[:, None], grad, 0.0)
    grad_new = grad * (1.0 - update)
    new = _between(candidate, -1.0, 1.0)
    if drops:
        words = _words(key, sequence, step)
        factor = _dropout(words, keep, sequence, position, n, there, maps, wide)
        grad_new *= factor
        new *= factor
    slope = tl.load(grad_saturation + sequence, mask=there, other=0.0)
    of_candidate = tl.where(tl.abs(candidate) < 1.0, grad_new, 0.0)
    of_candidate += _saturation_slope(candidate, slope, counts)
    of_gate = tl.where(counts[:, None], grad * (moved - new) * _gate_slope(gate), 0.0)
    of_gate += _saturation_slope(gate, slope, counts)
    memory = tl.where(counts[:, None], grad * update, 0.0)
    _write(grad_candidates + now, of_candidate, at, n, there, maps, 0, maps)
    _write(grad_gates + 2 * now, of_gate, at, n, there, 2 * maps, maps, 2 * maps)
    _write(carried, memory, at, n, there, maps, 0, maps)


@triton.jit
def candidate_back_tile(
    at, n, end, grads, states, gates, grad_gates, grad_candidates, carried, grad_saturation, weight,
    lengths, steps, rows, padded, step, maps: tl.constexpr, taps: tl.constexpr, wide: tl.constexpr,
    precision: tl.constexpr, block_rows: tl.constexpr, block_maps: tl.constexpr,
    block_inner: tl.constexpr,
):  # fmt: skip
    """From the candidate's gradient to the reset gate's, and to that of the state beside it."""
    sequence, _, there, inside, taken = _place(at, end, lengths, steps, padded, step, taps)
    now = tl.cast(rows, tl.int64) * maps * step
    grad = _convolution(
        grad_candidates + now, weight, at, n, rows, maps, maps, taps, True,
        wide, precision, block_rows, block_maps, block_inner,
    )  # fmt: skip
    gate = _read(gates + 2 * now, at, n, there, 2 * maps, 0, maps)
    state = _read(states + now, at, n, there, maps, 0, maps)
    slope = tl.load(grad_saturation + sequence, mask=there, other=0.0)
    counts = inside & taken
    of_gate = tl.where(counts[:, None], grad * state * _gate_slope(gate), 0.0)
    of_gate += _saturation_slope(gate, slope, counts)
    _write(grad_gates + 2 * now, of_gate, at, n, there, 2 * maps, 0, maps)
    grad *= _between(0.5 * gate + 0.5, 0.0, 1.0)
    grad += _read_moved(carried, at, n, rows, maps, True)
    same = _read(grads, at, n, there, maps, 0, maps)
    _write(grads, tl.where(taken[:, None], grad, same), at, n, there, maps, 0, maps)


@triton.jit
def gates_back_tile(
    at, n, end, grads, states, gates, candidates, grad_gates, grad_candidates, carried,
    grad_saturation, weight, lengths, steps, keep, rows, padded, step, key,
    drops: tl.constexpr, maps: tl.constexpr, taps: tl.constexpr, wide: tl.constexpr,
    precision: tl.constexpr, block_rows: tl.constexpr, block_maps: tl.constexpr,
    block_inner: tl.constexpr,
):  # fmt: skip
    """Add what comes from the gates to the state's gradient, and begin the step before."""
    _, _, there, inside, _ = _place(at, end, lengths, steps, padded, step, taps)
    now = tl.cast(rows, tl.int64) * maps * step
    grad = _read(grads, at, n, there, maps, 0, maps)
    grad += _convolution(
        grad_gates + 2 * now, weight, at, n, rows, 2 * maps, maps, taps, True,
        wide, precision, block_rows, block_maps, block_inner,
    )  # fmt: skip
    grad = tl.where(inside[:, None], grad, 0.0)
    _write(grads, grad, at, n, there, maps, 0, maps)
    if step > 0:
        mixture_back_tile(
            at, n, end, grad, states, gates, candidates, grad_gates, grad_candidates, carried,
            grad_saturation, lengths, steps, keep, rows, padded, step - 1, key, drops, maps, taps,
            wide,
        )  # fmt: skip
