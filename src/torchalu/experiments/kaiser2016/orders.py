"""Beyond the paper: whether answers agree with the operands in each order, and are right then."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import polars as pl

from torchalu.evaluate import wilson
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.stored import StoredNetwork, stored_seeds
from torchalu.experiments.seeds import one_thread
from torchalu.train import JSON, Chunk, Part, Report
from torchalu.zoo import LearnedAlgorithm

_AT_ONCE = 50
"""Strings between two reports."""


@dataclass
class OrderStudy:
    """Trained networks of sums or products, each asked every string in each order of its operands.

    Args:
        networks: that a study has trained.
        strings: which they are tested on; those whose operands have one order are left out.

    Raises:
        ValueError: the inputs of a network's task have one order.
    """

    networks: Sequence[StoredNetwork]
    strings: Strings
    name: str = field(init=False, default="kaiser2016.orders")
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = ("task", "model", "strings", "length", "seed")
    extent: ClassVar[frozenset[str]] = frozenset({"networks", "lengths", "adversarial"})

    def __post_init__(self) -> None:
        for task in (network.task for network in self.networks):
            if len(task.orders(task.example)) == 1:
                raise ValueError(
                    f"task is {task.name!r}, whose inputs have one order; give a sum or a product"
                )
        described = {
            "networks": {network.name: network.digest for network in self.networks},
            **asdict(self.strings),
        }
        self.configuration = json.loads(json.dumps(described))

    def chunks(self) -> list[Chunk]:
        """Each network and length."""
        return [
            Chunk(f"{network.name}-{length}", float(length))
            for network in self.networks
            for length in self.strings.lengths
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:  # noqa: ARG002
        """Test one network at one length; see `torchalu.train.Study`."""
        name, _, length = chunk.name.rpartition("-")
        (network,) = [each for each in self.networks if each.name == name]
        learned = LearnedAlgorithm(network.load(), network.task)
        strings = replace(self.strings, lengths=(int(length),))
        sets = [
            (kind, [text for text in texts if len(network.task.orders(text)) > 1])
            for kind, _, texts in strings.sets(network.task)
        ]
        total = sum(len(texts) for _, texts in sets)
        rows, done = [], 0
        with one_thread():
            for kind, texts in sets:
                counts = Counter(right=0, agree=0, wrong_agreeing=0)
                for start in range(0, len(texts), _AT_ONCE):
                    batch = texts[start : start + _AT_ONCE]
                    counts.update(_counts(learned, batch))
                    done += len(batch)
                    report(done / total)
                labels = {**network.labels, "strings": kind, "length": int(length)}
                rows.append(labels | {"seed": network.seed, "count": len(texts)} | counts)
        return Part(pl.DataFrame(), pl.DataFrame(rows).filter(pl.col("count") > 0))

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """A row a kind and length of strings.

        Args:
            outcomes: of all chunks.

        Returns:
            `orders`: the number of `seeds`, of their strings (`count`), and of those that are
            right as they are (`right`), and that have the same answer in each order (`agree`);
            how many of these are wrong (`wrong_agreeing`), and the upper end of the 95% interval of
            that percentage (`wrong_at_most`).
        """
        groups = ["task", "model", "strings", "length"]
        sums = ("count", "right", "agree", "wrong_agreeing")
        table = (
            outcomes.group_by(groups).agg(pl.len().alias("seeds"), pl.col(sums).sum()).sort(groups)
        )
        pairs = table.select("wrong_agreeing", "agree").iter_rows()
        ends = [wilson(*pair)[1] for pair in pairs]
        at_most = (100 * pl.Series(ends, dtype=pl.Float64)).alias("wrong_at_most")
        return {"orders": table.with_columns(at_most)}


def _counts(learned: LearnedAlgorithm, texts: Sequence[str]) -> dict[str, int]:
    """How many of some strings are right, agree in each order, and are wrong all the same."""
    orders = [learned.task.orders(text) for text in texts]
    answers = iter(learned.run([order for each in orders for order in each]))
    found = [[next(answers) for _ in each] for each in orders]
    right = [each[0] == learned.task.solve(text) for each, text in zip(found, texts, strict=True)]
    agree = [len({*each}) == 1 for each in found]
    wrong = sum(same and not good for same, good in zip(agree, right, strict=True))
    return {"right": sum(right), "agree": sum(agree), "wrong_agreeing": wrong}


def orders(
    run: tuple[Path, ...] = (Path("runs/kaiser2016.table1"),),
    *,
    task: str = "bmul",
    model: str = "improved",
    lengths: tuple[int, ...] = (20, 25, 100, 200, 2000),
    count: int = 1000,
    long_count: int = 100,
    adversarial: bool = True,
) -> OrderStudy:
    """Beyond the paper: whether answers agree with the operands in each order, and are right then.

    Args:
        run: folder of a run of `kaiser2016.table1`, whose networks are taken, or several that
            differ in their seeds alone.
        task: name of one of its tasks, a sum or a product.
        model: "improved" or "original".
        lengths: of the strings, as the task counts them; bits of an operand.
        count: random strings of each length.
        long_count: the same where they have more than 1000 symbols.
        adversarial: whether the adversarial strings of each length are tested too.

    Raises:
        TypeError: a number that has to be an integer is none.
        ValueError: a folder is no such run or lacks networks, two hold the same seed, the inputs
            of the task have one order, or a number is out of its range.

    Source:
        Ours; see :meth:`torchalu.zoo.LearnedAlgorithm.answers`.

    Example:
        >>> orders().chunks()  # doctest: +SKIP
        [Chunk(name='bmul-improved-seed0-20', work=20.0), ...]
    """
    networks = stored_seeds(run, task=task, model=model)
    return OrderStudy(networks, Strings(lengths, count, long_count, adversarial))
