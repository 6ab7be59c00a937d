"""The recurrence on a CUDA device against its definition in float64, where there is a device."""

import pytest
import torch

from torchalu.kernels import recurrence_forms, unroll
from torchalu.kernels.start_dropout import kept_anywhere, kept_at_start

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
CASES = [
    {"maps": 24, "noise": 0.75},
    {"maps": 96, "batch": 32, "length": 41, "noise": 1.0},
    {"maps": 96, "taps": 5, "sets": 2},
    {"maps": 33, "taps": 1, "noise": 0.5},
    {"maps": 27, "levels": 3, "drops": False},
    {"maps": 96, "length": 200, "noise": 0.5},  # whose steps are launches of their own
]


def problem(maps, batch=5, length=30, taps=3, sets=1):
    """Sequences of mixed lengths and steps, one of which takes none."""
    generator = torch.Generator().manual_seed(5)

    def normal(*sizes):
        return torch.randn(*sizes, generator=generator, dtype=torch.float64).cuda()

    lengths = torch.randint(1, length + 1, (batch,), generator=generator).cuda()
    steps = torch.randint(1, 9, (batch,), generator=generator).cuda()
    lengths[0], steps[0], steps[1] = length, 9, 0
    spread = 1.5 / (maps * taps) ** 0.5
    tensors = [
        normal(batch, length, 1, maps).clamp(-1, 1),
        normal(sets, 1, 2 * maps, maps, taps, 1) * spread,
        normal(sets, 1, 2 * maps),
        normal(sets, 1, maps, maps, taps, 1) * spread,
        normal(sets, 1, maps),
    ]
    return tensors, lengths, steps


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_gradients_equal_the_definition(case, dtype):
    case = {"levels": 0, "noise": 0.0, "drops": True} | case
    options = {name: case.pop(name) for name in ("levels", "noise")}
    drops = case.pop("drops")
    tensors, lengths, steps = problem(**case)
    keep = torch.linspace(0.6, 1, len(lengths), dtype=torch.float64).cuda() if drops else None
    options |= {"cell": "diagonal", "keep": keep, "seed": 2**63 + 77}
    # The kinks of a hard function are passed on one side or the other by what float32 rounds.
    tensors = [tensor.to(dtype) for tensor in tensors]

    def run(function, inputs):
        inputs = [tensor.clone().requires_grad_() for tensor in inputs]
        outputs = function(inputs[0], lengths, steps, *inputs[1:], **options)
        slopes = [torch.linspace(-1, 1, out.numel()).to(out).view_as(out) for out in outputs]
        return *outputs, *torch.autograd.grad(outputs, inputs, slopes)

    wanted = run(recurrence_forms.unroll, [tensor.double() for tensor in tensors])
    bound = 1e-4 if dtype == torch.float32 else 1e-13
    for got, want in zip(run(unroll, tensors), wanted, strict=True):
        assert got.dtype == dtype
        assert (got.double() - want).norm() <= bound * want.norm()


def test_dropout_at_the_start_is_the_same_on_each_device():
    state, keep = torch.empty(3, 50, 1, 96), torch.tensor([0.2, 0.9, 1.0])
    for seed in (5, -3):
        assert (
            kept_at_start(state.cuda(), keep.cuda(), seed)
            .cpu()
            .equal(kept_anywhere(state, keep, seed))
        )
