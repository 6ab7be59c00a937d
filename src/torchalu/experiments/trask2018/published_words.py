"""What the paper prints of number words, and says of programs."""

from __future__ import annotations

import polars as pl

_MAE = """
LSTM,last 0.0085 32.1 32.2
LSTM,summed 0.003 29.9 29.4
LSTM+NAC 80.0 114.1 114.3
LSTM+NALU 0.12 0.39 0.41
"""


def _read(text: str) -> pl.DataFrame:
    """A table as printed: a model, and its three errors."""
    rows = [
        (model, *map(float, errors)) for model, *errors in map(str.split, text.strip().splitlines())
    ]
    parts = [f"published_{part}_mae" for part in ("train", "validation", "test")]
    return pl.DataFrame(rows, schema=["model", *parts], orient="row")


TABLE3 = _read(_MAE)
"""Tables 3 and 11: mean absolute errors of the best model by validation. The "LSTM" of table 3 is
the one with summed states of table 11."""

FIGURE3 = {
    "three hundred and thirty four": (None, 299.9, 301.3, None, None),
    "seven hundred and two": (6.98, 699.9, 701.3, 702.2),
    "eighty eight": (79.6, 88.0),
    "twenty seven and eighty": (18.2, 27.0, 29.1, 106.1),
}
"""Figure 3: a NALU's answers after each word. The places of the first phrase's other numbers cannot
be read from the text."""
