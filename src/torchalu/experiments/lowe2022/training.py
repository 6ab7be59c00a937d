"""How a network is trained to classify, and what is measured meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import torch
import tyro
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional

from torchalu.arguments import check_positive_integers
from torchalu.experiments.lowe2022.data import Batch, ClassificationData
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters
from torchalu.experiments.lowe2022.one_cycle import one_cycle, one_cycle_adam
from torchalu.experiments.seeds import Seeds, one_thread
from torchalu.train import TrainingConfiguration, TrainingResult, fit

_STEPS_TO_CHECKPOINT = 2000


@dataclass(frozen=True)
class ClassificationRuns(Seeds):
    """The seeds of an experiment, and how long each network is trained.

    Args:
        seeds: how many.
        first_seed: the number of the first.
        epochs: how often the training samples are gone through.
        batch_size: samples in a batch.
        learning_rate: the highest of the cycle, for all networks; what the search chose for each
            if left out.
        weight_decay: likewise.

    Raises:
        ValueError: a number is out of its range.

    Example:
        >>> list(ClassificationRuns(seeds=3, first_seed=7).numbers)
        [7, 8, 9]
    """

    seeds: int = 10
    epochs: int = 10
    batch_size: int = 128
    learning_rate: float | None = None
    weight_decay: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive_integers(epochs=self.epochs, batch_size=self.batch_size)


ClassificationOptions: TypeAlias = Annotated[ClassificationRuns, tyro.conf.arg(name="")]
"""`ClassificationRuns` as a parameter: each field is an option of the command line."""


def train_classifier(
    network: nn.Module,
    data: ClassificationData,
    hyperparameters: Hyperparameters,
    runs: ClassificationRuns,
    seed: int,
    folder: Path | None = None,
    report: Callable[[float], None] | None = None,
) -> TrainingResult:
    """Train a network on one core, by Adam on one cycle.

    Args:
        network: changed in place; it ends with the last parameters.
        data: what it learns from, and is validated on after each epoch.
        hyperparameters: learning rate and weight decay.
        runs: epochs and batch size.
        seed: of the order of the samples.
        folder: for checkpoints.
        report: takes the fraction that is done.

    Source:
        Lowe et al. 2022, section 4.3. What is judged is the network after the last step, where
        the cycle has ended.
    """
    epoch = data.epoch_steps(runs.batch_size)
    steps = runs.epochs * epoch
    configuration = TrainingConfiguration(
        steps=steps,
        learning_rate=hyperparameters.learning_rate,
        evaluate_every=epoch,
        checkpoint_every=_STEPS_TO_CHECKPOINT,
        seed=seed,
    )
    with one_thread():
        return fit(
            network,
            lambda step, _: data.batch(step, runs.batch_size, seed),
            lambda module, batch: classification_loss(module(batch.inputs), batch.labels),
            configuration,
            evaluate=lambda module: _validate(module, data),
            optimizer=one_cycle_adam(steps, hyperparameters.weight_decay),
            schedule=one_cycle(steps),
            folder=folder,
            report=None if report is None else lambda step: report(step / steps),
        )


def classification_loss(
    outputs: Float[Tensor, "batch classes"], labels: Int64[Tensor, " batch"]
) -> Float[Tensor, ""]:
    """The mean cross entropy; a single output is the logit of label 1.

    Args:
        outputs: logits.
        labels: classes from 0.

    Example:
        >>> classification_loss(torch.zeros(2, 4), torch.tensor([0, 3]))
        tensor(1.3863)
        >>> classification_loss(torch.zeros(2, 1), torch.tensor([0, 1]))
        tensor(0.6931)
    """
    if outputs.shape[1] == 1:
        return functional.binary_cross_entropy_with_logits(outputs[:, 0], labels.to(outputs.dtype))
    return functional.cross_entropy(outputs, labels)


@torch.no_grad()
def measure(network: nn.Module, batches: Iterable[Batch]) -> tuple[float, float]:
    """Mean cross entropy and accuracy.

    Args:
        network: in evaluation mode.
        batches: all samples to measure on.

    Example:
        >>> measure(nn.Identity(), [Batch(torch.tensor([[1.0], [-2.0]]), torch.tensor([1, 1]))])
        (1.220..., 0.5)
    """
    loss, right, count = 0.0, 0, 0
    for inputs, labels in batches:
        outputs = network(inputs)
        single = outputs.shape[1] == 1
        decided = (outputs[:, 0] > 0).long() if single else outputs.argmax(1)
        loss += classification_loss(outputs, labels).item() * len(labels)
        right += int((decided == labels).sum())
        count += len(labels)
    return loss / count, right / count


def _validate(network: nn.Module, data: ClassificationData) -> dict[str, float]:
    """What is measured after each epoch."""
    loss, accuracy = measure(network, data.batches("validation"))
    return {"validation_loss": loss, "validation_accuracy": accuracy}
