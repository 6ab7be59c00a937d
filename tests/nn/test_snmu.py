"""The noise of an SNMU: when there is any, where it comes from, and what it does to a loss."""

import copy
import math

import pytest
import torch

from torchalu import functional, nn

X = torch.tensor([[1.5, -0.5, 2.0], [-1.0, 0.75, 1.25]], dtype=torch.float64)


def make(**options):
    return nn.SNMU(3, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64, **options)


def test_in_evaluation_mode_it_is_an_nmu():
    unit, plain = make().eval(), nn.NMU(3, 2, dtype=torch.float64)
    plain.load_state_dict(unit.state_dict())
    assert unit(X).equal(plain(X))


def test_torch_s_own_random_numbers_decide_the_noise():
    unit = make()
    with torch.random.fork_rng():
        torch.manual_seed(3)
        first, second = unit(X), copy.deepcopy(unit)(X)
        torch.manual_seed(3)
        assert unit(X).equal(first)
        torch.manual_seed(3)
        noise = 1 + 4 * torch.rand(2, 3, dtype=torch.float64)
    assert not first.equal(second)
    assert first.equal(functional.snmu(X, unit.weight, noise))


def test_noise_keeps_to_its_bounds():
    """With W = 1/2, V = n / (n + 1), which an input of 0 shows as 1 - V = 1 / (n + 1)."""
    unit = nn.SNMU(1, 1, noise=(2.0, 3.0), dtype=torch.float64)
    torch.nn.init.constant_(unit.weight, 0.5)
    noise = 1 / unit(torch.zeros(20_000, 1, dtype=torch.float64)).detach() - 1
    assert 2 <= noise.min() < 2.001
    assert 2.999 < noise.max() <= 3
    assert abs(noise.mean() - 2.5) < 6 / math.sqrt(12 * len(noise))


def test_only_whole_weights_leave_the_output_without_noise():
    unit = make()
    assert not unit(X).equal(unit(X))
    unit.snap_()
    assert unit(X).equal(unit(X))
    assert unit(X).equal(copy.deepcopy(unit).eval()(X))


def test_half_weights_that_fit_without_noise_do_not_fit_under_it():
    """An NMU gives the product of 1.1 and 1.1 with weights beside 1 as well."""
    unit = nn.SNMU(3, 1, dtype=torch.float64)
    x = torch.full((1000, 3), 1.1, dtype=torch.float64)
    with torch.no_grad():
        unit.weight.fill_((1.1 ** (2 / 3) - 1) / 0.1)
    target = torch.full((1000, 1), 1.1**2, dtype=torch.float64)
    torch.testing.assert_close(copy.deepcopy(unit).eval()(x), target)
    assert (unit(x) - target).abs().mean() > 0.01


def test_learns_through_the_compiler_and_under_vmap():
    unit = make()
    compiled = torch.compile(unit, fullgraph=True, backend="aot_eager")
    compiled(X).sum().backward()
    assert unit.weight.grad is not None
    assert unit.weight.grad.ne(0).all()
    output = torch.func.vmap(unit, randomness="different")(torch.ones(5, 3, dtype=torch.float64))
    assert output.equal(torch.ones(5, 2, dtype=torch.float64))


@pytest.mark.parametrize(
    "noise", [(0.0, 5.0), (5.0, 1.0), (1.0,), (1.0, math.inf), (math.nan, 2.0), 5.0]
)
def test_wrong_bounds_are_refused(noise):
    with pytest.raises(ValueError, match="two positive numbers in ascending order"):
        make(noise=noise)


def test_bounds_may_be_equal():
    unit = make(noise=(2, 2))
    assert unit(X).equal(unit(X))
    assert not unit(X).equal(copy.deepcopy(unit).eval()(X))


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.float32])
def test_training_refuses_the_dtypes_that_evaluation_refuses(dtype):
    unit, x = make(), torch.ones(2, 3, dtype=dtype)
    message = f"input is {dtype} and weight torch.float64: convert one"
    for mode in (True, False):
        with pytest.raises(TypeError, match=message):
            unit.train(mode)(x)
