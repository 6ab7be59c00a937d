"""The accuracies that the paper prints, to be shown beside ours."""

from __future__ import annotations

import polars as pl

_DATASETS = ("caltech101", "cifar10", "cifar100", "flowers102", "stanford_cars", "stl10", "svhn")

_TABLE1 = """
identity           88.35 .15 78.56  .09 57.39   .09 92.32 .20 33.51  .06 94.68 .02 46.60  .14
relu               86.58 .17 81.63  .05 58.04   .11 90.71 .26 30.97  .26 94.62 .06 53.26  .08
prelu              87.83 .21 81.03  .13 58.90   .18 93.17 .19 39.84  .18 94.54 .05 53.47  .08
selu               87.74 .09 79.93  .13 58.24   .06 92.27 .13 37.51  .17 94.53 .07 50.94  .12
gelu               87.10 .15 81.39  .09 58.51   .13 91.51 .15 33.43  .15 94.62 .06 53.43  .23
mish               87.11 .12 81.09  .11 58.37   .10 91.61 .15 33.75  .14 94.61 .05 53.05  .12
tanh               87.48 .06 80.56  .07 57.35   .08 90.32 .20 29.51  .12 94.63 .07 51.86  .05
max_out            86.96 .20 81.76  .14 58.60   .12 90.98 .18 33.37  .15 94.70 .06 53.53  .16
max_min_d          87.23 .13 82.31  .10 59.05   .10 91.68 .18 34.91  .12 94.64 .04 53.91  .13
signed_geomean     87.03 .23 51.45 16.92 11.80 10.80 91.34 .34 26.37 6.46 94.68 .06 37.16 7.18
xnor_il            85.01 .17 79.62  .09 57.14   .07 84.76 .43  1.34  .11 94.51 .03 51.99  .16
or_il              87.11 .08 79.75  .05 58.07   .11 91.12 .36 33.12  .12 94.60 .03 51.21  .17
xnor_nil           87.25 .22 82.88  .08 60.78   .08 93.26 .26 39.47  .20 94.83 .06 55.34  .19
or_nil             87.19 .16 79.61  .05 58.44   .10 91.65 .29 35.82  .04 94.58 .03 50.95  .15
nil_or_and_d       86.82 .18 80.09  .09 58.60   .07 91.44 .20 37.03  .11 94.65 .05 52.49  .09
nil_or_xnor_d      87.82 .19 82.67  .05 60.60   .11 92.93 .12 39.22  .17 94.63 .06 54.87  .09
nil_or_and_xnor_d  87.41 .27 82.84  .06 60.38   .10 92.98 .17 39.42  .18 94.71 .03 55.11  .12
xnor_ail           86.97 .18 81.83  .06 58.46   .10 90.93 .15 32.56  .10 94.71 .06 53.75  .14
or_ail             87.45 .14 81.88  .07 59.10   .09 92.00 .15 36.01  .12 94.69 .04 53.68  .14
xnor_nail          87.61 .23 82.38  .07 59.77   .13 93.07 .20 39.77  .04 94.81 .03 53.91  .05
or_nail            87.19 .16 81.79  .09 59.40   .09 92.12 .12 37.32  .17 94.65 .04 53.82  .21
nail_or_and_d      87.62 .11 82.28  .10 59.71   .05 92.10 .20 37.70  .12 94.61 .08 53.86  .10
nail_or_xnor_d     87.85 .22 82.52  .11 60.02   .10 93.12 .13 39.64  .09 94.75 .03 54.13  .05
nail_or_and_xnor_d 87.78 .14 82.67  .06 60.01   .21 93.12 .21 39.65  .14 94.78 .03 54.58  .12
"""


def _read(text: str) -> pl.DataFrame:
    """A table as printed, a mean and a standard error for each data set, as a row for each."""
    rows = []
    for line in text.strip().splitlines():
        name, *numbers = line.split()
        values = [round(float(number) / 100, 6) for number in numbers]
        rows += [
            (dataset, name, mean, error)
            for dataset, mean, error in zip(_DATASETS, values[::2], values[1::2], strict=True)
        ]
    schema = ["dataset", "activation", "published_accuracy", "published_standard_error"]
    return pl.DataFrame(rows, schema=schema, orient="row")


TABLE1 = _read(_TABLE1)
"""Table 1: accuracies, as parts of 1, on embeddings of ResNet-18; five random starts."""
