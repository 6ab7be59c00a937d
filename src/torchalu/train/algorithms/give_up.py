"""Giving up a training that does not generalize."""

from __future__ import annotations

from collections.abc import Mapping

from torchalu.arguments import check_positive_integers
from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.algorithms.result import AlgorithmResult
from torchalu.train.algorithms.validation import right_by_symbols
from torchalu.train.hooks import Hook, Progress

GIVEN_UP = "given up"
"""The status of an attempt that another one follows; see `GiveUp`."""


class GiveUp(Hook):
    """Ends a training that has learned its task, but does not hold on longer strings.

    Networks that answer all strings of the training lengths may have learned something that works
    on those alone; more steps seldom change it. Others hold on strings a few times longer, and err
    now and then on much longer ones: where the training still waits for them to be right (`wait` of
    `Hardening`), and none of the evaluations with whole noise finds that they are, it ends too. One
    that goes on to its own end is given up then if a validation string is wrong in what is kept.

    Args:
        hardening: which begins when the task is learned.
        patience: steps from there, and from each evaluation that finds nearly all validation
            strings of a length right, in which another has to; and those from
            the step with whole noise on in which one has to find those of all lengths right, if the
            training waits longer than that for it; one that has begun to settle goes on to its end.
        held: the fraction of them that has to be right.
        at: this length, in symbols; the second that is validated at if left out.

    Attributes:
        held_at: the step of the last such evaluation; -1 before there is one.
        given_up: whether it has ended the training.

    Raises:
        ValueError: a number is out of its range; at the first evaluation, there is no such length.

    Source:
        Ours.

    Example:
        >>> hook = GiveUp(Hardening(0.5, ramp=1000, settle=1000), patience=300)
        >>> hook.held_at, hook.given_up
        (-1, False)
    """

    kept = ("held_at", "given_up")
    fixed = ("patience", "held", "at")

    def __init__(
        self, hardening: Hardening, patience: int, held: float = 0.9, at: int | None = None
    ) -> None:
        check_positive_integers(patience=patience)
        if not 0 < held <= 1:
            raise ValueError(f"held is {held}; give a number above 0, 1 at most")
        self.hardening, self.patience, self.held, self.at = hardening, patience, held, at
        self.held_at, self.given_up = -1, False

    def gives_up(self, attempt: AlgorithmResult) -> bool:
        """Whether another attempt is to follow one.

        Args:
            attempt: as it has ended, by this or by itself.
        """
        return self.given_up or (attempt.status == "ended" and not attempt.generalizes)

    def after_evaluation(self, progress: Progress, row: Mapping[str, float]) -> None:
        """End where patience is at its end."""
        right = right_by_symbols(row)
        at = [*right][1] if self.at is None and len(right) > 1 else self.at
        if at not in right:
            raise ValueError(
                f"at is {self.at}, and the training validates at {', '.join(map(str, right))} "
                "symbols; give a longer length than those of the training among these as `at`"
            )
        if right[at] >= self.held:
            self.held_at = progress.step
        hardening = self.hardening
        if hardening.began < 0:
            return
        fails = progress.step - max(hardening.began, self.held_at) >= self.patience
        whole = progress.step - hardening.began - hardening.ramp
        waits = hardening.settling < 0 and whole < hardening.wait
        if fails or (waits and whole >= self.patience):
            self.given_up = True
            progress.end()
