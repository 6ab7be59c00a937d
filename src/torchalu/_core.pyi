"""The native trainer and operators; private to torchalu.engine and torchalu.kernels."""

from typing import Any

from torch import Tensor

def instruction_set() -> str: ...
def instruction_sets() -> list[str]: ...
def select_instruction_set(name: str) -> None: ...
def train(**arguments: Any) -> bool: ...
def nmu_forward(input: Tensor, weight: Tensor, output: Tensor, threads: int) -> None: ...
def nmu_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    grad_input: Tensor,
    grad_weight: Tensor,
    threads: int,
) -> None: ...
def logic_forward(
    input: Tensor,
    output: Tensor,
    slopes: Tensor | None,
    members: tuple[list[int], list[float], list[float], bool],
    threads: int,
) -> None: ...
def logic_backward(
    grad_output: Tensor,
    input: Tensor | None,
    slopes: Tensor | None,
    grad_input: Tensor,
    members: tuple[list[int], list[float], list[float], bool],
    threads: int,
) -> None: ...
def recurrence_kept(
    state: Tensor, lengths: Tensor, steps: Tensor, candidate_weight: Tensor, diagonal: bool
) -> int: ...
def recurrence_forward(
    state: Tensor,
    lengths: Tensor,
    steps: Tensor,
    parameters: tuple[Tensor, ...],
    cell: tuple[bool, bool, int],
    random: tuple[Tensor | None, float, int],
    output: Tensor,
    saturation: Tensor,
    kept: Tensor | None,
    threads: int,
) -> None: ...
def recurrence_backward(
    grad_output: Tensor,
    grad_saturation: Tensor,
    kept: Tensor,
    lengths: Tensor,
    steps: Tensor,
    weights: tuple[Tensor, ...],
    cell: tuple[bool, bool, int],
    random: tuple[Tensor | None, float, int],
    grads: tuple[Tensor, ...],
    threads: int,
) -> None: ...
def elementary(function: str, input: Tensor, output: Tensor) -> None: ...
def sample(
    seed: int,
    replica: int,
    stream: int,
    step: int,
    range: tuple[float, float, float, float, bool],
    output: Tensor,
    common: float = 0.0,
) -> None: ...
def normal(seed: int, replica: int, stream: int, step: int, output: Tensor) -> None: ...
