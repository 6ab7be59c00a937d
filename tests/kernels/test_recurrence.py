"""The native recurrence against its definition in torch's operations."""

import signal
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

from recurrence_problem import Problem, assert_near
from torchalu import _core
from torchalu.kernels import recurrence_forms, unroll
from torchalu.kernels.recurrence import recurrence_anywhere
from torchalu.nn import DiagonalNeuralGPU

OPERATOR = torch.ops.torchalu.recurrence
CGRU = [
    {},
    {"maps": 5, "width": 1, "cutoff": False},
    {"maps": 7, "width": 2, "sets": 3, "kernel": (5, 1)},
    {"maps": 16, "kernel": (1, 3), "dropout": False, "sets": 2},
    {"maps": 30, "kernel": (3, 5), "layers": 1},
    {"maps": 11, "width": 3, "dropout": False, "noise": 0.3},
    {"maps": 10, "width": 2, "levels": 2},
    {"maps": 3, "width": 1, "kernel": (1, 1), "batch": 1},
    {"maps": 12, "batch": 40, "length": 9, "layers": 3},
    {"maps": 6, "batch": 2, "length": 300, "layers": 1},
]
DIAGONAL = [
    {"maps": 24},
    {"maps": 6, "sets": 2},
    {"maps": 96, "kernel": (5, 1)},
    {"maps": 33, "kernel": (1, 1), "dropout": False},
    {"maps": 21, "noise": 0.7},
    {"maps": 27, "levels": 3},
    {"maps": 12, "batch": 2, "length": 300},
]
CASES = [{"cell": "cgru"} | case for case in CGRU] + [
    {"cell": "diagonal", "width": 1, "layers": 1, "kernel": (3, 1)} | case for case in DIAGONAL
]
each = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "-".join(str(value) for value in case.values())
)


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request):
    before = _core.instruction_set()
    _core.select_instruction_set(request.param)
    yield request.param
    _core.select_instruction_set(before)


@each
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
@pytest.mark.usefixtures("instruction_set")
def test_equals_the_definition_in_value_and_gradient(case, dtype, bound):
    problem = Problem(**case, dtype=dtype)
    got = problem.outputs_and_gradients(unroll)
    wanted = problem.outputs_and_gradients(recurrence_forms.unroll)
    assert_near(got, wanted, bound)
    with torch.no_grad():
        for result, right in zip(problem.outputs(unroll), got, strict=False):
            assert result.equal(right)


@each
def test_result_does_not_depend_on_the_number_of_threads(case, threads):
    problem = Problem(**{"length": 30, "batch": 40} | case, dtype=torch.float32)
    threads(1)
    first = problem.outputs_and_gradients(unroll)
    for count in (2, 3, 2):
        threads(count)
        for result, right in zip(problem.outputs_and_gradients(unroll), first, strict=True):
            assert result.equal(right)


@each
def test_every_number_is_written(case, monkeypatch):
    problem = Problem(**case)
    expected = problem.outputs_and_gradients(unroll)
    new_empty, empty_like = torch.Tensor.new_empty, torch.empty_like
    monkeypatch.setattr(
        torch.Tensor, "new_empty", lambda *a, **b: new_empty(*a, **b).fill_(float("nan"))
    )
    monkeypatch.setattr(
        torch, "empty_like", lambda *a, **b: empty_like(*a, **b).fill_(float("nan"))
    )
    for result, right in zip(problem.outputs_and_gradients(unroll), expected, strict=True):
        assert result.equal(right)


@each
def test_what_lies_behind_the_end_does_not_matter(case):
    problem = Problem(**case)
    expected = problem.outputs_and_gradients(unroll)
    state, *parameters = problem.tensors
    longer = torch.full((len(state), state.shape[1] + 5, *state.shape[2:]), float("nan"))
    longer = longer.to(state.dtype)
    for number, length in enumerate(problem.lengths):
        longer[number, :length] = state[number, :length]
    final, _ = problem.outputs(unroll, [longer, *parameters])
    assert final[:, : state.shape[1]].equal(expected[0])
    assert not final[:, state.shape[1] :].any()


@pytest.mark.parametrize("cell", ["cgru", "diagonal"])
@pytest.mark.usefixtures("instruction_set")
def test_extreme_parameters(cell):
    """Gates far beyond their bounds, and gradients exactly on them."""
    case = {"maps": 18, "width": 1, "layers": 1, "kernel": (3, 1), "dropout": False}
    for dtype, bound in ((torch.float64, 1e-12), (torch.float32, 2e-5)):
        problem = Problem(cell=cell, **case, dtype=dtype)
        bias, other = problem.tensors[2], problem.tensors[4]
        for k, value in enumerate((1e30, -1e30, 1e3, -1e3, 50.0, -50.0)):
            bias[..., k::9] = value
            other[..., k] = -value
        got = problem.outputs_and_gradients(unroll)
        assert_near(got, problem.outputs_and_gradients(recurrence_forms.unroll), bound)
        for kernel in (problem.tensors[1], problem.tensors[3]):
            kernel.zero_()
        bias.fill_(1.0)
        other.fill_(-1.0)
        got = problem.outputs_and_gradients(unroll)
        assert_near(got, problem.outputs_and_gradients(recurrence_forms.unroll), bound)


@each
@pytest.mark.usefixtures("instruction_set")
def test_what_is_not_a_number_stays_so(case):
    problem = Problem(**case)
    problem.tensors[4][..., 0] = float("nan")
    final, _ = problem.outputs(unroll)
    wanted, _ = problem.outputs(recurrence_forms.unroll)
    inside = torch.arange(final.shape[1]) < problem.lengths[:, None]
    assert final[inside].isnan().equal(wanted[inside].isnan())
    assert final[inside].isnan().any()


def test_an_empty_batch():
    problem = Problem()
    problem.tensors[0] = problem.tensors[0][:0]
    problem.lengths, problem.steps = problem.lengths[:0], problem.steps[:0]
    problem.slopes = problem.slopes[0][:0], problem.slopes[1][:0]
    problem.options["keep"] = problem.options["keep"][:0]
    final, saturation, *grads = problem.outputs_and_gradients(unroll)
    assert (len(final), len(saturation)) == (0, 0)
    assert not any(grad.any() for grad in grads)


def test_nothing_is_kept_without_gradients():
    problem = Problem()
    state, *parameters = problem.tensors
    members = False, True, 0, problem.options["keep"], 0.0, 5
    counts = [
        OPERATOR(state, problem.lengths, problem.steps, *parameters, *members, kept)[2].numel()
        for kept in (False, True)
    ]
    rows = int((problem.lengths * problem.steps).sum()) * state[0, 0].numel()
    assert counts[0] == 0
    assert 2 * 4 * rows <= counts[1] < 2 * 4 * rows * 1.3
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(saved.append, lambda tensor: tensor):
        problem.outputs(unroll)
    assert not saved


@pytest.mark.parametrize("case", [CASES[1], CASES[-4]], ids=["cgru", "diagonal"])
def test_registrations_pass_torchs_own_check(case):
    problem = Problem(**case, batch=3)
    state, *parameters = (tensor.requires_grad_() for tensor in problem.tensors)
    options = problem.options
    diagonal, levels = options["cell"] == "diagonal", options["levels"]
    members = diagonal, True, levels, options["keep"], options["noise"], 5
    inputs = (state, problem.lengths, problem.steps, *parameters, *members)
    torch.library.opcheck(OPERATOR.default, (*inputs, False))
    native = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(OPERATOR.default, (*inputs, True), test_utils=native)


@each
def test_devices_without_a_kernel_get_the_same(case):
    """What the operators do there, tried out on the CPU."""
    problem = Problem(**case)
    expected = problem.outputs_and_gradients(unroll)
    tensors = [tensor.clone().requires_grad_() for tensor in problem.tensors]
    options = problem.options
    names = "cutoff", "levels", "keep", "noise"
    members = options["cell"] == "diagonal", *(options[name] for name in names)
    seed = options["seed"] - 2**64
    inputs: list[Any] = [tensors[0], problem.lengths, problem.steps, *tensors[1:], *members]
    inputs += [seed, False]  # what the native backward pass needs is not kept
    outputs = OPERATOR(*inputs)[:2]
    grads = torch.autograd.grad(
        (problem.slopes[0] * outputs[0]).sum() + 0.01 * (problem.slopes[1] * outputs[1]).sum(),
        tensors,
    )
    assert_near(grads, expected[2:], 1e-12)
    assert_near(recurrence_anywhere(*inputs)[:2], expected[:2], 1e-12)


def test_other_dtypes_run_the_definition():
    problem = Problem(dropout=False, dtype=torch.bfloat16)
    got = problem.outputs_and_gradients(unroll)
    wanted = problem.outputs_and_gradients(recurrence_forms.unroll)
    for result, right in zip(got, wanted, strict=True):
        assert result.equal(right)


@pytest.mark.parametrize("case", [CASES[0], CASES[-5]], ids=["cgru", "diagonal"])
def test_compiles_and_exports_as_one_operator(case):
    problem = Problem(**case)
    expected = problem.outputs_and_gradients(unroll)
    compiled = torch.compile(unroll, fullgraph=True, backend="aot_eager")
    for result, right in zip(problem.outputs_and_gradients(compiled), expected, strict=True):
        assert result.equal(right)

    class Model(torch.nn.Module):
        def forward(self, state, lengths, steps, *parameters):
            return unroll(state, lengths, steps, *parameters, **problem.options)[0]

    state, *parameters = problem.tensors
    inputs = state, problem.lengths, problem.steps, *parameters
    program = torch.export.export(Model(), inputs)
    assert program.module()(*inputs).equal(expected[0])
    targets = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert targets.count("torchalu.recurrence.default") == 1


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by torch's own formulas
@pytest.mark.parametrize(
    "case", [{}, {"cell": "diagonal", "width": 1, "layers": 1, "kernel": (3, 1)}]
)
def test_forward_mode_and_torch_func_differentiate_it(case):
    problem = Problem(maps=6, batch=3, length=5, **case)
    generator = torch.Generator().manual_seed(4)
    along = torch.randn(problem.tensors[1].shape, generator=generator, dtype=torch.float64)

    def loss(gate_weight):
        state, _, *rest = problem.tensors
        return (problem.outputs(unroll, [state, gate_weight, *rest])[0] * problem.slopes[0]).sum()

    weight = problem.tensors[1].clone().requires_grad_()
    (grad,) = torch.autograd.grad(loss(weight), weight)
    weight = weight.detach()
    _, slope = torch.func.jvp(loss, (weight,), (along,))
    torch.testing.assert_close(slope, (grad * along).sum())
    difference = (loss(weight + 1e-6 * along) - loss(weight - 1e-6 * along)) / 2e-6
    torch.testing.assert_close(slope, difference, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(torch.func.grad(loss)(weight), grad)
    with torch.autograd.forward_ad.dual_level():
        dual = loss(torch.autograd.forward_ad.make_dual(weight, along))
        torch.testing.assert_close(torch.autograd.forward_ad.unpack_dual(dual).tangent, slope)
    both = torch.stack([weight, 0.5 * weight])
    each_one = torch.stack([torch.func.grad(loss)(one) for one in both])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(both), each_one)


def test_second_derivatives_say_where_to_find_them():
    problem = Problem()
    tensors = [tensor.requires_grad_() for tensor in problem.tensors]
    final, _ = problem.outputs(unroll, tensors)
    (grad,) = torch.autograd.grad(final.sum(), tensors[:1], create_graph=True)
    with pytest.raises(NotImplementedError, match=r"recurrence_forms\.unroll"):
        grad.sum().backward()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda problem: problem.lengths.add_(20), "lengths go beyond 0 to 11"),
        (lambda problem: problem.lengths.sub_(20), "lengths go beyond 0 to 11"),
        (lambda problem: problem.tensors.__setitem__(2, torch.zeros(1, 2, 9)), "gate_bias is"),
        (lambda problem: setattr(problem, "steps", problem.steps.int()), "steps is"),
        (lambda problem: setattr(problem, "steps", problem.steps[1:]), "steps is"),
        (lambda problem: problem.options.update(keep=torch.ones(3)), "keep is"),
        (lambda problem: problem.options.update(cell="diagonal"), "diagonal cell has width 4"),
    ],
)
def test_bad_input_is_named(change, match):
    problem = Problem()
    change(problem)
    with pytest.raises(ValueError, match=match):
        problem.outputs(unroll)


def test_even_kernels_are_refused():
    with pytest.raises(ValueError, match="the kernel is 2 x 3; choose odd sizes"):
        Problem(kernel=(2, 3)).outputs(unroll)


@pytest.mark.parametrize("trained", [False, True])
def test_one_graph_serves_every_batch_size(trained):
    """Else the compiler would begin anew with each, and an export would hold one alone."""
    torch._dynamo.reset()
    counter, counts = CompileCounterWithBackend("aot_eager"), []
    compiled = torch.compile(unroll, fullgraph=True, backend=counter, dynamic=True)
    for batch in (4, 6, 9):
        problem = Problem(batch=batch, maps=3, width=2, layers=1, dropout=False)
        tensors = [tensor.requires_grad_(trained) for tensor in problem.tensors]
        got, wanted = (problem.outputs(run, tensors) for run in (compiled, unroll))
        assert_near([each.detach() for each in got], [each.detach() for each in wanted], 1e-12)
        counts.append(counter.frame_count)
    assert counts == counts[:1] * 3


def test_an_export_serves_every_batch_size():
    class Model(torch.nn.Module):
        def forward(self, state, lengths, steps, *parameters):
            return unroll(state, lengths, steps, *parameters, cell="cgru")

    def inputs(batch):
        problem = Problem(batch=batch, maps=3, width=2, layers=1)
        state, *parameters = problem.tensors
        return state, problem.lengths, problem.steps, *parameters

    batch = {0: torch.export.Dim("batch")}
    shapes = batch, batch, batch, (None,) * 4
    program = torch.export.export(Model(), inputs(4), dynamic_shapes=shapes)
    assert_near(program.module()(*inputs(7)), Model()(*inputs(7)), 1e-12)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no interval timers")
@pytest.mark.parametrize("batch", [1, 3])
def test_signals_are_heard_while_it_runs(batch):
    """Three, a tenth of a second apart: a call that hears none would leave one for its end."""
    model = DiagonalNeuralGPU(4, maps=96).eval()
    symbols = torch.ones(batch, 3000 if batch == 1 else 1500, dtype=torch.long)
    model(symbols[:, :2])
    heard = []

    def hear(*_):
        heard.append(len(heard))
        if len(heard) == 3:
            raise InterruptedError

    before = signal.signal(signal.SIGALRM, hear)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        with pytest.raises(InterruptedError), torch.no_grad():
            model(symbols)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert heard == [0, 1, 2]
