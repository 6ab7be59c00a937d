"""The same generated examples in every run, and a skip where a data set is not there."""

import os

import pytest
from hypothesis import settings

from torchalu.tasks import mnist_folder

settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("search" if os.environ.get("HYPOTHESIS_SEARCH") else "same")


def pytest_runtest_setup(item):
    """Skips what needs MNIST where it has not been fetched."""
    if item.get_closest_marker("mnist"):
        try:
            mnist_folder()
        except FileNotFoundError as error:
            pytest.skip(str(error))
