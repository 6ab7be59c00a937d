"""What a network does with each word, read off its answers and rounded to a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int64

from torchalu.tasks import WORD_VOCABULARY

_SAME = 0.5
"""Numbers closer than this are not told apart."""


class Rule(NamedTuple):
    """What a word does to the number so far.

    Attributes:
        factor: by which it is multiplied.
        addend: what is added then.
        residual: greatest difference from what the network did, unrounded.
    """

    factor: int
    addend: int
    residual: float = 0.0

    def __str__(self) -> str:
        times = f"×{self.factor}" if self.factor != 1 else ""
        plus = f"{self.addend:+d}" if self.addend or not times else ""
        return f"{times} {plus}".strip()


def read_rules(
    answers: Float[np.ndarray, "phrases longest"],
    tokens: Int64[np.ndarray, "phrases longest"],
    lengths: Int64[np.ndarray, " phrases"],
) -> dict[str, Rule]:
    r"""The rule of each word that is nearest to what a network does with it.

    .. math:: y_t \approx f_w y_{t-1} + a_w, \qquad y_0 = 0

    f by least squares over all places where the word stands, rounded; then a likewise. Where the
    numbers before a word are always the same, as for "thousand", what it does counts as addition.

    Args:
        answers: of the network after each word.
        tokens: indices into `WORD_VOCABULARY`.
        lengths: words in each phrase.

    Example:
        >>> answers, tokens = np.array([[3.0, 300.1], [7.0, 699.8]]), np.array([[4, 29], [8, 29]])
        >>> str(read_rules(answers, tokens, np.array([2, 2]))["hundred"])
        '×100'
    """
    before = np.concatenate((np.zeros((len(answers), 1)), answers[:, :-1]), 1)
    there = np.arange(tokens.shape[1]) < lengths[:, None]
    rules = {}
    for index in np.unique(tokens[there]).tolist():
        places = there & (tokens == index)
        rules[WORD_VOCABULARY[index]] = _nearest(before[places], answers[places])
    return rules


def obey(
    rules: Mapping[str, Rule], phrases: Sequence[Sequence[str]]
) -> Float[np.ndarray, " phrases"]:
    """What phrases come to by the rules; NaN where a word has none.

    Args:
        rules: of words.
        phrases: each a sequence of words.

    Example:
        >>> rules = {"two": Rule(1, 2), "hundred": Rule(100, 0)}
        >>> obey(rules, [("two", "hundred"), ("two", "thousand")]).tolist()
        [200.0, nan]
    """
    answers = []
    for phrase in phrases:
        number = 0.0
        for word in phrase:
            rule = rules.get(word)
            number = number * rule.factor + rule.addend if rule else float("nan")
        answers.append(number)
    return np.array(answers)


def write_rules(rules: Mapping[str, Rule]) -> str:
    """The rules in a line.

    Args:
        rules: of words.

    Example:
        >>> write_rules({"hundred": Rule(100, 0), "and": Rule(1, 0), "odd": Rule(2, -3)})
        'hundred ×100; and +0; odd ×2 -3'
    """
    return "; ".join(f"{word} {rule}" for word, rule in rules.items())


def _nearest(before: Float[np.ndarray, " places"], after: Float[np.ndarray, " places"]) -> Rule:
    """The rounded rule of one word."""
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        return Rule(1, 0, float("inf"))
    factor = 1
    if np.ptp(before) >= _SAME:
        columns = np.stack((before, np.ones_like(before)), 1)
        factor = round(float(np.linalg.lstsq(columns, after, rcond=None)[0][0]))
    rule = Rule(factor, round(float(np.mean(after - factor * before))))
    worst = np.abs(before * rule.factor + rule.addend - after).max()
    return rule._replace(residual=float(worst))
