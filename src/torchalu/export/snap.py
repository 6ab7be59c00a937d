"""Move the weights of a model onto the sets of values that make it a formula."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from torchalu.export.module_numbers import check_holds_numbers
from torchalu.nn import INALU, NALU, Unit
from torchalu.nn.training import check_own_weights, whole


@dataclass(frozen=True)
class SnapEntry:
    """What snapping did to one parameter, or to the effective weight that parameters make.

    Args:
        name: the parameter's name as in `state_dict`, or the unit's name and
            `effective_weight` where the unit makes its weight of several parameters.
        count: how many elements it has.
        moved: how many of them changed.
        largest_move: the largest absolute change.
        mean_move: the mean absolute change, over all elements.
    """

    name: str
    count: int
    moved: int
    largest_move: float
    mean_move: float


@dataclass(frozen=True)
class SnapReport:
    """What snapping did to a model; printed, it is a table.

    Args:
        entries: one for each parameter or effective weight of each unit, in the model's order.
    """

    entries: tuple[SnapEntry, ...]

    @property
    def count(self) -> int:
        """How many elements the units have."""
        return sum(entry.count for entry in self.entries)

    @property
    def moved(self) -> int:
        """How many elements changed."""
        return sum(entry.moved for entry in self.entries)

    @property
    def largest_move(self) -> float:
        """The largest absolute change of any element; 0 where there is none."""
        return max((entry.largest_move for entry in self.entries), default=0.0)

    def to_json(self) -> str:
        """The report as JSON, with the entries' fields as keys."""
        return json.dumps({"entries": [asdict(entry) for entry in self.entries]}, allow_nan=False)

    def __str__(self) -> str:
        if not self.entries:
            return "no units, nothing to snap"
        head = ("weight", "count", "moved", "largest move", "mean move")
        rows = [
            (e.name, str(e.count), str(e.moved), f"{e.largest_move:.3g}", f"{e.mean_move:.3g}")
            for e in self.entries
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        return "\n".join(_table_line(row, widths) for row in (head, *rows))


def snap(module: nn.Module) -> SnapReport:
    """Move the weights of every unit in a model onto their discrete set, in place.

    Each unit knows its own set, as :meth:`torchalu.nn.Unit.snap_` says: {-1, 0, 1} for sums,
    {0, 1} for products, multiples of 1/2 for powers. Modules that are no units, and weights of a
    gate that depends on the input, stay as they are. Snapping twice moves nothing more.

    Args:
        module: a unit, or any module that has units inside.

    Returns:
        What moved and by how much.

    Raises:
        TypeError: `module` is not a module.
        ValueError: a weight is NaN or infinite, on the device `meta`, made of others by a
            parametrization or by pruning, or shared by units of different classes; nothing has
            been changed then.

    Source:
        Madsen & Johansen 2020, sections 2.1 and 2.2, on weights that are -1, 0 and 1; that they
        are rounded, and the report, is ours.

    Example:
        >>> from torchalu.nn import NAU
        >>> unit = NAU(3, 1)
        >>> _ = unit.weight.data.copy_(torch.tensor([[0.75, -1.0, 0.25]]))
        >>> print(snap(unit))
        weight  count  moved  largest move  mean move
        weight      3      2          0.25      0.167
        >>> unit.weight.data
        tensor([[ 1., -1.,  0.]])
        >>> snap(unit).moved
        0
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"module is {type(module).__name__}; allowed: a torch.nn.Module")
    check_holds_numbers("module", module)
    check_own_weights(module)
    units = [(name, unit) for name, unit in module.named_modules() if isinstance(unit, Unit)]
    before = {name: weights(unit) for name, unit in units}
    for prefix, tensors in before.items():
        _check_finite(prefix, tensors)
    _check_shared(units)
    for _, unit in units:
        unit.snap_()
    entries: list[SnapEntry] = []
    for prefix, unit in units:
        for name, after in weights(unit).items():
            move = (after - before[prefix][name]).abs()
            entries.append(_entry(_join(prefix, name), move))
    return SnapReport(tuple(entries))


def weights(unit: Unit) -> dict[str, Tensor]:
    """The weights of a unit that bear a meaning, as float64 copies on the CPU, by name.

    Where a unit makes a weight of others (their names end in `hat`), it is the weight that they
    make that bears the meaning.

    Args:
        unit: any unit.

    Returns:
        A tensor by its name.

    Example:
        >>> from torchalu.nn import NAC, RealNPU
        >>> list(weights(NAC(2, 1))), list(weights(RealNPU(2, 1)))
        (['effective_weight'], ['weight', 'gate'])
    """
    parameters = dict(unit.named_parameters(recurse=False))
    result: dict[str, Tensor] = {}
    if any(name.endswith("hat") for name in parameters):
        result["effective_weight"] = _detached(unit.effective_weight())
    if isinstance(unit, INALU) or (isinstance(unit, NALU) and unit.separate):
        result["effective_mul_weight"] = _detached(unit.effective_mul_weight())
    if isinstance(unit, INALU):
        result["effective_gate"] = _detached(unit.effective_gate())
    for name, parameter in parameters.items():
        if not name.endswith("hat"):
            result[name] = _detached(parameter)
    return result


def _detached(tensor: Tensor) -> Tensor:
    """A copy in float64 on the CPU, whole where the tensor is sharded over processes."""
    return whole(tensor.detach()).to(device="cpu", dtype=torch.float64, copy=True)


def _check_finite(prefix: str, tensors: dict[str, Tensor]) -> None:
    """Raise where a weight is NaN or infinite."""
    for name, tensor in tensors.items():
        bad = int((~tensor.isfinite()).sum())
        if bad:
            raise ValueError(
                f"{_join(prefix, name)} has {bad} of {tensor.numel()} elements that are NaN or "
                "infinite; allowed: finite weights; take a run that did not diverge"
            )


def _check_shared(units: Sequence[tuple[str, Unit]]) -> None:
    """Raise where a parameter would be moved onto two sets."""
    owners: dict[Tensor, tuple[str, Unit]] = {}
    for prefix, unit in units:
        for name, parameter in unit.named_parameters(recurse=False):
            first, owner = owners.setdefault(parameter, (_join(prefix, name), unit))
            if type(owner) is not type(unit):
                raise ValueError(
                    f"{first} of {type(owner).__name__} and {_join(prefix, name)} of "
                    f"{type(unit).__name__} are one parameter; allowed: one that is shared by "
                    "units of the same class"
                )


def _entry(name: str, move: Tensor) -> SnapEntry:
    """The entry for one weight."""
    if move.numel() == 0:
        return SnapEntry(name, 0, 0, 0.0, 0.0)
    moved = int((move > 0).sum())
    return SnapEntry(name, move.numel(), moved, float(move.max()), float(move.mean()))


def _join(prefix: str, name: str) -> str:
    """The name inside the whole model."""
    return f"{prefix}.{name}" if prefix else name


def _table_line(cells: tuple[str, ...], widths: list[int]) -> str:
    """A line of the table: the name to the left, numbers to the right."""
    aligned = [cells[0].ljust(widths[0])]
    aligned += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join(aligned)
