"""How often the estimator finds the formula that made a table.

For each operation and seed: 300 rows, the columns of the operation and three irrelevant ones,
all independent U[0.5, 4]; without noise, and with noise of 1% of each target (y (1 + 0.01 e), e
standard normal). Recovered means that the formula is the one that made the table, its constants
included. Covered means, of those recovered, that each constant lies in its 95% interval.

    python -m benchmarks.recovery            writes results/recovery.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import sympy
from scipy.stats import binomtest

from torchalu.estimators import ArithmeticRegressor

OPERATIONS = (
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
)
NOISES = (0.0, 0.01)
ROWS, LOW, HIGH = 300, 0.5, 4.0
IRRELEVANT = ("u", "v", "w")
RESULTS = Path(__file__).parent.parent / "results" / "recovery.csv"


@dataclass(frozen=True)
class Trial:
    """One fit: whether it found the formula, whether the intervals hold, and how long it took."""

    recovered: bool
    covered: bool
    seconds: float
    formula: str


def make_table(operation: str, noise: float, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns named after the symbols, then those that do not matter, and the target."""
    names = sorted(symbol.name for symbol in sympy.sympify(operation).free_symbols)
    generator = np.random.default_rng(seed)
    columns = [*names, *IRRELEVANT]
    X = pd.DataFrame(generator.uniform(LOW, HIGH, (ROWS, len(columns))), columns=columns)
    function = sympy.lambdify(names, sympy.sympify(operation))
    y = function(*(X[name].to_numpy() for name in names))
    return X, y * (1 + noise * generator.standard_normal(ROWS))


def run_trial(operation: str, noise: float, seed: int) -> Trial:
    """Fits one table."""
    X, y = make_table(operation, noise, seed)
    started = time.perf_counter()
    model = ArithmeticRegressor(random_state=seed).fit(X, y)
    seconds = time.perf_counter() - started
    recovered = bool(sympy.simplify(model.formula_ - sympy.sympify(operation)) == 0)
    covered = all(c.low - 1e-9 <= c.value <= c.high + 1e-9 for c in model.constants_.values())
    return Trial(recovered, recovered and covered, seconds, str(model.formula_))


def summarize(operation: str, noise: float, trials: list[Trial]) -> dict[str, object]:
    """A row of the table of results."""
    recovered = sum(trial.recovered for trial in trials)
    interval = binomtest(recovered, len(trials)).proportion_ci(method="wilson")
    return {
        "operation": operation,
        "noise": noise,
        "seeds": len(trials),
        "recovered": recovered,
        "low": round(float(interval.low), 4),
        "high": round(float(interval.high), 4),
        "constants_covered": sum(trial.covered for trial in trials),
        "seconds": round(float(np.median([trial.seconds for trial in trials])), 3),
    }


def run(seeds: int) -> Iterator[dict[str, object]]:
    """All operations, without and with noise."""
    for noise in NOISES:
        for operation in OPERATIONS:
            trials = [run_trial(operation, noise, seed) for seed in range(seeds)]
            for seed, trial in enumerate(trials):
                if not trial.recovered:
                    print(f"  seed {seed}: {trial.formula}")
            yield summarize(operation, noise, trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = []
    for row in run(arguments.seeds):
        rows.append(row)
        print(row, flush=True)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
