"""A state of few levels once a Neural GPU has learned to bear noise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from torchalu.arguments import check_positive_integers
from torchalu.nn import NeuralGPUBase
from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.hooks import Hook, Progress


class Rounding(Hook):
    r"""Evaluates, and keeps as the best, a Neural GPU whose state is rounded to few levels.

    .. math:: s \leftarrow \operatorname{round}(l s) / l

    after each step, from the step of the training on at which the noise of `hardening` is whole.
    What is trained is not rounded. A number that a cell holds drifts a little with each signal that
    passes by: over the few steps of training strings that goes unseen, over thousands the number is
    lost. Rounded, it is restored in each step. What has not learned to bear noise may be broken by
    it, so that the best step is chosen from those with whole noise.

    Args:
        hardening: which says when.
        levels: l; see :class:`torchalu.nn.DiagonalNeuralGPU`.

    Attributes:
        began: the step at which it set in; -1 before it.

    Raises:
        ValueError: `levels` is not positive.

    Source:
        Ours.

    Example:
        >>> Rounding(Hardening(0.5, ramp=1000, settle=1000), levels=2).began
        -1
    """

    kept = ("began",)
    fixed = ("levels",)

    def __init__(self, hardening: Hardening, levels: int) -> None:
        check_positive_integers(levels=levels)
        self.hardening, self.levels = hardening, levels
        self.began = -1

    def begin(self, progress: Progress) -> None:
        """Round nothing in training."""
        assert isinstance(progress.module, NeuralGPUBase)
        progress.module.levels = 0

    def before_step(self, progress: Progress) -> None:
        """Begin where the noise is whole."""
        hardening = self.hardening
        if self.began >= 0 or hardening.began < 0:
            return
        if progress.step >= hardening.began + hardening.ramp:
            self.began = progress.step
            progress.best_loss = math.inf

    def levels_at(self, step: int) -> int:
        """The module's levels in the evaluation after a step, 0 before rounding set in.

        Args:
            step: steps taken before the evaluation.
        """
        return self.levels if 0 <= self.began < step else 0

    @contextmanager
    def evaluating(self, progress: Progress) -> Iterator[None]:
        """Set the module's levels, once it has begun."""
        module = progress.module
        assert isinstance(module, NeuralGPUBase)
        module.levels = 0 if self.began < 0 else self.levels
        try:
            yield
        finally:
            module.levels = 0
