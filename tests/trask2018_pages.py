"""The pages and the committed results of Trask et al. 2018, for what holds one to the other."""

import shlex
from pathlib import Path

import polars as pl

from torchalu.cli.run import _read
from torchalu.experiments import get

ROOT = Path(__file__).parents[1]
DOCS, RESULTS = ROOT / "docs" / "trask2018", ROOT / "results" / "trask2018"


def page(name):
    """The text of a page, in one line."""
    return " ".join((DOCS / f"{name}.md").read_text("utf-8").split())


def committed(name):
    """A table of the committed results."""
    return pl.read_csv(RESULTS / f"{name}.csv", infer_schema_length=None)


def study_of(command):
    """The study of a command without `torchalu run`."""
    name, *options = shlex.split(command)
    return _read(f"trask2018.{name}", get(f"trask2018.{name}"), options)[0]
