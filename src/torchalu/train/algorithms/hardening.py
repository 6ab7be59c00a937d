"""Noise that makes what has been learned hold on longer strings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from torchalu.arguments import check_positive_integers
from torchalu.nn import NeuralGPUBase
from torchalu.train.algorithms.validation import right_by_symbols
from torchalu.train.hooks import Hook, Progress


class Hardening(Hook):
    r"""Once the task is learned, raises the noise of a Neural GPU, lowers the rate, and ends.

    .. math:: \nu_t = \nu_0 + (\nu - \nu_0) \min\Bigl(1, \frac{t - t_0}{k}\Bigr), \qquad
              \frac{\lambda_t}{\lambda} = \max\Bigl(\phi, 1 - \frac{t - t_1}{l}\Bigr)
              \ \text{from } t_1 \text{ on}

    with the first step t_0 after which nearly all validation strings of the training lengths are
    right, the noise is nu_0 before it, and the first step t_1 from t_0 + k on after
    which all validation strings of all lengths are right, and no search has found a wrong one
    (`CounterexampleTraining`), t_0 + k + w at the latest.
    A signal that is passed on from position to position without noise may fade by a little in
    each step, which strings of the training lengths do not show. With noise it has to be restored
    in each step. With some noise from the start, a network does not learn at first what does not
    bear it.

    Args:
        noise: nu, the amplitude at last.
        initial: nu_0, that before the task is learned.
        ramp: k, the steps in which it is reached.
        settle: l, those in which the learning rate falls at the end.
        wait: w, those for which it stays as it was, at most, as long as a validation string is
            wrong, or one that is searched for.
        floor: phi, the least fraction of the learning rate.
        learned: the fraction of those validation strings that has to be right, at each length.
        at: these lengths, in symbols; the least that is validated at if left out.

    Attributes:
        began: t_0; -1 before it.
        settling: t_1; -1 before it, and where `wait` ran out.

    Raises:
        ValueError: a number is out of its range.

    Source:
        Ours. Jim, Giles & Horne 1996 find that noise on the weights of recurrent networks improves
        generalization.

    Example:
        >>> hardening = Hardening(0.5, initial=0.25, ramp=1000, settle=1000)
        >>> hardening.began = 200
        >>> hardening.amplitude(700), hardening.learning_rate_factor(1700)
        (0.375, 0.5)
    """

    kept = ("began", "settling")
    fixed = ("noise", "initial", "ramp", "settle", "floor", "learned", "wait", "at")

    def __init__(
        self,
        noise: float,
        ramp: int,
        settle: int,
        initial: float = 0.0,
        floor: float = 0.02,
        learned: float = 0.9,
        wait: int = 0,
        at: Sequence[int] = (),
    ) -> None:
        if not noise >= 0:
            raise ValueError(f"noise is {noise}; give a number from 0 up")
        if not 0 <= initial <= noise:
            raise ValueError(f"initial is {initial}; give a number from 0 to noise, {noise}")
        check_positive_integers(ramp=ramp, settle=settle)
        if wait < 0:
            raise ValueError(f"wait is {wait}; give 0 or more")
        for name, share in (("floor", floor), ("learned", learned)):
            if not 0 < share <= 1:
                raise ValueError(f"{name} is {share}; give a number above 0, 1 at most")
        self.noise, self.initial, self.ramp, self.settle = noise, initial, ramp, settle
        self.floor, self.learned, self.wait = floor, learned, wait
        self.at = tuple(at)
        self.began = self.settling = -1

    def amplitude(self, step: int) -> float:
        """The noise of a step.

        Args:
            step: how many were taken before.
        """
        done = 0.0 if self.began < 0 else min(1.0, (step - self.began) / self.ramp)
        return self.initial + (self.noise - self.initial) * done

    def learning_rate_factor(self, step: int) -> float:
        """What is left of the learning rate."""
        return max(self.floor, 1 - max(0.0, step - self._from) / self.settle)

    @property
    def _from(self) -> float:
        """The step from which on the learning rate falls, as far as that is known."""
        if self.began < 0:
            return math.inf
        return self.settling if self.settling >= 0 else self.began + self.ramp + self.wait

    def before_step(self, progress: Progress) -> None:
        """Set the module's noise."""
        assert isinstance(progress.module, NeuralGPUBase)
        progress.module.noise = self.amplitude(progress.step)

    def after_evaluation(self, progress: Progress, row: Mapping[str, float]) -> None:
        """Begin where the task is learned, and settle where all strings are right."""
        right = right_by_symbols(row)
        whole = self.began + self.ramp <= progress.step < self._from
        if self.began < 0:
            if all(right[n] >= self.learned for n in self.at or [*right][:1]):
                self.began = progress.step
        elif whole and min(right.values()) == 1 and not row.get("found_wrong", 0) > 0:
            self.settling = progress.step

    def after_step(self, progress: Progress) -> None:
        """End where the learning rate has fallen."""
        if progress.step >= self._from + self.settle:
            progress.end()

    def columns(self) -> dict[str, float]:
        """The step at which it began."""
        return {"hardening_began": float(self.began)}
