"""Table 4: how many even digits are in a picture, by the configuration of the last layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, TypeAlias

import polars as pl
import torch
import tyro
from torch import nn

from torchalu.arguments import check_from_zero, check_positive, check_positive_integers
from torchalu.experiments.seeds import SeedOptions, Seeds, one_thread, weights
from torchalu.experiments.setting import Label, choose
from torchalu.experiments.settings_study import SettingsStudy, check_device
from torchalu.experiments.trask2018.checks import check_rates, check_sizes, check_unused
from torchalu.experiments.trask2018.digit_summaries import ranked
from torchalu.experiments.trask2018.parity_networks import LAYERS, parity_network
from torchalu.experiments.trask2018.parity_summaries import accuracies, which_to_pick
from torchalu.tasks import MNISTParity, ParityBatch, load_mnist
from torchalu.train import JSON, Part, Report, TrainingConfiguration, fit, seeded

_VALIDATION_SEED, _TEST_SEED = 1, 2
_PICTURES_AT_ONCE = 250
_SEARCHED: tuple[str, ...] = ("layer", "learning_rate", "batch_size")


@dataclass(frozen=True)
class ParityTraining:
    """The numbers of the training on pictures of digits; the paper states none of them.

    Args:
        steps: of the optimizer.
        evaluate_every: steps from one evaluation to the next.
        batch_size: pictures in a batch.
        learning_rate: of Adam.
        penalty: the factor of the units' own penalties, at its whole from half the training on.
        clip_norm: the gradient's norm is kept below it; at first a NALU's is huge.
        validation_pictures: pictures of validation digits.
        test_pictures: pictures of test digits.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number that is out of its range, a device that is not there.

    Example:
        >>> ParityTraining(steps=1000).batch_size
        64
    """

    steps: int = 20_000
    evaluate_every: int = 500
    batch_size: int = 64
    learning_rate: float = 3e-3
    penalty: float = 0.01
    clip_norm: float = 1.0
    validation_pictures: int = 2000
    test_pictures: int = 10_000
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_positive_integers(
            steps=self.steps,
            evaluate_every=self.evaluate_every,
            batch_size=self.batch_size,
            validation_pictures=self.validation_pictures,
            test_pictures=self.test_pictures,
        )
        check_positive(learning_rate=self.learning_rate)
        check_from_zero(penalty=self.penalty)
        if not self.clip_norm > 0:
            raise ValueError(f"clip_norm is {self.clip_norm}; give a positive number")
        check_device(self.device)


ParityOptions: TypeAlias = Annotated[ParityTraining, tyro.conf.arg(name="")]
"""`ParityTraining` as a parameter: each field is an option of the command line."""


@dataclass(frozen=True)
class ParitySetting:
    """A last layer that is trained with the network before it.

    Args:
        labels: the columns that tell this setting's results apart, "layer" among them.
        layer: its name.
        training: the numbers.
        tested: whether test pictures are looked at.
    """

    labels: Mapping[str, Label]
    layer: str
    training: ParityTraining
    tested: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell the outcomes of a seed apart."""
        return tuple(self.labels)

    @property
    def work(self) -> float:
        """Pictures, for the progress bar alone."""
        return float(self.training.steps * self.training.batch_size)

    def describe(self) -> dict[str, JSON]:
        """What settles its results, for the configuration of a study."""
        numbers = asdict(self.training)
        numbers["device"] = torch.device(self.training.device).type
        return {"labels": dict(self.labels), "training": numbers, "tested": self.tested}

    def run(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train and test a network.

        Args:
            seed: settles its start and the training pictures.
            scratch: for checkpoints.
            report: takes the fraction that is done.
        """
        with one_thread():
            return self._part(seed, scratch, report)

    def _part(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train and test a network."""
        numbers = self.training
        pictures = MNISTParity(load_mnist("train"), seed=seed)
        validation = _Pictures("validation", numbers.validation_pictures, _VALIDATION_SEED)
        with seeded(seed):
            network = parity_network(self.layer, pictures.num_classes).to(numbers.device)
        result = fit(
            network,
            lambda step, _: pictures.batch(step, numbers.batch_size),
            _loss,
            _configuration(numbers, seed),
            evaluate=validation.measure,
            optimizer=partial(torch.optim.Adam, fused=True),
            folder=scratch,
            report=lambda step: report(0.95 * step / numbers.steps),
        )
        network.load_state_dict(result.best_state)
        network.eval()
        labels = {**self.labels, "seed": seed}
        outcome = labels | validation.measure(network)
        if self.tested:
            found = _Pictures("test", numbers.test_pictures, _TEST_SEED).measure(network)
            outcome |= {"test_accuracy": found["validation_accuracy"]}
        outcome |= {
            "best_step": result.best_step,
            "steps": result.steps,
            "status": result.status,
        }
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        records = result.records.select(*columns, pl.all())
        records = records.with_columns(pl.col(pl.Int32).cast(pl.Int64))
        return Part(records, pl.DataFrame([outcome]), weights(network))


_TRAINING, _SEEDS = ParityTraining(), Seeds()
_SHORT, _TWO = ParityTraining(steps=4000), Seeds(2)
_INSTEAD = {
    "learning_rate": "learning_rates",
    "batch_size": "batch_sizes",
    "test_pictures": None,
}
"""What a search takes in place of numbers of its training; it looks at no test picture."""


class _Pictures:
    """Fixed pictures to measure on, which follow from a seed and are not kept."""

    def __init__(self, split: str, count: int, seed: int) -> None:
        self.task = MNISTParity(load_mnist(split), seed=seed)  # pyright: ignore[reportArgumentType]
        self.count = count

    @torch.no_grad()
    def measure(self, network: nn.Module) -> dict[str, float]:
        """The loss and the share of pictures that are right."""
        device = next(network.parameters()).device
        loss = right = 0.0
        for step, start in enumerate(range(0, self.count, _PICTURES_AT_ONCE)):
            rows = min(_PICTURES_AT_ONCE, self.count - start)
            images, targets = self.task.batch(step, rows)
            logits, targets = network(images.to(device)), targets.to(device)
            loss += nn.functional.cross_entropy(logits, targets, reduction="sum").item()
            right += logits.argmax(-1).eq(targets).sum().item()
        return {"validation_loss": loss / self.count, "validation_accuracy": right / self.count}


def table4(
    training: ParityOptions = _TRAINING,
    seeds: SeedOptions = _SEEDS,
    *,
    layers: tuple[str, ...] = tuple(LAYERS),
) -> SettingsStudy:
    """Table 4: the number of even digits in a picture, by the configuration of the last layer.

    Args:
        training: steps, batch size and so on.
        seeds: how many, and the first.
        layers: names of last layers.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.

    Source:
        Trask et al. 2018, section 4.6. Departures: see the page of the digits.

    Example:
        >>> study = table4(seeds=Seeds(1), layers=("linear", "NAC"))
        >>> [chunk.name for chunk in study.chunks()]
        ['linear-seed0', 'NAC-seed0']
    """
    choose("layers", layers, LAYERS)
    settings = [ParitySetting({"layer": layer}, layer, training) for layer in layers]
    return SettingsStudy("trask2018.table4", settings, seeds, _tables)


def table4_search(
    training: ParityOptions = _SHORT,
    seeds: SeedOptions = _TWO,
    *,
    layers: tuple[str, ...] = ("linear", "NAC"),
    learning_rates: tuple[float, ...] = (3e-4, 1e-3, 3e-3),
    batch_sizes: tuple[int, ...] = (64,),
) -> SettingsStudy:
    """The search of what table 4 leaves open, on pictures of validation digits alone.

    Args:
        training: steps and what is not searched; what is searched is refused there.
        seeds: how many, and the first.
        layers: names of last layers.
        learning_rates: of Adam.
        batch_sizes: pictures in a batch.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.

    Source:
        Trask et al. 2018 states none of these numbers. No test picture is looked at.

    Example:
        >>> len(table4_search().settings)
        6
    """
    choose("layers", layers, LAYERS)
    check_unused(training, _SHORT, _INSTEAD)
    check_rates(learning_rates)
    check_sizes(batch_sizes=batch_sizes)
    settings = []
    for values in product(layers, learning_rates, batch_sizes):
        layer, rate, size = values
        changed = replace(training, learning_rate=rate, batch_size=size)
        labels = dict(zip(_SEARCHED, values, strict=True))
        settings.append(ParitySetting(labels, layer, changed, tested=False))
    return SettingsStudy("trask2018.table4_search", settings, seeds, _search_tables)


def _loss(network: nn.Module, batch: ParityBatch) -> torch.Tensor:
    """The cross entropy of a batch."""
    device = next(network.parameters()).device
    return nn.functional.cross_entropy(network(batch.images.to(device)), batch.targets.to(device))


def _configuration(numbers: ParityTraining, seed: int) -> TrainingConfiguration:
    """The numbers for the training loop."""
    return TrainingConfiguration(
        steps=numbers.steps,
        learning_rate=numbers.learning_rate,
        penalty=numbers.penalty,
        penalty_start=numbers.steps / 4,
        penalty_end=numbers.steps / 2,
        evaluate_every=numbers.evaluate_every,
        checkpoint_every=numbers.evaluate_every,
        clip_norm=numbers.clip_norm,
        seed=seed,
    )


def _tables(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The accuracies, and which layer to pick."""
    table = accuracies(outcomes)
    return {"table4": table, "table4_picks": which_to_pick(table)}


def _search_tables(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The settings in their order."""
    return {"table4_search": ranked(outcomes, _SEARCHED, ["layer"])}
