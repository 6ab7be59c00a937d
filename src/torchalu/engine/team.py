"""Settings that are trained side by side, as the native trainer reads them."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import polars as pl
import torch

from torchalu.engine.result import RECORD_COLUMNS, Result, State, to_records
from torchalu.engine.rows import ROW_GROUP, native_task, share_subsets
from torchalu.engine.run import Run, check_team
from torchalu.engine.stack import Stack
from torchalu.functional._arguments import check_eps
from torchalu.tasks import SimpleFunction, Table


class Team:
    """Runs that share their inputs, with the arrays that the native trainer works on.

    Args:
        runs: the settings.
        ids: the numbers of the replicas.
        seed: of all randomness.
        dtype: of all parameters.
        batch_size: rows a step; see `_rows_a_step`.
        steps: of each replica.
        resume: earlier results to go on from.

    Raises:
        TypeError: a module or a task that the trainer does not know.
        ValueError: runs that cannot share their inputs, sizes that do not fit, results of
            something else.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        ids: np.ndarray,
        seed: int,
        dtype: torch.dtype,
        batch_size: int,
        steps: int,
        resume: Sequence[Result] | None,
    ) -> None:
        check_team(runs)
        self.runs, self.ids, self.seed, self.dtype = list(runs), ids, seed, dtype
        task = runs[0].task
        self.batch_size = _rows_a_step(task, batch_size)
        self.steps = steps
        self.networks = [run.network() for run in runs]
        for network in self.networks:
            _check_each_eps(network, dtype)
        if resume is not None and len(resume) != len(runs):
            raise ValueError(
                f"resume holds {len(resume)} results; give one for each of the {len(runs)} runs"
            )
        self._before = [None] * len(runs) if resume is None else list(resume)
        starts = zip(self.runs, self.networks, self._before, strict=True)
        self.states = [self._start(run, network, earlier) for run, network, earlier in starts]
        _check_lockstep(self.states)
        self._counts = [np.zeros(len(ids), np.int32) for _ in runs]
        self._records: list[np.ndarray] = []

    def members(self, evaluations: int) -> list[tuple]:
        """The argument of `torchalu._core.train`, with room for so many records a replica."""
        shape = (len(self.ids), evaluations, len(RECORD_COLUMNS))
        self._records = [np.full(shape, np.nan) for _ in self.runs]
        tasks = [
            native_task(
                run.task, run.validation, network, self.seed, self.ids, self.dtype, self.batch_size
            )
            for run, network in zip(self.runs, self.networks, strict=True)
        ]
        if isinstance(self.runs[0].task, SimpleFunction):
            share_subsets(tasks)
        return [
            (
                network.layers,
                *(task[name] for name in ("sampled", "table", "validation")),
                run.hyperparameters(len(self.ids)),
                network.rules,
                run.stop(),
                (*vars(state).values(), count, records),
            )
            for run, network, task, state, count, records in zip(
                self.runs, self.networks, tasks, self.states, self._counts, self._records,
                strict=True,
            )
        ]  # fmt: skip

    def results(self) -> list[Result]:
        """What stands in the arrays now."""
        sampled = isinstance(self.runs[0].task, SimpleFunction)
        answer = []
        for k, network in enumerate(self.networks):
            frame = to_records(self._records[k], self._counts[k], self.ids, sampled)
            earlier = self._before[k]
            if earlier is not None:
                frame = pl.concat([earlier.records, frame])
            frame = frame.sort("replica", "step", maintain_order=True)
            answer.append(Result(network, self.states[k], frame, self.ids, self.seed))
        return answer

    def _start(self, run: Run, network: Stack, resume: Result | None) -> State:
        """The state that a run starts from."""
        if resume is None:
            return State.fresh(run.parameters(network, self.seed, self.ids, self.dtype))
        same = (
            resume.seed == self.seed
            and np.array_equal(resume.replica_ids, self.ids)
            and resume.stack.layers == network.layers
            and resume.state.parameters.dtype == self.dtype
        )
        if not same:
            raise ValueError("resume comes from another stack, seed, dtype or set of replicas")
        state = copy.deepcopy(resume.state)
        behind = state.step > self.steps
        behind |= (state.status == 0) & (state.step == self.steps)
        if behind.any():
            replica = int(np.argmax(behind))
            raise ValueError(
                f"steps is {self.steps}, but replica {self.ids[replica]} of resume stands at step "
                f"{state.step[replica]}; give more steps, those of resume included"
            )
        state.status[(state.status == 1) & (state.step < self.steps)] = 0
        return state


def _rows_a_step(task: SimpleFunction | Table, batch_size: int) -> int:
    """The whole table where it has no more rows, else a whole number of row groups of it."""
    if not isinstance(task, Table):
        return batch_size
    return min(-(-batch_size // ROW_GROUP) * ROW_GROUP, len(task.y))


def _check_each_eps(network: Stack, dtype: torch.dtype) -> None:
    """The units refuse such an eps when they are called; the native trainer does not call them."""
    for layer in network.template:
        if isinstance(eps := getattr(layer, "eps", None), float):
            check_eps(eps, dtype)


def _check_lockstep(states: Sequence[State]) -> None:
    """The runs of a replica that go on together have to stand at the same step."""
    step = np.stack([state.step for state in states]).astype(np.float64)
    step[np.stack([state.status for state in states]) != 0] = np.nan
    for column in step.T:
        if len(set(column[~np.isnan(column)])) > 1:
            raise ValueError("resume holds results of different steps; resume each run apart")
