"""One setting that the native trainer takes: a stack, its task, and how it is trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers
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
NEVER = 2**62
"""Steps without improvement that no run reaches."""


@dataclass(frozen=True)
class Run:
    r"""One setting of a team: what is trained, on what, and when it ends.

    Args:
        stack: a `torch.nn.Sequential` or a list of units of `torchalu.nn`, `torch.nn.Linear`,
            `torch.nn.ReLU` and `torch.nn.ReLU6`. Its own weights are not used and not changed.
        task: what to learn. A `SimpleFunction` draws each batch afresh. From a `Table` a batch is
            a cyclic slice of the rows, shuffled once by the seed, that begins at a multiple of 16;
            the whole table where it has at most `batch_size` rows. Its sample weights weight the
            loss; in the mean over batches each row counts by its own alone.
        learning_rate: of Adam; like the next five, one number or one a replica.
        penalty: :math:`\hat\lambda`, factor of the units' own penalty.
        penalty_start: :math:`t_0`, step at which the penalty sets in.
        penalty_end: :math:`t_1`, step from which on it is whole.
        clip_norm: bound of the gradient's norm over all parameters.
        clip_value: bound of each element of the gradient.
        stop_below: a replica ends when its validation loss is at most this.
        stop_patience: at so many evaluations in a row.
        goal: a replica is solved when its extrapolation loss is below this at its lowest validation
            loss.
        settle: end a solved replica when its penalty is whole and for so many steps its lowest
            validation loss has not fallen by more than 1%; never by default.
        stall: the same for a replica that is not solved.
        validation: rows for evaluation; the task's own by default (a fixed sample, or the table).
        initial: parameters to start from, by name, (\*shape) or (replicas, \*shape); those beyond
            the bounds of their units start at the bounds.

    Example:
        >>> from torchalu.nn import NAU
        >>> Run([NAU(100, 1)], SimpleFunction("add"), penalty=0.01, penalty_end=5e4).penalty
        0.01
    """

    stack: nn.Module | Iterable[nn.Module]
    task: SimpleFunction | Table
    learning_rate: float | Sequence[float] = 1e-3
    penalty: float | Sequence[float] = 0.0
    penalty_start: float | Sequence[float] = 0.0
    penalty_end: float | Sequence[float] = 1.0
    clip_norm: float | Sequence[float] = np.inf
    clip_value: float | Sequence[float] = np.inf
    stop_below: float | None = None
    stop_patience: int = 1
    goal: float | None = None
    settle: int | None = None
    stall: int | None = None
    validation: Table | None = None
    initial: dict[str, Tensor] | None = None

    def network(self) -> Stack:
        """The stack as data.

        Raises:
            TypeError: a module or a task that the trainer does not know.
            ValueError: sizes that do not fit.
        """
        network = read_stack(self.stack)
        for name in ("stop_patience", "settle", "stall"):
            value = getattr(self, name)
            if value is not None:
                check_positive_integers(**{name: value})
        if network.layers[-1][2] != 1:
            raise ValueError(
                f"the last layer of stack has out_features = {network.layers[-1][2]}; "
                "a task has one target: give 1"
            )
        if isinstance(self.task, Table):
            _check_table(network, self.task, self.validation)
        elif not isinstance(self.task, SimpleFunction):
            raise TypeError(
                f"task is a {type(self.task).__name__}; give a Table or a SimpleFunction"
            )
        elif self.validation is not None:
            raise ValueError(
                "validation is given, but a SimpleFunction draws its own; leave it out"
            )
        return network

    def hyperparameters(self, replicas: int) -> np.ndarray:
        """A row for each of HYPERPARAMETERS, a column for each replica.

        Raises:
            ValueError: a number that is negative or not one, a ramp that does not rise.
        """
        rows = [_per_replica(name, getattr(self, name), replicas) for name in HYPERPARAMETERS]
        hyper = np.stack(rows)
        if np.any(hyper[3] <= hyper[2]):
            raise ValueError("penalty_end is not greater than penalty_start; the ramp has to rise")
        return hyper

    def stop(self) -> tuple[float, int, float, int, int]:
        """When a replica ends, as the native trainer reads it."""
        return (
            -np.inf if self.stop_below is None else self.stop_below,
            self.stop_patience,
            -np.inf if self.goal is None else self.goal,
            NEVER if self.settle is None else self.settle,
            NEVER if self.stall is None else self.stall,
        )

    def parameters(self, network: Stack, seed: int, ids: np.ndarray, dtype: torch.dtype) -> Tensor:
        """What the replicas start from, (replicas, parameters).

        Raises:
            ValueError: names or shapes of `initial` that do not fit.
        """
        if self.initial is None:
            return network.initial(seed, ids.tolist(), dtype)
        low, high = (torch.from_numpy(bound).to(dtype) for bound in network.rules[:2])
        return network.flatten(self.initial, len(ids), dtype).clamp(low, high)


def check_team(runs: Sequence[Run]) -> None:
    """Check that runs can share their inputs.

    Raises:
        ValueError: there is none, or they differ in what they have to share; the message says how.
    """
    if not runs:
        raise ValueError("runs is empty; give at least one Run")
    first = runs[0]
    for k, run in enumerate(runs):
        for name, there, here in _differences(first, run):
            raise ValueError(
                f"runs[{k}] has {name} = {here}, but runs[0] has {there}; runs that are trained "
                "together see the same inputs: train this one apart"
            )


def _differences(first: Run, run: Run) -> Iterator[tuple[str, object, object]]:
    """What two runs of a team should have in common and have not."""
    there, here = first.task, run.task
    if type(there) is not type(here):
        yield "task", f"a {type(there).__name__}", f"a {type(here).__name__}"
    elif isinstance(there, SimpleFunction):
        names = ("in_features", "interpolation_range", "extrapolation_range", "correlation")
        for name in (*names, "evaluation_rows"):
            if getattr(there, name) != getattr(here, name):
                yield name, repr(getattr(there, name)), repr(getattr(here, name))
    else:
        for name in ("task", "validation"):
            if getattr(first, name) is not getattr(run, name):
                yield name, "a table", "another one"


def _per_replica(name: str, value: float | Sequence[float], replicas: int) -> np.ndarray:
    array = np.asarray(value, np.float64)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != replicas):
        raise ValueError(f"{name} has the shape {array.shape}; give one number or {replicas}")
    if np.any(np.isnan(array)) or np.any(array < 0):
        raise ValueError(f"{name} is {value!r}; give numbers that are not negative")
    return np.broadcast_to(array, replicas).copy()


def _check_table(network: Stack, task: Table, validation: Table | None) -> None:
    for name, table in (("task", task), ("validation", validation)):
        if table is not None and table.X.shape[1] != network.in_features:
            raise ValueError(
                f"{name} has {table.X.shape[1]} features, but stack[0] takes {network.in_features}"
            )
