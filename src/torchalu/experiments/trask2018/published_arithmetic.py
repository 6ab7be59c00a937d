"""What the paper prints on the identity function and on arithmetic, to be shown beside ours."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from torchalu.experiments.trask2018.arithmetic_models import RECURRENT_MODELS, STATIC_MODELS

_STATIC = STATIC_MODELS[:11]
_RECURRENT = RECURRENT_MODELS[:6]
_SIX = ("add", "sub", "mul", "div", "square", "root")
_SEVEN = ("identity", *_SIX)

TABLE5 = pl.DataFrame(
    {
        "Hardtanh": 495.47, "ReLU6": 494.59, "Softsign": 494.19, "Tanh": 493.65,
        "Sigmoid": 493.15, "Threshold": 432.97, "SELU": 365.66, "ELU": 142.83,
        "Softshrink": 119.17, "ReLU": 83.63, "LeakyReLU": 77.02, "Tanhshrink": 57.03,
        "Softplus": 37.60, "PReLU": 14.66, "None": 0.0001,
    }
).transpose(include_header=True, header_name="model", column_names=["published"])  # fmt: skip
"""Table 5: mean absolute errors on -1000 to 1000; that of None is given as below 0.0001."""

_TABLE6 = """
8.659 .0213 .0086 .0144 .0229 .0031 .0191 .0040 .0020 .0017 .0001 .0001
120.9 52.37 51.14 51.56 47.78 .0126 .1064 .0225 .0127 .0013 .0001 .0012
6.478 .0344 .0183 .0010 .0616 .0046 .0510 .0133 .0035 .0007 .0001 .0001
42.14 11.54 9.627 12.22 9.734 5.60 3.458 6.108 .0090 .0007 .0001 .0001
233.9 21.82 12.06 7.579 20.07 11.99 5.928 6.084 36.28 48.91 50.02 .0001
3647 971.3 608.9 366.6 998.6 380.7 187.8 183.0 197.9 1076 1215 .0001
1.175 .0514 .0421 .0499 .0558 .1218 .1233 .1233 .1011 .4113 .4363 .0625
41.56 14.65 13.34 15.46 13.55 7.219 7.286 7.291 6.746 21.75 25.48 .2920
151.7 .3327 .0672 1.027 1.479 6.462 .1744 .7829 .1593 6.495 34.09 .0001
4674 2168 2142 2195 1938 1237 406.6 569.4 408.4 1172 2490 .0001
1.476 .0124 .0026 .0080 .0101 .0046 .0055 .0265 .0027 .0329 .0538 .0001
4.180 .4702 .3571 .4294 .3237 .0739 .1006 .5066 .0622 .8356 .6876 .0001
"""

_TABLE7_MODELS = (
    "Relu6", "Softsign", "Tanh", "Sigmoid", "SELU", "ELU", "ReLU", "Crelu", "None", "NAC", "NALU",
)  # fmt: skip
_TABLE7 = """
0.2 0.3 0.2 0.1 0.0 0.2 0.0 0.0 0.0 0.0 0.0
0.0 1.0 0.5 0.3 0.1 0.8 0.2 0.1 0.0 0.0 0.0
3.2 8.6 9.3 5.2 5.1 2.5 2.6 15.5 20.9 21.4 0.0
4.2 4.7 4.4 3.58 10.4 10.5 10.5 8.6 35.0 37.1 5.3
0.7 1.0 0.2 0.0 4.3 0.1 0.5 0.1 4.3 22.4 0.0
0.5 0.7 31.6 24.2 0.3 0.4 1.8 0.2 2.2 3.6 0.0
42.6 39.5 43.3 42.3 0.0 0.0 0.0 0.0 0.0 0.0 0.0
29.0 23.1 27.3 22.8 13.3 8.2 14.5 0.0 0.0 0.0 0.0
10.1 27.4 26.6 16.7 10.4 5.1 5.0 5.4 29.5 33.3 0.0
37.2 32.6 35.3 32.1 17.4 17.5 17.5 16.2 52.3 61.3 0.7
47.0 41.5 46.4 45.8 26.5 8.7 12.2 8.7 25.1 53.3 0.0
10.3 7.7 11.2 8.5 1.7 2.4 12.1 1.5 20.0 16.4 0.0
"""

_TABLE8 = """
.000544 .037351 .015579 .004282 .014142 .016741 .002258
330097 323877 326746 330618 321622 330264 322305
.000584 .006819 .026034 .005473 .059921 .029642 .002185
330309 324036 321989 333336 318537 334332 321107
.041697 .020395 .040893 .169256 .115955 .340204 .068180
332760 324180 324000 330137 323908 329339 320840
.005471 .010728 .019738 .091305 .073977 .017803 .007818
325690 287928 238771 329636 2902047 330305 114725
.00020 .00001 .000001 .46862 0.350227 .70909 .617613
1.8946 .00004 0.01537 297800 3083319119 416701 2152274742
.000001 .000001 .000001 .000003 .000431 .000001 .003492
.000001 .013131 .013843 47.0244 999999 2804.85 1671.81
"""

_TABLE9 = """
0.0 0.0 0.0 0.0 0.0 0.0 0.0
0.0 0.0 0.0 0.0 0.0 0.0 0.0
0.0 0.0 0.0 0.0 0.0 0.0 0.0
0.0 0.0 0.0 0.0 0.0 0.0 0.0
0.0 0.0 0.0 1.5 1.2 2.3 2.1
0.0 0.0 0.0 0.0 0.0 0.0 0.0
100.0 96.1 97.0 98.2 95.6 98.0 95.8
100.0 96.2 95.6 99.0 94.7 99.2 95.4
100.0 96.2 96.2 98.0 96.3 97.8 95.4
98.6 85.5 70.9 97.9 862.5 98.0 34.1
0.0 0.0 0.0 88.4 999.9 123.7 999.9
0.0 0.0 0.0 0.0 999.9 0.0 0.0
"""

_TESTS = ("interpolation", "extrapolation")
_Labels = Sequence[tuple[str, str, str]]


def _read(text: str, labels: _Labels, column: str) -> pl.DataFrame:
    """The numbers of a table, in the order of their labels: operation, test and model."""
    numbers = [float(word) for word in text.split()]
    rows = [(*label, number) for label, number in zip(labels, numbers, strict=True)]
    return pl.DataFrame(rows, schema=["operation", "test", "model", column], orient="row")


def _labels(rows: Sequence[tuple[str, str]], models: Sequence[str]) -> _Labels:
    return [(operation, test, model) for operation, test in rows for model in models]


TABLE6 = _read(
    _TABLE6,
    _labels([(operation, test) for operation in _SIX for test in _TESTS], ("Random", *_STATIC)),
    "published",
)
"""Table 6: mean squared errors; 0.0001 stands for what is given as below it."""

TABLE7 = _read(
    _TABLE7,
    _labels([(operation, test) for test in _TESTS for operation in _SIX], _TABLE7_MODELS),
    "published_relative",
)
"""Table 7: the same relative to a random start, in percent."""

TABLE8 = _read(
    _TABLE8,
    [(operation, test, model) for model in _RECURRENT for test in _TESTS for operation in _SEVEN],
    "published",
)
"""Table 8: mean squared errors; 1e-6, 1e-5 and 999999 stand for what is beyond them."""

TABLE9 = _read(
    _TABLE9,
    [(operation, test, model) for test in _TESTS for model in _RECURRENT for operation in _SEVEN],
    "published_relative",
)
"""Table 9: the same relative to a random LSTM, in percent; 999.9 stands for more."""

PUBLISHED = {
    "static": TABLE6.join(TABLE7, on=["operation", "test", "model"], how="left"),
    "recurrent": TABLE8.join(TABLE9, on=["operation", "test", "model"], how="left"),
}
"""By form: operation, test, model, published, published_relative."""
