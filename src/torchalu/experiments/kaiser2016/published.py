"""The results that the paper prints, to be shown beside ours."""

from __future__ import annotations

import polars as pl

MODELS = ("original", "stack_rnn", "lstm_attention")
"""Our names of the paper's models, in the order of table 1."""

_TABLE1 = """
badd   20 100 100 100
badd   25 100 100  73
badd  100 100  88   0
badd  200 100   0   0
badd 2000 100   0   0
bmul   20 100   -   0
bmul   25 100   -   0
bmul  200 100   -   0
bmul 2000 100   -   0
"""


def _read(text: str) -> pl.DataFrame:
    """A table as printed, percentages of each model, as a row for each."""
    rows = [
        (task, model, int(length), int(percent) / 100)
        for task, length, *numbers in map(str.split, text.strip().splitlines())
        for model, percent in zip(MODELS, numbers, strict=True)
        if percent != "-"
    ]
    return pl.DataFrame(rows, schema=["task", "model", "length", "published_rate"], orient="row")


TABLE1 = _read(_TABLE1)
"""Table 1: whole strings right, as parts of 1, by the best of 729 runs."""
