"""Three tables, three formulas: Kepler's third law, Boyle's law, and a needle in a haystack.

Run it with `make demo`, or `python examples/demo.py`; pictures and formulas go to `demo/`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from torchalu.estimators import ArithmeticRegressor
from torchalu.export import Certificate, certify
from torchalu.report import (
    FORMULA_EXTENSIONS,
    FitPicture,
    Predict,
    fit_mlp,
    plot_fit,
    print_fit,
    readable,
    write_formula,
)
from torchalu.tasks import Needle, Table, load_table

KEPLER_TOLERANCE = 1e-3
"""The planets' own masses, up to 1/1047 of the sun's, change their periods by half of that."""

BOYLE_TOLERANCE = 0.02
"""Boyle read lengths to a sixteenth of an inch, and two of his rows are off by a percent."""

NEEDLE_TOLERANCE = 1e-9

NEEDLE_ROWS = {0.0: 1_000, 0.01: 40_000}
"""Rows by noise. A product of two sums of 25 columns from U[1, 2] is nearly a square: with 1% noise
fewer than about 40,000 rows do not tell the true columns from their neighbors."""


@dataclass(frozen=True, eq=False)
class Result:
    """A fitted table, with what the formula and the perceptron do outside of it."""

    title: str
    table: Table
    model: ArithmeticRegressor
    seconds: float
    baseline: Predict
    outside: Mapping[str, Table]
    tolerance: float

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The formula's values."""
        return self.model.predict(pl.DataFrame(X, schema=list(self.table.feature_names)))

    def checks(self) -> dict[str, tuple[Certificate, Certificate]]:
        """For each table outside the range: a certificate of the formula and of the perceptron."""
        return {
            name: tuple(
                certify(predict, rows.X, rows.y, names=rows.feature_names, tolerance=self.tolerance)
                for predict in (self.predict, self.baseline)
            )
            for name, rows in self.outside.items()
        }  # pyright: ignore[reportReturnType]


def learn(
    title: str, table: Table, outside: Mapping[str, Table], tolerance: float, **options
) -> Result:
    """Fits the regressor and the perceptron to the same rows."""
    model = ArithmeticRegressor(random_state=0, tolerance=tolerance, **options)
    start = time.perf_counter()
    model.fit(pl.DataFrame(table.X, schema=list(table.feature_names)), table.y)
    seconds = time.perf_counter() - start
    return Result(title, table, model, seconds, fit_mlp(table), outside, tolerance)


def kepler() -> Result:
    """Learns from the planets out to Jupiter; the rest of the solar system is the test."""
    frame = load_table("kepler")
    inner = (frame["kind"] == "planet") & (frame["a"] < 6)
    others = ~inner & ~frame["name"].is_in(["Saturn", "Uranus", "Neptune", "Pluto"])
    parts = {
        "Saturn to Pluto": frame.filter(~inner & ~others),
        "asteroids and dwarf planets": frame.filter(others & (frame["kind"] != "comet")),
        "comets": frame.filter(others & (frame["kind"] == "comet")),
    }
    outside = {name: from_frame(rows, "a", "period") for name, rows in parts.items()}
    table = from_frame(frame.filter(inner), "a", "period")
    return learn("Kepler: planets out to Jupiter", table, outside, KEPLER_TOLERANCE)


def boyle() -> Result:
    """Learns from all 25 rows; what the curves do beyond them is in the picture."""
    table = from_frame(load_table("boyle"), "volume", "pressure")
    return learn("Boyle 1662", table, {}, BOYLE_TOLERANCE)


def boyle_from_half() -> Result:
    """Learns from the 13 rows of little pressure; the 12 of high pressure are the test."""
    frame = load_table("boyle")
    outside = from_frame(frame.filter(frame["volume"] < 24), "volume", "pressure")
    table = from_frame(frame.filter(frame["volume"] >= 24), "volume", "pressure")
    title = "Boyle 1662, rows of little pressure alone"
    return learn(title, table, {"higher pressure": outside}, BOYLE_TOLERANCE)


def needle(noise: float) -> Result:
    """Learns from inputs in U[1, 2]; wider and negative inputs are the test."""
    hidden = Needle(seed=0)
    outside = {
        "U[2, 6]": hidden.sample(300, 2.0, 6.0, seed=1),
        "U[-6, -2]": hidden.sample(300, -6.0, -2.0, seed=2),
    }
    table = hidden.sample(NEEDLE_ROWS[noise], 1.0, 2.0, noise=noise, seed=0)
    title = f"Needle: 2 x 25 of 100 columns{', 1% noise' if noise else ''}"
    return learn(title, table, outside, NEEDLE_TOLERANCE)


def from_frame(frame: pl.DataFrame, feature: str, target: str) -> Table:
    """One feature and the target of a frame."""
    return Table(frame.select(feature).to_numpy(), frame[target].to_numpy(), [feature], target)


def show(console: Console, result: Result) -> None:
    """Formula, certificate and the check outside the range."""
    console.rule(f"[bold]{result.title}", align="left")
    print_fit(console, result.table.target, result.model, runners_up=4)
    checks = result.checks()
    if checks:
        console.print(_outside_grid(checks, result.tolerance))
    console.print(f"learned in {result.seconds:.1f} s from {result.table.rows} rows\n")


def _outside_grid(checks: Mapping[str, tuple[Certificate, Certificate]], tolerance: float) -> Grid:
    """Largest relative errors outside the range, of the formula and of the perceptron."""
    grid = Grid(box=None, title="largest relative error outside the range", title_justify="left")
    for heading in ("where", "rows", "formula", "plain MLP", ""):
        grid.add_column(heading, justify="left" if heading == "where" else "right")
    for name, (formula, plain) in checks.items():
        verdict = f"holds to {tolerance:g}" if formula.exact else f"does not hold to {tolerance:g}"
        errors = (f"{formula.max_rel_error:.2g}", f"{plain.max_rel_error:.2g}")
        grid.add_row(name, str(formula.rows), *errors, verdict)
    return grid


def write(result: Result, folder: Path, name: str) -> None:
    """The picture, and the formula in each form."""
    picture = FitPicture(
        result.table, result.predict, readable(result.model.formula_), result.baseline,
        result.outside, result.title,
    )  # fmt: skip
    plot_fit(picture, folder / f"{name}.png")
    for extension in FORMULA_EXTENSIONS:
        path = folder / f"{name}{extension}"
        write_formula(result.model.formula_, result.table.feature_names, path, name=name)


def summary(result: Result, name: str) -> list[dict[str, str | int | float]]:
    """A row for the rows learned from, and one for each table outside the range."""
    inside = result.model.certificate_
    parts = [("learned from", inside, None)]
    parts += [(where, *pair) for where, pair in result.checks().items()]
    return [
        {
            "example": name,
            "where": where,
            "rows": formula.rows,
            "max_rel_error": formula.max_rel_error,
            "max_rel_error_mlp": float("nan") if plain is None else plain.max_rel_error,
            "tolerance": result.tolerance,
            "exact": formula.exact,
            "formula": str(result.model.formula_),
        }
        for where, formula, plain in parts
    ]


def show_boyle_rows(console: Console, result: Result) -> None:
    """Volume x pressure, and each row's deviation from the formula."""
    volume, pressure = result.table.X[:, 0], result.table.y
    product = volume * pressure
    spread = product.std(ddof=1)
    console.print(f"volume x pressure: mean {product.mean():.1f}, standard deviation {spread:.1f}")
    deviations = 100 * (pressure / result.predict(result.table.X) - 1)
    text = " ".join(f"{deviation:+.2f}" for deviation in deviations)
    console.print(f"residuals in percent, from volume 48 to 12: {text}\n", highlight=False)


def main() -> int:
    """Runs the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quiet", action="store_true", help="print one line a formula")
    parser.add_argument("--output", type=Path, default=Path("demo"), help="folder to write to")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    console = Console()
    jobs = {
        "kepler": kepler,
        "boyle": boyle,
        "boyle_half": boyle_from_half,
        "needle": lambda: needle(0.0),
        "needle_noisy": lambda: needle(0.01),
    }
    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True, disable=arguments.quiet,
    )  # fmt: skip
    held = True
    summaries = []
    start = time.perf_counter()
    with progress:
        bar = progress.add_task("", total=len(jobs))
        for name, job in jobs.items():
            progress.update(bar, description=f"learning {name}")
            result = job()
            held &= all(formula.exact for formula, _ in result.checks().values())
            if arguments.quiet:
                print(f"{name}: {result.table.target} = {result.model.formula_}")
            else:
                show(console, result)
                if name == "boyle":
                    show_boyle_rows(console, result)
            write(result, arguments.output, name)
            summaries += summary(result, name)
            progress.advance(bar)
    pl.DataFrame(summaries).write_csv(arguments.output / "summary.csv")
    if not arguments.quiet:
        console.print(f"{time.perf_counter() - start:.1f} s in all; see {arguments.output}/")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
