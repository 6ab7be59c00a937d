"""The units as layers, and what a training loop needs of them."""

from torchalu.nn.gated import GatedNAUNMU
from torchalu.nn.nac import NAC
from torchalu.nn.nac_mul import NACMul
from torchalu.nn.nalu import NALU
from torchalu.nn.nau import NAU
from torchalu.nn.nmu import NMU
from torchalu.nn.npu import NPU
from torchalu.nn.real_npu import RealNPU
from torchalu.nn.recurrent import UnitCell, UnitRNN, input_penalty
from torchalu.nn.training import constrain_after, penalty, penalty_ramp
from torchalu.nn.unit import Unit

__all__ = [
    "NAC",
    "NALU",
    "NAU",
    "NMU",
    "NPU",
    "GatedNAUNMU",
    "NACMul",
    "RealNPU",
    "Unit",
    "UnitCell",
    "UnitRNN",
    "constrain_after",
    "input_penalty",
    "penalty",
    "penalty_ramp",
]
