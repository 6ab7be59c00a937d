"""The study of networks on series of digits: settings times seeds, measured on longer series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl
import torch
from torch import Tensor

from torchalu.evaluate import wilson
from torchalu.experiments.seeds import one_thread, weights
from torchalu.experiments.setting import Label
from torchalu.experiments.trask2018.digit_data import TRAIN_LENGTHS, SeriesData
from torchalu.experiments.trask2018.digit_models import MODELS, snap_network_
from torchalu.experiments.trask2018.digit_networks import SeriesNetwork
from torchalu.experiments.trask2018.digit_training import SeriesTraining, train_series
from torchalu.experiments.trask2018.perception import Perception, perceive, read_law
from torchalu.tasks import SequenceOperation
from torchalu.train import JSON, Part, Report, TrainingResult, cosine

_TYPES = {
    "mae": pl.Float64,
    "mse": pl.Float64,
    "accuracy": pl.Float64,
    "snapped_mae": pl.Float64,
    "law_mae": pl.Float64,
    "rounded_mae": pl.Float64,
    "read_right": pl.Int64,
    "read_images": pl.Int64,
    "read_low": pl.Float64,
    "read_high": pl.Float64,
    "worst_reading": pl.Float64,
    "law": pl.String,
    "reading": pl.String,
    "exact": pl.Boolean,
    "certified_error": pl.Float64,
}


@dataclass(frozen=True)
class SeriesSetting:
    """A model that learns an operation on series of digits.

    Args:
        labels: the columns that tell this setting's results apart, "task" and "model" among them.
        operation: what is learned.
        model: its name.
        training: the numbers.
        test_lengths: digits in the test series; none, and no test image is looked at.

    Example:
        >>> setting = SeriesSetting({"task": "sum", "model": "NAC"}, "sum", "NAC", SeriesTraining())
        >>> setting.keys
        ('task', 'model', 'length')
    """

    labels: Mapping[str, Label]
    operation: SequenceOperation
    model: str
    training: SeriesTraining
    test_lengths: tuple[int, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell the outcomes of a seed apart."""
        return (*self.labels, "length")

    @property
    def work(self) -> float:
        """Epochs, for the progress bar alone."""
        return float(self.training.epochs)

    def describe(self) -> dict[str, JSON]:
        """What settles its results, for the configuration of a study."""
        numbers = asdict(self.training)
        numbers["device"] = torch.device(self.training.device).type
        mean = MODELS[self.model].features_mean
        return {
            "labels": dict(self.labels),
            "operation": self.operation,
            "train_length": TRAIN_LENGTHS[self.operation],
            "test_lengths": list(self.test_lengths),
            "training": numbers,
            **({"features_mean": mean} if mean else {}),
        }

    def run(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train, snap and test a network.

        Args:
            seed: settles its start and the training series.
            scratch: for checkpoints.
            report: takes the fraction that is done.
        """
        with one_thread():
            return self._part(seed, scratch, report)

    def _part(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train, snap and test a network."""
        numbers, model = self.training, MODELS[self.model]
        data = SeriesData(self.operation, numbers.batch_size, seed, device=numbers.device)
        network = numbers.network(self.operation, self.model, seed)
        snaps = model.is_unit and bool(self.test_lengths)
        total = numbers.epochs + (numbers.settle_epochs if snaps else 0)
        share = numbers.epochs / total
        result = train_series(
            network, model, data, numbers, numbers.epochs, seed,
            scratch / "train", lambda done: report(share * done),
        )  # fmt: skip
        network.load_state_dict(result.best_state)
        network.eval()
        rows = self._measured(network, data, result)
        records, kept = [_phase(result, "train")], weights(network)
        if snaps and all(bool(p.isfinite().all()) for p in network.parameters()):
            rows, settled = self._settled(
                network, data, rows, seed, scratch / "settle",
                lambda done: report(share + (1 - share) * done),
            )  # fmt: skip
            if settled is not None:
                records.append(_phase(settled, "settle"))
            if rows[0]["law_mae"] is not None:
                kept |= {f"settled.{name}": value for name, value in weights(network).items()}
        labels = {**self.labels, "seed": seed}
        outcomes = pl.DataFrame([labels | row for row in rows], schema_overrides=_types(rows[0]))
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        table = pl.concat(records).select(*columns, pl.all())
        return Part(table.with_columns(pl.col(pl.Int32).cast(pl.Int64)), outcomes, kept)

    def _measured(
        self, network: SeriesNetwork, data: SeriesData, result: TrainingResult
    ) -> list[dict[str, Any]]:
        """A row a test length; without any, one row of the validation alone."""
        common = data.validate(network) | {
            "best_step": result.best_step,
            "steps": result.steps,
            "status": result.status,
        }
        if not self.test_lengths:
            return [{"length": data.length, **common}]
        found = data.measure(network, self.test_lengths)
        missing = dict.fromkeys(_TYPES)
        return [{"length": n, **missing, **found[n]._asdict(), **common} for n in self.test_lengths]

    def _settled(
        self,
        network: SeriesNetwork,
        data: SeriesData,
        rows: list[dict[str, Any]],
        seed: int,
        folder: Path,
        report: Report,
    ) -> tuple[list[dict[str, Any]], TrainingResult | None]:
        """Snap the arithmetic part, let the images' part settle if that says a law, and read it.

        The images' part stays as it was where settling makes the validation error no less.
        """
        numbers, lengths = self.training, self.test_lengths
        snap_network_(network)
        snapped = data.measure(network, lengths)
        result = None
        if numbers.settle_epochs and read_law(network, self.operation).text is not None:
            before, error = weights(network), data.validate(network)["validation_loss"]
            network.accumulator.requires_grad_(False)
            network.input_penalty = 0.0
            result = train_series(
                network, MODELS[self.model], data, numbers, numbers.settle_epochs, seed,
                folder, report, lambda steps: cosine(steps, warmup=steps // 10),
            )  # fmt: skip
            network.load_state_dict(result.best_state)
            network.eval()
            if not data.validate(network)["validation_loss"] < error:
                network.load_state_dict(before)
        if not all(bool(p.isfinite().all()) for p in network.parameters()):
            return rows, result
        seen = perceive(network, data, lengths)
        return [
            row | {"snapped_mae": snapped[row["length"]].mae} | perceived(seen, row["length"])
            for row in rows
        ], result


def perceived(seen: Perception, length: int) -> dict[str, Any]:
    """A report as columns of the outcomes, with a law only if it is verified.

    Args:
        seen: what was found.
        length: digits in a test series.
    """
    low, high = wilson(seen.right, seen.images)
    return {
        "law_mae": seen.measured[length].mae,
        "rounded_mae": seen.rounded[length].mae if seen.verified and seen.rounded else None,
        "read_right": seen.right,
        "read_images": seen.images,
        "read_low": low,
        "read_high": high,
        "worst_reading": seen.worst_reading,
        "law": seen.law.text if seen.verified else None,
        "reading": "; ".join(seen.law.reading) if seen.verified else None,
        "exact": seen.certificate.exact if seen.verified and seen.certificate else None,
        "certified_error": None if seen.certificate is None else seen.certificate.max_rel_error,
    }


def _phase(result: TrainingResult, phase: str) -> pl.DataFrame:
    """The records of a training, with its name."""
    return result.records.select(pl.lit(phase).alias("phase"), pl.all())


def _types(row: Mapping[str, Any]) -> dict[str, Any]:
    """Types of the columns, of which a setting that is not tested lacks some."""
    return {name: kind for name, kind in _TYPES.items() if name in row}


def tensors_of(kept: Mapping[str, Tensor], settled: bool) -> dict[str, Tensor]:
    """The network's state among the weights of a part.

    Args:
        kept: of the part.
        settled: the state with the arithmetic part snapped, rather than the trained one.
    """
    prefix = "settled."
    if settled:
        return {k.removeprefix(prefix): v for k, v in kept.items() if k.startswith(prefix)}
    return {k: v for k, v in kept.items() if not k.startswith(prefix)}
