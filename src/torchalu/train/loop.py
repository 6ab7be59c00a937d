"""The training loop for any module, for those that the native trainer does not take."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import torch
from torch import Tensor, nn

from torchalu.nn import constrain_after, penalty, penalty_ramp
from torchalu.train.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from torchalu.train.configuration import TrainingConfiguration
from torchalu.train.schedules import Schedule

Sample: TypeAlias = Callable[[int, torch.Generator], Any]
Loss: TypeAlias = Callable[[nn.Module, Any], Tensor]
Evaluate: TypeAlias = Callable[[nn.Module], Mapping[str, float]]
OptimizerFactory: TypeAlias = Callable[..., torch.optim.Optimizer]

_REPORT_SECONDS = 0.1
_GENERATOR = threading.RLock()
"""Held while torch's global generator, which all threads share, is seeded and drawn from."""
_OWN_COLUMNS = ("step", "training_loss")


@dataclass(frozen=True)
class TrainingResult:
    """A trained module.

    Attributes:
        records: a row an evaluation: step, training_loss (of the batch before, without the units'
            penalties), and what `evaluate` answered with.
        status: "finished", or "nan" if a loss was not finite; the states are those before it.
        steps: optimizer steps taken.
        best_step: the step with the lowest validation loss; the last one if nothing is evaluated.
        best_state: what the module's `state_dict` was then.
        last_state: what it was after the last step.
    """

    records: pl.DataFrame
    status: str
    steps: int
    best_step: int
    best_state: dict[str, Tensor]
    last_state: dict[str, Tensor]


def fit(
    module: nn.Module,
    sample: Sample,
    loss: Loss,
    configuration: TrainingConfiguration,
    *,
    evaluate: Evaluate | None = None,
    optimizer: OptimizerFactory = torch.optim.Adam,
    schedule: Schedule | None = None,
    folder: str | os.PathLike[str] | None = None,
    report: Callable[[int], None] | None = None,
) -> TrainingResult:
    """Train a module, constrain its units after each step, and keep the best of it.

    To the loss is added the sum of the units' penalties times `configuration.penalty` and its
    ramp. With a folder, the run goes on from the checkpoint in it, and ends with the same numbers
    bit for bit as an unbroken one, on the same machine with the same number of threads. Random
    numbers of the module itself, as of a dropout, are seeded too, and the global generator is left
    as it was. All threads share it: train modules that draw from it one at a time.

    Args:
        module: changed in place; it holds the last parameters at the end.
        sample: gives the batch of a step from the step's number, 0 at first, and a generator. Use
            nothing else that changes from step to step.
        loss: gives a scalar from module and batch.
        configuration: the numbers.
        evaluate: gives numbers by name from the module, which is in evaluation mode and without
            gradients; "validation_loss" among them.
        optimizer: makes an optimizer from the parameters and `lr`, as all of torch.optim do.
        schedule: the factor of the learning rate as a function of the step; 1 if left out.
        folder: where the checkpoint lies; without it a run that is broken off is lost.
        report: called with the number of steps taken, about ten times a second. It may raise to
            end the run; a checkpoint is written first.

    Raises:
        ValueError: `loss` gives no scalar, `evaluate` not the same names each time, or the module
            has nothing to train.
        CheckpointError: the folder's checkpoint is of another run.

    Example:
        >>> from torchalu.nn import NAU
        >>> unit = NAU(2, 1, generator=torch.Generator().manual_seed(0))
        >>> def sample(step, generator):
        ...     x = torch.rand(32, 2, generator=generator)
        ...     return x, x[:, :1] - x[:, 1:]
        >>> def loss(module, batch):
        ...     return nn.functional.mse_loss(module(batch[0]), batch[1])
        >>> result = fit(unit, sample, loss, TrainingConfiguration(steps=500, learning_rate=0.01))
        >>> result.status, [round(w, 3) for w in unit.weight.flatten().tolist()]
        ('finished', [1.0, -1.0])
    """
    run = _Run(module, sample, loss, configuration, evaluate, optimizer, schedule)
    place = None if folder is None else Path(folder)
    with _forked(run.cuda_devices()):
        with _GENERATOR:
            run.begin(None if place is None else read_checkpoint(place, run.identity()))
        reported = -math.inf
        while run.status == "running":
            run.step_once()
            if place is not None and run.due():
                write_checkpoint(place, run.checkpoint())
            if report is not None and time.monotonic() - reported > _REPORT_SECONDS:
                reported = time.monotonic()
                try:
                    report(run.step)
                except BaseException:
                    if place is not None:
                        write_checkpoint(place, run.checkpoint())
                    raise
    return run.result()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator for a while; afterwards it is as it was.

    No other thread that seeds it in this way, or begins or ends a `fit`, comes in between.

    Args:
        seed: of the generator.

    Example:
        >>> with seeded(0):
        ...     first = nn.Linear(2, 2).weight
        >>> with seeded(0):
        ...     torch.equal(first, nn.Linear(2, 2).weight)
        True
    """
    with _GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def _forked(devices: list[int]) -> Iterator[None]:
    """Leaves the global generators as they are now, without disturbing who has them `seeded`."""
    fork = torch.random.fork_rng(devices=devices)
    with _GENERATOR:
        fork.__enter__()
    try:
        yield
    finally:
        with _GENERATOR:
            fork.__exit__(None, None, None)


class _Run:
    """A run in progress."""

    def __init__(
        self,
        module: nn.Module,
        sample: Sample,
        loss: Loss,
        configuration: TrainingConfiguration,
        evaluate: Evaluate | None,
        optimizer: OptimizerFactory,
        schedule: Schedule | None,
    ) -> None:
        self.parameters = [p for p in module.parameters() if p.requires_grad]
        if not self.parameters:
            raise ValueError(f"module is a {type(module).__name__} without parameters to train")
        self.module, self.sample, self.loss = module, sample, loss
        self.configuration, self.evaluate, self.schedule = configuration, evaluate, schedule
        self.optimizer = optimizer(self.parameters, lr=configuration.learning_rate)
        constrain_after(self.optimizer, module)
        self.generator = torch.Generator()
        self.step, self.status = 0, "running"
        self.best_step, self.best_loss = 0, math.inf
        self.best_state: dict[str, Tensor] = {}
        self.records: dict[str, list[float]] = {}

    def begin(self, checkpoint: Checkpoint | None) -> None:
        """Seed, or take up the state of a checkpoint."""
        self.generator.manual_seed(self.configuration.seed)
        torch.manual_seed(self.configuration.seed)
        if checkpoint is None:
            return
        self.module.load_state_dict(checkpoint.state)
        trained = [p for group in self.optimizer.param_groups for p in group["params"]]
        state = {
            index: {name: _laid_out(value, trained[index]) for name, value in entries.items()}
            for index, entries in checkpoint.optimizer.items()
        }
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})
        self.generator.set_state(checkpoint.generators["sample"])
        torch.set_rng_state(checkpoint.generators["cpu"])
        for device in self.cuda_devices():
            torch.cuda.set_rng_state(checkpoint.generators[f"cuda{device}"], device)
        self.step, self.status = checkpoint.step, checkpoint.status
        self.best_step, self.best_loss = checkpoint.best_step, checkpoint.best_loss
        best = checkpoint.best_state
        self.best_state = {name: best[name] for name in self.module.state_dict() if name in best}
        self.records = checkpoint.records
        if self.status == "finished" and self.step < self.configuration.steps:
            self.status = "running"

    def step_once(self) -> None:
        """Take one optimizer step, and evaluate where it is time to."""
        if self.step >= self.configuration.steps:
            self.status = "finished"
            return
        batch = self.sample(self.step, self.generator)
        loss = self.loss(self.module, batch)
        if not isinstance(loss, Tensor) or loss.numel() != 1:
            shape = tuple(loss.shape) if isinstance(loss, Tensor) else type(loss).__name__
            raise ValueError(f"loss gives {shape}; it must give a tensor of one number")
        value = loss.item()
        if not math.isfinite(value):
            self.status = "nan"
            self.record(value)
            return
        self.optimize(loss)
        self.step += 1
        last = self.step == self.configuration.steps
        if last or self.step % self.configuration.evaluate_every == 0:
            self.record(value)
        if last:
            self.status = "finished"

    def optimize(self, loss: Tensor) -> None:
        """Change the parameters by the gradient of loss and penalties."""
        numbers = self.configuration
        if numbers.penalty:
            factor = penalty_ramp(self.step, numbers.penalty_start, numbers.penalty_end)
            loss = loss + numbers.penalty * factor * penalty(self.module).to(loss.device)
        if self.schedule is not None:
            for group in self.optimizer.param_groups:
                group["lr"] = numbers.learning_rate * self.schedule(self.step)
        self.optimizer.zero_grad()
        loss.backward()
        if math.isfinite(numbers.clip_norm):
            nn.utils.clip_grad_norm_(self.parameters, numbers.clip_norm)
        self.optimizer.step()

    def record(self, training_loss: float) -> None:
        """Evaluate, and keep the state if it is the best so far."""
        row: dict[str, float] = {"step": self.step, "training_loss": training_loss}
        if self.evaluate is not None:
            training = self.module.training
            self.module.eval()
            with torch.no_grad():
                row |= self.evaluate(self.module)
            self.module.train(training)
            if "validation_loss" not in row:
                raise ValueError(
                    f"evaluate gives {sorted(set(row) - set(_OWN_COLUMNS))}; it must give a "
                    "validation_loss, by which the best step is chosen"
                )
        if self.records and set(row) != set(self.records):
            raise ValueError(
                f"the evaluation at step {self.step} has {sorted(row)}, the ones before it "
                f"{sorted(self.records)}; give the same names each time"
            )
        for name, number in row.items():
            self.records.setdefault(name, []).append(float(number))
        if self.evaluate is None or row["validation_loss"] < self.best_loss:
            self.best_step, self.best_state = self.step, self.state()
            self.best_loss = row.get("validation_loss", self.best_loss)

    def state(self) -> dict[str, Tensor]:
        """A copy of what the module's `state_dict` is."""
        return {name: value.detach().clone() for name, value in self.module.state_dict().items()}

    def due(self) -> bool:
        """Whether a checkpoint is to be written."""
        return self.status != "running" or self.step % self.configuration.checkpoint_every == 0

    def checkpoint(self) -> Checkpoint:
        """The run as it stands."""
        generators = {"sample": self.generator.get_state(), "cpu": torch.get_rng_state()}
        for device in self.cuda_devices():
            generators[f"cuda{device}"] = torch.cuda.get_rng_state(device)
        return Checkpoint(
            identity=self.identity(),
            step=self.step,
            status=self.status,
            state=self.state(),
            best_state=self.best_state,
            best_step=self.best_step,
            best_loss=self.best_loss,
            optimizer=self.optimizer.state_dict()["state"],
            generators=generators,
            records=self.records,
        )

    def identity(self) -> dict[str, Any]:
        """What a checkpoint must agree in; a run may be given more steps."""
        numbers = {
            name: value
            for name, value in self.configuration.to_json().items()
            if name not in ("steps", "checkpoint_every")
        }
        shapes = {name: list(value.shape) for name, value in self.module.state_dict().items()}
        return numbers | {"optimizer": type(self.optimizer).__name__, "parameters": shapes}

    def cuda_devices(self) -> list[int]:
        """The GPUs that the module lies on."""
        return sorted({p.device.index for p in self.parameters if p.device.type == "cuda"})

    def result(self) -> TrainingResult:
        """What the run comes to."""
        records = pl.DataFrame(self.records or {"step": []}).cast({"step": pl.Int64})
        best = self.best_state or self.state()
        return TrainingResult(records, self.status, self.step, self.best_step, best, self.state())


def _laid_out(value: Any, parameter: Tensor) -> Any:
    """The optimizer's value, in memory as its parameter, which a fused optimizer relies on."""
    if not isinstance(value, Tensor) or value.shape != parameter.shape or value.dim() == 0:
        return value
    return torch.empty_like(parameter, dtype=value.dtype).copy_(value)
