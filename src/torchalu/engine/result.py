"""What the native trainer answers with."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import polars as pl
import torch
from torch import Tensor, nn

from torchalu.engine.stack import Stack

STATUS = ("running", "finished", "stopped", "nan")
"""By number as in src/core/plan.hpp: not through yet; all steps done; ended early; not finite."""

RECORD_COLUMNS = (
    "step",
    "training_loss",
    "validation_loss",
    "extrapolation_loss",
    "sparsity_error",
)


@dataclass
class State:
    """Everything a run needs to go on, updated in place by the native trainer."""

    parameters: Tensor
    first_moment: Tensor
    second_moment: Tensor
    best_parameters: Tensor
    step: np.ndarray
    status: np.ndarray
    best_validation: np.ndarray
    best_extrapolation: np.ndarray
    improved_to: np.ndarray
    improved_at: np.ndarray
    patience: np.ndarray

    @classmethod
    def fresh(cls, parameters: Tensor) -> State:
        """The state before the first step."""
        count = len(parameters)
        return cls(
            parameters,
            torch.zeros_like(parameters),
            torch.zeros_like(parameters),
            parameters.clone(),
            np.zeros(count, np.int64),
            np.zeros(count, np.int8),
            np.full(count, np.inf),
            np.full(count, np.inf),
            np.full(count, np.inf),
            np.zeros(count, np.int64),
            np.zeros(count, np.int32),
        )


@dataclass
class Result:
    """Trained replicas of a stack.

    Attributes:
        stack: what was trained.
        state: the replicas' parameters and optimizer states; hand the result to `train` as
            `resume` to go on.
        records: a row a replica and evaluation: replica, step, training_loss (of the batch
            before), validation_loss, extrapolation_loss (null on tables), sparsity_error.
        replica_ids: the number of each replica; with the seed it settles everything about it.
        seed: as given to `train`.
    """

    stack: Stack
    state: State
    records: pl.DataFrame
    replica_ids: np.ndarray
    seed: int

    @property
    def parameters(self) -> dict[str, Tensor]:
        r"""The parameters after the last step, (replicas, \*shape), by name."""
        return self.stack.unflatten(self.state.parameters)

    @property
    def best_parameters(self) -> dict[str, Tensor]:
        """The parameters at each replica's lowest validation loss."""
        return self.stack.unflatten(self.state.best_parameters)

    @property
    def validation_loss(self) -> np.ndarray:
        """Each replica's lowest validation loss; infinite before its first evaluation."""
        return self.state.best_validation

    @property
    def status(self) -> list[str]:
        """Of each replica: "running", "finished", "stopped" (ended early) or "nan"."""
        return [STATUS[number] for number in self.state.status]

    @property
    def steps(self) -> np.ndarray:
        """Steps that each replica has taken."""
        return self.state.step

    def __len__(self) -> int:
        return len(self.state.parameters)

    def only(self, replica: int) -> Result:
        """The result of one replica alone.

        Args:
            replica: its row, from 0.

        Raises:
            IndexError: there is no such replica.
        """
        self._check(replica)
        row = slice(replica, replica + 1)
        state = State(*(values[row] for values in vars(self.state).values()))
        records = self.records.filter(pl.col("replica") == self.replica_ids[replica])
        return Result(self.stack, state, records, self.replica_ids[row], self.seed)

    def module(self, replica: int, best: bool = True) -> nn.Sequential:
        """One replica as a PyTorch module, in the dtype it was trained in.

        Args:
            replica: its row, from 0.
            best: with the parameters of the lowest validation loss; else with the last ones.

        Raises:
            IndexError: there is no such replica.
        """
        self._check(replica)
        rows = self.best_parameters if best else self.parameters
        module = copy.deepcopy(self.stack.template).to(self.state.parameters.dtype)
        module.load_state_dict({name: tensor[replica] for name, tensor in rows.items()})
        return module

    def _check(self, replica: int) -> None:
        if not 0 <= replica < len(self):
            raise IndexError(f"replica is {replica}; this result holds 0 to {len(self) - 1}")


def to_records(
    values: np.ndarray, counts: np.ndarray, replica_ids: np.ndarray, sampled: bool
) -> pl.DataFrame:
    """The native trainer's record array as a table."""
    replica = np.repeat(replica_ids, counts)
    rows = np.concatenate([values[r, :n] for r, n in enumerate(counts)])
    columns = {name: rows[:, k] for k, name in enumerate(RECORD_COLUMNS)}
    frame = pl.DataFrame({"replica": replica, **columns})
    frame = frame.with_columns(pl.col("step").cast(pl.Int64))
    if not sampled:
        frame = frame.with_columns(extrapolation_loss=pl.lit(None, dtype=pl.Float64))
    return frame
