"""What the paper prints of counting, adding and telling even digits, to be shown beside ours."""

from __future__ import annotations

import polars as pl

_TABLE2 = """
LSTM     98.29 0.79 18.2 198.5   0.0  14.8 800.8 8811.6
GRU      99.02 0.73 18.0 198.3   0.0  1.75 771.4 8775.2
RNN-tanh 38.91 1.49 18.4 198.7   0.0  2.98 20.4  200.7
RNN-ReLU 9.80  0.66 39.8 1.4e10  88.18 19.1 182.1 1171.0
NAC      99.23 0.12 0.76 3.32    97.6 1.42 7.88  57.3
NALU     97.6  0.17 0.93 4.18    77.7 5.11 26.8  248.9
"""

_TABLE10 = """
LSTM     98.29 1.14 181.06 19883 0.0   168.18 321738  38761851
GRU      99.02 1.12 180.95 19886 0.0   168.09 321826  38784947
RNN-tanh 38.91 1.53 226.95 20346 0.0   167.19 321841  38784910
RNN-ReLU 9.80  0.54 160.80 19608 88.18 4.29   882.87  10969180
NAC      99.23 0.03 0.26   3     97.58 2.82   28.11   280.89
NALU     97.62 0.08 0.90   17    77.73 18.22  1199.12 114303
"""

_CELLS = [
    (task, measure, length)
    for task in ("count", "sum")
    for measure, length in (("accuracy", 1), ("error", 10), ("error", 100), ("error", 1000))
]


def _read(text: str, error: str) -> pl.DataFrame:
    """A table as printed, as a row a model, task and length."""
    rows = [
        {
            "task": task,
            "model": model,
            "length": length,
            "published_accuracy": float(number) / 100 if measure == "accuracy" else None,
            f"published_{error}": float(number) if measure == "error" else None,
        }
        for model, *numbers in map(str.split, text.strip().splitlines())
        for (task, measure, length), number in zip(_CELLS, numbers, strict=True)
    ]
    types = {"published_accuracy": pl.Float64, f"published_{error}": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=types)


TABLE2 = _read(_TABLE2, "mae")
"""Table 2: accuracy of single digits, and mean absolute errors of longer series."""

TABLE10 = _read(_TABLE10, "mse")
"""Table 10: the same with mean square errors. Its accuracies have one digit more."""

DIGIT_TABLES = TABLE2.join(
    TABLE10.drop("published_accuracy"), on=["task", "model", "length"], how="left"
)
"""Both tables, a row a cell."""

TABLE4 = pl.DataFrame(
    [
        ("linear", 0.881),
        ("sigmoid_bias", 0.600),
        ("tanh_bias", 0.876),
        ("linear_no_bias", 0.914),
        ("sigmoid", 0.625),
        ("tanh", 0.887),
        ("NAC", 0.931),
    ],
    schema=["layer", "published_accuracy"],
    orient="row",
)
"""Table 4: test accuracies by the configuration of the last layer, under our names."""

SEGUI_ACCURACY = 0.851
"""Table 4: the result of Seguí et al. 2015, whose last layer is the one called "linear" too."""
