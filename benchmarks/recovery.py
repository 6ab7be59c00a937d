"""How often the estimator finds the formula that made a table.

For each operation and seed: 300 rows, the columns of the operation and irrelevant ones: three, all
independent U[0.5, 4]; or twelve, all independent standard normal, so of both signs. Without noise,
and with noise of 1% of each target (y (1 + 0.01 e), e standard normal). Recovered means that the
formula is the one that made the table, its constants included. Covered means, of those recovered,
that each constant lies in its 95% interval.

    python -m benchmarks.recovery            writes results/recovery.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import sympy
from scipy.stats import binomtest

from torchalu.engine.cores import cores
from torchalu.estimators import ArithmeticRegressor

OF_UNIFORM = (
    "a + b - c",
    "a*b",
    "a/b",
    "a*b/c**2",
    "sqrt(a)",
    "(a + b)*(c + d)",
    "a*b + c*d",
    "1/(a + b)",
    "a*b/(a + b)",
    "c*sqrt(a + b)",
    "a*(b**2 + c**2)/2",
    "sqrt(a**2 + b**2)",
    "1/(1/a + b/c)",
    "(a + b)*(c - d) + e",
    "a/(b + c) + d",
    "a*sqrt(b + c) + d",
    "1/(a + b) + 1/c",
    "sqrt(a**2 + b**2) + c",
    "1/(1/a + b/c) + d",
    "a*b**2*c*d/2 + b*e",
    "a*b/(c*d) + a*e/(c*d**2*f)",
    "(a*b + c*d)/(a + c)",
    "a*(9 + b)/(9 - c)",
    "(a*b + c*d)/sqrt(a**2 + c**2)",
    "(a - b*c)/sqrt(1 + b**2)",
)
OF_NORMAL = (
    "a*b + c*d",
    "a**2 - b*c + d",
    "a*b/(1 + c**2)",
    "a/sqrt(b**2 + c**2)",
    "(a*b + c*d)/sqrt(1 + a**2)",
)
NOISES = (0.0, 0.01)
ROWS, LOW, HIGH = 300, 0.5, 4.0
UNIFORM, NORMAL = "U[0.5, 4]", "N(0, 1)"
IRRELEVANT = {UNIFORM: ("u", "v", "w"), NORMAL: tuple(f"u{k}" for k in range(12))}
LAWS = (*product(OF_UNIFORM, [UNIFORM]), *product(OF_NORMAL, [NORMAL]))
RESULTS = Path(__file__).parent.parent / "results" / "recovery.csv"


@dataclass(frozen=True)
class Trial:
    """One fit: whether it found the formula, whether the intervals hold, and how long it took."""

    recovered: bool
    covered: bool
    seconds: float
    formula: str


def make_table(
    operation: str, noise: float, seed: int, distribution: str = UNIFORM
) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns named after the symbols, then those that do not matter, and the target."""
    names = sorted(symbol.name for symbol in sympy.sympify(operation).free_symbols)
    generator = np.random.default_rng(seed)
    columns = [*names, *IRRELEVANT[distribution]]
    shape = (ROWS, len(columns))
    if distribution == UNIFORM:
        values = generator.uniform(LOW, HIGH, shape)
    else:
        values = generator.standard_normal(shape)
    X = pd.DataFrame(values, columns=columns)
    function = sympy.lambdify(names, sympy.sympify(operation))
    y = function(*(X[name].to_numpy() for name in names))
    return X, y * (1 + noise * generator.standard_normal(ROWS))


def run_trial(operation: str, noise: float, seed: int, distribution: str = UNIFORM) -> Trial:
    """Fits one table."""
    X, y = make_table(operation, noise, seed, distribution)
    started = time.perf_counter()
    model = ArithmeticRegressor(random_state=seed).fit(X, y)
    seconds = time.perf_counter() - started
    recovered = bool(sympy.simplify(model.formula_ - sympy.sympify(operation)) == 0)
    covered = all(c.low - 1e-9 <= c.value <= c.high + 1e-9 for c in model.constants_.values())
    return Trial(recovered, recovered and covered, seconds, str(model.formula_))


def summarize(
    operation: str, noise: float, distribution: str, trials: list[Trial]
) -> dict[str, object]:
    """A row of the table of results."""
    recovered = sum(trial.recovered for trial in trials)
    interval = binomtest(recovered, len(trials)).proportion_ci(method="wilson")
    return {
        "operation": operation,
        "columns": distribution,
        "irrelevant": len(IRRELEVANT[distribution]),
        "noise": noise,
        "seeds": len(trials),
        "recovered": recovered,
        "low": round(float(interval.low), 4),
        "high": round(float(interval.high), 4),
        "constants_covered": sum(trial.covered for trial in trials),
        "seconds": round(float(np.median([trial.seconds for trial in trials])), 3),
    }


def run(seeds: int, workers: int) -> Iterator[dict[str, object]]:
    """All operations, without and with noise."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        started = []
        for noise, (operation, columns) in product(NOISES, LAWS):
            trials = [
                pool.submit(run_trial, operation, noise, seed, columns) for seed in range(seeds)
            ]
            started.append((operation, noise, columns, trials))
        for operation, noise, columns, futures in started:
            trials = [future.result() for future in futures]
            for seed, trial in enumerate(trials):
                if not trial.recovered:
                    print(f"  seed {seed}: {trial.formula}")
            yield summarize(operation, noise, columns, trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = []
    for row in run(arguments.seeds, arguments.workers):
        rows.append(row)
        print(row, flush=True)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
