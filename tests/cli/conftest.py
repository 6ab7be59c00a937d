"""What tests of `torchalu algorithm` begin with."""

import pytest

from exact_copy import copying_module, exact_copy
from torchalu.tasks import algorithm
from torchalu.zoo import LearnedAlgorithm, shelf


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of the test's own is the current one, and lines have 100 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def copy(here):
    """A checkpoint that is right."""
    exact_copy().save("copy.safetensors")
    return "copy.safetensors"


@pytest.fixture
def wrong(here):
    """A checkpoint that copies where it should reverse."""
    LearnedAlgorithm(copying_module(), algorithm("reverse")).save("reverse.safetensors")
    return "reverse.safetensors"


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    """A zoo with one algorithm in it."""
    (tmp_path / "weights").mkdir()
    shelf.put(exact_copy(), tmp_path / "weights")
    monkeypatch.setattr(shelf, "_FOLDER", tmp_path / "weights")
