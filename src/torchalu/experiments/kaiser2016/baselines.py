"""The baselines, each with its training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl
import torch

from torchalu.experiments.kaiser2016.answering import AnsweringNetwork
from torchalu.experiments.kaiser2016.learner import Learner
from torchalu.experiments.kaiser2016.lstm_attention import LSTMAttention
from torchalu.experiments.kaiser2016.stack_rnn import StackRNN
from torchalu.experiments.kaiser2016.stack_training import HalvedRate, LongerEachEpoch
from torchalu.experiments.kaiser2016.teaching import (
    Lesson,
    Teaching,
    summed_loss,
    taught_loss,
    teach,
)
from torchalu.experiments.kaiser2016.trained import Trained
from torchalu.experiments.kaiser2016.transformer import AbacusTransformer
from torchalu.tasks import AlgorithmicTask, encode
from torchalu.train import Report, seeded
from torchalu.train.algorithms import (
    GradientNoise,
    LengthCurriculum,
    StringValidation,
    TrainingGroup,
)
from torchalu.train.algorithms.batches import random_numbers
from torchalu.train.schedules import cosine

_ENTROPY_STRINGS = 1000


@dataclass(frozen=True)
class LSTMLearner(Learner):
    """LSTM with attention, trained with the curriculum and gradient noise.

    Args:
        size: of the cells.
        layers: of encoder and decoder each.
        symbols: the longest training strings.
        batch: strings a step.
        threshold: fraction of wrong strings below which the curriculum advances.
        noise: scale of the gradient noise.
        numbers: of the training.
        device: where to train.

    Source:
        Kaiser & Sutskever 2016, section 3.1: Adam, gradients of norm 1 at most, the curriculum
        and gradient noise of section 3.3. Departures: no dropout; strings are drawn anew at each
        step, where the paper has 10,000 of each length.
    """

    size: int = 64
    layers: int = 3
    symbols: int = 41
    batch: int = 32
    threshold: float = 0.15
    noise: float = 1e-3
    numbers: Teaching = field(default_factory=lambda: Teaching(60_000, clip_norm=1.0))
    device: str = "cpu"

    def build(self, task: AlgorithmicTask, seed: int) -> LSTMAttention:
        """The network with the start of one seed; see `Learner`."""
        with seeded(seed):
            return LSTMAttention(len(task.alphabet) + 1, self.size, self.layers)

    def train(
        self, task: AlgorithmicTask, seed: int, folder: Path | None, report: Report
    ) -> Trained:
        """Build and train a network; see `Learner`."""
        plan = LengthCurriculum(task, threshold=self.threshold, most=self.symbols, batch=self.batch)
        optimizer = partial(torch.optim.Adam, eps=1e-4)
        noise = GradientNoise(self.noise, "error")
        lesson = Lesson(task, plan, self.numbers, [noise], optimizer)
        return teach(self.build(task, seed), lesson, seed, folder, report, self.device)


@dataclass(frozen=True)
class TransformerLearner(Learner):
    """A small Transformer with abacus embeddings, trained with a curriculum of lengths.

    On short strings it finds out which digits belong together; on those of all lengths from the
    start that takes far longer.

    Args:
        size: of the embeddings.
        layers: blocks.
        heads: of the attention.
        positions: how many places in a number there are embeddings of; longer strings are not
            tested.
        symbols: the longest training strings.
        batch: strings a step.
        threshold: fraction of wrong strings below which the curriculum advances.
        every: steps from one look at them to the next.
        warmup: steps in which the learning rate rises; it then falls as a cosine.
        numbers: of the training.
        device: where to train.
    """

    size: int = 96
    layers: int = 4
    heads: int = 4
    positions: int = 512
    symbols: int = 41
    batch: int = 32
    threshold: float = 0.15
    every: int = 50
    warmup: int = 200
    numbers: Teaching = field(default_factory=lambda: Teaching(20_000, clip_norm=1.0))
    device: str = "cpu"

    @property
    def most_symbols(self) -> int:
        """The longest strings whose places there are embeddings of."""
        return self.positions

    def build(self, task: AlgorithmicTask, seed: int) -> AbacusTransformer:
        """The network with the start of one seed; see `Learner`."""
        separators = [
            number for number, character in enumerate(task.alphabet, 1) if not character.isalnum()
        ]
        with seeded(seed):
            return AbacusTransformer(
                len(task.alphabet) + 1,
                separators,
                self.size,
                self.layers,
                self.heads,
                self.positions,
            )

    def train(
        self, task: AlgorithmicTask, seed: int, folder: Path | None, report: Report
    ) -> Trained:
        """Build and train a network; see `Learner`."""
        plan = LengthCurriculum(
            task, threshold=self.threshold, most=self.symbols, batch=self.batch, every=self.every
        )
        schedule = cosine(self.numbers.steps, min(self.warmup, self.numbers.steps - 1), end=0.05)
        lesson = Lesson(task, plan, self.numbers, optimizer=torch.optim.AdamW, schedule=schedule)
        return teach(self.build(task, seed), lesson, seed, folder, report, self.device)


@dataclass(frozen=True)
class StackLearner(Learner):
    """The stack RNN, trained as its authors' program does it.

    It is tested with discrete actions if these validate better than mixed ones.

    Args:
        hidden: units.
        stacks: how many.
        symbols: the longest training strings.
        batch: strings a step.
        epoch: strings an epoch.
        numbers: of the training.
        device: where to train.

    Source:
        Joulin & Mikolov 2015, section 5.2 and the authors' program: 100 epochs at most of 10,000
        strings, SGD at 0.1. Departure: a step is of 10 strings, whose gradients are summed; their
        program takes one after each symbol, and empties the stacks after 10 strings.
    """

    hidden: int = 100
    stacks: int = 10
    symbols: int = 41
    batch: int = 10
    epoch: int = 10_000
    numbers: Teaching = field(
        default_factory=lambda: Teaching(100_000, 0.1, evaluate_every=1000, end_after=0)
    )
    device: str = "cpu"

    def build(self, task: AlgorithmicTask, seed: int) -> StackRNN:
        """The network with the start of one seed; see `Learner`."""
        with seeded(seed):
            return StackRNN(len(task.alphabet) + 1, self.hidden, self.stacks)

    def train(
        self, task: AlgorithmicTask, seed: int, folder: Path | None, report: Report
    ) -> Trained:
        """Build and train a network; see `Learner`."""
        steps = max(1, self.epoch // self.batch)
        plan = LongerEachEpoch(task, epoch=steps, most=self.symbols, batch=self.batch)
        lesson = Lesson(
            task,
            plan,
            self.numbers,
            [HalvedRate(patience=steps * (self.symbols // 2))],
            torch.optim.SGD,
            loss=summed_loss,
            evaluate=partial(_both_ways, _validation_group(task, plan, seed, self.device)),
        )
        network = self.build(task, seed)
        trained = teach(network, lesson, seed, folder, report, self.device)
        best = trained.records.filter(pl.col("step") == trained.best_step)
        network.discrete = bool(best["discrete"][0])
        return trained


def _validation_group(
    task: AlgorithmicTask, plan: LongerEachEpoch, seed: int, device: str
) -> TrainingGroup:
    """Strings of the longest training length, by which the stack RNN's learning rate goes."""
    length = plan.sizes[plan.longest]
    texts = task.sample(length, _ENTROPY_STRINGS, random_numbers(seed, "entropy", length))
    batch = encode(task, texts)
    assert batch.targets is not None
    tensors = (tensor.to(device) for tensor in (batch.inputs, batch.targets, batch.lengths))
    return TrainingGroup(*tensors, seed=0)


def _both_ways(
    group: TrainingGroup, network: AnsweringNetwork, validation: StringValidation
) -> Mapping[str, float]:
    """What is validated with discrete or with mixed actions, whichever is better; the entropy."""
    assert isinstance(network, StackRNN)
    rows = []
    for discrete in (True, False):
        network.discrete = discrete
        rows.append(validation(network) | {"discrete": float(discrete)})
    entropy = taught_loss(network, [group]).loss.item()
    return min(rows, key=lambda row: row["validation_loss"]) | {"entropy": entropy}
