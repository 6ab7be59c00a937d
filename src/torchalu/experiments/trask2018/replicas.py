"""Many copies of a small network, trained as one module, each as if it were alone."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call, vmap

from torchalu.export import snap
from torchalu.nn import Unit
from torchalu.train import Hook, Progress, Report, TrainingConfiguration, fit, seeded

_BEST = "best_parameter_"
Score: TypeAlias = Callable[[Tensor, Tensor], Tensor]


class Examples(NamedTuple):
    """What networks are given, and what they are to answer.

    Attributes:
        inputs: for each seed its own, the same for all of its tasks.
        targets: a number for each task and row.
    """

    inputs: Float[Tensor, "seeds rows *in"]
    targets: Float[Tensor, "seeds tasks rows 1"]


class Replicas(nn.Module):
    """Copies of a module, one for each seed and task, with parameters of their own.

    Units among its parts are constrained and penalized as ever, since what a unit does to its
    parameters it does element by element. The state holds, beside the parameters, those that each
    replica had at its lowest validation loss.

    Args:
        copies: the module with the start of each seed.
        tasks: how many replicas of each seed there are; they start alike.

    Example:
        >>> replicas = Replicas([nn.Linear(3, 1) for _ in range(2)], tasks=5)
        >>> replicas(torch.zeros(2, 7, 3)).shape
        torch.Size([2, 5, 7, 1])
    """

    best_loss: Tensor
    best_step: Tensor

    def __init__(self, copies: Sequence[nn.Module], tasks: int = 1) -> None:
        super().__init__()
        self.shape = (len(copies), tasks)
        self.template = copy.deepcopy(copies[0])
        parts = [dict(one.named_parameters()) for one in copies]
        self.names = list(parts[0])
        for name in self.names:
            rows = torch.stack([part[name].detach() for part in parts]).unsqueeze(1)
            stacked = rows.repeat(1, tasks, *(1 for _ in parts[0][name].shape))
            owner, _, short = name.rpartition(".")
            setattr(self.template.get_submodule(owner), short, nn.Parameter(stacked))
            self.register_buffer(_buffer(name), stacked.clone())
        self.register_buffer("best_loss", torch.full(self.shape, math.inf, dtype=torch.float64))
        self.register_buffer("best_step", torch.zeros(self.shape, dtype=torch.int64))
        self.losses = torch.full(self.shape, math.nan)

    def forward(self, inputs: Float[Tensor, "seeds rows *in"]) -> Float[Tensor, "..."]:
        """The answers of all replicas."""
        each = vmap(vmap(self._answer, in_dims=(0, None)), in_dims=(0, 0))
        return each(self.current(), inputs)

    def current(self) -> dict[str, Tensor]:
        """The parameters, by name, each with seeds and tasks in front."""
        return dict(self.template.named_parameters())

    def best(self) -> dict[str, Tensor]:
        """The same at each replica's lowest validation loss; its start before there is one."""
        return {name: self.get_buffer(_buffer(name)) for name in self.names}

    @torch.no_grad()
    def snapped(self) -> dict[str, Tensor] | None:
        """The current parameters with those of every unit snapped; None where there is no unit.

        These, and not the best, are those on which penalties have acted longest. Those of a
        replica of which one is not finite are NaN.
        """
        if not any(isinstance(module, Unit) for module in self.template.modules()):
            return None
        current = self.current()
        snapped = {name: torch.full_like(value, math.nan) for name, value in current.items()}
        one = copy.deepcopy(self.template)
        for name, value in current.items():
            owner, _, short = name.rpartition(".")
            setattr(one.get_submodule(owner), short, nn.Parameter(torch.empty_like(value[0, 0])))
        own = dict(one.named_parameters())
        for seed, task in self.finite().nonzero().tolist():
            for name, value in current.items():
                own[name].copy_(value[seed, task])
            snap(one)
            for name, value in snapped.items():
                value[seed, task] = own[name]
        return snapped

    def finite(self) -> Tensor:
        """Whether all current parameters of each replica are finite."""
        flags = [value.isfinite().flatten(2).all(-1) for value in self.current().values()]
        return torch.stack(flags).all(0)

    def errors(
        self, measured: Examples, score: Score, parameters: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """A score of each replica, computed in float64, one seed after the other.

        Args:
            measured: on what.
            score: gives numbers for each row from answers and targets; their mean is taken.
            parameters: of all replicas, by name; those of the lowest validation loss if left out.
        """
        rows = [
            self.error(seed, Examples(inputs[None], targets[None]), score, parameters)
            for seed, (inputs, targets) in enumerate(zip(*measured, strict=True))
        ]
        return torch.stack(rows)

    @torch.no_grad()
    def error(
        self,
        seed: int,
        measured: Examples,
        score: Score,
        parameters: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """The same for the replicas of one seed.

        Args:
            seed: its place.
            measured: rows of this seed alone.
            score: as of `errors`.
            parameters: as of `errors`.
        """
        parameters = self.best() if parameters is None else parameters
        mine = {name: value[seed] for name, value in parameters.items()}
        answers = vmap(self._answer, in_dims=(0, None))(mine, measured.inputs[0])
        return score(answers.double(), measured.targets[0].double()).mean((1, 2))

    @torch.no_grad()
    def keep(self, losses: Tensor, step: int) -> None:
        """Take the parameters of those replicas that are better than ever.

        Args:
            losses: on validation, of each replica.
            step: the number of steps taken.
        """
        better = losses < self.best_loss
        self.best_loss.copy_(torch.where(better, losses, self.best_loss))
        self.best_step.masked_fill_(better, step)
        for name, value in self.current().items():
            self.get_buffer(_buffer(name))[better] = value[better]

    def _answer(self, parameters: dict[str, Tensor], inputs: Tensor) -> Tensor:
        return functional_call(self.template, parameters, (inputs,))


class ClipEach(Hook):
    """Scales the gradient of each replica down to a norm where its own is greater.

    Args:
        clip_norm: the norm.
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = clip_norm

    def settings(self) -> dict[str, Any]:
        """The norm."""
        return {"clip_norm": self.clip_norm}

    def change_gradients(self, progress: Progress) -> None:
        """Scale each replica's own part."""
        gradients = [p.grad for p in progress.parameters if p.grad is not None]
        norm = sum(grad.square().flatten(2).sum(-1) for grad in gradients)
        assert isinstance(norm, Tensor)
        factor = (self.clip_norm / norm.sqrt().clamp(min=1e-30)).clamp(max=1.0)
        for grad in gradients:
            grad.mul_(factor.reshape(*factor.shape, *(1 for _ in grad.shape[2:])))


def started(build: Callable[[], nn.Module], seeds: Sequence[int], tasks: int = 1) -> Replicas:
    """Untrained replicas, each start a function of the module and the seed alone.

    Args:
        build: makes the module.
        seeds: their numbers.
        tasks: as of `Replicas`.
    """
    copies = []
    for seed in seeds:
        word = np.random.SeedSequence([0, seed]).generate_state(1, np.uint64)[0]
        with seeded(int(word) >> 1):
            copies.append(build())
    return Replicas(copies, tasks)


def blocks(first: int, count: int, together: int) -> list[range]:
    """Seeds that are trained side by side.

    Args:
        first: the number of the first seed.
        count: of all seeds.
        together: most of them in a block.

    Example:
        >>> blocks(0, 5, together=2)
        [range(0, 2), range(2, 4), range(4, 5)]
    """
    end = first + count
    return [range(k, min(k + together, end)) for k in range(first, end, together)]


def in_a_name(model: str) -> str:
    """The name of a model as part of the name of a chunk, and so of a file.

    Args:
        model: its name.

    Example:
        >>> in_a_name("Gated NAU/NMU")
        'Gated-NAU-NMU'
    """
    return model.replace(" ", "-").replace("/", "-")


def squared(answers: Tensor, targets: Tensor) -> Tensor:
    """The squared error."""
    return (answers - targets).square()


def train_replicas(
    replicas: Replicas,
    sample: Callable[[int], Examples],
    validation: Examples,
    configuration: TrainingConfiguration,
    *,
    clip_norm: float = math.inf,
    folder: Path | None = None,
    report: Report | None = None,
) -> pl.DataFrame:
    """Train all replicas by Adam on squared errors.

    The loss is the sum of theirs, and Adam works element by element, so that none has an effect on
    another; one that is no longer finite is left behind.

    Args:
        replicas: changed in place; they hold their best parameters at the end.
        sample: the batch of a step, from its number.
        validation: by which the best parameters are chosen.
        configuration: the numbers; its `penalty` is that of one replica.
        clip_norm: bound of the gradient's norm of one replica.
        folder: for checkpoints.
        report: takes the fraction that is done.

    Returns:
        A row an evaluation and replica: seed_index, task_index, step, training_loss,
        validation_loss.
    """
    count, steps = math.prod(replicas.shape), configuration.steps
    evaluator = _Evaluator(validation)
    result = fit(
        replicas,
        lambda step, _: sample(step),
        _loss,
        replace(configuration, penalty=configuration.penalty * count),
        evaluate=evaluator,
        hooks=[evaluator, *([ClipEach(clip_norm)] if math.isfinite(clip_norm) else [])],
        folder=folder,
        report=None if report is None else lambda step: report(step / steps),
    )
    return _long(result.records, replicas.shape)


class _Evaluator(Hook):
    """Measures each replica, and has it keep its best parameters."""

    def __init__(self, validation: Examples) -> None:
        self.validation, self.step = validation, 0

    def after_step(self, progress: Progress) -> None:
        """Know the step that is evaluated."""
        self.step = progress.step

    def __call__(self, module: nn.Module) -> dict[str, float]:
        """Losses by replica, and the mean of those that are finite."""
        assert isinstance(module, Replicas)
        losses = module.errors(self.validation, squared, module.current())
        module.keep(losses, self.step)
        row = {"validation_loss": losses[losses.isfinite()].sum().item()}
        for name, values in (("training", module.losses), ("validation", losses)):
            row |= {f"{name}|{k}": value for k, value in enumerate(values.flatten().tolist())}
        return row


def _loss(module: nn.Module, batch: Examples) -> Tensor:
    """The sum of the losses that are finite."""
    assert isinstance(module, Replicas)
    losses = squared(module(batch.inputs), batch.targets).mean((2, 3))
    module.losses = losses.detach()
    return torch.where(losses.isfinite(), losses, 0.0).sum()


def _long(records: pl.DataFrame, shape: tuple[int, int]) -> pl.DataFrame:
    """A row an evaluation and replica, of a row an evaluation."""
    parts = [
        records.select(
            pl.lit(k // shape[1], dtype=pl.Int64).alias("seed_index"),
            pl.lit(k % shape[1], dtype=pl.Int64).alias("task_index"),
            "step",
            pl.col(f"training|{k}").alias("training_loss"),
            pl.col(f"validation|{k}").alias("validation_loss"),
        )
        for k in range(math.prod(shape))
    ]
    return pl.concat(parts)


def _buffer(name: str) -> str:
    """What a parameter's best value is called; a buffer's name has no dots."""
    return _BEST + name.replace(".", "|")
