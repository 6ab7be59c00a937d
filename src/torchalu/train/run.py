"""A run of the training loop in progress: its state, and one step of it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl
import torch
from torch import Tensor, nn

from torchalu.evaluate.mode import evaluation_mode
from torchalu.nn import constrain_after, penalty, penalty_ramp
from torchalu.train.checkpoint import Checkpoint
from torchalu.train.clipping import clip_gradients
from torchalu.train.configuration import TrainingConfiguration, plain
from torchalu.train.hooks import Hook, Measured, Progress, hook_names
from torchalu.train.schedules import Schedule

Sample: TypeAlias = Callable[[int, torch.Generator], Any]
Loss: TypeAlias = Callable[[nn.Module, Any], Tensor | Measured]
Evaluate: TypeAlias = Callable[[nn.Module], Mapping[str, float]]
OptimizerFactory: TypeAlias = Callable[..., torch.optim.Optimizer]

_OWN_COLUMNS = ("step", "training_loss")
_HOW_IT_RUNS = ("lr", "foreach", "fused", "capturable", "differentiable")
"""Of an optimizer: its rate is that of the run, the others change no result but by rounding."""


@dataclass(frozen=True)
class TrainingResult:
    """A trained module.

    Attributes:
        records: a row an evaluation: step, training_loss (of the batch before, without the units'
            penalties), what `evaluate` answered with, and the columns of hooks.
        status: "finished"; "ended" if a hook ended the run; "nan" if a loss was not finite, and
            then the states are those before it, or if the trained parameters are not finite in the
            end, as after a gradient that was not.
        steps: optimizer steps taken.
        best_step: the step with the lowest validation loss; the last one if nothing is evaluated,
            or no validation loss was a number.
        best_state: what the module's `state_dict` was then.
        last_state: what it was after the last step.
    """

    records: pl.DataFrame
    status: str
    steps: int
    best_step: int
    best_state: dict[str, Tensor]
    last_state: dict[str, Tensor]


class Run:
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
        hooks: Sequence[Hook] = (),
    ) -> None:
        self.parameters = [p for p in module.parameters() if p.requires_grad]
        if not self.parameters:
            raise ValueError(f"module is a {type(module).__name__} without parameters to train")
        self.module, self.sample, self.loss = module, sample, loss
        self.configuration, self.evaluate, self.schedule = configuration, evaluate, schedule
        self.optimizer = optimizer(self.parameters, lr=configuration.learning_rate)
        _check_steps_alone(self.optimizer)
        constrain_after(self.optimizer, module)
        self.generator = torch.Generator()
        self.hooks = dict(zip(hook_names(hooks), hooks, strict=True))
        self.progress = Progress(module, self.optimizer, self.parameters, configuration.seed)
        self.step, self.status = 0, "running"
        self.best_step = 0
        self.best_state: dict[str, Tensor] = {}
        self.records: dict[str, list[float]] = {}

    def begin(self, checkpoint: Checkpoint | None) -> None:
        """Seed, or take up the state of a checkpoint."""
        self.generator.manual_seed(self.configuration.seed)
        torch.manual_seed(self.configuration.seed)
        if checkpoint is not None:
            self.restore(checkpoint)
        self.progress.step = self.step
        for hook in self.hooks.values():
            hook.begin(self.progress)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take up the state of a checkpoint."""
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
            if f"cuda{device}" in checkpoint.generators:  # else it was begun without this device
                torch.cuda.set_rng_state(checkpoint.generators[f"cuda{device}"], device)
        for name, hook in self.hooks.items():
            hook.load_state(checkpoint.hooks.get(name, {}))
        self.step, self.status = checkpoint.step, checkpoint.status
        self.best_step, self.progress.best_loss = checkpoint.best_step, checkpoint.best_loss
        best = checkpoint.best_state
        self.best_state = {name: best[name] for name in self.module.state_dict() if name in best}
        self.records = checkpoint.records
        if self.status == "finished" and self.step < self.configuration.steps:
            self.status = "running"

    def step_once(self) -> None:
        """Take one optimizer step, and evaluate where it is time to."""
        if self.step >= self.configuration.steps:
            if not self.records:  # it was broken off before it was evaluated; its loss is not kept
                self.record(math.nan)
            self.status = "finished"
            return
        for hook in self.hooks.values():
            hook.before_step(self.progress)
        loss = self.forward()
        value = self.progress.loss = loss.item()
        if not math.isfinite(value):
            self.status = "nan"
            self.record(value)
            return
        self.optimize(loss)
        self.step += 1
        self.progress.step = self.step
        for hook in self.hooks.values():
            hook.after_step(self.progress)
        last = self.step == self.configuration.steps
        if last or self.progress.ended or self.step % self.configuration.evaluate_every == 0:
            row = self.record(value)
            for hook in self.hooks.values():
                hook.after_evaluation(self.progress, row)
        if last or self.progress.ended:
            finite = all(bool(p.isfinite().all()) for p in self.parameters)
            self.status = ("finished" if last else "ended") if finite else "nan"

    def forward(self) -> Tensor:
        """The loss of the step's batch, with the other measures left in `progress`."""
        loss = self.loss(self.module, self.sample(self.step, self.generator))
        if isinstance(loss, Measured):
            loss, self.progress.measures = loss
        if not isinstance(loss, Tensor) or loss.numel() != 1:
            shape = tuple(loss.shape) if isinstance(loss, Tensor) else type(loss).__name__
            raise ValueError(f"loss gives {shape}; it must give a tensor of one number")
        return loss

    def optimize(self, loss: Tensor) -> None:
        """Change the parameters by the gradient of loss, penalties and hooks."""
        numbers, hooks = self.configuration, self.hooks.values()
        if numbers.penalty:
            factor = penalty_ramp(self.step, numbers.penalty_start, numbers.penalty_end)
            loss = loss + numbers.penalty * factor * penalty(self.module).to(loss.device)
        self.set_learning_rate()
        for hook in hooks:
            loss = hook.add_to_loss(self.progress, loss)
        self.optimizer.zero_grad()
        loss.backward()
        if math.isfinite(numbers.clip_norm):
            clip_gradients(self.parameters, numbers.clip_norm)
        for hook in hooks:
            hook.change_gradients(self.progress)
        self.optimizer.step()

    def set_learning_rate(self) -> None:
        """Set the learning rate of the step, where a schedule or a hook may change it."""
        rate = self.configuration.learning_rate
        if self.schedule is not None:
            rate *= self.schedule(self.step)
        for hook in self.hooks.values():
            rate *= hook.learning_rate_factor(self.step)
        self.progress.learning_rate = rate
        if self.schedule is not None or self.hooks:
            for group in self.optimizer.param_groups:
                group["lr"] = rate

    def record(self, training_loss: float) -> dict[str, float]:
        """Evaluate, and keep the state if it is the best so far."""
        row: dict[str, float] = {"step": self.step, "training_loss": training_loss}
        with ExitStack() as stack:
            for hook in self.hooks.values():
                stack.enter_context(hook.evaluating(self.progress))
            if self.evaluate is not None:
                row |= self.measured(self.evaluate)
            for hook in self.hooks.values():
                row |= hook.columns()
            self.keep(row)
            best = self.progress.best_loss
            if self.evaluate is None or row["validation_loss"] < best:
                self.best_step, self.best_state = self.step, self.state()
                self.progress.best_loss = row.get("validation_loss", best)
        return row

    def measured(self, evaluate: Evaluate) -> Mapping[str, float]:
        """What an evaluation answers with, without gradients."""
        with torch.no_grad(), evaluation_mode(self.module):
            row = evaluate(self.module)
        if "validation_loss" not in row or not row.keys().isdisjoint(_OWN_COLUMNS):
            raise ValueError(
                f"evaluate gives {sorted(row)}; it must give a validation_loss, by which the best "
                f"step is chosen, and no {' or '.join(_OWN_COLUMNS)}, which the loop writes itself"
            )
        return row

    def keep(self, row: Mapping[str, float]) -> None:
        """Add a row to the records."""
        if self.records and set(row) != set(self.records):
            raise ValueError(
                f"the evaluation at step {self.step} has {sorted(row)}, the ones before it "
                f"{sorted(self.records)}; give the same names each time"
            )
        for name, number in row.items():
            self.records.setdefault(name, []).append(float(number))

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
            best_loss=self.progress.best_loss,
            optimizer=self.optimizer.state_dict()["state"],
            generators=generators,
            records=self.records,
            hooks={name: hook.state() for name, hook in self.hooks.items()},
        )

    def identity(self) -> dict[str, Any]:
        """What a checkpoint must agree in, the first first; a run may be given more steps."""
        numbers = {
            name: value
            for name, value in self.configuration.to_json().items()
            if name not in ("steps", "checkpoint_every")
        }
        state = self.module.state_dict()
        shapes = {name: list(value.shape) for name, value in state.items()}
        dtypes = {name: str(value.dtype) for name, value in state.items()}
        own_words_first = sorted(
            self.hooks.items(), key=lambda item: type(item[1]).settings is Hook.settings
        )
        hooks = {name: hook.settings() for name, hook in own_words_first}
        optimizer = {
            name: plain(value)
            for name, value in self.optimizer.defaults.items()
            if name not in _HOW_IT_RUNS
        }
        identity = numbers | {
            "optimizer": type(self.optimizer).__name__,
            "optimizer_settings": optimizer,
            "parameters": shapes,
            "dtypes": dtypes,
        }
        trained = [name for name, p in self.module.named_parameters() if p.requires_grad]
        if len(trained) < sum(1 for _ in self.module.parameters()):
            identity["trained"] = trained
        return {"hooks": hooks} | identity if hooks else identity

    def cuda_devices(self) -> list[int]:
        """The GPUs that the module lies on."""
        return sorted({p.device.index for p in self.parameters if p.device.type == "cuda"})

    def result(self) -> TrainingResult:
        """What the run comes to."""
        records = pl.DataFrame(self.records or {"step": []}).cast({"step": pl.Int64})
        last = self.state()
        best_step, best = (
            (self.best_step, self.best_state) if self.best_state else (self.step, last)
        )
        return TrainingResult(records, self.status, self.step, best_step, best, last)


def _laid_out(value: Any, parameter: Tensor) -> Any:
    """The optimizer's value, in memory as its parameter, which a fused optimizer relies on."""
    if not isinstance(value, Tensor) or value.shape != parameter.shape or value.dim() == 0:
        return value
    return torch.empty_like(parameter, dtype=value.dtype).copy_(value)


def _check_steps_alone(optimizer: torch.optim.Optimizer) -> None:
    """Raises if an optimizer evaluates the loss again within a step."""
    for parameter in inspect.signature(optimizer.step).parameters.values():
        if parameter.name == "closure" and parameter.default is parameter.empty:
            raise ValueError(
                f"optimizer makes {type(optimizer).__name__}, whose step needs a closure that "
                "evaluates the loss again; allowed: one that steps by the gradients alone, such as "
                "torch.optim.Adam"
            )
