"""All units, once, with the constructor arguments that make a variant."""

from dataclasses import dataclass, field
from typing import Any

import torch

from torchalu import nn


@dataclass(frozen=True)
class Case:
    """A unit, the parameters it must have, and the values that its weights snap to."""

    unit: type[nn.Unit]
    parameters: tuple[str, ...]
    discrete: tuple[float, ...] | None  # None: all multiples of 1/2
    options: dict[str, Any] = field(default_factory=dict)

    def make(self, in_features: int = 4, out_features: int = 3, **arguments: Any) -> nn.Unit:
        """The unit without noise, with a fixed start unless told otherwise."""
        if "device" not in arguments:
            arguments.setdefault("generator", torch.Generator().manual_seed(0))
        return self.unit(in_features, out_features, **self.options, **arguments).eval()

    def __str__(self) -> str:
        return "-".join([self.unit.__name__, *(f"{k}={v}" for k, v in self.options.items())])


SIGNED, POSITIVE = (-1.0, 0.0, 1.0), (0.0, 1.0)
HATS = ("w_hat", "m_hat")

UNITS = (
    Case(nn.NAU, ("weight",), SIGNED),
    Case(nn.NMU, ("weight",), POSITIVE),
    Case(nn.NAC, HATS, SIGNED),
    Case(nn.NACMul, HATS, SIGNED),
    Case(nn.NACMul, ("w_hat",), POSITIVE, {"parametrization": "sigmoid"}),
    Case(nn.NACMul, ("weight",), POSITIVE, {"parametrization": "clamped"}),
    Case(nn.NALU, (*HATS, "gate_weight"), SIGNED),
    Case(nn.NALU, (*HATS, "mul_w_hat", "mul_m_hat", "gate_weight"), SIGNED, {"separate": True}),
    Case(nn.GatedNAUNMU, ("nau_weight", "nmu_weight", "gate_weight"), SIGNED),
    Case(nn.INALU, (*HATS, "mul_w_hat", "mul_m_hat", "gate_hat"), SIGNED),
    Case(nn.RealNPU, ("weight", "gate"), None),
    Case(nn.RealNPU, ("weight", "gate"), SIGNED, {"modified": True}),
    Case(nn.NPU, ("weight", "imag_weight", "gate"), None),
    Case(nn.NMRU, ("weight", "reciprocal_weight"), POSITIVE),
    Case(nn.SNMU, ("weight",), POSITIVE),
)
