"""What several tests of this paper ask for."""

import pytest

from torchalu.experiments.trask2018 import grid_training, program_training, word_training


@pytest.fixture
def meta_device(monkeypatch):
    """Trainings take torch's meta device, which stands in for a GPU, as one that is there."""
    for module in (grid_training, program_training, word_training):
        monkeypatch.setattr(module, "check_device", lambda device: None)
