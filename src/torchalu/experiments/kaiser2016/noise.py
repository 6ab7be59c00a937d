"""Beyond the paper: how much noise a trained network bears, and how far it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import Noisy, string_accuracy
from torchalu.experiments.kaiser2016.measuring import RANDOM
from torchalu.experiments.kaiser2016.stored import StoredNetwork, stored_networks
from torchalu.experiments.seeds import one_thread
from torchalu.train import JSON, Chunk, Part, Report

_STREAM = 9_000_002


@dataclass
class NoiseStudy:
    """Trained networks, each with noise of several amplitudes.

    Args:
        networks: that a study has trained.
        amplitudes: of the noise.
        length: of the strings, as the task counts it.
        count: strings, the same for all.

    Raises:
        TypeError: a count is no integer.
        ValueError: a number is out of its range.
    """

    networks: Sequence[StoredNetwork]
    amplitudes: tuple[float, ...]
    length: int
    count: int
    name: str = field(init=False, default="kaiser2016.noise")
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = ("task", "model", "trained", "levels", "settle", "seed", "noise")
    extent: ClassVar[frozenset[str]] = frozenset({"networks", "amplitudes"})

    def __post_init__(self) -> None:
        check_positive_integers(length=self.length, count=self.count)
        if not self.amplitudes or not all(0 <= each < np.inf for each in self.amplitudes):
            raise ValueError(f"amplitudes is {self.amplitudes}; give numbers from 0 up")
        described = {
            "networks": {network.name: network.digest for network in self.networks},
            "amplitudes": self.amplitudes,
            "length": self.length,
            "count": self.count,
        }
        self.configuration = json.loads(json.dumps(described))

    def chunks(self) -> list[Chunk]:
        """Each network."""
        return [Chunk(network.name, 1.0) for network in self.networks]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:  # noqa: ARG002
        """Test one network; see `torchalu.train.Study`."""
        (network,) = [each for each in self.networks if each.name == chunk.name]
        texts = network.task.sample(
            self.length, self.count, np.random.default_rng([_STREAM, self.length])
        )
        training = network.setting["learner"]["training"]
        labels = {
            **network.labels,
            "trained": float(training["noise"]),
            "levels": int(training["levels"]),
            "settle": int(training["settle"]),
            "seed": network.seed,
        }
        far = (
            network.outcomes.filter(pl.col("strings") == RANDOM).sort("length").row(-1, named=True)
        )
        rows = []
        with one_thread():
            for number, amplitude in enumerate(self.amplitudes):
                accuracy = string_accuracy(Noisy(network.load(), amplitude), network.task, texts)
                found = {"length": self.length, "right": accuracy.right, "count": accuracy.count}
                longest = {f"far_{name}": far[name] for name in ("length", "right", "count")}
                rows.append(labels | {"noise": amplitude} | found | longest)
                report((number + 1) / len(self.amplitudes))
        return Part(pl.DataFrame(), pl.DataFrame(rows))

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """A row a network.

        Args:
            outcomes: of all chunks.

        Returns:
            `noise`: labels, of which `trained` is the noise of the training, and `levels`
            those to which the state is rounded (0 for none); `length` of the strings, and by each
            amplitude the percentage of them that is right; `far_length` of the longest strings that
            were tested without noise, and `far`, the percentage of these.
        """
        percent = 100 * pl.col("right") / pl.col("count")
        network = ["task", "model", "trained", "levels", "settle", "seed"]
        labels = [*network, "length", "far_length", "far"]
        far = 100 * pl.col("far_right") / pl.col("far_count")
        table = outcomes.sort("noise").with_columns(percent.alias("percent"), far.alias("far"))
        wide = table.pivot("noise", index=labels, values="percent")
        amplitudes = [name for name in wide.columns if name not in labels]
        return {"noise": wide.select(*labels[:-2], *amplitudes, *labels[-2:]).sort(network)}


def noise(
    run: Path = Path("runs/kaiser2016.table1"),
    *,
    task: str = "badd",
    model: str = "improved",
    amplitudes: tuple[float, ...] = (0.5, 0.75, 1.0),
    length: int = 100,
    count: int = 100,
) -> NoiseStudy:
    r"""Beyond the paper: whole strings right with noise on every pre-activation, by its amplitude.

    .. math:: x \leftarrow x + \nu u, \quad u \sim U(-1, 1)

    What a network bears on short strings tells something of how far it holds without noise.

    Args:
        run: folder of a run of `kaiser2016.table1` or the like, whose networks are taken.
        task: name of one of its tasks.
        model: "improved" or "original".
        amplitudes: of the noise.
        length: bits of an operand.
        count: random strings, the same for all networks.

    Raises:
        TypeError: a number that has to be an integer is none.
        ValueError: the folder is no such run or lacks networks, or a number is out of its range.

    Source:
        Ours; see :class:`torchalu.train.algorithms.Hardening`.

    Example:
        >>> noise().chunks()  # doctest: +SKIP
        [Chunk(name='badd-improved-seed0', work=1.0), ...]
    """
    networks = stored_networks(run, task=task, model=model)
    return NoiseStudy(networks, amplitudes, length, count)
