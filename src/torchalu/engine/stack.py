"""A stack of modules as data that the native trainer reads."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor, nn

from torchalu.nn import (
    INALU,
    NAC,
    NALU,
    NAU,
    NMRU,
    NMU,
    NPU,
    SNMU,
    GatedNAUNMU,
    NACMul,
    RealNPU,
    Unit,
)
from torchalu.nn.sequential import runs_in_order

MAX_WIDTH = 1024
"""Widest layer the native trainer takes; beyond it, PyTorch's own loop is the better tool."""


class Kind(IntEnum):
    """What a layer computes; the numbers are those of `Kind` in src/core/plan.hpp."""

    LINEAR = 0
    NMU = 1
    NAC = 2
    NAC_MUL = 3
    NALU = 4
    GATED_NAU_NMU = 5
    REAL_NPU = 6
    NPU = 7
    RELU = 8
    RELU6 = 9
    NMRU = 10
    SNMU = 11
    INALU = 12


KINDS: dict[type[nn.Module], Kind] = {
    NAU: Kind.LINEAR,
    nn.Linear: Kind.LINEAR,
    NMU: Kind.NMU,
    NAC: Kind.NAC,
    NACMul: Kind.NAC_MUL,
    NALU: Kind.NALU,
    GatedNAUNMU: Kind.GATED_NAU_NMU,
    RealNPU: Kind.REAL_NPU,
    NPU: Kind.NPU,
    nn.ReLU: Kind.RELU,
    nn.ReLU6: Kind.RELU6,
    NMRU: Kind.NMRU,
    SNMU: Kind.SNMU,
    INALU: Kind.INALU,
}
Layer = tuple[int, int, int, int, int, bool, bool, float, float, float]
"""A layer, as `Layer` in src/core/plan.hpp."""

PARAMETRIZATIONS = ("tanh_sigmoid", "sigmoid", "clamped", "clamped_forward")
"""In the order of `Parametrization` there; the last is of sums and products, by `clamp`."""


@dataclass(frozen=True)
class Stack:
    """A stack, read once.

    Attributes:
        template: a copy of the modules, in order, on the CPU.
        layers: a tuple a layer, as `torchalu._core.train` takes it.
        shapes: of each parameter, by its name in the template's `state_dict`.
        rules: low bound, high bound, coefficient of the sparsity penalty and of |w|, and where
            the latter ends, a column a parameter.
    """

    template: nn.Sequential
    layers: list[Layer]
    shapes: dict[str, torch.Size]
    rules: Float64[np.ndarray, "5 parameters"]

    @property
    def in_features(self) -> int:
        """Number of inputs of the first layer."""
        return self.layers[0][1]

    def initial(self, seed: int, replica_ids: Iterable[int], dtype: torch.dtype) -> Tensor:
        """The modules' own initial parameters, a row a replica.

        Each row is a function of `seed` and the replica alone.
        """
        module = copy.deepcopy(self.template).to(torch.float64)
        rows = []
        for replica in replica_ids:
            words = np.random.SeedSequence([seed, replica]).generate_state(1, np.uint64)
            generator = torch.Generator().manual_seed(int(words[0]) >> 1)
            for layer in module:
                _reset(layer, generator)
            rows.append(torch.cat([p.detach().flatten() for p in module.parameters()]))
        return torch.stack(rows).to(dtype).contiguous()

    def unflatten(self, rows: Tensor) -> dict[str, Tensor]:
        """Rows of parameters as tensors (replicas, *shape), by name."""
        parts = rows.split([shape.numel() for shape in self.shapes.values()], dim=1)
        return {
            name: part.reshape(len(rows), *shape)
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }

    def flatten(self, tensors: dict[str, Tensor], replicas: int, dtype: torch.dtype) -> Tensor:
        """The way back; a tensor without the replica dimension serves all replicas."""
        if tensors.keys() != self.shapes.keys():
            raise ValueError(
                f"initial names the parameters {sorted(tensors)}; give {sorted(self.shapes)}"
            )
        rows = []
        for name, shape in self.shapes.items():
            tensor = tensors[name].detach()
            if tensor.shape == shape:
                tensor = tensor.expand(replicas, *shape)
            if tensor.shape != (replicas, *shape):
                raise ValueError(
                    f"initial[{name!r}] has the shape {tuple(tensor.shape)}; "
                    f"give {tuple(shape)} or {(replicas, *shape)}"
                )
            rows.append(tensor.reshape(replicas, -1).to(dtype))
        return torch.cat(rows, 1).contiguous()


def read_stack(stack: nn.Module | Iterable[nn.Module]) -> Stack:
    """Read a stack of modules.

    Raises:
        TypeError: a module that the native trainer does not know, or one with hooks.
        ValueError: an empty stack, sizes that do not follow each other, a layer too wide, a module
            that is in it twice, or frozen parameters.
    """
    if isinstance(stack, nn.Sequential) and not runs_in_order(stack):
        raise TypeError(
            f"stack is a {type(stack).__name__} with a forward of its own; the native trainer "
            "knows layers one after the other: use a PyTorch training loop"
        )
    modules = list(stack) if isinstance(stack, Iterable) else [stack]
    if not modules:
        raise ValueError("stack is empty; give at least one module")
    _check_modules(modules)
    template = nn.Sequential(*(copy.deepcopy(module).cpu() for module in modules))
    layers, offset, width = [], 0, None
    for index, module in enumerate(template):
        layer = _read_layer(index, module, offset, width)
        layers.append(layer)
        width = layer[2]
        offset += sum(p.numel() for p in module.parameters())
    if offset == 0:
        raise ValueError("stack has no parameters; there is nothing to train")
    rules = np.concatenate([_rules(module) for module in template], axis=1)
    shapes = {name: p.shape for name, p in template.named_parameters()}
    return Stack(template, layers, shapes, np.ascontiguousarray(rules))


def _check_modules(modules: Sequence[nn.Module]) -> None:
    """Refuse what would not be trained as PyTorch trains it."""
    for index, module in enumerate(modules):
        if not isinstance(module, nn.Module):
            continue  # its type is refused where the layer is read
        names = [name for name, _ in module.named_parameters()]
        if names and any(module is other for other in modules[:index]):
            raise ValueError(
                f"stack[{index}] is in the stack twice, and the native trainer ties no parameters; "
                "give a module of its own, or use a PyTorch training loop"
            )
        frozen = [name for name, p in module.named_parameters() if not p.requires_grad]
        if frozen:
            raise ValueError(
                f"stack[{index}].{frozen[0]} has requires_grad = False; the native trainer trains "
                "all parameters: set it to True, or use a PyTorch training loop"
            )
        if module._forward_pre_hooks or module._forward_hooks:
            raise TypeError(
                f"stack[{index}] has forward hooks, such as those of spectral_norm; the native "
                "trainer calls none: remove them, or use a PyTorch training loop"
            )


def _read_layer(index: int, module: nn.Module, offset: int, width: int | None) -> Layer:
    kind = KINDS.get(type(module))
    if kind is None:
        known = ", ".join(known_type.__name__ for known_type in KINDS)
        raise TypeError(
            f"stack[{index}] is a {type(module).__name__}; the native trainer knows {known}: "
            "use a PyTorch training loop for others"
        )
    if kind in (Kind.RELU, Kind.RELU6):
        if width is None:
            raise ValueError("stack[0] is an activation; begin with a layer that has sizes")
        return (int(kind), width, width, offset, 0, False, False, 0.0, 0.0, 0.0)
    size = (int(module.in_features), int(module.out_features))  # pyright: ignore[reportArgumentType]
    if width is not None and size[0] != width:
        raise ValueError(
            f"stack[{index}] takes in_features = {size[0]}, but the layer before it gives {width}"
        )
    if max(size) > MAX_WIDTH:
        raise ValueError(f"stack[{index}] is {size[0]} to {size[1]} wide; allowed is {MAX_WIDTH}")
    clamped = module.bounds if isinstance(module, NAU | NMU) and module.clamp == "forward" else None
    default = "tanh_sigmoid" if clamped is None else "clamped_forward"
    parametrization = PARAMETRIZATIONS.index(getattr(module, "parametrization", default))
    bias = getattr(module, "bias", None) is not None
    separate = bool(getattr(module, "separate", False))
    eps = float(getattr(module, "eps", 0.0))
    low, high = getattr(module, "noise", (0.0, float(getattr(module, "max_exponent", 0.0))))
    low, high = clamped or (low, high)
    return (int(kind), *size, offset, parametrization, bias, separate, eps, low, high)


def _rules(module: nn.Module) -> Float64[np.ndarray, "5 parameters"]:
    """Bounds and penalty of each parameter, read off what the module itself does.

    The bounds are what `constrain_` makes of infinities. The slope of `penalty` at 1/4 and at
    3/4 tells min(|w|, |1 - |w||), where they differ in sign, from |w|, where they agree.
    """
    count = sum(p.numel() for p in module.parameters())
    rules = np.zeros((5, count))
    rules[0], rules[1], rules[4] = -np.inf, np.inf, np.inf
    if not isinstance(module, Unit):
        return rules
    probe = copy.deepcopy(module).to(torch.float64)
    for row, value in ((0, -torch.inf), (1, torch.inf)):
        _fill(probe, value)
        probe.constrain_()
        rules[row] = torch.cat([p.detach().flatten() for p in probe.parameters()]).numpy()
    slopes = []
    for value in (0.25, 0.75):
        _fill(probe, value)
        penalty = probe.penalty()
        gradients = (
            torch.autograd.grad(
                penalty, list(probe.parameters()), allow_unused=True, materialize_grads=True
            )
            if penalty.requires_grad
            else [torch.zeros_like(p) for p in probe.parameters()]
        )
        slopes.append(torch.cat([g.flatten() for g in gradients]).numpy())
    rules[4] = module.penalty_until
    rules[2], rules[3] = (slopes[0] - slopes[1]) / 2, (slopes[0] + slopes[1]) / 2
    return rules


@torch.no_grad()
def _fill(module: nn.Module, value: float) -> None:
    for parameter in module.parameters():
        parameter.fill_(value)


@torch.no_grad()
def _reset(module: nn.Module, generator: torch.Generator) -> None:
    """A unit's own start; for a linear layer that of PyTorch, U(-1/sqrt(in), 1/sqrt(in))."""
    if isinstance(module, Unit):
        module.reset_parameters(generator)
    elif isinstance(module, nn.Linear):
        bound = module.in_features**-0.5
        for parameter in module.parameters():
            parameter.uniform_(-bound, bound, generator=generator)
