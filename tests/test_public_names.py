"""The names a user imports."""

import subprocess
import sys
from importlib import metadata

import pytest

import torchalu


def test_every_public_name_is_there():
    for name in torchalu.__all__:
        assert getattr(torchalu, name) is not None
        assert name in dir(torchalu)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'snapp'"):
        torchalu.snapp  # noqa: B018


def test_version_is_the_distribution_s():
    assert torchalu.__version__ == metadata.version("torchalu")


@pytest.mark.parametrize(
    ("imported", "unneeded"),
    [
        ("torchalu", ["torch", "numpy", "scipy"]),
        ("torchalu.nn", ["scipy.optimize", "scipy.special", "scipy.stats", "sympy", "polars"]),
        ("torchalu.sweep", ["scipy.optimize", "scipy.special", "scipy.stats", "sympy"]),
    ],
)
def test_an_import_leaves_out_what_it_does_not_need(imported, unneeded):
    program = f"import sys, {imported}; print([m for m in {unneeded} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert found.stdout == "[]\n"
