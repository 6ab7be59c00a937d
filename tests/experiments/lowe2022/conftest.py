"""MNIST for networks that are only to run."""

import pytest

from digit_bars import bars
from torchalu.experiments.lowe2022 import data as data_module


@pytest.fixture
def digits(monkeypatch):
    """Bars in place of MNIST."""
    monkeypatch.setattr(data_module, "load_mnist", bars)
    monkeypatch.setattr(data_module, "_MNIST_VALIDATION", 24)
    data_module.load_mnist_data.cache_clear()
    yield
    data_module.load_mnist_data.cache_clear()
