"""How a network that evaluates programs is trained, and what is measured meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl
import torch
from torch import nn

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import matching_digits
from torchalu.experiments.seeds import one_thread
from torchalu.experiments.setting import Label
from torchalu.experiments.settings_study import check_device
from torchalu.experiments.trask2018.configured import CONFIGURED
from torchalu.experiments.trask2018.devices import moved, without_cpu
from torchalu.experiments.trask2018.program_networks import ProgramNetwork
from torchalu.tasks import ProgramBatch, Programs
from torchalu.train import JSON, Part, Report, TrainingConfiguration, cosine, fit, seeded

ProgramTask = Literal["addition", "programs"]

RANGES = {2: (0, 100), 3: (100, 1000), 4: (1000, 10_000)}
"""The numbers in programs to train and to test on, by their digits."""

_VALIDATION_SEED, _TEST_SEED = 1_000_001, 1_000_002


@dataclass(frozen=True)
class ProgramTraining:
    """The numbers of the training on programs; the learning rate falls to 0 as a cosine does.

    Args:
        steps: of gradient descent, each on fresh programs.
        batch_size: programs of a step.
        clip_norm: the gradient is scaled down to this norm.
        evaluate_every: steps from one evaluation to the next.
        count: programs to validate on, and to test on with each number of digits.
        nesting: the least and the greatest number of operations in a program.
        keep_registers: whether registers keep their values at the start; without it no unit
            remembers a number for long at first.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number is out of its range, a device that is not there.
    """

    steps: int = 20_000
    batch_size: int = 128
    clip_norm: float = 1.0
    evaluate_every: int = 1000
    count: int = 1000
    nesting: tuple[int, int] = (1, 3)
    keep_registers: bool = True
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_positive_integers(
            steps=self.steps,
            batch_size=self.batch_size,
            evaluate_every=self.evaluate_every,
            count=self.count,
        )
        if not self.clip_norm > 0:
            raise ValueError(f"clip_norm is {self.clip_norm}; give a positive number")
        for numbers in RANGES.values():
            replace(self.programs("programs", seed=0), number_range=numbers)
        check_device(self.device)

    def programs(self, task: ProgramTask, seed: int) -> Programs:
        """The programs that are learned.

        Args:
            task: sums of two numbers, or programs.
            seed: settles them.
        """
        if task == "addition":
            return Programs(("add",), (1, 1), seed=seed)
        return Programs(nesting=self.nesting, seed=seed)


@dataclass(frozen=True)
class ProgramSetting:
    """A network that learns to evaluate programs.

    Args:
        task: "addition" or "programs".
        model: its name.
        hidden: its size.
        learning_rate: of Adam, at the start.
        registers: of a configured unit; 0 for a recurrent network.
        sees_numbers: whether the recurrent network reads the numbers.
        training: the other numbers.

    Example:
        >>> ProgramSetting("addition", "NALU", 32, 0.01, 4, False, ProgramTraining()).keys
        ('model', 'hidden', 'learning_rate', 'registers', 'sees_numbers', 'digits')
    """

    task: ProgramTask
    model: str
    hidden: int
    learning_rate: float
    registers: int
    sees_numbers: bool
    training: ProgramTraining

    @property
    def labels(self) -> Mapping[str, Label]:
        """The columns that tell this setting's results apart."""
        return {
            "model": self.model,
            "hidden": self.hidden,
            "learning_rate": self.learning_rate,
            "registers": self.registers,
            "sees_numbers": self.sees_numbers,
        }

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell the outcomes of a seed apart."""
        return (*self.labels, "digits")

    @property
    def work(self) -> float:
        """Steps, for the progress bar alone; a DNC's are long."""
        return self.training.steps * (4.0 if self.model == "DNC" else 1.0)

    def describe(self) -> Mapping[str, JSON]:
        """What settles its results."""
        numbers = without_cpu(asdict(self.training))
        if not numbers["keep_registers"] or self.model not in CONFIGURED:
            del numbers["keep_registers"]  # as before there was a choice: results of then stay
        return {"task": self.task, "labels": dict(self.labels), "training": numbers}

    def network(self, seed: int) -> ProgramNetwork:
        """The network with the start of one seed.

        Args:
            seed: settles the start.
        """
        with seeded(seed):
            network = ProgramNetwork(
                self.model,
                self.hidden,
                sees_numbers=self.sees_numbers,
                registers=self.registers,
                keep_registers=self.training.keep_registers,
            )
        return network.to(self.training.device)

    def run(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train a network, and test it at each evaluation.

        Args:
            seed: settles its start and the programs it learns from.
            scratch: for checkpoints.
            report: takes the fraction that is done.
        """
        numbers, programs = self.training, self.training.programs(self.task, seed)
        sets = {
            name: moved(batch, numbers.device)
            for name, batch in measured_sets(programs, numbers.count).items()
        }
        with one_thread():
            result = fit(
                self.network(seed),
                lambda step, _: moved(programs.batch(step, numbers.batch_size), numbers.device),
                lambda module, batch: rmse(module(batch), batch),
                TrainingConfiguration(
                    steps=numbers.steps,
                    learning_rate=self.learning_rate,
                    clip_norm=numbers.clip_norm,
                    evaluate_every=numbers.evaluate_every,
                    checkpoint_every=min(1000, numbers.evaluate_every),
                    seed=seed,
                ),
                evaluate=lambda module: _measure(module, sets),
                optimizer=partial(torch.optim.Adam, fused=True),
                schedule=cosine(numbers.steps),
                folder=scratch,
                report=lambda step: report(step / numbers.steps),
            )
        labels = {**self.labels, "seed": seed}
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        records = result.records.select(*columns, pl.all())
        records = records.with_columns(pl.col(pl.Int32).cast(pl.Int64))
        common = {"best_step": result.best_step, "steps": result.steps, "status": result.status}
        rows = [labels | _outcome(result.records, digits, result.best_step) for digits in RANGES]
        best = {name: value.cpu() for name, value in result.best_state.items()}
        return Part(records, pl.DataFrame([row | common for row in rows]), best)


def measured_sets(programs: Programs, count: int) -> dict[str, ProgramBatch]:
    """The programs to validate on, and to test on by their digits; the same for all seeds.

    Args:
        programs: that are learned.
        count: of each set.
    """
    tests = {
        f"{digits}": replace(programs, number_range=numbers, seed=_TEST_SEED).batch(0, count)
        for digits, numbers in RANGES.items()
    }
    return {"validation": replace(programs, seed=_VALIDATION_SEED).batch(0, count)} | tests


def rmse(answers: torch.Tensor, batch: ProgramBatch) -> torch.Tensor:
    """The root of the mean square error.

    Args:
        answers: of a network.
        batch: what they are answers to.

    Example:
        >>> from torchalu.tasks import encode_programs
        >>> rmse(torch.tensor([[4.0], [11.0]]), encode_programs([(1,), (7,)])).item()
        3.535...
    """
    return nn.functional.mse_loss(answers, batch.targets).sqrt()


def _measure(module: nn.Module, sets: Mapping[str, ProgramBatch]) -> dict[str, float]:
    """The error on validation programs, and errors and digits that match on all test sets."""
    numbers = {}
    for name, batch in sets.items():
        answers = module(batch)
        if name == "validation":
            numbers["validation_loss"] = rmse(answers, batch).item()
            continue
        numbers[f"rmse_{name}"] = rmse(answers.double(), batch).item()
        shares = matching_digits(answers.cpu().numpy(), batch.targets.cpu().numpy())
        numbers[f"matching_{name}"] = float(shares.mean())
        numbers[f"right_{name}"] = float((shares == 1).mean())
    return numbers


def _outcome(records: pl.DataFrame, digits: int, best_step: int) -> dict[str, Any]:
    """What a network makes of numbers of so many digits, at its best step and at all."""
    chosen = records.filter(pl.col("step") == best_step)
    best = (chosen if chosen.height else records).row(-1, named=True)
    return {
        "digits": digits,
        "validation_loss": best["validation_loss"],
        "rmse": best[f"rmse_{digits}"],
        "matching": best[f"matching_{digits}"],
        "right": best[f"right_{digits}"],
        "evaluation_steps": records["step"].to_list(),
        "matching_digits": records[f"matching_{digits}"].to_list(),
    }
