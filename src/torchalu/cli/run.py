"""`torchalu run`: an experiment of a paper, from its name to its tables."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from torchalu.cli.console import Output

_USAGE = (
    "name an experiment first, as in `torchalu run madsen2020.table1 --seeds 10`; "
    "`torchalu run --list` shows all"
)


@dataclasses.dataclass(frozen=True)
class Run:
    """Carry out an experiment of a paper; `torchalu run --list` names them."""

    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Run folder, which is begun or gone on with; runs/NAME by default."""

    engine: Literal["local", "ray"] = "local"
    """This machine's cores, or a Ray cluster (extra `ray`)."""

    address: Annotated[str | None, tyro.conf.arg(metavar="ADDRESS")] = None
    """Of the Ray cluster, such as auto or host:6379; one is started here by default."""

    workers: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Chunks at a time, one core each; one for every core by default."""

    results: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Merge the outcomes into the results of this folder."""

    replace: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Let merged outcomes take the place of others of the same settings and seed."""

    quiet: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Show no bar and print no tables."""

    list: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the names of all experiments, and do nothing else."""

    def run(self) -> int:
        """Prints the names of the experiments, if that is asked for.

        Returns:
            The exit status, 0.

        Raises:
            ValueError: if nothing is asked for.
        """
        from torchalu.experiments import get, names

        if not self.list:
            raise ValueError(_USAGE)
        width = max(map(len, names()))
        for name in names():
            print(f"{name:{width}}  {_title(get(name))}")
        return 0

    def carry_out(self, name: str, study: Any, command: str) -> int:
        """Runs a study, writes its tables, prints them.

        Args:
            name: of the experiment.
            study: what the experiment's function gave.
            command: as it was typed.

        Returns:
            The exit status, 0.

        Raises:
            ValueError: for an argument or a folder that cannot be used.
            OSError: if a file cannot be read or written.
            ImportError: if Ray is needed and not installed.
        """
        from torchalu import sweep
        from torchalu.cli.outcome_tables import write_tables
        from torchalu.cli.results import check_settings, merge
        from torchalu.train import RunFolder
        from torchalu.train.files import check_folder

        engine = sweep.choose_engine(self.engine, self.workers, self.address)
        if self.engine == "local":
            _check_device(study)
        out = Path("runs") / name if self.out is None else self.out
        if self.results is not None:
            check_folder(self.results, "--results")
            check_settings(study, self.results, replace=self.replace)
        with RunFolder(out, study) as folder:
            outcomes = sweep.complete(folder, engine, progress=not self.quiet)
            tables = study.summarize(outcomes)
            written = write_tables(tables, out / "summary")
            if self.results is not None:
                written += merge(folder, self.results, command, replace=self.replace)
            hours = folder.core_hours
        if not self.quiet:
            self._print(tables, [out, *written], f"{outcomes.height} runs, {hours:.3g} core-hours")
        return 0

    def _print(self, tables: dict[str, Any], paths: Sequence[Path], cost: str) -> None:
        """The tables, and where everything is."""
        from torchalu.report import in_brief, print_frame

        console = Output()
        for name, table in tables.items():
            print_frame(console, name, in_brief(table))
        for line in (cost, *(f"wrote {path}" for path in paths)):
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _check_device(study: Any) -> None:
    """Refuse, before a folder is made, a native study on a GPU that is not here."""
    from torchalu.engine.device import gpu
    from torchalu.experiments.native import NativeStudy

    if isinstance(study, NativeStudy) and study.runs.device == "cuda":
        try:
            gpu()
        except RuntimeError as error:
            raise ValueError(str(error)) from None


def run_experiment(arguments: Sequence[str]) -> int:
    """Reads what stands behind `torchalu run`, from the name on, and does it.

    The options are those of `Run` and those of the experiment's function.

    Args:
        arguments: the name of an experiment, then options.

    Returns:
        The exit status, 0.

    Raises:
        SystemExit: for `--help`, and for options that do not parse (status 2).
        ValueError: no such experiment, with the nearest name; or an option out of bounds.
        OSError: if a file cannot be read or written.
    """
    from torchalu.experiments import get

    name = arguments[0]
    study, options = _read(name, get(name), arguments[1:])
    if options.list:
        return options.run()
    return options.carry_out(name, study, shlex.join(["torchalu", "run", *arguments]))


def _read(name: str, experiment: Any, arguments: Sequence[str]) -> tuple[Any, Run]:
    """The study and how to carry it out, from options of either."""

    def both(study: Any, options: Run) -> tuple[Any, Run]:
        return study, options

    both.__annotations__ = {
        "study": Annotated[object, tyro.conf.arg(name="", constructor=experiment)],
        "options": Annotated[Run, tyro.conf.arg(name="")],
    }
    return tyro.cli(
        both, prog=f"torchalu run {name}", description=_title(experiment), args=arguments
    )


def _title(experiment: Any) -> str:
    """The first line of what an experiment says about itself."""
    return (experiment.__doc__ or "").strip().partition("\n")[0]
