"""A training step and a step of inference of the Neural GPUs, against convolutions of torch.

The floor is the number of multiplications that the convolutions take, at the rate of torch's own
product of square matrices, measured beside. A kernel wider than the state's rows meets zeros
around them, which the native operator leaves out: it may lie below the floor.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from benchmarks.row import Row
from benchmarks.timing import best_seconds
from torchalu.kernels import recurrence_forms, unroll
from torchalu.kernels.recurrence_forms import Cell

BINS = (8, 12, 16, 20, 24, 28, 32, 36, 41)
STRING, STRING_STEPS = 4001, 4
ROUNDS = 3


@dataclass(frozen=True)
class Work:
    """Sequences, and a cell with its parameters."""

    cell: Cell
    lengths: Tensor
    steps: Tensor
    width: int
    maps: int
    layers: int

    def tensors(self) -> list[Tensor]:
        """The state, and the parameters as they might start."""
        m, columns = self.maps, 3 if self.width > 1 else 1
        spread = (m * 3 * columns) ** -0.5
        state = torch.randn(len(self.lengths), int(self.lengths.max()), self.width, m).clamp(-1, 1)
        gates = torch.randn(1, self.layers, 2 * m, m, 3, columns) * spread
        candidate = torch.randn(1, self.layers, m, m, 3, columns) * spread
        biases = torch.full((1, self.layers, 2 * m), 0.6), torch.zeros(1, self.layers, m)
        return [state, gates, biases[0], candidate, biases[1]]

    def multiplications(self) -> float:
        """Of the convolutions, forward."""
        taps = 9 if self.width > 1 else 3
        cells = float((self.lengths * self.steps).sum()) * self.width
        return cells * self.layers * 3 * self.maps**2 * taps


def benchmark() -> list[Row]:
    """With one thread and with two."""
    same = torch.full((32,), 41)
    binned = torch.tensor(BINS).repeat_interleave(32)
    string, few = torch.tensor([STRING]), torch.tensor([STRING_STEPS])
    cgru = Work("cgru", same, same, 4, 24, 2)
    diagonal = Work("diagonal", binned, binned, 1, 96, 1)
    rows = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        rows += _training_rows("2 CGRU layers, 24 maps, 32 x 41", cgru, threads)
        rows += _training_rows("diagonal, 96 maps, 9 bins of 32", diagonal, threads)
        rows.append(_string_row(replace(cgru, lengths=string, steps=few), threads))
        rows.append(_string_row(replace(diagonal, lengths=string, steps=few), threads))
    return rows


def _training_rows(name: str, work: Work, threads: int) -> list[Row]:
    """Ours against each other way; the baseline's time is ours times the median of the ratios."""
    tensors = [tensor.requires_grad_() for tensor in work.tensors()]
    keep = torch.full((len(work.lengths),), 0.9)
    options = {"cell": work.cell, "keep": keep, "seed": 1}

    def train(function: Callable[..., Tensor]) -> Callable[[], object]:
        return lambda: torch.autograd.grad(function(*tensors).sum(), tensors)

    def operator(function: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., Tensor]:
        return lambda state, *rest: function(state, work.lengths, work.steps, *rest, **options)[0]

    ways: dict[str, Callable[..., Tensor]] = {"the torch form": operator(recurrence_forms.unroll)}
    if work.cell == "cgru":
        ways["plain conv2d"] = lambda *all: _plain(work, *all)
        ways["gates in one conv2d, channels last"] = lambda *all: _fused(work, *all)
    ours = train(operator(unroll))
    targets = {"plain conv2d": ">= 1.7x"}
    rows = []
    for way, function in ways.items():
        seconds, ratio, peak = _compare(ours, train(function))
        rows.append(
            Row(
                name=f"{name}: training step, {threads} threads",
                unit="ms",
                ours=seconds * 1e3,
                baseline=ratio * seconds * 1e3,
                baseline_name=way,
                floor=3 * work.multiplications() * peak * 1e3,
                target=targets.get(way, ""),
            )
        )
    return rows


def _string_row(work: Work, threads: int) -> Row:
    """One step of one string."""
    state, *parameters = work.tensors()

    def run(function: Callable[..., object]) -> Callable[[], object]:
        def once() -> None:
            with torch.no_grad():
                function(state, work.lengths, work.steps, *parameters, cell=work.cell)

        return once

    seconds, ratio, peak = _compare(run(unroll), run(recurrence_forms.unroll))
    return Row(
        name=f"{work.cell}, {work.maps} maps: a step of {STRING} symbols, {threads} threads",
        unit="ms",
        ours=seconds / STRING_STEPS * 1e3,
        baseline=ratio * seconds / STRING_STEPS * 1e3,
        baseline_name="the torch form",
        floor=work.multiplications() / STRING_STEPS * peak * 1e3,
        target="at most 2.5x the floor",
    )


def _compare(
    ours: Callable[[], object], theirs: Callable[[], object]
) -> tuple[float, float, float]:
    """Seconds of ours, how many times that theirs takes, and seconds of a multiplication.

    Medians over rounds, each of which measures all three.
    """
    a = torch.rand(512, 512)
    ours()
    theirs()
    rounds = []
    for _ in range(ROUNDS):
        seconds = best_seconds(ours, 1)
        peak = best_seconds(lambda: [a @ a for _ in range(10)], 3) / 10 / 512**3
        rounds.append((seconds, best_seconds(theirs, 1) / seconds, peak / seconds))
    seconds = median(entry[0] for entry in rounds)
    return seconds, median(entry[1] for entry in rounds), seconds * median(r[2] for r in rounds)


def _plain(work: Work, state: Tensor, *parameters: Tensor) -> Tensor:
    """Three convolutions a layer, as one would write it."""
    image = state.permute(0, 3, 1, 2).contiguous()
    layers = list(zip(*(parameter[0] for parameter in parameters), strict=True))
    for _ in range(int(work.steps.max())):
        image = torch.nn.functional.dropout(image, 0.1)
        for gates, biases, kernel, bias in layers:
            (reset, update), (b_reset, b_update) = gates.chunk(2), biases.chunk(2)
            r = recurrence_forms.gate_cutoff(conv2d(image, reset, b_reset, padding=1))
            u = recurrence_forms.gate_cutoff(conv2d(image, update, b_update, padding=1))
            c = torch.tanh(conv2d(r * image, kernel, bias, padding=1))
            image = u * image + (1 - u) * c
    return image


def _fused(work: Work, state: Tensor, *parameters: Tensor) -> Tensor:
    """Both gates in one convolution, maps last in memory."""
    image = state.permute(0, 3, 1, 2)
    layers = [
        (
            gates.contiguous(memory_format=torch.channels_last),
            biases,
            kernel.contiguous(memory_format=torch.channels_last),
            bias,
        )
        for gates, biases, kernel, bias in zip(*(p[0] for p in parameters), strict=True)
    ]
    for _ in range(int(work.steps.max())):
        image = torch.nn.functional.dropout(image, 0.1)
        for gates, biases, kernel, bias in layers:
            both = recurrence_forms.gate_cutoff(conv2d(image, gates, biases, padding=1))
            r, u = both.chunk(2, 1)
            c = torch.tanh(conv2d(r * image, kernel, bias, padding=1))
            image = u * image + (1 - u) * c
    return image
