"""Learned logic gates."""

from collections.abc import Callable
from typing import Any, Literal, Self, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from torchalu import functional
from torchalu.arguments import check_positive_integers
from torchalu.functional.gates import GATE_NAMES, GateMode, check_mode
from torchalu.nn.unit import Factory

Connections = Literal["random", "unique"]
GateInitialization = Literal["normal", "residual"]

_PASS_A = GATE_NAMES.index("a")
_RESIDUAL = 5.0


class LogicGates(nn.Module):
    r"""Learned logic gates: each output is one of the 16 gates of two inputs.

    .. math:: z_o = \sum_{k=0}^{15} p_{ok} f_k(x_{i_o}, x_{j_o}), \qquad
              p_o = \operatorname{softmax}(\theta_o / \tau)

    Which two inputs an output has is drawn once and stays; which gate it is, is learned. In
    evaluation mode every output is its likeliest gate, so that bits give bits.

    Args:
        in_features: size of the last dimension of the input, 2 or more.
        out_features: how many gates there are.
        connections: `"random"` deals out the inputs in random pairs, each input as often as any
            other, give or take one; `"unique"` gives no two gates the same pair, so that the
            counts of two inputs may differ by 2; or the indices themselves, a tensor
            (2, out_features), which is copied.
        mode: what a gate is during training: the mixture (`"soft"`), the likeliest gate with
            the gradient of the mixture (`"hard"`), or the same with Gumbel noise
            (`"gumbel_soft"`, `"gumbel_hard"`); see
            :func:`torchalu.functional.gate_probabilities`.
        temperature: tau. Like `mode` it is an attribute that a schedule may change.
        initialization: `"normal"`, or `"residual"`, where gates start as wires from their first
            input, which suits deep stacks.
        generator: where the connections and the initial weights come from; torch's own if left
            out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The gates are computed in float32 at least.

    Attributes:
        connections: the indices of each gate's inputs, a buffer (2, out_features). It comes
            through the device `meta` and `to_empty` unharmed, is checked when a state is loaded,
            and must not be averaged: leave `use_buffers` of `torch.optim.swa_utils.AveragedModel`
            false.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        Probabilities to probabilities, bits (0 and 1) to bits.

    Initialization:
        `"normal"`: weights from N(0, 1). `"residual"`: 5 for the gate "a" and 0 for the others,
        so that p = 0.908 for "a".

    Raises:
        TypeError: a size or a connection is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive, `in_features` is 1, connections have another shape,
            lie on `meta` or name an input that is not there, there are fewer different pairs
            than gates, or an option is unknown; in `forward`, the last dimension of the input is
            not `in_features`.

    Source:
        Petersen et al. 2022, section 3, for the layer; Petersen et al. 2024, section 3, for
        the residual start; Yousefi et al. 2025 for `"gumbel_hard"`. Departures: the inputs of a
        gate always differ; the layer may have fewer gates than half its inputs, and then leaves
        some out; no factor on the gradient.

    Example:
        >>> layer = LogicGates(2, 1, generator=torch.Generator().manual_seed(0)).eval()
        >>> _ = layer.weight.data.copy_(torch.eye(16)[6])
        >>> layer.gate_names()
        ['a xor b']
        >>> layer(torch.tensor([[0.0, 1.0], [1.0, 1.0]])).tolist()
        [[1.0], [0.0]]
    """

    connections: Int[Tensor, "2 out"]

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        connections: Connections | Tensor = "random",
        mode: GateMode = "soft",
        temperature: float = 1.0,
        initialization: GateInitialization = "normal",
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check_positive_integers(in_features=in_features, out_features=out_features)
        self.in_features, self.out_features = int(in_features), int(out_features)
        if in_features < 2:
            raise ValueError(f"in_features is {in_features}; a gate needs 2 inputs or more")
        check_mode(mode, temperature)
        if initialization not in get_args(GateInitialization):
            raise ValueError(f"initialization is {initialization!r}; give 'normal' or 'residual'")
        self.mode: GateMode = mode
        self.temperature = temperature
        self.initialization = initialization
        self.weight = Factory(device, dtype).parameter(out_features, 16)
        if isinstance(connections, Tensor):
            if connections.is_meta:
                raise ValueError("connections is on the device meta, which holds no indices")
            _check_connections(connections, in_features, out_features)
        else:
            connections = _deal(in_features, out_features, connections, generator)
        self._dealt = connections.to("cpu", torch.int64, copy=True)
        own = connections.to(self.weight.device, torch.int64, copy=True)
        self.register_buffer("connections", own)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Start the weights anew; the connections stay. See *Initialization*.

        Args:
            generator: where the random numbers come from; torch's own if left out.
        """
        if self.initialization == "normal":
            nn.init.normal_(self.weight, generator=generator)
            return
        with torch.no_grad():
            self.weight.zero_()[:, _PASS_A] = _RESIDUAL

    def probabilities(self) -> Float[Tensor, "out 16"]:
        """How much of each gate an output is: as `mode` says in training, else 0 and 1."""
        mode = self.mode if self.training else "hard"
        return functional.gate_probabilities(self.weight, mode=mode, temperature=self.temperature)

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Apply the gates."""
        if input.ndim == 0 or input.shape[-1] != self.in_features:
            raise ValueError(
                f"input has shape {tuple(input.shape)}: the last dimension of input must be "
                f"in_features = {self.in_features}"
            )
        return functional.logic_gates(input, self.probabilities(), self.connections)

    def gates(self) -> Int[Tensor, " out"]:
        """The number of each output's likeliest gate, 0 to 15."""
        return self.weight.detach().argmax(-1)

    def gate_names(self) -> list[str]:
        """The likeliest gate of each output, by :data:`torchalu.functional.GATE_NAMES`."""
        return [GATE_NAMES[gate] for gate in self.gates().tolist()]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move or cast: the connections come through `meta` and `to_empty`, which lose numbers."""
        before = self.connections
        super()._apply(fn, recurse)
        if self.connections.is_meta and not before.is_meta:
            self._dealt = before.clone()
        elif not self.connections.is_meta and self.connections is not before:
            self.connections.copy_(self._dealt if before.is_meta else before)
        return self

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Refuse connections to inputs that this layer has not."""
        given = state_dict.get(f"{prefix}connections")
        try:
            if isinstance(given, Tensor) and not given.is_meta:
                _check_connections(given, self.in_features, self.out_features)
        except (TypeError, ValueError) as error:
            error_msgs.append(f"{prefix}{error}")
            return
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"mode={self.mode!r}, temperature={self.temperature}, "
            f"initialization={self.initialization!r}"
        )


class GroupSum(nn.Module):
    r"""Counts the true gates of each group: the scores of a classifier made of gates.

    .. math:: y_g = \frac{1}{\tau} \sum_{i = g n}^{(g + 1) n - 1} x_i, \qquad n = \text{in} / G

    Args:
        num_groups: G, such as the number of classes.
        temperature: tau, by which the counts are divided before a softmax; the more gates a
            group has, the higher.

    Shape:
        `(*, in)` to `(*, num_groups)`.

    Units:
        Bits to counts.

    Raises:
        TypeError: `num_groups` is no integer.
        ValueError: `num_groups` or `temperature` is not positive; in `forward`, the last
            dimension of the input is no multiple of `num_groups`.

    Source:
        Petersen et al. 2022, section 3. Departures: those of
        :func:`torchalu.functional.group_sum`.

    Example:
        >>> GroupSum(2, temperature=2.0)(torch.tensor([1.0, 1.0, 1.0, 0.0, 1.0, 0.0]))
        tensor([1.5000, 0.5000])
    """

    def __init__(self, num_groups: int, temperature: float = 1.0) -> None:
        super().__init__()
        check_positive_integers(num_groups=num_groups)
        self.num_groups = int(num_groups)
        check_mode("soft", temperature)
        self.temperature = temperature

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch groups"]:
        """Sum each group."""
        return functional.group_sum(input, self.num_groups, self.temperature)

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"num_groups={self.num_groups}, temperature={self.temperature}"


def _deal(
    in_features: int, out_features: int, kind: str, generator: torch.Generator | None
) -> Int[Tensor, "2 out"]:
    """Pairs of inputs, dealt out in rounds, in each of which an input comes first at most once.

    A round lays the inputs on a circle in random order, and a gate takes two that lie a number
    of steps apart. Unique pairs keep the circle, and take another distance in each round.
    """
    if kind not in get_args(Connections):
        raise ValueError(f"connections is {kind!r}; give 'random', 'unique' or a tensor (2, out)")
    most = in_features * (in_features - 1) // 2
    if kind == "unique" and out_features > most:
        raise ValueError(
            f"out_features is {out_features}, but {in_features} inputs make {most} different "
            "pairs; take fewer gates or connections='random'"
        )
    device = "cpu" if generator is None else generator.device
    circle = torch.empty(0)
    rounds: list[Tensor] = []
    for start in range(0, out_features, in_features):
        if start == 0 or kind == "random":
            circle = torch.randperm(in_features, generator=generator, device=device)
        count = min(in_features, out_features - start)
        steps = 1 + start // in_features if kind == "unique" else 1
        if count < in_features and (start == 0 or kind == "random"):
            steps = count  # so that the second inputs are others than the first
        rounds.append(torch.stack([circle[:count], circle.roll(-steps)[:count]]))
    return torch.cat(rounds, 1)


def _check_connections(connections: Tensor, in_features: int, out_features: int) -> None:
    """Refuse indices that are not those of two inputs for each gate."""
    dtype = connections.dtype
    if dtype.is_floating_point or dtype.is_complex or dtype == torch.bool:
        raise TypeError(f"connections is {dtype}; give indices, such as torch.int64")
    if connections.shape != (2, out_features):
        raise ValueError(
            f"connections has shape {tuple(connections.shape)}; give (2, {out_features}): the "
            "two inputs of each gate"
        )
    low, high = int(connections.min()), int(connections.max())
    if low < 0 or high >= in_features:
        raise ValueError(
            f"connections holds {low if low < 0 else high}; give indices from 0 to "
            f"{in_features - 1}"
        )
