"""How often the estimator finds the equations of the Feynman benchmark that are arithmetic.

Of the 100 equations that Udrescu & Tegmark (2020) took from Feynman's lectures, and of their 20
bonus ones, those without sines, exponentials, logarithms and their inverses: 71 and 10, listed in
`feynman_equations.csv` with the ranges of their columns. For each of them and each seed 300 rows,
every column uniform in its range; without noise, and with noise of 1% of each target (y (1 + 0.01
e), e standard normal).

Found means that the formula is the equation, and not only near it: with its fitted constants
fitted anew to 1000 rows without noise, of which none may change by more than a tenth, it gives
other 1000 rows to 1e-7. Numbers that the estimator wrote as simple ones stay as they are.

    python -m benchmarks.feynman             writes results/feynman.csv
"""

from __future__ import annotations

import csv
import re
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import sympy
from scipy.optimize import least_squares

from benchmarks.trials import counts, write_table
from torchalu.estimators import ArithmeticRegressor

EQUATIONS = Path(__file__).with_name("feynman_equations.csv")
RESULTS = Path(__file__).parent.parent / "results" / "feynman.csv"
ROWS, CHECKED = 300, 1000
NOISES = (0.0, 0.01)
_EXACT, _MOST_CHANGE = 1e-7, 0.1


@dataclass(frozen=True)
class Equation:
    """An equation of the benchmark.

    Args:
        number: chapter and equation in Feynman's lectures, or that of a bonus one.
        formula: of the columns.
        ranges: of the columns.
    """

    number: str
    formula: str
    ranges: dict[str, tuple[float, float]]

    @property
    def expression(self) -> sympy.Expr:
        """The formula in SymPy, every column a symbol whatever its name."""
        return sympy.sympify(self.formula, locals={n: sympy.Symbol(n) for n in self.ranges})

    def table(self, rows: int, generator: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
        """Rows of the columns, and the target without noise."""
        X = pd.DataFrame(
            {name: generator.uniform(low, high, rows) for name, (low, high) in self.ranges.items()}
        )
        return X, values(self.expression, X)


@dataclass(frozen=True)
class Trial:
    """One fit."""

    found: bool
    seconds: float
    formula: str


def equations() -> list[Equation]:
    """All equations of the list."""
    with EQUATIONS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for row in rows:
        ranges: dict[str, tuple[float, float]] = {}
        for part in row["columns"].split("; "):
            names, low, high = re.fullmatch(r"(.*) in (\d+) to (\d+)", part).groups()
            ranges |= dict.fromkeys(names.split(), (float(low), float(high)))
        found.append(Equation(row["equation"], row["formula"], ranges))
    return found


def values(formula: sympy.Expr, X: pd.DataFrame, *constants: float) -> np.ndarray:
    """A formula's values, with `k0`, `k1`, ... for constants."""
    symbols = [*map(sympy.Symbol, X.columns), *_constant_symbols(len(constants))]
    function = sympy.lambdify(symbols, formula)
    with np.errstate(all="ignore"):
        return np.broadcast_to(function(*X.to_numpy().T, *constants), len(X)).astype(float)


def is_equation(formula: sympy.Expr, equation: Equation, seed: int = 0) -> bool:
    """Whether a formula is an equation, apart from the errors of its fitted constants.

    Args:
        formula: its floats are what was fitted.
        equation: that it may be.
        seed: of the rows.
    """
    X, y = equation.table(CHECKED, np.random.default_rng([seed, 1]))
    fitted = sorted(formula.atoms(sympy.Float), key=str)
    start = np.array([float(number) for number in fitted])
    open_formula = formula.xreplace(dict(zip(fitted, _constant_symbols(len(fitted)), strict=True)))
    size = np.abs(y).mean()

    def errors(change: np.ndarray) -> np.ndarray:
        off = values(open_formula, X, *(start * (1 + change))) - y
        return np.where(np.isfinite(off), off, 1e6 * size) / np.maximum(np.abs(y), 1e-6 * size)

    change = np.zeros(len(start))
    if len(start):
        options = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
        change = least_squares(errors, change, x_scale=0.01, **options).x
    if np.any(np.abs(change) > _MOST_CHANGE):
        return False
    X, y = equation.table(CHECKED, np.random.default_rng([seed, 2]))
    off = values(open_formula, X, *(start * (1 + change))) - y
    return bool(np.all(np.abs(off) <= _EXACT * np.maximum(np.abs(y), 1e-3 * size)))


def run_trial(equation: Equation, noise: float, seed: int) -> Trial:
    """Fits one table."""
    generator = np.random.default_rng(seed)
    X, y = equation.table(ROWS, generator)
    y = y * (1 + noise * generator.standard_normal(ROWS))
    started = time.perf_counter()
    model = ArithmeticRegressor(random_state=seed).fit(X, y)
    seconds = time.perf_counter() - started
    found = is_equation(model.formula_, equation, seed)
    return Trial(found, seconds, str(model.formula_))


def summarize(equation: Equation, noise: float, trials: list[Trial]) -> dict[str, object]:
    """A row of the table of results."""
    return {
        "equation": equation.number,
        "formula": equation.formula,
        "noise": noise,
        **counts(sum(trial.found for trial in trials), len(trials)),
        "seconds": round(float(np.median([trial.seconds for trial in trials])), 3),
    }


def _constant_symbols(count: int) -> list[sympy.Symbol]:
    """Symbols that no column has."""
    return [sympy.Symbol(f"constant {k}") for k in range(count)]


def main() -> None:
    cases = [{"equation": one, "noise": noise} for noise, one in product(NOISES, equations())]
    write_table(__doc__, cases, run_trial, summarize, seeds=5, results=RESULTS)


if __name__ == "__main__":
    main()
