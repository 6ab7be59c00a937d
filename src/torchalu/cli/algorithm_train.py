"""`torchalu algorithm train`: from a task to a checkpoint that has learned it."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import polars as pl
import tyro

from torchalu.cli.algorithm_result import VERBATIM, measured_grid
from torchalu.cli.console import Output

if TYPE_CHECKING:
    from torchalu.tasks import AlgorithmicTask
    from torchalu.train.algorithms import AlgorithmTraining
    from torchalu.zoo import LearnedAlgorithm, Measurement

_FAR = 5
_TESTED = 100


@dataclasses.dataclass(frozen=True)
class Train:
    """Learn a task from examples, and write the checkpoint that is right on the longest strings."""

    task: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TASK_OR_FILE")]
    """A task, which `torchalu algorithm list` names, or a .csv or .tsv file of your own with the
    columns input and output."""

    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Folder of the training, which is begun or gone on with; runs/NAME by default."""

    form: Literal["diagonal", "cgru"] = "diagonal"
    """The improved Neural GPU, or the original one."""

    length: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Longest training strings, as the task counts them; by default those of the recipe, mostly
    41 symbols, which is 20 digits in each of two operands, or the longest in the file."""

    maps: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Numbers at each position of the state; by default those of the form's recipe."""

    steps: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Most steps of an attempt; by default those of the recipe."""

    attempts: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Most attempts of a start, by default those of the recipe. One that does not hold on longer
    strings is given up for the next; the best is kept."""

    seed: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """Of the first start."""

    seeds: Annotated[int, tyro.conf.arg(metavar="N")] = 1
    """How many starts; the one that is best on validation strings is kept."""

    device: Annotated[str, tyro.conf.arg(metavar="DEVICE")] = "cpu"
    """Where to train: cpu, or cuda with a GPU."""

    quiet: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Show no progress and print nothing."""

    def run(self) -> int:
        """Trains, measures, writes the checkpoint.

        Returns:
            The exit status, 0.

        Raises:
            ValueError: for an argument, a task or a folder that cannot be used.
            OSError: if a file cannot be read or written.
            KeyboardInterrupt: after the checkpoint is written.
        """
        from torchalu.cli.algorithm_progress import show_training
        from torchalu.tasks import StringFileTask
        from torchalu.train.files import check_folder
        from torchalu.zoo import learn, put

        self._check()
        task = _task(self.task, self.form)
        recipe = self._recipe(task)
        longest = _longest(task, recipe)
        length = longest if self.length is None else self.length
        if isinstance(task, StringFileTask) and length > longest:
            raise ValueError(
                f"--length is {length}, and the longest input in {self.task!r} has {longest} "
                f"symbols; allowed: 1 to {longest}"
            )
        training = self._training(task, recipe, length)
        out = Path("runs") / task.name if self.out is None else self.out
        check_folder(out, "--out")
        command = self._command(length, training)
        try:
            with show_training(task, quiet=self.quiet) as report:
                learned, records = learn(
                    task,
                    training,
                    out,
                    seeds=self.seeds,
                    device=self.device,
                    command=command,
                    report=report,
                )
        except KeyboardInterrupt:
            print(f"torchalu: the same command goes on from {out}", file=sys.stderr)
            raise
        if isinstance(task, StringFileTask):
            measured = _validated(learned, records)
        else:
            card = learned.measure((length, _FAR * length), _TESTED)
            shown = {*card.accuracy, *card.failures}
            measured = tuple(entry for entry in card.measured if entry in shown)
        path = put(learned, out)
        if not self.quiet:
            _print(learned, measured, path)
        return 0

    def _check(self) -> None:
        """Raises where an argument is sure to fail later on."""
        from torchalu.experiments.settings_study import check_device

        for name in ("length", "maps", "steps", "attempts", "seeds"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"--{name} is {value}; allowed: 1 or more")
        if self.seed < 0:
            raise ValueError(f"--seed is {self.seed}; allowed: 0 or more")
        check_device(self.device)

    def _recipe(self, task: AlgorithmicTask) -> AlgorithmTraining:
        """The form's recipe."""
        from torchalu.train.algorithms import AlgorithmTraining

        recipes = {"diagonal": AlgorithmTraining.improved, "cgru": AlgorithmTraining.original}
        return recipes[self.form](task)

    def _training(
        self, task: AlgorithmicTask, recipe: AlgorithmTraining, length: int
    ) -> AlgorithmTraining:
        """The recipe, with what was asked for in its place."""
        longest = task.symbols(length)
        changes: dict[str, Any] = {"bins": (longest,)}
        for name in ("steps", "attempts"):
            if getattr(self, name) is not None:
                changes[name] = getattr(self, name)
        if self.maps is not None:
            changes["maps"] = self.maps
            if self.form == "diagonal":
                changes["learning_rate"] = recipe.learning_rate * recipe.maps / self.maps
        training = dataclasses.replace(recipe, seed=self.seed, **changes)
        last = range(max(1, longest - (training.bins_per_step or 1) + 1), longest + 1)
        shown = dataclasses.replace(training, bins=tuple(last))
        _check_memory(task, shown, length, self.device)
        return dataclasses.replace(training, bins=tuple(range(min(2, longest), longest + 1)))

    def _command(self, length: int, training: AlgorithmTraining) -> str:
        """The command that does the same, whatever the defaults may become."""
        options = {
            "form": self.form,
            "length": length,
            "maps": training.maps,
            "steps": training.steps,
            "attempts": training.attempts,
            "seed": self.seed,
            "seeds": self.seeds,
        }
        if self.device != "cpu":
            options["device"] = self.device
        words = (word for name, value in options.items() for word in (f"--{name}", str(value)))
        return shlex.join(["torchalu", "algorithm", "train", self.task, *words])


def _task(name: str, form: str) -> AlgorithmicTask:
    """The task of a name, or of a file of rows; the paper's form pads answers, and fills none."""
    from torchalu.tasks import algorithm, algorithm_names, read_task_file

    path = Path(name)
    if name not in algorithm_names() and (path.suffix or path.exists()):
        return read_task_file(path)
    return algorithm(name, filled=False if form == "cgru" else None)


def _check_memory(
    task: AlgorithmicTask, training: AlgorithmTraining, length: int, device: str
) -> None:
    """Refuse what takes more memory than is free, before all lengths are listed."""
    from torchalu.train.algorithms.start import check_training_memory

    what = (
        f"--length is {length}, which needs {training.bins[-1]} symbols, and --maps {training.maps}"
    )
    check_training_memory(task, training, device=device, what=what)


def _longest(task: AlgorithmicTask, recipe: AlgorithmTraining) -> int:
    """The length of the longest training strings by default."""
    from torchalu.tasks import StringFileTask

    if isinstance(task, StringFileTask):
        return max(map(len, task.rows))
    return task.lengths(recipe.bins[-1])


def _validated(learned: LearnedAlgorithm, records: pl.DataFrame) -> tuple[Measurement, ...]:
    """What the validation said of the step that was kept."""
    from torchalu.zoo import Measurement

    rows = records.filter(pl.col("step") == learned.card.steps)
    return tuple(
        Measurement(
            learned.task.lengths(row["symbols"]),
            row["count"],
            round(row["right"] * row["count"]),
            "validation",
        )
        for row in rows.iter_rows(named=True)
    )


def _print(learned: LearnedAlgorithm, measured: tuple[Measurement, ...], path: Path) -> None:
    """What was learned, and where it is."""
    console, card = Output(), learned.card
    console.print(measured_grid(learned.task.name, measured))
    start = f"seed {card.seed}, step {card.steps}"
    if card.seeds_tried > 1:
        start += (
            f"; {card.seeds_generalizing} of {card.seeds_tried} seeds have all validation "
            "strings right"
        )
    for line in (start, f"wrote {path}"):
        console.print(line, **VERBATIM)
