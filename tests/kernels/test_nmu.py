"""The operator and the loop against the written-out product."""

import subprocess
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchalu import functional, kernels
from torchalu.functional import nmu_definition
from torchalu.kernels.nmu_loop import nmu_loop, nmu_loop_backward

SIZES = [(1, 1, 1), (3, 2, 5), (17, 9, 1), (1, 300, 7), (130, 33, 65)]


def operands(batch, size_in, size_out, dtype, zeros=False):
    """Inputs near 1, so that long products neither overflow nor vanish."""
    generator = torch.Generator().manual_seed(batch + size_in + size_out)
    x = torch.randn(batch, size_in, generator=generator, dtype=torch.float64) * 0.3 + 1
    w = torch.rand(size_out, size_in, generator=generator, dtype=torch.float64)
    grad = torch.randn(batch, size_out, generator=generator, dtype=torch.float64)
    if zeros:
        x[torch.rand(x.shape, generator=generator) < 0.1] = 0
        w = w.round()
    return x.to(dtype), w.to(dtype), grad.to(dtype)


def product_and_gradients(function, x, w, grad):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    product = function(x, w)
    return (product.detach(), *torch.autograd.grad(product, (x, w), grad.to(product.dtype)))


def loop(x, w, grad):
    x, w, grad = (tensor.unsqueeze(0) for tensor in (x, w, grad))
    return tuple(each[0] for each in (nmu_loop(x, w), *nmu_loop_backward(grad, x, w)))


def operator(x, w, grad):
    return product_and_gradients(kernels.nmu, x, w, grad)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", [operator, loop])
def test_value_and_gradients_equal_the_definition(form, size, dtype, zeros):
    batch, size_in, size_out = size
    x, w, grad = operands(batch, size_in, size_out, dtype, zeros)
    wide = product_and_gradients(nmu_definition, x.double(), w.double(), grad.double())
    epsilon = torch.finfo(dtype).eps
    for got, exact in zip(form(x, w, grad), wide, strict=True):
        scale = float(exact.abs().max())
        bound = 20 * epsilon * size_in**0.5
        torch.testing.assert_close(got.double(), exact, rtol=bound, atol=bound * scale)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0,), ()])
def test_the_product_of_no_factors_is_1(shape):
    x, w = torch.zeros(*shape, 0, requires_grad=True), torch.zeros(2, 0, requires_grad=True)
    product = kernels.nmu(x, w)
    assert product.equal(torch.ones(*shape, 2))
    product.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == (*shape, 0)


def test_every_output_is_written(monkeypatch):
    x, w, grad = operands(6, 5, 4, torch.float64)
    expected = operator(x, w, grad)
    plain = torch.Tensor.new_empty

    def new_empty(self, *size, **options):
        return plain(self, *size, **options).fill_(float("nan"))

    monkeypatch.setattr(torch.Tensor, "new_empty", new_empty)
    for got, want in zip(operator(x, w, grad), expected, strict=True):
        assert got.equal(want)


def test_memory_layout_of_the_operands_does_not_matter():
    x, w, grad = operands(6, 5, 4, torch.float64)
    expected = operator(x, w, grad)
    strided = (x.t().contiguous().t(), w.repeat_interleave(2, 1)[:, ::2], grad.flip(0).flip(0))
    for got, want in zip(operator(*strided), expected, strict=True):
        assert got.equal(want)
    row = torch.ones(1, 4, dtype=torch.float64)
    for got, want in zip(
        operator(x, w, row.expand(6, 4)), operator(x, w, row.repeat(6, 1)), strict=True
    ):
        assert got.equal(want)


def test_result_does_not_depend_on_the_number_of_threads(threads):
    x, w, grad = operands(130, 33, 65, torch.float32)
    results = []
    for count in (1, 2, 3):
        threads(count)
        results.append(operator(x, w, grad))
    for result in results[1:]:
        for got, want in zip(result, results[0], strict=True):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5 * float(want.abs().max()))


def test_registrations_pass_torchs_own_check():
    x, w, grad = (torch.stack([each, 1 - each]) for each in operands(6, 5, 4, torch.float64))
    torch.library.opcheck(torch.ops.torchalu.nmu.default, (x, w.requires_grad_()))
    torch.library.opcheck(torch.ops.torchalu.nmu_backward.default, (grad, x, w.detach()))


def test_operator_itself_differentiates_batches_and_widens():
    x, w, grad = operands(6, 5, 4, torch.float64)

    def rows(x, w):
        return torch.ops.torchalu.nmu(x.unsqueeze(0), w.unsqueeze(0))[0]

    expected = product_and_gradients(nmu_definition, x, w, grad)
    for got, want in zip(product_and_gradients(rows, x, w, grad), expected, strict=True):
        torch.testing.assert_close(got, want)
    pairs = torch.stack([x, x + 1]), torch.stack([w, 1 - w])
    products = torch.stack([nmu_definition(*each) for each in zip(*pairs, strict=True)])
    torch.testing.assert_close(torch.func.vmap(rows)(*pairs), products)
    with torch.autocast("cpu", torch.bfloat16):
        product = rows(x.bfloat16(), w.bfloat16())
    assert product.dtype == torch.float32
    torch.testing.assert_close(product, nmu_definition(x.bfloat16().float(), w.bfloat16().float()))


@pytest.mark.parametrize("dims", [(0, None), (1, None), (None, 0), (None, 2), (0, 0), (2, 1)])
def test_batching_rules_equal_loops(dims):
    generator = torch.Generator().manual_seed(0)
    stacks = (
        torch.randn(3, 6, 5, generator=generator, dtype=torch.float64),
        torch.rand(3, 4, 5, generator=generator, dtype=torch.float64),
    )
    batched = [s[0] if d is None else s.movedim(0, d) for s, d in zip(stacks, dims, strict=True)]
    each = [[s[0]] * 3 if d is None else list(s) for s, d in zip(stacks, dims, strict=True)]

    def loss(x, w):
        return kernels.nmu(x, w).sin().sum()

    expected = torch.stack([nmu_definition(x, w) for x, w in zip(*each, strict=True)])
    torch.testing.assert_close(torch.func.vmap(kernels.nmu, dims)(*batched), expected)
    gradients = torch.func.vmap(torch.func.grad(loss, (0, 1)), dims)(*batched)
    for i, pair in enumerate(zip(*each, strict=True)):
        x, w = (t.clone().requires_grad_() for t in pair)
        wanted = torch.autograd.grad(nmu_definition(x, w).sin().sum(), (x, w))
        torch.testing.assert_close(tuple(g[i] for g in gradients), wanted)


@pytest.mark.parametrize("zeros", [False, True])
def test_second_derivatives_equal_the_definition(zeros):
    x, w, _ = operands(3, 4, 2, torch.float64, zeros)

    def hessian(function):
        def loss(x, w):
            return function(x, w).sin().sum()

        return torch.func.jacrev(torch.func.jacrev(loss, (0, 1)), (0, 1))(x, w)

    torch.testing.assert_close(hessian(kernels.nmu), hessian(nmu_definition))


def test_no_tensor_of_batch_by_out_by_in_is_made():
    sizes = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            results = result if isinstance(result, tuple) else (result,)
            sizes.extend(r.numel() for r in results if isinstance(r, torch.Tensor))
            return result

    x, w, grad = operands(32, 24, 16, torch.float32)
    with Watch():
        product_and_gradients(functional.nmu, x, w, grad)
        loop(x, w, grad)
    assert sizes
    assert max(sizes) <= 32 * 24


@pytest.mark.parametrize("shape", [(0, 4), (2, 0, 4)])
def test_empty_batches(shape):
    x = torch.ones(*shape, requires_grad=True)
    w = torch.rand(3, 4, requires_grad=True)
    product = kernels.nmu(x, w)
    product.sum().backward()
    assert product.shape == (*shape[:-1], 3)
    assert w.grad is not None
    assert w.grad.eq(0).all()


def test_no_tensor_of_batch_by_outputs_by_inputs():
    # That tensor would take 1 GiB here; the process may grow by a tenth of it.
    program = """
import resource, torch
from torchalu.nn import NMU
unit, x = NMU(512, 512), torch.ones(1024, 512, requires_grad=True)
unit(x[:1]).sum().backward()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit(x).sum().backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert int(ran.stdout) < 1024 * 1024 / 10  # in KiB
