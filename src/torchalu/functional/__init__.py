"""The equations of the units as functions of tensors."""

from torchalu.functional.ail import and_ail, or_ail, xnor_ail
from torchalu.functional.cgru import cgru, gate_cutoff
from torchalu.functional.diagonal_cgru import diagonal_cgru, diagonal_shift, hard_sigmoid
from torchalu.functional.extrema import max_out, min_out
from torchalu.functional.gated import gated_nau_nmu
from torchalu.functional.gates import (
    GATE_NAMES,
    gate_coefficients,
    gate_probabilities,
    group_sum,
    logic_gates,
)
from torchalu.functional.inalu import inalu
from torchalu.functional.logic_ensemble import logic_ensemble
from torchalu.functional.logic_moments import logic_moments
from torchalu.functional.logit import logit_and, logit_or, logit_xnor
from torchalu.functional.nac import nac, nac_mul, nac_weight
from torchalu.functional.nalu import nalu
from torchalu.functional.nau import nau
from torchalu.functional.nmru import nmru
from torchalu.functional.nmu import nmu, nmu_definition
from torchalu.functional.npu import npu, real_npu
from torchalu.functional.signed_geomean import signed_geomean
from torchalu.functional.snmu import snmu

__all__ = [
    "GATE_NAMES",
    "and_ail",
    "cgru",
    "diagonal_cgru",
    "diagonal_shift",
    "gate_coefficients",
    "gate_cutoff",
    "gate_probabilities",
    "gated_nau_nmu",
    "group_sum",
    "hard_sigmoid",
    "inalu",
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
    "nmru",
    "nmu",
    "nmu_definition",
    "npu",
    "or_ail",
    "real_npu",
    "signed_geomean",
    "snmu",
    "xnor_ail",
]
