"""Beyond the paper: several starts of a training, the best of which is chosen on long strings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import torch

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import string_accuracy
from torchalu.experiments.kaiser2016.measuring import RANDOM, Strings, measure_strings
from torchalu.experiments.kaiser2016.stored import StoredNetwork, stored_seeds
from torchalu.experiments.kaiser2016.summaries import adversarial, by_length
from torchalu.experiments.seeds import one_thread
from torchalu.experiments.settings_study import check_device
from torchalu.train import JSON, Chunk, Part, Report

_STREAM = 0x57A275
_CHOOSING = 0.5
"""The part of the bar that is the choice."""


@dataclass
class StartsStudy:
    """Trained networks in groups, of each of which the best on validation strings is tested.

    A group takes the place of a seed; it has networks whose seeds follow one another.

    Args:
        networks: that a study has trained, all on one task.
        starts: networks in a group; those that fill no whole group are left out.
        validation_length: of the strings that choose, as the task counts them.
        validation_count: how many.
        strings: which the chosen are tested on.
        device: where.

    Raises:
        TypeError: a number is no integer.
        ValueError: a number is not positive, there are fewer networks than `starts`, or no such
            device.
    """

    networks: Sequence[StoredNetwork]
    starts: int
    validation_length: int
    validation_count: int
    strings: Strings
    device: str = "cpu"
    name: str = field(init=False, default="kaiser2016.starts")
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = ("task", "model", "starts", "seed", "strings", "length")
    extent: ClassVar[frozenset[str]] = frozenset({"networks"})

    def __post_init__(self) -> None:
        check_device(self.device)
        numbers = {
            "starts": self.starts,
            "validation_length": self.validation_length,
            "validation_count": self.validation_count,
        }
        check_positive_integers(**numbers)
        if self.starts > len(self.networks):
            raise ValueError(
                f"starts is {self.starts}; give 1 to {len(self.networks)}, as there are networks"
            )
        described = {
            "networks": {network.name: network.digest for network in self.networks},
            **numbers,
            "strings": asdict(self.strings),
            "device": torch.device(self.device).type,
        }
        self.configuration = json.loads(json.dumps(described))

    def group(self, number: int) -> list[StoredNetwork]:
        """The networks that are chosen among, in the order of their seeds.

        Args:
            number: of the group, from 0.
        """
        ordered = sorted(self.networks, key=lambda network: network.seed)
        return ordered[number * self.starts :][: self.starts]

    def chunks(self) -> list[Chunk]:
        """Each group."""
        return [Chunk(f"group{number}") for number in range(len(self.networks) // self.starts)]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Choose in a group, and test the chosen; see `torchalu.train.Study`."""
        number = int(chunk.name.removeprefix("group"))
        group = self.group(number)
        with one_thread():
            found = []
            for place, network in enumerate(group):

                def progress(done: int, count: int, place: int = place) -> None:
                    report(_CHOOSING * (place + done / count) / len(group))

                found.append(self._validated(network, progress))
            best = min(range(len(group)), key=lambda place: (-found[place][0], found[place][1]))
            rows = measure_strings(
                group[best].load().to(self.device),
                group[best].task,
                self.strings,
                folder=scratch,
                report=lambda done: report(_CHOOSING + (1 - _CHOOSING) * done),
            )
        labels: dict[str, Any] = {**group[best].labels, "starts": self.starts, "seed": number}
        chosen = {
            "seeds_of_starts": " ".join(str(network.seed) for network in group),
            "validation_right": " ".join(str(right) for right, _ in found),
            "validation_count": self.validation_count,
            "chosen": group[best].seed,
            "validation_loss": found[best][1],
        }
        return Part(pl.DataFrame(), pl.DataFrame([labels | row | chosen for row in rows]))

    def _validated(
        self, network: StoredNetwork, progress: Callable[[int, int], None]
    ) -> tuple[int, float]:
        """How many validation strings a network has right, and its loss on them."""
        validated = network.task.split()[1]
        rng = np.random.default_rng([_STREAM, self.validation_length])
        texts = validated.sample_tests(self.validation_length, self.validation_count, rng)
        module = network.load().to(self.device)
        accuracy = string_accuracy(module, network.task, texts, progress=progress)
        return accuracy.right, accuracy.loss

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """What the chosen of all groups get right.

        Args:
            outcomes: of all chunks.

        Returns:
            `starts`, of random strings, where `all_right` counts the groups without an error, and
            `right`, `count` and `rate` are those of the group that validates best;
            `starts_adversarial`; `starts_choices`, a row a group: how many validation strings each
            start has right, and the `chosen`.
        """
        labels = ["task", "model", "starts"]
        lengths = by_length(outcomes, labels)
        random = lengths.filter(pl.col("strings") == RANDOM).rename({"seeds": "groups"})
        tables = {"starts": random.drop("strings", "chosen_seed")}
        others = adversarial(lengths, labels)
        if others.height:
            tables["starts_adversarial"] = others
        columns = ("seeds_of_starts", "validation_right", "validation_count", "chosen")
        choices = outcomes.select(*labels, "seed", *columns).unique().sort(*labels, "seed")
        return tables | {"starts_choices": choices}


def starts(
    run: tuple[Path, ...] = (Path("runs/kaiser2016.table1"),),
    *,
    task: str = "bmul",
    model: str = "improved",
    starts: int = 3,
    validation_length: int = 2000,
    validation_count: int = 32,
    lengths: tuple[int, ...] = (20, 25, 100, 200, 2000),
    count: int = 1000,
    long_count: int = 100,
    adversarial: bool = True,
    device: str = "cpu",
) -> StartsStudy:
    """Beyond the paper: the best of several starts, chosen on long validation strings.

    Which of several starts holds on strings a hundred times longer does not show on those that are
    trained on; on long ones it does, and which are used for the choice are used for nothing else.

    Args:
        run: folder of a run of `kaiser2016.table1`, whose networks are taken, or several that
            differ in their seeds alone.
        task: name of one of its tasks.
        model: "improved" or "original".
        starts: networks that are chosen among; with 15 networks there are five groups of three.
        validation_length: of the strings that choose, as the task counts them.
        validation_count: how many.
        lengths: bits of an operand in the tests.
        count: random strings of each length.
        long_count: the same where they have more than 1000 symbols.
        adversarial: whether the adversarial strings of each length are tested too.
        device: where they answer, such as "cuda".

    Raises:
        TypeError: a number that has to be an integer is none.
        ValueError: a folder is no such run or lacks networks, two hold the same seed, there are
            fewer networks than `starts`, or a number is out of its range.

    Source:
        Ours. The paper chooses among 729 trainings a task by their results, section 3.3.

    Example:
        >>> starts(starts=2).chunks()  # doctest: +SKIP
        [Chunk(name='group0', work=1.0), ...]
    """
    networks = stored_seeds(run, task=task, model=model)
    strings = Strings(lengths, count, long_count, adversarial)
    return StartsStudy(networks, starts, validation_length, validation_count, strings, device)
