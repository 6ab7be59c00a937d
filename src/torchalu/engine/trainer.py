"""Many replicas of small stacks, trained at native speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchalu.arguments import check_integers_from_zero, check_positive_integers
from torchalu.engine.device import check_runs, native_train
from torchalu.engine.progress import watch
from torchalu.engine.result import Result
from torchalu.engine.rows import check_dtype
from torchalu.engine.run import Run
from torchalu.engine.team import Team
from torchalu.tasks import SimpleFunction, Table


class TrainingInterrupted(KeyboardInterrupt):
    """Training was interrupted; `result` holds every replica as it stood, ready to `resume`.

    From `train_together` it is a list, a result a run.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("training was interrupted; its state is in .result")
        self.result = result


def train(
    stack: nn.Module | Iterable[nn.Module],
    task: SimpleFunction | Table,
    *,
    steps: int,
    replicas: int | Sequence[int] = 1,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    batch_size: int = 128,
    learning_rate: float | Sequence[float] = 1e-3,
    penalty: float | Sequence[float] = 0.0,
    penalty_start: float | Sequence[float] = 0.0,
    penalty_end: float | Sequence[float] = 1.0,
    clip_norm: float | Sequence[float] = np.inf,
    clip_value: float | Sequence[float] = np.inf,
    betas: tuple[float, float] = (0.9, 0.999),
    adam_eps: float = 1e-8,
    evaluate_every: int = 1000,
    stop_below: float | None = None,
    stop_patience: int = 1,
    validation: Table | None = None,
    initial: dict[str, Tensor] | None = None,
    resume: Result | None = None,
    threads: int | None = None,
    device: str = "cpu",
    progress: bool = False,
) -> Result:
    r"""Train many replicas of a stack of units at once, with Adam, in native code.

    .. math:: L = \mathrm{MSE} + \hat\lambda \max(\min(\tfrac{t - t_0}{t_1 - t_0}, 1), 0)
              \sum_\ell R_\ell

    A replica's result depends on `seed` and its number alone: not on the other replicas, on the
    number of threads, or on whether the run was interrupted and resumed. A replica whose loss is
    no longer finite ends there, with status "nan".

    Args:
        stack: what to train, as in `Run`.
        task: what to learn, as in `Run`.
        steps: optimizer steps of each replica, those of `resume` included.
        replicas: how many, or the numbers of those to train.
        seed: of all randomness.
        dtype: `torch.float32` or `torch.float64`.
        batch_size: rows a step; those of a table in multiples of 16, or all of them.
        learning_rate: of Adam; like the next five, one number or one a replica.
        penalty: :math:`\hat\lambda`, factor of the units' own penalty.
        penalty_start: :math:`t_0`, step at which the penalty sets in.
        penalty_end: :math:`t_1`, step from which on it is whole.
        clip_norm: bound of the gradient's norm over all parameters.
        clip_value: bound of each element of the gradient.
        betas: of Adam.
        adam_eps: of Adam.
        evaluate_every: steps from one evaluation to the next; one always follows the last step.
        stop_below: a replica stops when its validation loss is at most this.
        stop_patience: at so many evaluations in a row.
        validation: rows for evaluation; the task's own by default (a fixed sample, or the table).
        initial: parameters to start from, by name, (\*shape) or (replicas, \*shape).
        resume: go on from this result of the same call with fewer steps.
        threads: how many of the CPU to use; every core by default.
        device: "cpu", or "cuda" for a GPU, which trains thousands of replicas at once, in
            `torch.float32`, on a `SimpleFunction`, 113 to 128 rows a step. It draws the same
            batches; its results differ by rounding.
        progress: show a bar, if the standard error is a terminal.

    Raises:
        TypeError: a module or a task that the trainer does not know, a wrong dtype, a seed or a
            number of things that is no integer.
        ValueError: sizes, numbers or names that do not fit; each message says which.
        RuntimeError: `device` is "cuda", and there is no GPU or no trainer built for it.
        TrainingInterrupted: on Ctrl-C, with the state so far.

    Source:
        Madsen & Johansen 2020, sections 2.7 (equation 14) and 4.1. Departure: batches are drawn
        by xoshiro128+ with 24 bits a number.

    Example:
        >>> from torchalu.nn import NAU
        >>> task = SimpleFunction("sub", in_features=2, subsets=((0,), (1,)))
        >>> result = train([NAU(2, 1)], task, replicas=3, steps=2000, learning_rate=0.01)
        >>> result.module(0)[0].weight.round().tolist()
        [[1.0, -1.0]]
    """
    run = Run(
        stack, task, learning_rate, penalty, penalty_start, penalty_end, clip_norm, clip_value,
        stop_below, stop_patience, validation=validation, initial=initial,
    )  # fmt: skip
    try:
        (result,) = train_together(
            [run],
            steps=steps,
            replicas=replicas,
            seed=seed,
            dtype=dtype,
            batch_size=batch_size,
            betas=betas,
            adam_eps=adam_eps,
            evaluate_every=evaluate_every,
            resume=None if resume is None else [resume],
            threads=threads,
            device=device,
            progress=progress,
        )
    except TrainingInterrupted as interrupted:
        raise TrainingInterrupted(interrupted.result[0]) from None
    return result


def train_together(
    runs: Sequence[Run],
    *,
    steps: int,
    replicas: int | Sequence[int] = 1,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    batch_size: int = 128,
    betas: tuple[float, float] = (0.9, 0.999),
    adam_eps: float = 1e-8,
    evaluate_every: int = 1000,
    resume: Sequence[Result] | None = None,
    threads: int | None = None,
    device: str = "cpu",
    progress: bool = False,
    poll: Callable[[int], bool] | None = None,
) -> list[Result]:
    """Train several settings side by side on the same inputs, which are drawn only once.

    Each result is that of `train` with the same arguments, bit for bit. Settings that share a
    replica's number see the same inputs at the same step, so that they can be compared in pairs.

    Args:
        runs: the settings; they agree in the number of inputs and in the ranges.
        steps: optimizer steps of each replica, those of `resume` included.
        replicas: how many, or the numbers of those to train.
        seed: of all randomness.
        dtype: `torch.float32` or `torch.float64`.
        batch_size: rows a step; those of a table in multiples of 16, or all of them.
        betas: of Adam.
        adam_eps: of Adam.
        evaluate_every: steps from one evaluation to the next; one always follows the last step.
        resume: go on from these results of the same call with fewer steps.
        threads: how many of the CPU to use; every core by default.
        device: "cpu", or "cuda" for a GPU, which trains thousands of replicas at once, in
            `torch.float32`, on a `SimpleFunction`, 113 to 128 rows a step. It draws the same
            batches; its results differ by rounding.
        progress: show a bar, if the standard error is a terminal.
        poll: called about ten times a second with the steps done by all replicas of all runs;
            answers whether to go on.

    Raises:
        TypeError: a module or a task that the trainer does not know, a wrong dtype, a seed or a
            number of things that is no integer.
        ValueError: sizes, numbers or names that do not fit; each message says which.
        RuntimeError: `device` is "cuda", and there is no GPU or no trainer built for it.
        TrainingInterrupted: on Ctrl-C or when `poll` says so, with the state so far.

    Example:
        >>> from torchalu.nn import NAU, NMU
        >>> both = dict(in_features=2, subsets=((0,), (1,)))
        >>> runs = [Run([NAU(2, 1)], SimpleFunction("add", **both), learning_rate=0.01),
        ...         Run([NMU(2, 1)], SimpleFunction("mul", **both), learning_rate=0.01)]
        >>> [r.module(0)[0].weight.round().tolist() for r in train_together(runs, steps=2000)]
        [[[1.0, 1.0]], [[1.0, 1.0]]]
    """
    counts = {"steps": steps, "batch_size": batch_size, "evaluate_every": evaluate_every}
    _check(dtype, seed, counts, betas, adam_eps)
    native = native_train(device, threads)
    check_runs(device, runs, dtype, batch_size)
    team = Team(runs, _replica_ids(replicas), seed, dtype, batch_size, steps, resume)
    total = sum(int(np.sum(steps - state.step)) for state in team.states)
    with watch(progress, total) as bar:

        def watch_and_poll(done: int) -> bool:
            bar(done)
            return poll is None or bool(poll(done))

        try:
            completed = native(
                members=team.members(steps // evaluate_every + 2),
                batch_size=team.batch_size,
                seed=seed,
                replica_ids=team.ids,
                adam=(*betas, adam_eps),
                steps=steps,
                evaluate_every=evaluate_every,
                poll=watch_and_poll,
            )
        except KeyboardInterrupt:
            completed = False
    if not completed:
        raise TrainingInterrupted(team.results())
    return team.results()


def _replica_ids(replicas: int | Sequence[int]) -> np.ndarray:
    if isinstance(replicas, Integral) and not isinstance(replicas, bool):
        ids: Sequence[Any] = range(int(replicas))
    else:
        ids = replicas if isinstance(replicas, Sequence | np.ndarray) else [None]
    fine = len(ids) and all(isinstance(each, Integral) and 0 <= int(each) < 2**64 for each in ids)
    if not fine or len({int(each) for each in ids}) < len(ids):
        raise ValueError(
            f"replicas is {replicas!r}; give a positive integer, or different integers from 0 to "
            "2**64 - 1"
        )
    return np.asarray(ids, np.uint64)


def _check(
    dtype: torch.dtype,
    seed: int,
    counts: dict[str, int],
    betas: tuple[float, float],
    adam_eps: float,
) -> None:
    check_positive_integers(**counts)
    if (
        not isinstance(betas, Sequence)
        or len(betas) != 2
        or not all(0 <= beta < 1 for beta in betas)
    ):
        raise ValueError(f"betas is {betas!r}; give two numbers from 0 to below 1")
    if not 0 <= adam_eps < np.inf:
        raise ValueError(f"adam_eps is {adam_eps}; give a finite number, 0 or more")
    check_dtype(dtype)
    check_integers_from_zero(seed=seed)
