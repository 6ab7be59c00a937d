"""The whole numbers behind a network in which each word multiplies and adds."""

from __future__ import annotations

import numpy as np
import scipy
import torch
from jaxtyping import Float, Int64

from torchalu.experiments.trask2018.word_networks import WordArithmetic
from torchalu.tasks.number_words import WordBatch

_CLOSE = 1e-12
"""Where a fit stops."""

_Words = Float[np.ndarray, " words"]


def snapped(network: WordArithmetic, batch: WordBatch) -> WordArithmetic:
    """The network whose rules are whole numbers that fit its training phrases.

    Args:
        network: that is trained; one whose rules are not finite is given back as it is.
        batch: what it was trained on.
    """
    factors, addends = (part.detach().double().numpy() for part in network.rules())
    if not (np.isfinite(factors).all() and np.isfinite(addends).all()):
        return network
    tokens, targets = batch.tokens.numpy(), batch.targets.squeeze(1).double().numpy()
    whole = snap_rules(factors, addends, tokens, targets)
    return WordArithmetic.of(*(torch.from_numpy(part).float() for part in whole))


def snap_rules(
    factors: _Words,
    addends: _Words,
    tokens: Int64[np.ndarray, "phrases longest"],
    targets: Float[np.ndarray, " phrases"],
) -> tuple[_Words, _Words]:
    r"""Whole numbers that words multiply by and add, near given ones.

    .. math:: s_t = f_{w_t} s_{t-1} + a_{w_t}, \qquad s_0 = 0

    All numbers are fitted to the phrases by least squares. Then the factor that is nearest to 1 is
    rounded and stays, since most words only add; all others are fitted anew; and so on. The addends
    are rounded at the end. A word with always the same words before it, as "thousand", has the
    factor 1: what it does counts as addition.

    Args:
        factors: of each word of the vocabulary, to begin with; that of the padding is left as 1.
        addends: likewise; that of the padding is left as 0.
        tokens: words of each phrase, padded with 0.
        targets: what phrases come to.

    Returns:
        Factors, 0 or more, and addends. Nothing says that they fit: that is to be tested.

    Example:
        >>> tokens, targets = np.array([[1, 2], [1, 0], [2, 2]]), np.array([12.0, 3.0, 0.0])
        >>> factors, addends = snap_rules(np.ones(3), np.ones(3), tokens, targets)
        >>> factors.tolist(), addends.tolist()
        ([1.0, 1.0, 4.0], [0.0, 3.0, 0.0])
    """
    factors, addends = factors.copy(), addends.copy()
    factors[0], addends[0] = 1.0, 0.0
    free = _after_different_words(tokens, len(factors))
    factors[~free] = 1.0
    while True:
        factors, addends = _fitted(factors, addends, free, tokens, targets)
        if not free.any():
            return factors, np.round(addends) + 0.0
        nearest = np.argmin(np.where(free, np.abs(factors - 1), np.inf))
        factors[nearest] = max(np.round(factors[nearest]), 0.0)
        free[nearest] = False


def _after_different_words(tokens: Int64[np.ndarray, "phrases longest"], words: int) -> np.ndarray:
    """Which words of the vocabulary stand after more than one sequence of others."""
    places = {
        (word, *phrase[:place])
        for phrase in tokens.tolist()
        for place, word in enumerate(phrase)
        if word
    }
    counts = np.bincount([word for word, *_ in places], minlength=words)
    return counts > 1


def _fitted(
    factors: _Words,
    addends: _Words,
    free: np.ndarray,
    tokens: Int64[np.ndarray, "phrases longest"],
    targets: Float[np.ndarray, " phrases"],
) -> tuple[_Words, _Words]:
    """The factors that are free, and all addends, by least squares, from where they are."""

    def both(numbers: np.ndarray) -> tuple[_Words, _Words]:
        moved = factors.copy()
        moved[free] = numbers[: free.sum()]
        return moved, np.concatenate(([0.0], numbers[free.sum() :]))

    def jacobian(numbers: np.ndarray) -> np.ndarray:
        _, by_factor, by_addend = _read(*both(numbers), tokens)
        return np.concatenate((by_factor[:, free], by_addend[:, 1:]), 1)

    solution = scipy.optimize.least_squares(
        lambda numbers: _read(*both(numbers), tokens)[0] - targets,
        np.concatenate((factors[free], addends[1:])),
        jacobian,
        xtol=_CLOSE,
        ftol=_CLOSE,
        gtol=_CLOSE,
    )
    return both(solution.x)


def _read(
    factors: _Words, addends: _Words, tokens: Int64[np.ndarray, "phrases longest"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What phrases come to, and the derivatives by each factor and each addend."""
    phrases = np.arange(len(tokens))
    number = np.zeros(len(tokens))
    by_factor, by_addend = np.zeros((2, len(tokens), len(factors)))
    for word in tokens.T:
        factor = factors[word]
        by_factor *= factor[:, None]
        by_addend *= factor[:, None]
        by_factor[phrases, word] += number
        by_addend[phrases, word] += 1
        number = factor * number + addends[word]
    return number, by_factor, by_addend
