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


def stays(keep, seed, sequence, step, element):
    """Whether dropout keeps an element, in whole numbers alone."""
    key = mixed(seed % WORD ^ mixed(seed // WORD % WORD))
    word = mixed((key + 0x9E3779B1 * sequence) % WORD)
    word = mixed((word + 0x85EBCA6B * step) % WORD)
    word = mixed((word + 0xC2B2AE35 * element) % WORD)
    return word // 2**8 < math.floor(keep * 2**24)


def dropped(state, keep, seed, sequence, step):
    new = np.zeros_like(state)
    _, width, maps = state.shape
    for (x, y, i), value in np.ndenumerate(state):
        if stays(keep, seed, sequence, step, (x * width + y) * maps + i):
            new[x, y, i] = value / keep
    return new


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


def cgru(state, gate_weight, gate_bias, candidate_weight, candidate_bias, *, cutoff):
    """u s + (1 - u) tanh(U * (r s) + B)."""
    maps = state.shape[-1]
    gates = 1 / (1 + np.exp(-convolution(state, gate_weight, gate_bias)))
    if cutoff:
        gates = np.minimum(np.maximum(1.2 * gates - 0.1, 0), 1)
    reset, update = gates[..., :maps], gates[..., maps:]
    candidate = np.tanh(convolution(reset * state, candidate_weight, candidate_bias))
    return update * state + (1 - update) * candidate


def diagonal(state, gate_weight, gate_bias, candidate_weight, candidate_bias, drop=lambda c: c):
    """g shift(s) + (1 - g) dropout(ht(U * (r s) + B)), and how far it is saturated."""
    length, _, maps = state.shape
    gates = convolution(state, gate_weight, gate_bias)
    hard = np.minimum(np.maximum(0.5 * gates + 0.5, 0), 1)
    reset, update = hard[..., :maps], hard[..., maps:]
    before = convolution(reset * state, candidate_weight, candidate_bias)
    candidate = drop(np.minimum(np.maximum(before, -1), 1))
    shifted = np.zeros_like(state)
    for x, i in np.ndindex(length, maps):
        source = x - 1 if i < maps // 3 else x + 1 if i < 2 * maps // 3 else x
        if 0 <= source < length:
            shifted[x, 0, i] = state[source, 0, i]
    saturation = sum(np.maximum(np.abs(x) - 0.9, 0).sum() for x in (gates, before))
    return update * shifted + (1 - update) * candidate, saturation


def unroll(state, length, steps, *parameters, cell, cutoff=True, keep=None, seed=0, sequence=0):
    """The last state and the saturation of one sequence, cut to its own length."""
    state, saturation = state[:length], 0.0
    for step in range(steps):
        layers = [part[step % len(part)] for part in parameters]

        def drop(values, step=step):
            return values if keep is None else dropped(values, keep, seed, sequence, step)

        if cell == "diagonal":
            state, added = diagonal(state, *(part[0] for part in layers), drop)
            saturation += added
            continue
        state = drop(state)
        for layer in zip(*layers, strict=True):
            state = cgru(state, *layer, cutoff=cutoff)
    return state, saturation
