"""Gates against Python's own logic, against expectations by enumeration, and against torch."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from torchalu.functional import (
    GATE_NAMES,
    gate_coefficients,
    gate_probabilities,
    group_sum,
    logic_gates,
)

CORNERS = list(itertools.product((False, True), repeat=2))
FIRST_TWO = torch.tensor([[0], [1]])


def python_gate(name, a, b):
    """The gate's name, read as Python."""
    return bool(eval(name.replace("xor", "!="), {}, {"a": a, "b": b}))


def expectation(gate, a, b):
    """Probability that a gate of two independent events is true, by enumeration."""
    weights = {(x, y): (a if x else 1 - a) * (b if y else 1 - b) for x, y in CORNERS}
    return sum(p for corner, p in weights.items() if python_gate(GATE_NAMES[gate], *corner))


def random_arguments(batch=(5,), in_features=4, out_features=6, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(*batch, in_features, generator=generator, dtype=dtype)
    p = torch.rand(out_features, 16, generator=generator, dtype=dtype).softmax(-1)
    connections = torch.randint(in_features, (2, out_features), generator=generator)
    return x, p, connections


@pytest.mark.parametrize("gate", range(16), ids=GATE_NAMES)
def test_each_gate_on_bits_is_exact(gate):
    rows = torch.tensor(CORNERS, dtype=torch.float32)
    values = logic_gates(rows, torch.eye(16)[[gate]], FIRST_TWO).flatten().tolist()
    truth = [python_gate(GATE_NAMES[gate], *corner) for corner in CORNERS]
    assert values == truth
    assert gate == int("".join(str(int(value)) for value in truth), 2)


@pytest.mark.parametrize("gate", range(16), ids=GATE_NAMES)
def test_each_gate_on_probabilities_is_that_of_independent_events(gate):
    for a, b in [(0.25, 0.875), (0.5, 0.5), (0.1, 0.3)]:
        row = torch.tensor([a, b], dtype=torch.float64)
        value = logic_gates(row, torch.eye(16, dtype=torch.float64)[[gate]], FIRST_TWO)
        assert value.item() == pytest.approx(expectation(gate, a, b), abs=1e-15)


def test_mixture_is_the_sum_over_all_gates():
    x, p, connections = random_arguments((3,))
    value = logic_gates(x, p, connections)
    for row, output in itertools.product(range(3), range(6)):
        a, b = (x[row, index].item() for index in connections[:, output])
        expected = sum(p[output, gate].item() * expectation(gate, a, b) for gate in range(16))
        assert value[row, output].item() == pytest.approx(expected, abs=1e-14)


def test_coefficients_of_single_gates_are_whole():
    coefficients = gate_coefficients(torch.eye(16))
    assert coefficients.eq(coefficients.round()).all()
    assert coefficients.unique().tolist() == [-2, -1, 0, 1, 2]


def test_derivatives():
    x, p, connections = random_arguments((2,), out_features=3)
    arguments = (x.requires_grad_(), p.detach().requires_grad_())

    def function(x, p):
        return logic_gates(x, p, connections)

    assert torch.autograd.gradcheck(function, arguments)
    assert torch.autograd.gradgradcheck(function, arguments)


@given(st.lists(st.integers(0, 3), max_size=3), st.integers(2, 5), st.integers(1, 7))
@settings(max_examples=30, deadline=None)
def test_rows_are_independent(batch, in_features, out_features):
    x, p, connections = random_arguments(batch, in_features, out_features)
    value = logic_gates(x, p, connections)
    assert value.shape == (*batch, out_features)
    rows = zip(value.reshape(-1, out_features), x.reshape(-1, in_features), strict=True)
    for got, row in rows:
        torch.testing.assert_close(got, logic_gates(row, p, connections), rtol=0, atol=1e-15)


def test_strides_do_not_matter():
    x, p, connections = random_arguments((4, 4))
    expected = logic_gates(x.transpose(0, 1).contiguous(), p, connections)
    assert logic_gates(x.transpose(0, 1), p, connections).equal(expected)
    wide = torch.stack([x, -x], -1).flatten(-2)[..., ::2]
    assert logic_gates(wide, p, connections).equal(logic_gates(x, p, connections))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_every_dtype_is_rounded_once(dtype):
    x, p, connections = random_arguments((50,), dtype=torch.float32)
    x, p = x.to(dtype), p.to(dtype)
    value = logic_gates(x, p, connections)
    exact = logic_gates(x.double(), p.double(), connections)
    assert value.dtype == dtype
    torch.testing.assert_close(
        value.double(), exact, rtol=torch.finfo(dtype).eps / 2, atol=4 * torch.finfo().eps
    )


class Largest(TorchDispatchMode):
    """Records the size of the largest tensor that an operator makes."""

    size = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, torch.Tensor):
                self.size = max(self.size, tensor.numel())
        return result


def test_no_tensor_is_larger_than_the_output():
    x, p, connections = random_arguments((64,), 8, 32)
    with Largest() as largest:
        logic_gates(x.requires_grad_(), p.requires_grad_(), connections).sum().backward()
    assert largest.size == 64 * 32


def test_transforms_compile_and_export():
    x, p, connections = random_arguments((5,))
    expected = logic_gates(x, p, connections)
    rows = torch.func.vmap(logic_gates, (0, None, None))(x, p, connections)
    torch.testing.assert_close(rows, expected)
    compiled = torch.compile(logic_gates, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x, p, connections), expected)


def test_soft_is_a_softmax():
    weight = torch.tensor([0.0, 1.0, 2.0, *[0.5] * 13], dtype=torch.float64)
    exponents = (weight / 0.5).exp()
    value = gate_probabilities(weight, temperature=0.5)
    torch.testing.assert_close(value, exponents / exponents.sum(), rtol=1e-14, atol=0)


def test_hard_is_one_gate_with_the_gradient_of_the_mixture():
    weight = torch.randn(9, 16, generator=torch.Generator().manual_seed(0)).requires_grad_()
    direction = torch.randn(9, 16, generator=torch.Generator().manual_seed(1))
    hard = gate_probabilities(weight, mode="hard", temperature=2.0)
    assert hard.equal(torch.nn.functional.one_hot(weight.argmax(-1), 16).float())
    (got,) = torch.autograd.grad((hard * direction).sum(), weight)
    soft = gate_probabilities(weight, temperature=2.0)
    (expected,) = torch.autograd.grad((soft * direction).sum(), weight)
    assert got.equal(expected)


@pytest.mark.parametrize("hard", [False, True])
def test_noise_is_that_of_torch(hard):
    weight = torch.randn(20, 16, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(5)
    mode = "gumbel_hard" if hard else "gumbel_soft"
    value = gate_probabilities(weight, mode=mode, temperature=0.7)
    torch.manual_seed(5)
    expected = torch.nn.functional.gumbel_softmax(weight, tau=0.7, hard=hard)
    torch.testing.assert_close(value, expected)


def test_noise_draws_each_gate_with_its_probability():
    torch.manual_seed(0)
    weight = torch.linspace(-1, 2, 16)
    count = 40_000
    drawn = gate_probabilities(weight.expand(count, 16), mode="gumbel_hard", temperature=0.3)
    expected = weight.softmax(-1)
    deviation = (count * expected * (1 - expected)).sqrt()
    assert ((drawn.sum(0) - count * expected).abs() < 4.5 * deviation).all()


def test_group_sum_counts():
    bits = torch.rand(3, 12, generator=torch.Generator().manual_seed(0)) > 0.5
    expected = [[sum(row[i : i + 3]) / 2 for i in range(0, 12, 3)] for row in bits.tolist()]
    assert group_sum(bits, 4, 2.0).tolist() == expected
    assert group_sum(bits.float(), 4, 2.0).tolist() == expected


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"input": torch.ones(2, 3, dtype=torch.int64)}, TypeError, r"input is torch\.int64"),
        ({"input": torch.ones(2, 3)}, TypeError, "probabilities torch.float64: convert one"),
        ({"input": torch.tensor(1.0).double()}, ValueError, r"input has shape \(\)"),
        ({"probabilities": torch.ones(6, 15).double()}, ValueError, r"\(6, 15\).*give \(out, 16\)"),
        ({"connections": torch.zeros(3, 6, dtype=torch.int64)}, ValueError, r"\(2, out\)"),
        ({"connections": torch.zeros(6, dtype=torch.int64)}, ValueError, r"connections \(6,\)"),
        (
            {"connections": torch.zeros(2, 6).double()},
            TypeError,
            "connections is torch.float64; giv",
        ),
    ],
)
def test_bad_arguments(changes, error, message):
    names = ("input", "probabilities", "connections")
    with pytest.raises(error, match=message):
        logic_gates(**(dict(zip(names, random_arguments(), strict=True)) | changes))


def test_bad_weights_and_groups():
    with pytest.raises(ValueError, match=r"weight has shape \(15,\)"):
        gate_probabilities(torch.zeros(15))
    with pytest.raises(TypeError, match=r"torch\.int64"):
        gate_probabilities(torch.zeros(16, dtype=torch.int64))
    with pytest.raises(ValueError, match="mode is 'warm'; give one of soft, hard, gumbel_soft"):
        gate_probabilities(torch.zeros(16), mode="warm")  # pyright: ignore[reportArgumentType]
    for temperature in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="temperature is"):
            gate_probabilities(torch.zeros(16), temperature=temperature)
    with pytest.raises(ValueError, match=r"probabilities has shape \(3, 4\)"):
        gate_coefficients(torch.zeros(3, 4))
    with pytest.raises(ValueError, match="must be a multiple of num_groups"):
        group_sum(torch.zeros(7), 2)
    with pytest.raises(TypeError, match=r"num_groups is 2\.5"):
        group_sum(torch.zeros(7), 2.5)  # pyright: ignore[reportArgumentType]


def test_no_temperature_is_too_small():
    weight = torch.randn(2, 16, generator=torch.Generator().manual_seed(0))
    hard = gate_probabilities(weight, mode="hard")
    assert gate_probabilities(weight, temperature=1e-320).equal(hard)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_group_sum_counts_beyond_half_precision(dtype):
    """As long as the quotient is not beyond it."""
    bits = torch.ones(2, 70_000, dtype=dtype, requires_grad=True)
    scores = group_sum(bits, 1, 1000.0)
    assert scores.dtype == dtype
    assert scores.tolist() == torch.full((2, 1), 70.0, dtype=dtype).tolist()
    scores.sum().backward()
    assert bits.grad is not None
    assert bits.grad.isfinite().all()
