"""The equations of the units as functions of tensors."""

from torchalu.functional.gated import gated_nau_nmu
from torchalu.functional.nac import nac, nac_mul, nac_weight
from torchalu.functional.nalu import nalu
from torchalu.functional.nau import nau
from torchalu.functional.nmu import nmu, nmu_definition
from torchalu.functional.npu import npu, real_npu

__all__ = [
    "gated_nau_nmu",
    "nac",
    "nac_mul",
    "nac_weight",
    "nalu",
    "nau",
    "nmu",
    "nmu_definition",
    "npu",
    "real_npu",
]
