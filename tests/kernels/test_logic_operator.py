"""The operators against torch's own operations, and what torch asks of them."""

import multiprocessing

import mpmath
import pytest
import torch

from torchalu import _core, functional, kernels, nn

LINEAR = kernels.FUNCTIONS[:5]
ENSEMBLES = [(name,) for name in kernels.FUNCTIONS] + [
    ("or_ail", "and_ail", "xnor_ail"),
    ("or_ail", "logit_xnor", "signed_geomean"),
]
each = pytest.mark.parametrize("names", ENSEMBLES, ids="-".join)
OPERATORS = torch.ops.torchalu


def groups(rows, count, k, inner, dtype=torch.float64, seed=0):
    """Groups with zeros and ties among them."""
    generator = torch.Generator().manual_seed(seed)
    z = 2 * torch.randn(rows, count, k, inner, generator=generator, dtype=torch.float64)
    return torch.where(z.abs() < 0.4, z.round(), z).to(dtype)


def arguments(names, partition):
    functions = [kernels.FUNCTIONS.index(name) for name in names]
    means = [0.25 * n for n in range(len(names))]
    return functions, means, [1 / (1 + mean) for mean in means], partition


def fast(names, partition=False):
    _, means, scales, _ = arguments(names, partition)
    moments = [(mean, 1 / scale) for mean, scale in zip(means, scales, strict=True)]
    return lambda z: kernels.logic(z, names, moments, partition=partition)


def written_out(names, partition=False):
    return lambda z: kernels.logic_form(z, *arguments(names, partition))


def value_and_gradient(function, z, slope):
    z = z.detach().clone().requires_grad_()
    output = function(z)
    return output.detach(), torch.autograd.grad(output, z, slope.to(output.dtype))[0]


def slope_for(names, z, partition):
    shape = (z.shape[0], 1 if partition else len(names), z.shape[1] * z.shape[3])
    return torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.mark.parametrize("name", kernels.FUNCTIONS)
def test_gradients_in_batches(name):
    """What `jacobian(vectorize=True)` and `is_grads_batched` do."""
    function = getattr(functional, name)
    z = groups(2, 3, 2, 1).view(2, 6)
    jacobian = torch.autograd.functional.jacobian
    one_by_one = jacobian(function, z)
    torch.testing.assert_close(jacobian(function, z, vectorize=True), one_by_one)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by torch's own formulas
@pytest.mark.parametrize("name", kernels.FUNCTIONS[5:])
def test_second_derivatives_in_forward_mode(name):
    z = groups(1, 1, 3, 1, seed=2).flatten()

    def function(u):
        return getattr(functional, name)(u, k=3, dim=0).sum()

    forward = torch.func.jacfwd(torch.func.jacfwd(function))(z)
    torch.testing.assert_close(forward, torch.func.jacrev(torch.func.jacrev(function))(z))
    assert forward.abs().max() > 0


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("logit_and", (1e4, 1e4)),
        ("logit_and", (80.0, 81.0)),
        ("logit_and", (-1e4, 3.0)),
        ("logit_and", (0.1, -1e4)),
        ("logit_and", (0.0, 0.0)),
        ("logit_and", (1e-30, 40.0)),
        ("logit_and", (-20.0, -25.0)),
        ("logit_xnor", (20.0, 0.5)),
        ("logit_xnor", (17.0, -0.5)),
        ("logit_xnor", (1e-6, 4.0)),
        ("logit_xnor", (-0.0, -3.0)),
    ],
)
def test_written_out_gradients_of_large_logits(name, operands):
    """By mpmath, in float32."""
    z = torch.tensor(operands).view(1, 1, 2, 1)
    found = torch.func.grad(lambda u: written_out((name,))(u).sum())(z).flatten()
    with mpmath.workdps(60):
        a, b = map(mpmath.mpf, operands)
        if name == "logit_and":
            total = mpmath.exp(-a) + mpmath.exp(-b) + mpmath.exp(-a - b)
            tops = mpmath.exp(-a), mpmath.exp(-b)
            wanted = [(top + mpmath.exp(-a - b)) / total for top in tops]
        else:
            t, u = mpmath.tanh(a / 2), mpmath.tanh(b / 2)
            wanted = [(1 - t**2) * u / (1 - (t * u) ** 2), (1 - u**2) * t / (1 - (t * u) ** 2)]
        assert found.tolist() == pytest.approx([float(each) for each in wanted], rel=2e-6, abs=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_written_out_and_of_mixed_magnitudes(dtype):
    """To a few units in the last place, by mpmath, where the sum of three powers lost them all."""
    sizes = (0.0, 1e-30, 1e-8, 0.1, 1.0, 2.5, 15.0, 40.0)
    numbers = torch.tensor([sign * size for size in sizes for sign in (1, -1)], dtype=dtype)
    pairs = torch.cartesian_prod(numbers, numbers)
    found = written_out(("logit_and",))(pairs.view(-1, 1, 2, 1)).flatten()
    with mpmath.workdps(80):
        for (a, b), value in zip(pairs.tolist(), found.tolist(), strict=True):
            exact = -mpmath.log(mpmath.exp(-a) + mpmath.exp(-b) + mpmath.exp(-mpmath.mpf(a) - b))
            assert abs(value - exact) <= 4 * torch.finfo(dtype).eps * abs(exact), (a, b)


def test_written_out_exact_functions_of_infinities_are_the_native_ones():
    numbers = [-torch.inf, -2.0, 0.0, 1.0, torch.inf, torch.nan]
    for name in ("logit_and", "logit_or"):
        z = torch.cartesian_prod(*2 * [torch.tensor(numbers)]).view(-1, 1, 2, 1)
        slope = torch.ones(len(z), 1, 1)
        found = value_and_gradient(written_out((name,)), z, slope)
        native = value_and_gradient(fast((name,)), z, slope)
        torch.testing.assert_close(found, native, equal_nan=True)


@pytest.mark.filterwarnings("ignore:`torch.jit", "ignore::torch.jit.TracerWarning")
def test_traced_networks_keep_torch_operations(tmp_path):
    net = torch.nn.Sequential(torch.nn.Linear(6, 8), nn.ORIL(), nn.LogicActivation(["and_ail"]))
    traced = torch.jit.trace(net, torch.randn(3, 6))
    torch.jit.save(traced, tmp_path / "net.pt")
    x = torch.randn(5, 6)
    torch.testing.assert_close(torch.jit.load(tmp_path / "net.pt")(x), net(x))


@each
@pytest.mark.parametrize("partition", [False, True])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("instruction_set", _core.instruction_sets())
def test_every_instruction_set_equals_the_written_out_form(names, partition, k, instruction_set):
    count = len(names)
    shapes = (
        (3, 37 * count, k, 1),
        (2, count, k, 67),
        (5, 2 * count, k, 3),
        (1, 700 * count, k, 1),
    )
    before = _core.instruction_set()
    try:
        _core.select_instruction_set(instruction_set)
        for shape in shapes:
            for dtype in (torch.float64, torch.float32, torch.bfloat16):
                z = groups(*shape, dtype=dtype)
                slope = slope_for(names, z, partition).to(dtype)
                got = value_and_gradient(fast(names, partition), z, slope)
                wanted = value_and_gradient(written_out(names, partition), z.double(), slope)
                bound = 20 * torch.finfo(dtype).eps
                for result, right in zip(got, wanted, strict=True):
                    torch.testing.assert_close(result.double(), right, rtol=bound, atol=bound)
    finally:
        _core.select_instruction_set(before)


@pytest.mark.parametrize("partition", [False, True])
def test_every_number_is_written(monkeypatch, partition):
    names, z = ("or_ail", "xnor_ail"), groups(3, 10, 2, 5)
    slope = slope_for(names, z, partition)
    expected = value_and_gradient(fast(names, partition), z, slope)
    plain = torch.Tensor.new_empty

    def new_empty(self, *size, **options):
        tensor = plain(self, *size, **options)
        return tensor.fill_(float("nan") if tensor.is_floating_point() else 77)

    monkeypatch.setattr(torch.Tensor, "new_empty", new_empty)
    got = value_and_gradient(fast(names, partition), z, slope)
    for result, right in zip(got, expected, strict=True):
        assert result.equal(right)


@each
def test_result_does_not_depend_on_the_number_of_threads(names, threads):
    z = groups(400, 8, 2, 100, dtype=torch.float32)
    slope = slope_for(names, z, False)
    results = []
    for count in (1, 2, 3, 2):
        threads(count)
        results.append(value_and_gradient(fast(names), z, slope))
    for result in results[1:]:
        for got, wanted in zip(result, results[0], strict=True):
            assert got.equal(wanted)


def _fill_in_child(z, output):
    """In the core alone: torch's own threads do not survive a fork."""
    _core.logic_forward(z, output, None, ([1], [0.0], [1.0], False), 2)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    z = groups(1, 1, 2, 200_000, dtype=torch.float32)
    output = torch.zeros(1, 1, 200_000).share_memory_()
    _core.logic_forward(z, torch.empty_like(output), None, ([1], [0.0], [1.0], False), 2)
    child = multiprocessing.get_context("fork").Process(target=_fill_in_child, args=(z, output))
    child.start()
    child.join(30)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0
    assert output.equal(kernels.logic_form(z, [1], [0.0], [1.0], False))


@each
@pytest.mark.parametrize("partition", [False, True])
def test_registrations_pass_torchs_own_check(names, partition):
    z = groups(3, 2 * len(names), 2, 3).requires_grad_()
    linear = all(name in LINEAR for name in names)
    functions, means, scales, _ = arguments(names, partition)
    options = functions, means, scales, partition, linear
    torch.library.opcheck(OPERATORS.logic.default, (z, *options))
    output, slopes = OPERATORS.logic(z.detach(), *options)
    saved = slopes if linear else z.detach()
    rest = functions, scales, partition
    torch.library.opcheck(OPERATORS.logic_backward.default, (torch.ones_like(output), saved, *rest))


@pytest.mark.parametrize("partition", [False, True])
@pytest.mark.parametrize("inner", [1, 2])
@pytest.mark.parametrize("names", ENSEMBLES[-2:], ids="-".join)
def test_short_rows_stand_side_by_side_and_give_the_same(names, inner, partition):
    z = groups(70, 3, 2, inner)
    slope = slope_for(names, z, partition)
    mine, its = value_and_gradient(fast(names, partition), z, slope)
    plain, expected = value_and_gradient(written_out(names, partition), z, slope)
    assert mine.is_contiguous()
    torch.testing.assert_close(mine, plain)
    torch.testing.assert_close(its, expected)
    assert fast(names, partition)(z[:0]).shape == (0, *plain.shape[1:])
    longer = groups(70, 3, 2, 16)
    assert fast(names, partition)(longer).equal(
        torch.cat([fast(names, partition)(row[None]) for row in longer])
    )


@each
def test_devices_without_a_kernel_get_the_same(names):
    """What the operators do there, tried out on the CPU."""
    linear = all(name in LINEAR for name in names)
    for partition in (False, True):
        z = groups(3, 4 * len(names), 3, 5)
        functions, means, scales, _ = arguments(names, partition)
        members = functions, means, scales, partition, linear
        output, slopes = OPERATORS.logic(z, *members)
        plain, plain_slopes = kernels.logic_operator.logic_anywhere(z, *members)
        torch.testing.assert_close(output, plain)
        assert slopes.equal(plain_slopes)
        saved, rest = slopes if linear else z, (functions, scales, partition)
        slope = slope_for(names, z, partition)
        torch.testing.assert_close(
            OPERATORS.logic_backward(slope, saved, *rest),
            kernels.logic_operator.logic_backward_anywhere(slope, saved, *rest),
        )


@each
@pytest.mark.parametrize("partition", [False, True])
@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # torch's own, in jvp
def test_transforms_of_torch_func(names, partition):
    z = groups(2, 2 * len(names), 3, 1, seed=3)
    tangent = groups(2, 2 * len(names), 3, 1, seed=4)
    run, plain = fast(names, partition), written_out(names, partition)

    def loss(function):
        return lambda z: function(z).sin().sum()

    for transform in (torch.func.jacrev, torch.func.jacfwd):
        torch.testing.assert_close(transform(run)(z), torch.func.jacrev(plain)(z))
    torch.testing.assert_close(
        torch.func.jvp(run, (z,), (tangent,)), torch.func.jvp(plain, (z,), (tangent,))
    )
    hessian = torch.func.jacrev(torch.func.jacrev(loss(plain)))(z)
    for outer in (torch.func.jacrev, torch.func.jacfwd):
        torch.testing.assert_close(outer(torch.func.jacrev(loss(run)))(z), hessian)
    forward = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    found = torch.autograd.functional.hessian(loss(run), z, **forward)
    torch.testing.assert_close(found, hessian)
    stack = torch.stack([z, tangent, z + tangent])
    for dim in (0, 2):
        moved = stack.movedim(0, dim)
        each_one = torch.stack([plain(one) for one in stack])
        torch.testing.assert_close(torch.func.vmap(run, dim)(moved), each_one)
        slopes = torch.stack([torch.func.grad(loss(plain))(one) for one in stack])
        gradients = torch.func.vmap(torch.func.grad(loss(run)), dim)(moved)
        torch.testing.assert_close(gradients, slopes)
    batched = torch.func.grad(lambda z: torch.func.vmap(loss(run))(z).sum())(stack)
    torch.testing.assert_close(batched, slopes)


@pytest.mark.parametrize("names", [("or_ail",), ("logit_xnor",), ENSEMBLES[-1]], ids="-".join)
def test_compiles_without_a_graph_break(names):
    def run(z):
        return functional.logic_ensemble(z * 2, names, layout="halves").sin()

    z = groups(4, 6, 1, 1, dtype=torch.float32).flatten(1).requires_grad_()
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager", dynamic=True)
    for each_one in (z, groups(7, 10, 1, 1, dtype=torch.float32).flatten(1).requires_grad_()):
        torch.testing.assert_close(compiled(each_one), run(each_one))
        got, wanted = (torch.autograd.grad(f(each_one).sum(), each_one) for f in (compiled, run))
        torch.testing.assert_close(got, wanted)
    with torch.no_grad():
        torch.testing.assert_close(compiled(z), run(z))
    hybrid = torch.compile(
        torch.func.vmap(torch.func.grad(lambda z: run(z[None]).sum())),
        fullgraph=True,
        backend="aot_eager",
    )
    (wanted,) = torch.autograd.grad(run(z).sum(), z)
    torch.testing.assert_close(hybrid(z.detach()), wanted)


@pytest.mark.parametrize("names", [("or_ail",), ("logit_xnor",), ENSEMBLES[-1]], ids="-".join)
def test_an_exported_graph_holds_torch_operations_alone(names):
    class Model(torch.nn.Module):
        def forward(self, z):
            return functional.logic_ensemble(z, names, strategy="partition")

    z = groups(4, 12, 1, 1, dtype=torch.float32).flatten(1)
    program = torch.export.export(Model(), (z,))
    torch.testing.assert_close(program.module()(z), Model()(z))
    targets = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert all(target.startswith("aten.") or "getitem" in target for target in targets)


def test_tensors_that_are_not_what_their_memory_says():
    negated = torch._neg_view(torch.tensor([[1.0, 2.0, 3.0, -4.0]]))
    assert functional.or_ail(negated).tolist() == [[-1.0, 4.0]]
    x = torch.tensor([[1.0, 2.0, 3.0, -4.0]], requires_grad=True)
    y = functional.or_ail(x)
    (grad,) = torch.autograd.grad(y, x, torch._efficientzerotensor(y.shape))
    assert not grad.any()


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by torch's own formulas
@each
@pytest.mark.parametrize("partition", [False, True])
def test_forward_over_reverse(names, partition):
    z = groups(2, len(names), 3, 1, seed=5)
    z = torch.where(z.abs() < 0.4, 0.4, z) + 0.01 * torch.arange(z.numel()).view_as(z)  # no kinks
    slope = slope_for(names, z, partition)
    assert torch.autograd.gradgradcheck(
        fast(names, partition), z.requires_grad_(), slope.requires_grad_(), check_fwd_over_rev=True
    )
