"""Fast forms of the functions, as operators of torch."""

from torchalu.kernels.logic_forms import FUNCTIONS, logic_form
from torchalu.kernels.logic_operator import logic
from torchalu.kernels.nmu import nmu
from torchalu.kernels.recurrence import unroll

__all__ = ["FUNCTIONS", "logic", "logic_form", "nmu", "unroll"]
