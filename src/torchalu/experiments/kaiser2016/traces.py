"""How a trained Neural GPU adds: where digits and carries are in its state, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import torch
from jaxtyping import Int64

from torchalu.evaluate import signal_correlations
from torchalu.experiments.kaiser2016.stored import weights_digest
from torchalu.experiments.seeds import one_thread
from torchalu.nn import DiagonalNeuralGPU
from torchalu.tasks import encode
from torchalu.train import JSON, Chunk, Part, Report
from torchalu.zoo import LearnedAlgorithm
from torchalu.zoo import find as find_algorithm

SIGNALS = ("first", "second", "carry", "sum")
_DIRECTIONS = ("right", "left", "stays")
_HELD = 0.9
_STREAM = 0x7AC35


@dataclass
class TracesStudy:
    """Correlations of the state with the digits of binary sums.

    Args:
        checkpoint: a name in the zoo, or a file.
        length: bits of an operand.
        count: random strings.

    Raises:
        ValueError: there is no such checkpoint, it is not of the improved form or does not add
            binary numbers, or a number is out of its range.
    """

    checkpoint: str
    length: int
    count: int
    name: str = field(init=False, default="kaiser2016.traces")
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = ("task", "signal", "digit", "step")
    extent: ClassVar[frozenset[str]] = frozenset({"weights"})

    def __post_init__(self) -> None:
        for name, least in (("length", 1), ("count", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; give {least} or more")
        learned = self._learned()
        self.configuration = {
            "weights": weights_digest(learned.module),
            "length": self.length,
            "count": self.count,
        }

    def _learned(self) -> LearnedAlgorithm:
        """The algorithm that is looked at."""
        learned = find_algorithm(self.checkpoint)
        if learned.task.name != "badd" or not isinstance(learned.module, DiagonalNeuralGPU):
            raise ValueError(
                f"checkpoint is {self.checkpoint!r}, a {type(learned.module).__name__} that has "
                f"learned {learned.task.name}; give a DiagonalNeuralGPU that has learned badd"
            )
        return learned

    def chunks(self) -> list[Chunk]:
        """One."""
        return [Chunk("badd", 1.0)]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:  # noqa: ARG002
        """Follow all signals; see `torchalu.train.Study`."""
        learned = self._learned()
        rng = np.random.default_rng([_STREAM, self.length])
        texts = learned.task.sample(self.length, self.count, rng)
        signals = sum_signals(texts)
        names = [(name, digit) for name in SIGNALS for digit in range(self.length)]
        symbols = encode(learned.task, texts).inputs
        given = torch.from_numpy(np.concatenate([signals[name] for name in SIGNALS], 1)).double()
        rows = []
        with one_thread():
            for step, found in enumerate(signal_correlations(learned.module, symbols, given)):
                _, _, maps, _ = found.shape
                strongest = found.flatten(0, 2).abs().max(0)
                for (signal, digit), place, size in zip(
                    names, strongest.indices.tolist(), strongest.values.tolist(), strict=True
                ):
                    position, number = divmod(place, maps)
                    rows.append(
                        {
                            "task": "badd",
                            "signal": signal,
                            "digit": digit,
                            "step": step,
                            "position": position,
                            "map": number,
                            "direction": _DIRECTIONS[3 * number // maps],
                            "correlation": size,
                        }
                    )
                report(min(1.0, step / symbols.shape[1]))
        return Part(pl.DataFrame(), pl.DataFrame(rows))

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Where each signal is, and in which maps.

        Args:
            outcomes: of the one chunk.

        Returns:
            `traces`: the place with the strongest correlation, a row a signal, digit and step;
            `traces_maps`: a row a signal and direction in which maps are moved: in how many of
            all (digit, step) the signal can be read there, with a correlation above 0.9, and in
            which maps.
        """
        in_order = pl.col("signal").cast(pl.Enum(SIGNALS))
        outcomes = outcomes.sort(in_order, "digit", "step")
        held = outcomes.filter(pl.col("correlation") > _HELD)
        counts = outcomes.group_by("signal", maintain_order=True).agg(pl.len().alias("of"))
        maps = (
            held.group_by("signal", "direction", maintain_order=True)
            .agg(
                pl.len().alias("held"),
                pl.col("map").unique().sort().cast(pl.String).str.join(" ").alias("maps"),
            )
            .join(counts, on="signal", maintain_order="left")
            .select("signal", "direction", "held", "of", "maps")
        )
        return {"traces": outcomes, "traces_maps": maps}


def traces(checkpoint: str = "badd", *, length: int = 20, count: int = 2000) -> TracesStudy:
    """Beyond the paper: where digits, carries and sums are while a Neural GPU adds.

    Args:
        checkpoint: a name in the zoo, or the file of an improved form that has learned badd.
        length: bits of an operand.
        count: random strings.

    Raises:
        ValueError: there is no such checkpoint, or a number is out of its range.

    Example:
        >>> traces("no-such-file.safetensors")
        Traceback (most recent call last):
        ...
        ValueError: 'no-such-file.safetensors' does not exist; ...
    """
    return TracesStudy(checkpoint, length, count)


def sum_signals(texts: list[str]) -> dict[str, Int64[np.ndarray, "batch digits"]]:
    """What there is to know of binary sums, digit by digit, the lowest first.

    Args:
        texts: such as "1101+0111", operands of one length.

    Returns:
        The digits of the first and of the second operand, the carry into each digit, and the
        digits of the sum.

    Example:
        >>> {name: bits.tolist() for name, bits in sum_signals(["110+100"]).items()}
        {'first': [[1, 1, 0]], 'second': [[1, 0, 0]], 'carry': [[0, 1, 1]], 'sum': [[0, 0, 1]]}
    """
    operands = np.array([[list(part) for part in text.split("+")] for text in texts]) == "1"
    first, second = operands[:, 0].astype(np.int64), operands[:, 1].astype(np.int64)
    carry = np.zeros_like(first)
    for digit in range(1, first.shape[1]):
        before = first[:, digit - 1] + second[:, digit - 1] + carry[:, digit - 1]
        carry[:, digit] = before // 2
    return {"first": first, "second": second, "carry": carry, "sum": first ^ second ^ carry}
