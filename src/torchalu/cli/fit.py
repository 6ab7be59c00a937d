"""`torchalu fit`: from a table in a file to a formula on the terminal and in files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
import tyro

from torchalu.cli.console import Output
from torchalu.tasks import Table, read_table

_MAX_SEED = 2**32 - 1
_EXPORTS = (".py", ".tex", ".c", ".json")


@dataclasses.dataclass(frozen=True)
class Fit:
    """Learn the formula of one column of a table in the others, and check it."""

    table: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="TABLE")]
    """CSV (commas, UTF-8, a line of names) or Parquet file."""

    target: Annotated[str, tyro.conf.arg(metavar="COLUMN")]
    """Column to explain."""

    features: Annotated[
        tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]],
        tyro.conf.arg(metavar="COLUMN [COLUMN ...]"),
    ] = ()
    """Columns to explain it with; all the others by default."""

    restarts: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """How often each kind of formula is tried from another start; 64 by default."""

    seed: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """Makes the result repeatable."""

    holdout: Literal["outer", "random", "none"] = "outer"
    """Rows that formulas are compared on: the outermost, some at random, or none set aside."""

    tolerance: Annotated[float | None, tyro.conf.arg(metavar="T")] = None
    """Relative error up to which the formula is exact; 1e-9, or 1e-5 for float32, by default."""

    plot: Annotated[Path | None, tyro.conf.arg(metavar="PNG")] = None
    """Draw data, formula and what lies beyond into this file."""

    export: Annotated[
        tyro.conf.UseAppendAction[tuple[tuple[Path, ...], ...]],
        tyro.conf.arg(metavar="FILE [FILE ...]"),
    ] = ()
    """Write the formula to these files: .py, .tex, .c or .json."""

    quiet: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the formula alone."""

    def run(self) -> int:
        """Reads, fits, prints, writes the files.

        Returns:
            The exit status: 0, whether or not an exact formula was found.

        Raises:
            ValueError: for an argument or a table that cannot be used.
            OSError: if a file cannot be read or written.
            ImportError: if an extra is needed that is not installed.
        """
        exports = [path for group in self.export for path in group]
        self._check(exports)
        features = [name for group in self.features for name in group]
        table = read_table(self.table, self.target, features or None)
        model = self._fit(table)
        try:
            self._print(model)
        finally:  # whether or not anybody reads
            self._write(table, model, exports)
        return 0

    def _check(self, exports: list[Path]) -> None:
        """Raises where an argument is sure to fail later on."""
        if self.restarts is not None and self.restarts < 1:
            raise ValueError(f"--restarts is {self.restarts}; allowed: 1 or more")
        if not 0 <= self.seed <= _MAX_SEED:
            raise ValueError(f"--seed is {self.seed}; allowed: 0 to {_MAX_SEED}")
        if self.tolerance is not None and not 0 <= self.tolerance < 1:
            raise ValueError(f"--tolerance is {self.tolerance}; allowed: from 0 to below 1")
        for path in exports:
            _check_output("--export", path, _EXPORTS)
        if self.plot is not None:
            _check_output("--plot", self.plot, (".png",))

    def _fit(self, table: Table) -> Any:
        """A regressor, fitted to the table."""
        from torchalu.estimators import ArithmeticRegressor
        from torchalu.export.tolerance import default_tolerance

        if self.plot is not None:
            from torchalu.report import require_matplotlib

            require_matplotlib()
        chosen: dict[str, Any] = {} if self.restarts is None else {"restarts": self.restarts}
        default = default_tolerance(table.dtype)
        model = ArithmeticRegressor(
            random_state=self.seed,
            holdout=self.holdout,
            tolerance=default if self.tolerance is None else self.tolerance,
            verbose=not self.quiet,
            **chosen,
        )
        return model.fit(named(table), table.y)

    def _print(self, model: Any) -> None:
        """The result, on standard output."""
        from torchalu.report import print_fit, readable

        if self.quiet:
            print(readable(model.formula_, digits=None))
        else:
            print_fit(Output(), self.target, model)

    def _write(self, table: Table, model: Any, exports: list[Path]) -> None:
        """The files that were asked for; the formula is printed by then, whatever fails here."""
        from torchalu.report import write_formula

        written: list[Path] = []
        try:
            for path in exports:
                write_formula(model.formula_, table.feature_names, path)
                written.append(path)
            if self.plot is not None:
                _plot(table, model, self.table.name, self.plot)
                written.append(self.plot)
        finally:  # of what is there, whatever failed behind it; and all is, if nobody reads
            if not self.quiet:
                self._say_written(written)

    def _say_written(self, paths: list[Path]) -> None:
        """A line for each file."""
        for path in paths:
            Output().print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def named(table: Table) -> pl.DataFrame:
    """A table's features as a frame, so that a regressor knows their names."""
    return pl.DataFrame(table.X, schema=list(table.feature_names))


def _check_output(option: str, path: Path, extensions: tuple[str, ...]) -> None:
    """Raises if no such file can be written."""
    if path.suffix.lower() not in extensions:
        ending = repr(path.suffix) if path.suffix else "no extension"
        raise ValueError(
            f"{option} is {str(path)!r}, which ends in {ending}; allowed: {', '.join(extensions)}"
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"{option} is {str(path)!r}, but there is no folder {str(path.parent)!r}; create it, "
            "or name another"
        )
    if path.is_dir():
        raise ValueError(f"{option} is {str(path)!r}, which is a folder; name a file")


def _plot(table: Table, model: Any, title: str, path: Path) -> None:
    """Draws the fit beside a plain perceptron on the same rows."""
    from torchalu.report import FitPicture, fit_mlp, plot_fit, readable

    def predict(X: Any) -> Any:
        return model.predict(pl.DataFrame(X, schema=list(table.feature_names)))

    picture = FitPicture(table, predict, readable(model.formula_), fit_mlp(table), title=title)
    plot_fit(picture, path)
