"""The units as layers, and what a training loop needs of them."""

from torchalu.nn.ail import ANDAIL, ORAIL, XNORAIL
from torchalu.nn.diagonal_neural_gpu import DiagonalNeuralGPU
from torchalu.nn.extrema import MaxOut, MinOut
from torchalu.nn.features import (
    features_multiple,
    features_ratio,
    in_features_for,
    out_features_for,
)
from torchalu.nn.gated import GatedNAUNMU
from torchalu.nn.gates import GroupSum, LogicGates
from torchalu.nn.group_activation import GroupActivation
from torchalu.nn.il import ANDIL, ORIL, XNORIL
from torchalu.nn.inalu import INALU
from torchalu.nn.logic_activation import LogicActivation
from torchalu.nn.nac import NAC
from torchalu.nn.nac_mul import NACMul
from torchalu.nn.nalu import NALU
from torchalu.nn.named_activation import activation, activation_names, canonical_activation
from torchalu.nn.nau import NAU
from torchalu.nn.neural_gpu import NeuralGPU
from torchalu.nn.neural_gpu_base import NeuralGPUBase, Unrolled
from torchalu.nn.nmru import NMRU
from torchalu.nn.nmu import NMU
from torchalu.nn.npu import NPU
from torchalu.nn.real_npu import RealNPU
from torchalu.nn.recurrent import UnitCell, UnitRNN, input_penalty
from torchalu.nn.signed_geomean import SignedGeomean
from torchalu.nn.snmu import SNMU
from torchalu.nn.training import constrain_after, penalty, penalty_ramp
from torchalu.nn.unit import Unit

__all__ = [
    "ANDAIL",
    "ANDIL",
    "INALU",
    "NAC",
    "NALU",
    "NAU",
    "NMRU",
    "NMU",
    "NPU",
    "ORAIL",
    "ORIL",
    "SNMU",
    "XNORAIL",
    "XNORIL",
    "DiagonalNeuralGPU",
    "GatedNAUNMU",
    "GroupActivation",
    "GroupSum",
    "LogicActivation",
    "LogicGates",
    "MaxOut",
    "MinOut",
    "NACMul",
    "NeuralGPU",
    "NeuralGPUBase",
    "RealNPU",
    "SignedGeomean",
    "Unit",
    "UnitCell",
    "UnitRNN",
    "Unrolled",
    "activation",
    "activation_names",
    "canonical_activation",
    "constrain_after",
    "features_multiple",
    "features_ratio",
    "in_features_for",
    "input_penalty",
    "out_features_for",
    "penalty",
    "penalty_ramp",
]
