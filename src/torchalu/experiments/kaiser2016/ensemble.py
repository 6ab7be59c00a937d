"""Section 4: several trained networks that answer together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import OutputEnsemble
from torchalu.experiments.kaiser2016.measuring import RANDOM, Strings, measure_strings
from torchalu.experiments.kaiser2016.stored import (
    StoredNetwork,
    stored_mixture,
    stored_seeds,
)
from torchalu.experiments.kaiser2016.summaries import adversarial, by_length
from torchalu.experiments.seeds import one_thread
from torchalu.train import JSON, Chunk, Part, Report


@dataclass
class EnsembleStudy:
    """Ensembles of several sizes, drawn from the trained networks of each task.

    A draw takes the place of a seed: it says which networks answer together.

    Args:
        networks: by task.
        sizes: of ensembles.
        draws: of each size; as many as there are choices, at most.
        strings: which they are tested on.

    Raises:
        ValueError: a size that is not positive, or greater than the number of networks.
    """

    networks: Mapping[str, Sequence[StoredNetwork]]
    sizes: tuple[int, ...]
    draws: int
    strings: Strings
    name: str = field(init=False, default="kaiser2016.ensemble")
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = ("task", "members", "seed", "strings", "length")
    extent: ClassVar[frozenset[str]] = frozenset({"networks", "sizes", "draws"})

    def __post_init__(self) -> None:
        fewest = min(len(networks) for networks in self.networks.values())
        if not self.sizes or min(self.sizes) < 1 or max(self.sizes) > fewest:
            raise ValueError(f"sizes is {self.sizes}; give 1 to {fewest}, as there are networks")
        check_positive_integers(draws=self.draws)
        described = {
            "networks": {
                task: {network.name: network.digest for network in networks}
                for task, networks in self.networks.items()
            },
            "sizes": self.sizes,
            "draws": self.draws,
            "strings": asdict(self.strings),
        }
        self.configuration = json.loads(json.dumps(described))

    def chunks(self) -> list[Chunk]:
        """Each size and draw of each task."""
        return [
            Chunk(f"{task}-{size}-draw{draw}", float(size))
            for task, networks in self.networks.items()
            for size in self.sizes
            for draw in range(len(chosen_members(len(networks), size, self.draws)))
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Test one ensemble; see `torchalu.train.Study`."""
        task, size, number = chunk.name.rsplit("-", 2)
        draw = int(number.removeprefix("draw"))
        networks = self.networks[task]
        members = chosen_members(len(networks), int(size), self.draws)[draw]
        with one_thread():
            rows = measure_strings(
                OutputEnsemble([networks[member].load() for member in members]),
                networks[0].task,
                self.strings,
                folder=scratch,
                report=report,
            )
        labels = {"task": task, "members": int(size), "seed": draw}
        names = {"networks": " ".join(networks[member].name for member in members)}
        return Part(pl.DataFrame(), pl.DataFrame([labels | row | names for row in rows]))

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """What ensembles of each size get right.

        Args:
            outcomes: of all chunks.

        Returns:
            `ensemble`, of random strings, and `ensemble_adversarial`; `seeds` counts the draws,
            and `chosen_seed` is that of the networks that validate best.
        """
        labels = ["task", "members"]
        ranked = outcomes.with_columns(validation_loss=pl.col("seed").cast(pl.Float64))
        lengths = by_length(ranked, labels)
        tables = {"ensemble": lengths.filter(pl.col("strings") == RANDOM).drop("strings")}
        others = adversarial(lengths, labels)
        return tables | ({"ensemble_adversarial": others} if others.height else {})


def ensemble(
    run: tuple[Path, ...] = (Path("runs/kaiser2016.table1"),),
    *,
    tasks: tuple[str, ...] = ("badd", "bmul"),
    model: str = "improved",
    mixed: bool = False,
    sizes: tuple[int, ...] = (1, 3, 5),
    draws: int = 5,
    lengths: tuple[int, ...] = (20, 25, 100, 200, 2000),
    count: int = 1000,
    long_count: int = 100,
    adversarial: bool = True,
) -> EnsembleStudy:
    """Section 4: the outputs of several trained networks, averaged.

    Args:
        run: folder of a run of `kaiser2016.table1`, whose networks are taken, or several that
            differ in their seeds alone.
        tasks: names of its tasks.
        model: "improved" or "original".
        mixed: whether the runs may differ in more than their seeds; then the first ensemble has the
            networks that come first in the order of the folders.
        sizes: how many networks answer together.
        draws: ensembles of each size; the first has the networks that validate best, the others
            are drawn at random.
        lengths: bits of an operand in the tests.
        count: random strings of each length.
        long_count: the same where they have more than 1000 symbols.
        adversarial: whether the adversarial strings of each length are tested too.

    Raises:
        ValueError: a folder is no such run or lacks networks, two hold the same seed, or a number
            is out of its range; of mixed runs, two networks have the same weights or answers of
            another form.

    Source:
        Kaiser & Sutskever 2016, section 4: "ensembles of 5 models almost always generalize
        perfectly on binary tasks".

    Example:
        >>> ensemble(sizes=(5,)).chunks()  # doctest: +SKIP
        [Chunk(name='badd-5-draw0', work=5.0), ...]
    """
    stored = stored_mixture if mixed else stored_seeds
    networks = {task: stored(run, task=task, model=model) for task in tasks}
    strings = Strings(lengths, count, long_count, adversarial)
    return EnsembleStudy(networks, sizes, draws, strings)


def chosen_members(count: int, size: int, draws: int) -> list[tuple[int, ...]]:
    """Which of several networks answer together, in each draw.

    Args:
        count: how many there are.
        size: of an ensemble.
        draws: how many are wanted; there may be fewer choices.

    Returns:
        Different choices, the first of which has the first networks.

    Example:
        >>> chosen_members(3, 1, 5)[0], len(chosen_members(3, 1, 5)), chosen_members(2, 2, 5)
        ((0,), 3, [(0, 1)])
    """
    rng = np.random.default_rng([count, size])
    chosen = [tuple(range(size))]
    for _ in range(100 * draws):
        if len(chosen) == draws:
            break
        members = tuple(sorted(rng.choice(count, size, replace=False).tolist()))
        if members not in chosen:
            chosen.append(members)
    return chosen
