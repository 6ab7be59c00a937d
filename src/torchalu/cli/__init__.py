"""The command `torchalu`: bad input ends in one message and status 2, never in a traceback."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import metadata
from typing import Annotated, TextIO

import tyro

from torchalu.cli.algorithm import Algorithm
from torchalu.cli.cite import cite
from torchalu.cli.data import Data
from torchalu.cli.fit import Fit
from torchalu.cli.run import Run, run_experiment

__all__ = ["Cite", "Fit", "Run", "main"]

_BAD_INPUT, _INTERRUPTED, _NO_READER = 2, 130, 141
_HUGE = re.compile(r"(--\S+[ =])?\b\d{19,}\b")
_EXTRA = "torchalu["
_DESCRIPTION = "Learn the exact rule in a table, then prove it. `torchalu --version` says which."


@dataclasses.dataclass(frozen=True)
class Cite:
    """Print BibTeX entries of the papers that units come from."""

    units: Annotated[
        tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[UNIT [UNIT ...]]")
    ] = ()
    """Units, such as NMU, or keys of entries; all entries if none is named."""

    def run(self) -> int:
        """Prints the entries.

        Returns:
            The exit status, 0.

        Raises:
            ValueError: if there is no such unit.
        """
        print(cite(self.units))
        return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: what stands behind `torchalu`; the process's own by default.

    Returns:
        The exit status: 0, or 2 for bad input, or 130 if it was interrupted, or 141 if nobody
        reads what it prints any more, as after `| head`.

    Raises:
        SystemExit: for `--help`, and for arguments that do not parse (status 2).

    Example:
        >>> main(["cite", "npu"])
        @inproceedings{heim2020npu,
        ...
        0
    """
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        print(f"torchalu {_version()}")
        return 0
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return _run(arguments)
            finally:
                sys.stdout.flush()
    except KeyboardInterrupt:
        print("torchalu: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return _NO_READER
    except (ValueError, OSError, ImportError, MemoryError, OverflowError) as error:
        message = _message(error, arguments)
        if message is None:
            raise
        print(f"torchalu: {' '.join(message.split())}", file=sys.stderr)
        return _BAD_INPUT


def _run(arguments: Sequence[str]) -> int:
    """Parses the arguments and does what they say."""
    if arguments[:1] == ["run"] and len(arguments) > 1 and arguments[1][:1] != "-":
        return run_experiment(arguments[1:])
    command = tyro.cli(
        Annotated[Fit, tyro.conf.subcommand("fit")]
        | Annotated[Run, tyro.conf.subcommand("run")]
        | Annotated[Algorithm, tyro.conf.subcommand("algorithm")]
        | Annotated[Cite, tyro.conf.subcommand("cite")]
        | Annotated[Data, tyro.conf.subcommand("data")],
        prog="torchalu",
        description=_DESCRIPTION,
        args=arguments,
    )
    return command.run()


def _show_warning(message: Warning | str, *_: object) -> None:
    """Prints a warning as errors are, without the line of code that it comes from."""
    print(f"torchalu: {' '.join(str(message).split())}", file=sys.stderr)


def _nowhere() -> TextIO:
    """What stands in for a stream that was closed before the command began."""
    return open(os.devnull, "w")


def _message(error: Exception, arguments: Sequence[str]) -> str | None:
    """What to say of an error; None for one that is not the user's."""
    text = " ".join([str(error), *getattr(error, "__notes__", ())])
    if isinstance(error, MemoryError):
        return (
            f"out of memory: {text or 'an allocation failed'}; take a smaller table or fewer "
            "workers, or a machine with more memory"
        )
    if isinstance(error, OverflowError) or text.startswith("Overflow"):
        huge = _HUGE.search(" ".join(arguments))
        if huge:
            return f"{huge[0]} is too large; allowed: whole numbers below 2**63"
    if isinstance(error, OverflowError):
        return None
    if isinstance(error, ImportError) and _EXTRA not in text:
        return None
    return text


def _version() -> str:
    """The installed version."""
    try:
        return metadata.version("torchalu")
    except metadata.PackageNotFoundError:
        return "(not installed: run from its source)"
