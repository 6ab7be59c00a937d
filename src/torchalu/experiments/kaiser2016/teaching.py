"""How the baselines are trained: teacher forcing, on strings that a plan draws the lengths of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers
from torchalu.experiments.kaiser2016.answering import AnsweringNetwork
from torchalu.experiments.kaiser2016.trained import Trained, trained_from
from torchalu.tasks import AlgorithmicTask
from torchalu.train import Hook, Measured, Report, TrainingConfiguration, fit
from torchalu.train.algorithms import (
    EndWhenRight,
    LengthPlan,
    Stopwatch,
    StringValidation,
    TrainingGroup,
    TrainingStrings,
    string_loss,
)
from torchalu.train.run import OptimizerFactory
from torchalu.train.schedules import Schedule


@dataclass(frozen=True)
class Teaching:
    """The numbers that the trainings of all baselines have in common.

    Args:
        steps: at most.
        learning_rate: at first.
        clip_norm: the gradient's greatest norm.
        evaluate_every: steps from one evaluation to the next.
        validate_at: the lengths of the validation strings, as multiples of the greatest length.
        validation_strings: how many of each length.
        end_after: evaluations in a row with all validation strings right that end the run; 0
            turns it off.

    Raises:
        ValueError: a number that is out of its range.

    Example:
        >>> Teaching(steps=20_000).validate_at
        (1.0, 2.5, 5.0)
    """

    steps: int
    learning_rate: float = 1e-3
    clip_norm: float = float("inf")
    evaluate_every: int = 500
    validate_at: tuple[float, ...] = (1.0, 2.5, 5.0)
    validation_strings: int = 32
    end_after: int = 5

    def __post_init__(self) -> None:
        check_positive_integers(
            steps=self.steps,
            evaluate_every=self.evaluate_every,
            validation_strings=self.validation_strings,
        )
        if self.end_after < 0:
            raise ValueError(f"end_after is {self.end_after}; give 0 or more")
        if not self.validate_at or min(self.validate_at) <= 0:
            raise ValueError(f"validate_at is {self.validate_at}; give positive multiples")


@dataclass(frozen=True)
class Lesson:
    """What is taught, and by which methods.

    Attributes:
        task: what is learned.
        plan: draws the lengths.
        numbers: of the training.
        methods: other hooks.
        optimizer: makes the optimizer.
        schedule: of the learning rate.
        loss: of the strings of a step.
        evaluate: what is recorded of a network, `validation_loss` among it; what the validation
            gives if left out.
    """

    task: AlgorithmicTask
    plan: LengthPlan
    numbers: Teaching
    methods: Sequence[Hook] = ()
    optimizer: OptimizerFactory = torch.optim.Adam
    schedule: Schedule | None = None
    loss: Callable[[AnsweringNetwork, Sequence[TrainingGroup]], Measured] | None = None
    evaluate: Callable[[AnsweringNetwork, StringValidation], Mapping[str, float]] | None = None


def teach(
    network: AnsweringNetwork,
    lesson: Lesson,
    seed: int,
    folder: Path | None = None,
    report: Report | None = None,
    device: str = "cpu",
) -> Trained:
    """Train a baseline, and keep the parameters that are best on validation strings.

    Args:
        network: changed in place; it ends with the best parameters.
        lesson: what it is taught.
        seed: of the strings, and of all else that is random.
        folder: for checkpoints.
        report: takes the fraction that is done.
        device: where to train.

    Source:
        The best step is chosen as Neural GPUs' is; see `torchalu.train.algorithms`.
    """
    numbers, plan = lesson.numbers, lesson.plan
    longest = [round(plan.longest * multiple) for multiple in sorted(numbers.validate_at)]
    validation = StringValidation(lesson.task, longest, numbers.validation_strings, seed)
    strings = TrainingStrings(lesson.task, plan, seed, device=device)
    hooks: list[Hook] = [plan, *lesson.methods, Stopwatch()]
    if numbers.end_after:
        hooks.append(EndWhenRight(numbers.end_after))
    network = network.to(device)
    loss = lesson.loss or taught_loss

    def evaluate(_: nn.Module) -> Mapping[str, float]:
        return (
            validation(network) if lesson.evaluate is None else lesson.evaluate(network, validation)
        )

    result = fit(
        network,
        lambda step, _: strings(step),
        lambda _, groups: loss(network, groups),
        TrainingConfiguration(
            steps=numbers.steps,
            learning_rate=numbers.learning_rate,
            clip_norm=numbers.clip_norm,
            evaluate_every=numbers.evaluate_every,
            checkpoint_every=numbers.evaluate_every,
            seed=seed,
        ),
        evaluate=evaluate,
        optimizer=lesson.optimizer,
        schedule=lesson.schedule,
        hooks=hooks,
        folder=folder,
        report=None if report is None else lambda step: report(step / numbers.steps),
    )
    network.load_state_dict(result.best_state)
    records = validation.by_length(result.records)
    return trained_from(network.eval(), records, result.status, result.steps, result.best_step)


def taught_loss(network: AnsweringNetwork, groups: Sequence[TrainingGroup]) -> Measured:
    """The cross-entropy of each symbol after the true ones before it.

    Args:
        network: to be taught.
        groups: the strings of a step, all of which run together.

    Returns:
        What `string_loss` gives.
    """
    (group,) = groups
    return string_loss(_Taught(network, group), groups)


def summed_loss(network: AnsweringNetwork, groups: Sequence[TrainingGroup]) -> Measured:
    """The same, summed over all symbols of the step.

    Args:
        network: to be taught.
        groups: the strings of a step, all of which run together.
    """
    measured = taught_loss(network, groups)
    return measured._replace(loss=measured.loss * int(groups[0].lengths.sum()))


class _Taught(nn.Module):
    """Answers a group's strings with the true answers at hand."""

    def __init__(self, network: AnsweringNetwork, group: TrainingGroup) -> None:
        super().__init__()
        self.network, self.group = network, group

    def forward(self, symbols: Tensor, lengths: Tensor) -> Tensor:
        """Logits."""
        return self.network.taught(symbols, lengths, self.group.targets, self.group.seed)
