"""Fast forms of the functions, as operators of torch."""

from torchalu.kernels.nmu import nmu

__all__ = ["nmu"]
