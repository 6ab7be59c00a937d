"""How often the estimator finds the formula that made a table.

For each operation and seed: 300 rows, the columns of the operation and irrelevant ones: three, all
independent U[0.5, 4]; or twelve, all independent standard normal, so of both signs. Without noise,
and with noise of 1% of each target (y (1 + 0.01 e), e standard normal). Recovered means that the
formula is the one that made the table, its constants included. Covered means, of those recovered,
that each constant lies in its 95% interval.

    python -m benchmarks.recovery            writes results/recovery.csv
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import sympy

from benchmarks.trials import counts, write_table
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

    found: bool
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
    found = bool(sympy.simplify(model.formula_ - sympy.sympify(operation)) == 0)
    covered = all(c.low - 1e-9 <= c.value <= c.high + 1e-9 for c in model.constants_.values())
    return Trial(found, found and covered, seconds, str(model.formula_))


def summarize(
    operation: str, noise: float, distribution: str, trials: list[Trial]
) -> dict[str, object]:
    """A row of the table of results."""
    return {
        "operation": operation,
        "columns": distribution,
        "irrelevant": len(IRRELEVANT[distribution]),
        "noise": noise,
        **counts(sum(trial.found for trial in trials), len(trials), "recovered"),
        "constants_covered": sum(trial.covered for trial in trials),
        "seconds": round(float(np.median([trial.seconds for trial in trials])), 3),
    }


def main() -> None:
    cases = [
        {"operation": operation, "noise": noise, "distribution": distribution}
        for noise, (operation, distribution) in product(NOISES, LAWS)
    ]
    write_table(__doc__, cases, run_trial, summarize, seeds=20, results=RESULTS)


if __name__ == "__main__":
    main()
