"""The Neural GPUs' steps as loops over single numbers, one sequence at a time."""

import math

import numpy as np

WORD = 2**32


def mixed(word):
    word ^= word >> 16
    word = word * 0x21F0AAAD % WORD
    word ^= word >> 15
    word = word * 0x735A2D97 % WORD
    return word ^ word >> 15


def step_word(seed, sequence, step):
    """What all that is random in a step of a sequence comes from."""
    key = mixed(seed % WORD ^ mixed(seed // WORD % WORD))
    word = mixed((key + 0x9E3779B1 * sequence) % WORD)
    return mixed((word + 0x85EBCA6B * step) % WORD)


def bits(word, element):
    """24 random bits of an element."""
    return mixed((word + 0xC2B2AE35 * element) % WORD) // 2**8


def stays(keep, seed, sequence, step, element):
    """Whether dropout keeps an element, in whole numbers alone."""
    return bits(step_word(seed, sequence, step), element) < math.floor(keep * 2**24)


def disturbed(values, noise, stream, seed, sequence, step):
    """Values with noise uniform on (length, width, channels)."""
    word = mixed((step_word(seed, sequence, step) + 0x27D4EB2F * stream) % WORD)
    numbers = [bits(word, element) / 2**23 - 1 for element in range(values.size)]
    return values + noise * np.reshape(numbers, values.shape)


def dropped(state, keep, seed, sequence, step):
    new = np.zeros_like(state)
    _, width, maps = state.shape
    for (x, y, i), value in np.ndenumerate(state):
        if stays(keep, seed, sequence, step, (x * width + y) * maps + i):
            new[x, y, i] = value / keep
    return new


def rounded(state, levels):
    """Multiples of 1 / levels; with 0 levels the state as it is."""
    return np.rint(state * levels) / levels if levels else state


def convolution(state, kernel, bias):
    """U * s [x, y, i] = sum over u, v, c of s[x + u, y + v, c] U[u, v, c, i], 0 outside."""
    length, width, maps = state.shape
    outputs, _, rows, columns = kernel.shape
    new = np.zeros((length, width, outputs))
    for x, y, i in np.ndindex(*new.shape):
        new[x, y, i] = bias[i]
        for u, v, c in np.ndindex(rows, columns, maps):
            row, column = x + u - rows // 2, y + v - columns // 2
            if 0 <= row < length and 0 <= column < width:
                new[x, y, i] += state[row, column, c] * kernel[i, c, u, v]
    return new


def unchanged(values, _):
    return values


def cgru(state, gate_weight, gate_bias, candidate_weight, candidate_bias, add=unchanged, *, cutoff):
    """u s + (1 - u) tanh(U * (r s) + B)."""
    maps = state.shape[-1]
    gates = 1 / (1 + np.exp(-add(convolution(state, gate_weight, gate_bias), 1)))
    if cutoff:
        gates = np.minimum(np.maximum(1.2 * gates - 0.1, 0), 1)
    reset, update = gates[..., :maps], gates[..., maps:]
    candidate = np.tanh(add(convolution(reset * state, candidate_weight, candidate_bias), 2))
    return update * state + (1 - update) * candidate


def diagonal(
    state,
    gate_weight,
    gate_bias,
    candidate_weight,
    candidate_bias,
    drop=lambda c: c,
    add=unchanged,
):
    """g shift(s) + (1 - g) dropout(ht(U * (r s) + B)), and how far it is saturated."""
    length, _, maps = state.shape
    gates = add(convolution(state, gate_weight, gate_bias), 1)
    hard = np.minimum(np.maximum(0.5 * gates + 0.5, 0), 1)
    reset, update = hard[..., :maps], hard[..., maps:]
    before = add(convolution(reset * state, candidate_weight, candidate_bias), 2)
    candidate = drop(np.minimum(np.maximum(before, -1), 1))
    shifted = np.zeros_like(state)
    for x, i in np.ndindex(length, maps):
        source = x - 1 if i < maps // 3 else x + 1 if i < 2 * maps // 3 else x
        if 0 <= source < length:
            shifted[x, 0, i] = state[source, 0, i]
    saturation = sum(np.maximum(np.abs(x) - 0.9, 0).sum() for x in (gates, before))
    return update * shifted + (1 - update) * candidate, saturation


def unroll(
    state,
    length,
    steps,
    *parameters,
    cell,
    cutoff=True,
    levels=0,
    keep=None,
    noise=0.0,
    seed=0,
    sequence=0,
):
    """The last state and the saturation of one sequence, cut to its own length."""
    state, saturation = state[:length], 0.0
    for step in range(steps):
        layers = [part[step % len(part)] for part in parameters]

        def drop(values, step=step):
            return values if keep is None else dropped(values, keep, seed, sequence, step)

        def add(values, stream, step=step):
            return disturbed(values, noise, stream, seed, sequence, step)

        if cell == "diagonal":
            state, added = diagonal(state, *(part[0] for part in layers), drop, add)
            state = rounded(state, levels)
            saturation += added
            continue
        state = drop(state)
        for number, layer in enumerate(zip(*layers, strict=True)):

            def add_later(values, stream, add=add, number=number):
                return add(values, 2 * number + stream)

            state = rounded(cgru(state, *layer, add_later, cutoff=cutoff), levels)
    return state, saturation
