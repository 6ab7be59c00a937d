"""The equations of the units as functions of tensors."""

from torchalu.functional.ail import and_ail, or_ail, xnor_ail
from torchalu.functional.extrema import max_out, min_out
from torchalu.functional.gated import gated_nau_nmu
from torchalu.functional.gates import (
    GATE_NAMES,
    gate_coefficients,
    gate_probabilities,
    group_sum,
    logic_gates,
)
from torchalu.functional.logic_ensemble import logic_ensemble
from torchalu.functional.logic_moments import logic_moments
from torchalu.functional.logit import logit_and, logit_or, logit_xnor
from torchalu.functional.nac import nac, nac_mul, nac_weight
from torchalu.functional.nalu import nalu
from torchalu.functional.nau import nau
from torchalu.functional.nmu import nmu, nmu_definition
from torchalu.functional.npu import npu, real_npu
from torchalu.functional.signed_geomean import signed_geomean

__all__ = [
    "GATE_NAMES",
    "and_ail",
    "gate_coefficients",
    "gate_probabilities",
    "gated_nau_nmu",
    "group_sum",
    "logic_ensemble",
    "logic_gates",
    "logic_moments",
    "logit_and",
    "logit_or",
    "logit_xnor",
    "max_out",
    "min_out",
    "nac",
    "nac_mul",
    "nac_weight",
    "nalu",
    "nau",
    "nmu",
    "nmu_definition",
    "npu",
    "or_ail",
    "real_npu",
    "signed_geomean",
    "xnor_ail",
]
