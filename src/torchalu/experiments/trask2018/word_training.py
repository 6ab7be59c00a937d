"""How a network that reads numbers in words is trained, and what is measured meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl
import torch
from torch import nn

from torchalu.arguments import check_from_zero, check_integers_from_zero, check_positive_integers
from torchalu.experiments.seeds import one_thread, weights
from torchalu.experiments.setting import Label
from torchalu.experiments.settings_study import check_device
from torchalu.experiments.trask2018.devices import moved, without_cpu
from torchalu.experiments.trask2018.published_words import FIGURE3
from torchalu.experiments.trask2018.word_networks import (
    SNAPPED,
    WordArithmetic,
    last_answers,
    word_network,
)
from torchalu.experiments.trask2018.word_rules import obey, read_rules, write_rules
from torchalu.experiments.trask2018.word_snapping import snapped
from torchalu.tasks import NumberWords, encode_words, number_words
from torchalu.tasks.number_words import WordBatch, WordsPart
from torchalu.train import JSON, Part, Report, TrainingConfiguration, TrainingResult, fit, seeded

PARTS: tuple[WordsPart, ...] = ("train", "validation", "test")
QUERIES = (*(tuple(phrase.split()) for phrase in FIGURE3), number_words(651), number_words(1000))
"""What each network is asked word by word: the phrases of the paper's figure 3, and two more."""

_RIGHT = 0.5


@dataclass(frozen=True)
class WordTraining:
    """The numbers of the training on number words.

    Args:
        steps: of gradient descent, each on all of the training numbers; the paper has 300,000.
        evaluate_every: steps from one evaluation to the next.
        loss: the squared or the absolute error.
        penalty: factor of the units' own penalty.
        clip_norm: the gradient is scaled down to this norm; without it one spike stops Adam.
        split_seed: of `NumberWords`; all seeds of a network have the same split. By default the
            smallest for which no number of the paper's figure 3 is trained on.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number is out of its range, a device that is not there.
    """

    steps: int = 20_000
    evaluate_every: int = 1000
    loss: Literal["squared", "absolute"] = "squared"
    penalty: float = 1.0
    clip_norm: float = 1.0
    split_seed: int = 1
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_positive_integers(steps=self.steps, evaluate_every=self.evaluate_every)
        check_integers_from_zero(split_seed=self.split_seed)
        check_from_zero(penalty=self.penalty)
        if not self.clip_norm > 0:
            raise ValueError(f"clip_norm is {self.clip_norm}; give a positive number")
        check_device(self.device)


@dataclass(frozen=True)
class WordSetting:
    """A network that learns to read numbers in words.

    Args:
        model: its name.
        embedding: numbers of a word.
        hidden: units of the LSTM.
        depth: layers after it.
        learning_rate: of Adam.
        training: the other numbers.

    Example:
        >>> WordSetting("LSTM+NALU", 16, 16, 1, 0.01, WordTraining()).keys
        ('model', 'embedding', 'hidden', 'depth', 'learning_rate')
    """

    model: str
    embedding: int
    hidden: int
    depth: int
    learning_rate: float
    training: WordTraining

    @property
    def labels(self) -> Mapping[str, Label]:
        """The columns that tell this setting's results apart."""
        return {
            "model": self.model,
            "embedding": self.embedding,
            "hidden": self.hidden,
            "depth": self.depth,
            "learning_rate": self.learning_rate,
        }

    @property
    def keys(self) -> tuple[str, ...]:
        """The same: a seed has one outcome."""
        return tuple(self.labels)

    @property
    def work(self) -> float:
        """Steps, for the progress bar alone."""
        return float(self.training.steps)

    def describe(self) -> Mapping[str, JSON]:
        """What settles its results."""
        return {"labels": dict(self.labels), "training": without_cpu(asdict(self.training))}

    def run(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train a network, and ask it.

        Args:
            seed: settles its start.
            scratch: for checkpoints.
            report: takes the fraction that is done.
        """
        with one_thread():
            task = NumberWords(self.training.split_seed)
            result, network = self._trained(task, seed, scratch, report)
            chosen = result.records.filter(pl.col("step") == result.best_step)
            best = (chosen if chosen.height else result.records).row(-1, named=True)
            if self.model == SNAPPED and isinstance(network, WordArithmetic):
                network = snapped(network, task.part("train")).eval()
                with torch.no_grad():
                    best = _measure(network, {part: task.part(part) for part in PARTS})
            labels = {**self.labels, "seed": seed}
            outcome = labels | _outcome(task, result, network, best)
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        records = result.records.select(*columns, pl.all())
        records = records.with_columns(pl.col(pl.Int32).cast(pl.Int64))
        return Part(records, pl.DataFrame([outcome]), weights(network))

    def _trained(
        self, task: NumberWords, seed: int, scratch: Path, report: Report
    ) -> tuple[TrainingResult, nn.Module]:
        """How it was trained, and the network with its best weights, on the CPU."""
        numbers = self.training
        batches: dict[WordsPart, WordBatch] = {
            part: moved(task.part(part), numbers.device) for part in PARTS
        }
        with seeded(seed):
            network = word_network(self.model, self.embedding, self.hidden, self.depth)
        network.to(numbers.device)
        result = fit(
            network,
            lambda *_: batches["train"],
            lambda module, batch: _loss(module, batch, numbers.loss),
            TrainingConfiguration(
                steps=numbers.steps,
                learning_rate=self.learning_rate,
                penalty=numbers.penalty,
                clip_norm=numbers.clip_norm,
                evaluate_every=numbers.evaluate_every,
                seed=seed,
            ),
            evaluate=lambda module: _measure(module, batches),
            optimizer=partial(torch.optim.Adam, fused=True),
            folder=scratch,
            report=lambda step: report(step / numbers.steps),
        )
        network.load_state_dict(result.best_state)
        return result, network.cpu().eval()


def part_of(phrase: Sequence[str], task: NumberWords) -> WordsPart | None:
    """The part that a phrase is in, if any.

    Args:
        phrase: words.
        task: the split.

    Example:
        >>> part_of(["seven"], NumberWords(0))
        'train'
    """
    for part in PARTS:
        if tuple(phrase) in {number_words(int(number)) for number in task.numbers[part]}:
            return part
    return None


def rules_outcome(network: nn.Module, task: NumberWords) -> dict[str, Any]:
    """The rounded rules of a network, read off the training and validation numbers.

    Args:
        network: that reads words.
        task: the split.

    Returns:
        `rules`, a line; `rules_test_right`, the share of the test numbers that follow from the
        rules exactly; and `rules_all_right`, whether all numbers from 0 to 1000 do.
    """
    numbers = [int(n) for part in ("train", "validation") for n in task.numbers[part]]
    tokens, lengths = encode_words([number_words(n) for n in numbers])
    with torch.no_grad():
        answers = network(tokens).double().numpy()
    rules = read_rules(answers, tokens.numpy(), lengths.numpy())
    test = task.numbers["test"]
    right = obey(rules, [number_words(int(n)) for n in test]) == test
    every = obey(rules, [number_words(n) for n in range(1001)])
    return {
        "rules": write_rules(rules),
        "rules_test_right": float(right.mean()),
        "rules_all_right": every.tolist() == list(range(1001)),
    }


def _outcome(
    task: NumberWords, result: TrainingResult, network: nn.Module, best: Mapping[str, float]
) -> dict[str, Any]:
    """The errors, what was answered word by word, and the rules that follow."""
    last = result.records.row(-1, named=True)
    with torch.no_grad():
        tokens, lengths = encode_words(QUERIES)
        asked = network(tokens).tolist()
    return {
        "train_mae": best["train_mae"],
        "validation_loss": best["validation_loss"],
        "test_mae": best["test_mae"],
        "test_right": best["test_right"],
        "last_train_mae": last["train_mae"],
        "last_test_mae": last["test_mae"],
        "best_step": result.best_step,
        "steps": result.steps,
        "status": result.status,
        **rules_outcome(network, task),
        "answers": [row[:n] for row, n in zip(asked, lengths.tolist(), strict=True)],
        "parts": [part_of(phrase, task) for phrase in QUERIES],
    }


def _loss(module: nn.Module, batch: WordBatch, kind: str) -> torch.Tensor:
    """The mean error of a batch."""
    error = last_answers(module(batch.tokens), batch.lengths) - batch.targets.squeeze(1)
    return error.square().mean() if kind == "squared" else error.abs().mean()


def _measure(module: nn.Module, batches: Mapping[WordsPart, WordBatch]) -> dict[str, float]:
    """Mean absolute errors of all parts; the validation's is what the best step is chosen by."""
    numbers = {}
    for part, batch in batches.items():
        answers = last_answers(module(batch.tokens), batch.lengths).double()
        error = (answers - batch.targets.squeeze(1)).abs()
        name = "validation_loss" if part == "validation" else f"{part}_mae"
        numbers[name] = error.mean().item()
        if part == "test":
            numbers["test_right"] = (error < _RIGHT).double().mean().item()
    return numbers
