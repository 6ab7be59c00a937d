"""Many replicas of a small stack, trained at native speed."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
import torch
from torch import Tensor, nn

from torchalu import _core
from torchalu.engine.progress import watch
from torchalu.engine.result import RECORD_COLUMNS, Result, State, to_records
from torchalu.engine.rows import native_task
from torchalu.engine.stack import Stack, read_stack
from torchalu.tasks import SimpleFunction, Table

HYPERPARAMETERS = (
    "learning_rate",
    "penalty",
    "penalty_start",
    "penalty_end",
    "clip_norm",
    "clip_value",
)


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C during `train`; `result` holds every replica as it stood, ready to `resume`."""

    def __init__(self, result: Result) -> None:
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
    progress: bool = False,
) -> Result:
    r"""Train many replicas of a stack of units at once, with Adam, in native code.

    .. math:: L = \mathrm{MSE} + \hat\lambda \max(\min(\tfrac{t - t_0}{t_1 - t_0}, 1), 0)
              \sum_\ell R_\ell

    A replica's result depends on `seed` and its number alone: not on the other replicas, on the
    number of threads, or on whether the run was interrupted and resumed. A replica whose loss is
    no longer finite ends there, with status "nan".

    Args:
        stack: a `torch.nn.Sequential` or a list of units of `torchalu.nn`, `torch.nn.Linear`,
            `torch.nn.ReLU` and `torch.nn.ReLU6`. Its own weights are not used and not changed.
        task: what to learn. A `SimpleFunction` draws each batch afresh. From a `Table` a batch is
            a cyclic slice of the rows, shuffled once by `seed`; the whole table where it has at
            most `batch_size` rows. Its sample weights weight the loss.
        steps: optimizer steps of each replica, those of `resume` included.
        replicas: how many, or the numbers of those to train.
        seed: of all randomness.
        dtype: `torch.float32` or `torch.float64`.
        batch_size: rows a step.
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
        threads: how many to use; every core by default.
        progress: show a bar, if the standard error is a terminal.

    Raises:
        TypeError: a module or a task that the trainer does not know, a wrong dtype.
        ValueError: sizes, numbers or names that do not fit; each message says which.
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
    network = read_stack(stack)
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; give a whole number from 0 to 2**63 - 1")
    _check_counts(steps, batch_size, evaluate_every, stop_patience, dtype)
    ids = _replica_ids(replicas)
    given = locals()
    hyper = np.stack([_per_replica(name, given[name], len(ids)) for name in HYPERPARAMETERS])
    if np.any(hyper[3] <= hyper[2]):
        raise ValueError("penalty_end is not greater than penalty_start; the ramp has to rise")
    if isinstance(task, Table):
        _check_table(network, task, validation)
        batch_size = min(batch_size, len(task.y))
    elif not isinstance(task, SimpleFunction):
        raise TypeError(f"task is a {type(task).__name__}; give a Table or a SimpleFunction")
    elif validation is not None:
        raise ValueError("validation is given, but a SimpleFunction draws its own; leave it out")
    state, before = _start(network, ids, seed, dtype, initial, resume)
    records = np.full((len(ids), steps // evaluate_every + 2, len(RECORD_COLUMNS)), np.nan)
    counts = np.zeros(len(ids), np.int32)

    def result() -> Result:
        frame = to_records(records, counts, ids, isinstance(task, SimpleFunction))
        joined = pl.concat([before, frame]).sort("replica", "step", maintain_order=True)
        return Result(network, state, joined, ids, seed)

    with watch(progress, int(np.sum(steps - state.step))) as poll:
        try:
            _core.train(
                layers=network.layers,
                batch_size=batch_size,
                seed=seed,
                replica_ids=ids,
                hyper=hyper,
                rules=network.rules,
                adam=(*betas, adam_eps),
                steps=steps,
                evaluate_every=evaluate_every,
                stop_below=-np.inf if stop_below is None else stop_below,
                stop_patience=stop_patience,
                state=(*vars(state).values(), counts, records),
                threads=threads or _cores(),
                poll=poll,
                **native_task(task, validation, network, seed, ids, dtype, batch_size),
            )
        except KeyboardInterrupt:
            raise TrainingInterrupted(result()) from None
    return result()


def _start(
    network: Stack,
    ids: np.ndarray,
    seed: int,
    dtype: torch.dtype,
    initial: dict[str, Tensor] | None,
    resume: Result | None,
) -> tuple[State, pl.DataFrame]:
    """The state to start from, and the records that are there already."""
    if resume is None:
        empty = np.zeros((1, 0, len(RECORD_COLUMNS)))
        nothing = to_records(empty, np.zeros(1, np.int32), ids[:1], True)
        if initial is None:
            parameters = network.initial(seed, ids.tolist(), dtype)
        else:
            parameters = network.flatten(initial, len(ids), dtype)
        return State.fresh(parameters), nothing
    same = (
        resume.seed == seed
        and np.array_equal(resume.replica_ids, ids)
        and resume.stack.layers == network.layers
        and resume.state.parameters.dtype == dtype
    )
    if not same:
        raise ValueError("resume comes from another stack, seed, dtype or set of replicas")
    state = copy.deepcopy(resume.state)
    state.status[state.status == 1] = 0
    return state, resume.records


def _replica_ids(replicas: int | Sequence[int]) -> np.ndarray:
    ids = range(replicas) if isinstance(replicas, int) else replicas
    if len(ids) == 0 or min(ids) < 0:
        raise ValueError(f"replicas is {replicas!r}; give a positive number, or numbers from 0")
    return np.asarray(ids, np.uint64)


def _per_replica(name: str, value: float | Sequence[float], replicas: int) -> np.ndarray:
    array = np.asarray(value, np.float64)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != replicas):
        raise ValueError(f"{name} has the shape {array.shape}; give one number or {replicas}")
    if np.any(np.isnan(array)) or np.any(array < 0):
        raise ValueError(f"{name} is {value!r}; give numbers that are not negative")
    return np.broadcast_to(array, replicas).copy()


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check_counts(
    steps: int, batch_size: int, evaluate_every: int, stop_patience: int, dtype: torch.dtype
) -> None:
    counts = {
        "steps": steps,
        "batch_size": batch_size,
        "evaluate_every": evaluate_every,
        "stop_patience": stop_patience,
    }
    for name, value in counts.items():
        if value < 1:
            raise ValueError(f"{name} is {value}; give a positive integer")
    if dtype not in (torch.float32, torch.float64):
        raise TypeError(f"dtype is {dtype}; give torch.float32 or torch.float64")


def _check_table(network: Stack, task: Table, validation: Table | None) -> None:
    if network.layers[-1][2] != 1:
        raise ValueError(
            f"the last layer of stack has out_features = {network.layers[-1][2]}; "
            "a table has one target: give 1"
        )
    for name, table in (("task", task), ("validation", validation)):
        if table is not None and table.X.shape[1] != network.in_features:
            raise ValueError(
                f"{name} has {table.X.shape[1]} features, but stack[0] takes {network.in_features}"
            )
