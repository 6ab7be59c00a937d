"""The same checks on every unit."""

import copy

import pytest
import torch
from safetensors.torch import load, save
from torch.func import functional_call, grad, stack_module_state, vmap

from torchalu import nn
from units import UNITS, Case

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
pytestmark = pytest.mark.parametrize("case", UNITS, ids=str)


def inputs(*shape, dtype=torch.float32):
    """Numbers of both signs, none of them near 0."""
    generator = torch.Generator().manual_seed(1)
    x = torch.rand(*shape, generator=generator, dtype=torch.float64) + 0.5
    negative = torch.rand(*shape, generator=generator) < 0.4
    return torch.where(negative, -x, x).to(dtype)


def gradients(unit, x):
    unit.zero_grad()
    unit(x).sin().sum().backward()
    return {name: p.grad.clone() for name, p in unit.named_parameters()}


def test_parameters_have_their_names_in_order(case: Case):
    unit = case.make(4, 3)
    assert tuple(name for name, _ in unit.named_parameters()) == case.parameters
    assert tuple(unit.state_dict()) == case.parameters
    for name, parameter in unit.named_parameters():
        assert parameter.shape == {"gate": (4,), "gate_hat": (3,)}.get(name, (3, 4))


@pytest.mark.parametrize("shape", [(4,), (5, 4), (2, 3, 4), (0, 4)])
def test_leading_dimensions_are_kept_and_rows_are_independent(case: Case, shape):
    unit = case.make()
    x = inputs(*shape)
    output = unit(x)
    assert output.shape == (*shape[:-1], 3)
    for got, row in zip(output.reshape(-1, 3), x.reshape(-1, 4), strict=True):
        torch.testing.assert_close(got, unit(row))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_near_float64(case: Case, dtype):
    unit = case.make(dtype=dtype)
    x = inputs(6, 4, dtype=dtype)
    output = unit(x)
    exact = copy.deepcopy(unit).double()(x.double())
    assert output.dtype == dtype
    assert all(p.dtype == dtype for p in unit.parameters())
    epsilon = torch.finfo(dtype).eps
    torch.testing.assert_close(output.double(), exact, rtol=12 * epsilon, atol=12 * epsilon)


def test_generator_decides_the_start_and_leaves_the_global_one_alone(case: Case):
    state = torch.get_rng_state()
    first, second = case.make(), case.make()
    other = case.make(generator=torch.Generator().manual_seed(7))
    assert torch.get_rng_state().equal(state)
    for name in case.parameters:
        start = getattr(first, name)
        assert start.equal(getattr(second, name))
        if name not in ("gate", "imag_weight"):
            assert not start.equal(getattr(other, name))
    other.reset_parameters(torch.Generator().manual_seed(0))
    assert all(
        torch.equal(p, q) for p, q in zip(first.parameters(), other.parameters(), strict=True)
    )


def test_weight_is_computed_in_the_forward_pass_and_reaches_every_parameter(case: Case):
    unit = case.make(dtype=torch.float64)
    x = inputs(8, 4, dtype=torch.float64)
    for name, gradient in gradients(unit, x).items():
        assert gradient.ne(0).any(), name
    before, weight = unit(x), unit.effective_weight().detach().clone()
    optimizer = torch.optim.SGD(unit.parameters(), lr=1e-3)
    optimizer.step()
    assert not unit(x).equal(before)
    assert not unit.effective_weight().equal(weight)


def test_gradients_equal_numeric_ones(case: Case):
    unit = case.make(3, 2, dtype=torch.float64)
    parameters = dict(unit.named_parameters())

    def forward(x, *values):
        return functional_call(unit, dict(zip(parameters, values, strict=True)), x)

    x = inputs(2, 3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(forward, (x, *parameters.values()))
    assert torch.autograd.gradgradcheck(forward, (x, *parameters.values()))


def weights(unit):
    """All effective weights, without their graph."""
    names = ("effective_weight", "effective_mul_weight", "effective_reciprocal_weight")
    found = [getattr(unit, name)() for name in names if hasattr(unit, name)]
    return [weight.detach().clone() for weight in found]


@pytest.mark.parametrize("dtype", DTYPES)
def test_snap_is_exact_and_idempotent(case: Case, dtype):
    unit = case.make(8, 9, dtype=dtype)
    with torch.no_grad():
        for parameter in unit.parameters():
            parameter.mul_(3)
    before = weights(unit)
    start = copy.deepcopy(unit.state_dict())
    unit.snap_()
    snapped = copy.deepcopy(unit.state_dict())
    step = 0.5 if case.discrete is None else 1.0
    for near, weight in zip(before, weights(unit), strict=True):
        assert (weight / step).eq((weight / step).round()).all()
        assert (weight - near).abs().max() <= step / 2
        assert not (weight.eq(0) & weight.signbit()).any(), "-0.0 among the weights"
        if case.discrete is not None:
            assert set(weight.unique().tolist()) <= set(case.discrete)
    if "gate" in snapped:
        assert set(snapped["gate"].tolist()) <= {0.0, 1.0}
    if isinstance(unit, nn.INALU):
        assert set(unit.effective_gate().tolist()) <= {0.0, 1.0}
    if "gate_weight" in snapped:
        assert snapped["gate_weight"].equal(start["gate_weight"])
    unit.snap_()
    assert all(torch.equal(p, snapped[name]) for name, p in unit.state_dict().items())


def test_constrain_is_idempotent_and_leaves_the_start_alone(case: Case):
    unit = case.make()
    start = copy.deepcopy(unit.state_dict())
    unit.constrain_()
    assert all(torch.equal(p, start[name]) for name, p in unit.state_dict().items())
    assert unit.penalty().shape == ()


def test_functional_transforms_equal_loops(case: Case):
    unit = case.make(dtype=torch.float64)
    x = inputs(5, 4, dtype=torch.float64)
    parameters = {name: p.detach() for name, p in unit.named_parameters()}

    def loss(values, row):
        return functional_call(unit, values, row).sin().sum()

    torch.testing.assert_close(vmap(unit)(x), unit(x))
    expected = gradients(unit, x)
    torch.testing.assert_close(grad(loss)(parameters, x), expected)
    each = vmap(grad(loss), (None, 0))(parameters, x)
    torch.testing.assert_close({name: g.sum(0) for name, g in each.items()}, expected)


def test_ensemble_equals_its_members(case: Case):
    members = [
        case.make(dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
        for seed in range(3)
    ]
    base = case.make(device="meta", dtype=torch.float64)
    parameters, buffers = stack_module_state(members)
    x = inputs(3, 5, 4, dtype=torch.float64)

    def call(values, rest, rows):
        return functional_call(base, (values, rest), rows)

    shared = vmap(call, (0, 0, None))(parameters, buffers, x[0])
    torch.testing.assert_close(shared, torch.stack([member(x[0]) for member in members]))
    own = vmap(call)(parameters, buffers, x)
    pairs = zip(members, x, strict=True)
    torch.testing.assert_close(own, torch.stack([member(rows) for member, rows in pairs]))


def test_autocast_keeps_products_in_float32(case: Case):
    unit, x = case.make(), inputs(6, 4)
    with torch.autocast("cpu", torch.bfloat16):
        output = unit(x)
    output.float().sum().backward()
    if case.unit in (nn.NAU, nn.NAC):
        torch.testing.assert_close(output.float(), unit(x), rtol=0.03, atol=0.03)
    else:
        assert output.dtype == torch.float32
        assert output.equal(unit(x))
    assert all(p.grad is not None and p.grad.isfinite().all() for p in unit.parameters())


def test_safetensors_and_deepcopy_restore_the_unit(case: Case):
    unit, x = case.make(), inputs(6, 4)
    restored = case.make(generator=torch.Generator().manual_seed(5))
    restored.load_state_dict(load(save(unit.state_dict())))
    assert restored(x).equal(unit(x))
    clone = copy.deepcopy(unit)
    with torch.no_grad():
        next(iter(clone.parameters())).add_(0.1)
    assert restored(x).equal(unit(x))
    assert not clone(x).equal(unit(x))


def test_device_and_dtype_reach_the_parameters(case: Case):
    unit = case.make(device="meta", dtype=torch.bfloat16)
    assert {p.device.type for p in unit.parameters()} == {"meta"}
    assert {p.dtype for p in unit.parameters()} == {torch.bfloat16}
    unit = unit.to_empty(device="cpu").float()
    unit.reset_parameters(torch.Generator().manual_seed(0))
    assert unit(inputs(4)).isfinite().all()


def test_compiles_without_a_graph_break(case: Case):
    unit, x = case.make(), inputs(6, 4)
    compiled = torch.compile(unit, fullgraph=True, backend="aot_eager")
    expected = gradients(unit, x)
    torch.testing.assert_close(compiled(x), unit(x))
    unit.zero_grad()
    compiled(x).sin().sum().backward()
    torch.testing.assert_close({n: p.grad for n, p in unit.named_parameters()}, expected)


def test_wrong_arguments_are_named(case: Case):
    with pytest.raises(ValueError, match="in_features is 0; give a positive integer"):
        case.make(0, 1)
    with pytest.raises(ValueError, match="out_features is -1"):
        case.make(1, -1)
    with pytest.raises(TypeError, match=r"in_features is 2\.5"):
        case.make(2.5, 1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"dtype is torch\.int64"):
        case.make(1, 1, dtype=torch.int64)
    unit = case.make()
    with pytest.raises(ValueError, match="must be in_features = 4"):
        unit(torch.ones(2, 5))
    with pytest.raises(ValueError, match="must be in_features = 4"):
        unit(torch.tensor(1.0))
    with pytest.raises(TypeError, match=r"input is torch\.float64"):
        unit(torch.ones(2, 4, dtype=torch.float64))
    with pytest.raises(TypeError, match=r"input is torch\.bfloat16 .* run under torch\.autocast"):
        unit(torch.ones(2, 4, dtype=torch.bfloat16))


def test_repr_shows_the_arguments(case: Case):
    text = repr(case.make())
    assert text.startswith(f"{case.unit.__name__}(in_features=4, out_features=3")
    for name, value in case.options.items():
        assert f"{name}={value!r}" in text


def test_replicas_whose_parameters_are_plain_attributes_have_a_penalty(case: Case):
    """As those that `torch.nn.DataParallel` makes."""
    unit = case.make()
    replica = unit._replicate_for_data_parallel()
    for name, parameter in unit.named_parameters():
        setattr(replica, name, parameter.detach().clone())
    assert not list(replica.parameters())
    assert replica.penalty().equal(unit.penalty())
