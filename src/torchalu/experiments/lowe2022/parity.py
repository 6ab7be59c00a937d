"""Parity: of four logits, as in figure 4, and of up to 32 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Bool, Float
from sympy import Not, Symbol, Xor
from sympy.logic.boolalg import Boolean
from torch import Tensor

from torchalu.experiments.lowe2022.data import Batch, ClassificationData, Samples, Source

BitLaw = Literal["mixed", "fair"]

_LOGIT_ROWS = {"train": 10_000, "validation": 1_000, "test": 10_000}
_STREAMS = {"train": 0, "validation": 1, "test": 2}
_EPOCH = 1000
_FRESH = 3
_HELD = 10_000


def even(inputs: Float[Tensor, "rows inputs"]) -> Bool[Tensor, " rows"]:
    """Whether an even number of inputs is negative: what nested XNORs of their signs say.

    Of an even number of inputs, that is the parity of the positive ones as well.

    Args:
        inputs: logits, none of them 0.

    Example:
        >>> even(torch.tensor([[1.0, -1.0], [-1.0, -1.0]]))
        tensor([False,  True])
    """
    return (inputs < 0).sum(1) % 2 == 0


def even_formula(names: Sequence[str]) -> Boolean:
    """The same as a formula: whether an even number of bits is false.

    Args:
        names: of the bits.

    Example:
        >>> even_formula(["a", "b", "c"]), even_formula(["a", "b"])
        (a ^ b ^ c, ~(a ^ b))
    """
    odd = reduce(Xor, (Symbol(name) for name in names))
    return odd if len(names) % 2 else Not(odd)


@cache
def four_logits() -> ClassificationData:
    """Four standard normal logits, and the parity of their signs: 10,000 samples to train on.

    Source:
        Lowe et al. 2022, section 4.1. The law of the logits and the number of samples are ours.

    Example:
        >>> four_logits().train.inputs.shape
        torch.Size([10000, 4])
    """
    parts = []
    for part, rows in _LOGIT_ROWS.items():
        logits = torch.from_numpy(_random(4, part).standard_normal((rows, 4))).float()
        parts.append(Samples(logits, even(logits).long()))
    train, validation, test = parts
    return ClassificationData(train, validation, test)


FOUR_LOGITS = Source("parity of four standard normal logits", four_logits)


@dataclass(frozen=True)
class FreshBits(ClassificationData):
    """Bits as -1 and 1, drawn afresh for each batch, and their parity; 1000 batches an epoch.

    Args:
        law: "fair" bits; or "mixed", where the probability of a positive bit is itself uniform
            on [0, 1], drawn for each sample.
    """

    law: BitLaw = "mixed"

    def epoch_steps(self, batch_size: int) -> int:  # noqa: ARG002
        """Batches in an epoch."""
        return _EPOCH

    def batch(self, step: int, batch_size: int, seed: int) -> Batch:
        """The batch of a training step, which follows from the seed and the number of the step.

        Args:
            step: the number of the step, from 0.
            batch_size: samples in a batch.
            seed: of the samples.
        """
        random = np.random.default_rng([seed, _FRESH, step])
        return Batch(*_bits(self.train.inputs.shape[1], batch_size, self.law, random))


def bits(inputs: int, law: BitLaw) -> Source:
    """Bits and their parity; what is held out to judge by is fair, whatever the law.

    Args:
        inputs: how many bits, 2 or more.
        law: of the training samples, as of `FreshBits`.

    Raises:
        ValueError: fewer than 2 inputs, an unknown law.

    Source:
        Beyond Lowe et al. 2022. That parities are learned by gradients from biased bits, and not
        from fair ones: Daniely & Malach 2020; Cornacchia & Mossel 2023.

    Example:
        >>> bits(8, "mixed").load().batch(0, batch_size=5, seed=0).inputs.shape
        torch.Size([5, 8])
    """
    if inputs < 2:
        raise ValueError(f"inputs is {inputs}; give 2 or more")
    if law not in get_args(BitLaw):
        raise ValueError(f"law is {law!r}; choose from {', '.join(get_args(BitLaw))}")
    return Source(f"parity of {inputs} bits, {law}", partial(_fresh_bits, inputs, law))


@cache
def _fresh_bits(inputs: int, law: BitLaw) -> FreshBits:
    """The data of `bits`."""
    train, validation, test = (
        _bits(inputs, _HELD, law if part == "train" else "fair", _random(inputs, part))
        for part in _STREAMS
    )
    return FreshBits(train, validation, test, law=law)


def _random(inputs: int, part: str) -> np.random.Generator:
    """Random numbers for the samples of a part."""
    return np.random.default_rng([inputs, _STREAMS[part]])


def _bits(inputs: int, rows: int, law: BitLaw, random: np.random.Generator) -> Samples:
    """Samples of one law."""
    chance = random.random((rows, 1)) if law == "mixed" else 0.5
    signs = np.where(random.random((rows, inputs)) < chance, 1.0, -1.0)
    tensor = torch.from_numpy(signs).float()
    return Samples(tensor, even(tensor).long())
