"""The same generated examples in every run, and what several rooms' tests ask for."""

import os
import signal

import pytest
import torch
from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("search" if os.environ.get("HYPOTHESIS_SEARCH") else "same")

# Small tensors are no faster on several, and slow where other tests run beside; what depends on the
# number of threads is tested with several.
torch.set_num_threads(1)


@pytest.fixture
def threads():
    """To be called with the number of threads of torch, which is as before after the test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture
def every_step_reports(monkeypatch):
    """The training loop reports each step, not ten times a second: a short run is heard of too."""
    monkeypatch.setattr("torchalu.train.loop._REPORT_SECONDS", -1.0)


@pytest.fixture
def interruptible():
    """Ctrl-C reaches this process, even if a shell has started it in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
