"""Which compilers of kernels are installed."""

from functools import cache
from importlib.util import find_spec


@cache
def has_triton() -> bool:
    """Whether Triton is installed, which PyTorch for CUDA brings along on most machines."""
    return find_spec("triton") is not None
