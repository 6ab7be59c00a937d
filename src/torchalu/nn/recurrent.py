"""The recurrent form of any unit, and what keeps its input network honest."""

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers
from torchalu.functional._arguments import check_alike, under_autocast
from torchalu.nn.unit import Unit

UnitFactory = Callable[..., Unit]


class UnitCell(nn.Module):
    r"""Any unit as a recurrent cell: one step, as :class:`torch.nn.RNNCell` takes it.

    .. math:: h_t = \mathrm{unit}([x_t, h_{t - 1}])

    With an exact unit the state is the sum or the product of all inputs so far.

    Args:
        unit: a class of units, or a function of `(in_features, out_features, **options)` that
            makes one.
        input_size: size of the last dimension of the input.
        hidden_size: size of the last dimension of the state.
        initial: the state before the first step; the unit's `identity` if left out, which is 0
            for units that add and 1 for those that multiply.
        options: what else the unit's constructor is given, `generator` and `dtype` among them.

    Shape:
        `(*, input_size)` and `(*, hidden_size)` to `(*, hidden_size)`.

    Raises:
        TypeError: `unit` makes no unit; a size is no integer; in `forward`, input and state differ
            in dtype outside autocast.
        ValueError: a size is not positive; in `forward`, the shapes of input and state do not fit.

    Source:
        Madsen & Johansen 2020, section 4.2 and appendix D.1; Trask et al. 2018, section 4.2. The
        order of input and state and the state at the start as in the authors' program, where it
        is not learned either.

    Example:
        >>> from torchalu.nn import NAU
        >>> cell = UnitCell(NAU, 1, 1)
        >>> _ = nn.init.ones_(cell.unit.weight)
        >>> state = None
        >>> for digit in (3.0, 4.0, 5.0):
        ...     state = cell(torch.tensor([digit]), state)
        >>> state.item()
        12.0
    """

    def __init__(
        self,
        unit: UnitFactory,
        input_size: int,
        hidden_size: int,
        *,
        initial: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.unit = _make(unit, input_size, hidden_size, options)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.initial = self.unit.identity if initial is None else float(initial)
        if not math.isfinite(self.initial):
            raise ValueError(f"initial is {initial}; give a finite number")

    def initial_state(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch hidden"]:
        """The state before the first step, for a batch like that of `input`."""
        return input.new_full((*input.shape[:-1], self.hidden_size), self.initial)

    def forward(
        self, input: Float[Tensor, "*batch in"], hx: Float[Tensor, "*batch hidden"] | None = None
    ) -> Float[Tensor, "*batch hidden"]:
        """Take one step.

        Args:
            input: x_t.
            hx: h_{t-1}; the initial state if left out.
        """
        _check_last("input", input, "input_size", self.input_size)
        state = self.initial_state(input) if hx is None else hx
        _check_last("hx", state, "hidden_size", self.hidden_size)
        if state.shape[:-1] != input.shape[:-1]:
            raise ValueError(
                f"hx has shape {tuple(state.shape)} and input {tuple(input.shape)}; give one state "
                f"for each row of input: {(*input.shape[:-1], self.hidden_size)}"
            )
        check_alike(input, state, "hx")
        return self.unit(_joined(input, state, -1))

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"{self.input_size}, {self.hidden_size}, initial={self.initial:g}"


class UnitRNN(nn.Module):
    r"""Any unit run over a sequence, with the interface of a :class:`torch.nn.RNN` of one layer.

    .. math:: h_t = \mathrm{unit}([x_t, h_{t - 1}])

    Args:
        unit: as in :class:`UnitCell`, as are all the others.
        input_size: size of the last dimension of the input.
        hidden_size: size of the last dimension of the state.
        batch_first: the input is `(batch, length, input_size)` rather than
            `(length, batch, input_size)`.
        initial: the state before the first step.
        options: what else the unit's constructor is given.

    Shape:
        `(length, batch, input_size)`, or with `batch_first` `(batch, length, input_size)`, or
        `(length, input_size)`, to the states `(..., hidden_size)` and the last of them,
        `(1, batch, hidden_size)` or `(1, hidden_size)`.

    Raises:
        TypeError: `unit` makes no unit; a size is no integer.
        ValueError: a size is not positive; in `forward`, the shapes do not fit.

    Source:
        As :class:`UnitCell`.

    Example:
        >>> from torchalu.nn import NMU
        >>> product = UnitRNN(NMU, 1, 1, batch_first=True)
        >>> _ = nn.init.ones_(product.cell.unit.weight)
        >>> states, last = product(torch.tensor([[[2.0], [3.0], [7.0]]]))
        >>> states.flatten().tolist(), last.item()
        ([2.0, 6.0, 42.0], 42.0)
    """

    def __init__(
        self,
        unit: UnitFactory,
        input_size: int,
        hidden_size: int,
        *,
        batch_first: bool = False,
        initial: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.cell = UnitCell(unit, input_size, hidden_size, initial=initial, **options)
        self.batch_first = batch_first

    def forward(
        self, input: Float[Tensor, "..."], hx: Float[Tensor, "..."] | None = None
    ) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."]]:
        """Run over a sequence.

        Args:
            input: the sequence.
            hx: the state before it, `(1, batch, hidden_size)` or `(1, hidden_size)`; the initial
                state if left out.

        Returns:
            The states after each step, and the last of them.
        """
        time = self._time(input)
        steps = input.unbind(time)
        if not steps:
            raise ValueError("input has length 0; give a sequence of one step at least")
        state = self.cell.initial_state(steps[0]) if hx is None else self._first(hx, steps[0])
        states = []
        for step in steps:
            state = self.cell(step, state)
            states.append(state)
        return torch.stack(states, time), state.unsqueeze(0)

    def unit_inputs(
        self,
        input: Float[Tensor, "..."],
        states: Float[Tensor, "..."],
        hx: Float[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "..."]:
        """What the unit was given at each step, [x_t, h_{t-1}], for :func:`input_penalty`.

        Args:
            input: as `forward` had it.
            states: the first of the two things that `forward` answered with.
            hx: as `forward` had it.
        """
        time = self._time(input)
        first = input.select(time, 0)
        state = self.cell.initial_state(first) if hx is None else self._first(hx, first)
        earlier = states.narrow(time, 0, states.shape[time] - 1)
        return _joined(input, _joined(state.unsqueeze(time), earlier, time), -1)

    def _time(self, input: Tensor) -> int:
        """The dimension along which the sequence runs."""
        if isinstance(input, nn.utils.rnn.PackedSequence):
            raise TypeError(
                "input is a PackedSequence; give a padded tensor, and take the states at the "
                "lengths that the sequences have"
            )
        if input.dim() not in (2, 3):
            raise ValueError(
                f"input has shape {tuple(input.shape)}; give (length, batch, input_size), or "
                "(batch, length, input_size) with batch_first, or (length, input_size)"
            )
        return 1 if self.batch_first and input.dim() == 3 else 0

    def _first(self, hx: Tensor, step: Tensor) -> Tensor:
        """The state that was given, without its first dimension."""
        wanted = (1, *step.shape[:-1], self.cell.hidden_size)
        if hx.shape != wanted:
            raise ValueError(f"hx has shape {tuple(hx.shape)}; it must be {wanted}")
        return hx[0]

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"batch_first={self.batch_first}"


def input_penalty(unit: Unit, input: Float[Tensor, "*batch in"]) -> Float[Tensor, ""]:
    r"""How far the inputs that a unit leaves out are from the number that changes nothing.

    .. math:: \mathcal{R}_z = \mathrm{mean}_{o, i} \, \max(1 - u_{oi}, 0) (e - \bar z_i)^2

    e is the unit's `identity`: 1 where it multiplies, 0 where it adds. The mean :math:`\bar z_i`
    goes over all rows and steps, and the gradient passes through it. It keeps a network in front
    of the unit from an answer that is right for a wrong reason, such as 81 weighted by 0.1.

    u is how much an output uses an input, the unit's `input_use`: \|W\| for most units, the larger
    of both weights for an NMRU, \|W\| times the gate for the NPUs. Of the units that mix a sum
    and a product by a gate (NALU, iNALU, GatedNAUNMU), the weight of the sum counts, and the
    product goes unseen.

    Args:
        unit: the unit that the input goes into.
        input: what it is given.

    Shape:
        `(*, in_features)` to `()`.

    Raises:
        ValueError: the last dimension of the input is not the unit's `in_features`, or the input
            is empty.

    Source:
        Madsen & Johansen 2020, section 4.2 for products and equation 75 for sums. Departure,
        which follows the authors' program: the mean over the batch and all steps stands for z.
        For log-space units z is the input as in the paper; the program takes its logarithm. The
        paper has 1 - \|W\|, of weights from -1 to 1; a power of 2 counts as 1 here.

    Example:
        >>> from torchalu.nn import NMU
        >>> unit = NMU(2, 1)
        >>> _ = unit.load_state_dict({"weight": torch.tensor([[0.5, 1.0]])})
        >>> input_penalty(unit, torch.tensor([[2.0, 7.0], [4.0, 7.0]])).item()
        1.0
    """
    _check_last("input", input, "in_features", unit.in_features)
    if input.numel() == 0:
        raise ValueError(f"input has shape {tuple(input.shape)}; its mean needs one row at least")
    mean = input.reshape(-1, unit.in_features).mean(0)
    unused = (1 - unit.input_use()).clamp(min=0)
    return (unused * (unit.identity - mean).square()).mean()


def _make(unit: UnitFactory, input_size: int, hidden_size: int, options: dict[str, Any]) -> Unit:
    """The unit, which sees input and state side by side."""
    check_positive_integers(input_size=input_size, hidden_size=hidden_size)
    if isinstance(unit, nn.Module):
        raise TypeError(
            f"unit is an instance of {type(unit).__name__}; give the class, such as NAU"
        )
    made = unit(input_size + hidden_size, hidden_size, **options) if callable(unit) else unit
    if not isinstance(made, Unit):
        raise TypeError(
            f"unit makes a {type(made).__name__}; give a class of torchalu.nn such as NAU, or a "
            "function of (in_features, out_features) that makes such a unit"
        )
    return made


def _joined(first: Tensor, second: Tensor, dim: int) -> Tensor:
    """Two tensors in one, in float32 under autocast, which cannot join any two dtypes."""
    if under_autocast(first):
        first, second = (
            tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor
            for tensor in (first, second)
        )
    return torch.cat((first, second), dim)


def _check_last(name: str, value: Tensor, size_name: str, size: int) -> None:
    """Raise where the last dimension is another one."""
    if value.dim() == 0 or value.shape[-1] != size:
        raise ValueError(
            f"{name} has shape {tuple(value.shape)}; its last dimension must be "
            f"{size_name} = {size}"
        )
