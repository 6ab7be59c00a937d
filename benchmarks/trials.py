"""Tables of how often trials succeed, over seeds, in processes."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from scipy.stats import binomtest

from torchalu.engine.cores import cores


class Trial(Protocol):
    """What came of one trial: whether it found what it should, and what it found."""

    @property
    def found(self) -> bool:
        """Whether it is right."""
        ...

    @property
    def formula(self) -> str:
        """What was taken for it."""
        ...


def counts(found: int, seeds: int, label: str = "found") -> dict[str, object]:
    """The columns of a count of successes: Wilson's 95% interval beside it.

    Args:
        found: how many.
        seeds: of how many.
        label: of the column.

    Example:
        >>> counts(5, 5)
        {'seeds': 5, 'found': 5, 'low': 0.5655, 'high': 1.0}
    """
    interval = binomtest(found, seeds).proportion_ci(method="wilson")
    low, high = round(float(interval.low), 4), round(float(interval.high), 4)
    return {"seeds": seeds, label: found, "low": low, "high": high}


def write_table(
    description: str | None,
    cases: Sequence[Mapping[str, Any]],
    run_trial: Callable[..., Trial],
    summarize: Callable[..., dict[str, object]],
    *,
    seeds: int,
    results: Path,
) -> None:
    """The command of a benchmark: runs each case with each seed, and writes a row a case.

    Formulas that are wrong are printed.

    Args:
        description: of the command.
        cases: arguments of `run_trial` and `summarize`.
        run_trial: takes a case and `seed`.
        summarize: takes a case and `trials`, and gives a row.
        seeds: how many, unless the command says otherwise.
        results: the file, likewise.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--output", type=Path, default=results)
    arguments = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(arguments.workers, get_context("spawn")) as pool:
        started = [
            [pool.submit(run_trial, **case, seed=seed) for seed in range(arguments.seeds)]
            for case in cases
        ]
        for case, futures in zip(cases, started, strict=True):
            trials = [future.result() for future in futures]
            for seed, trial in enumerate(trials):
                if not trial.found:
                    print(f"  seed {seed}: {trial.formula}")
            rows.append(summarize(**case, trials=trials))
            print(rows[-1], flush=True)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
