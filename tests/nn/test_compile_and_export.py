"""Units in one model, through the compiler and through ONNX."""

import pytest
import torch
from torch.autograd import forward_ad

from torchalu import nn
from units import UNITS


class EveryUnit(torch.nn.Module):
    """Every unit on the same input."""

    def __init__(self):
        super().__init__()
        self.units = torch.nn.ModuleList(case.make() for case in UNITS)

    def forward(self, input):
        return tuple(unit(input) for unit in self.units)


def inputs(rows):
    generator = torch.Generator().manual_seed(rows)
    return torch.randn(rows, 4, generator=generator)


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
def test_compiled_operator_gives_the_same_values_and_gradients():
    """The unit with an operator of its own; tests/test_units.py traces every unit."""
    model = nn.NMU(4, 3, generator=torch.Generator().manual_seed(0))
    compiled = torch.compile(model, fullgraph=True, options={"cpp_cache_precompile_headers": False})
    results = []
    for call in (compiled, model):
        model.zero_grad()
        output = call(inputs(7))
        output.sin().sum().backward()
        results.append((output, model.weight.grad))
    torch.testing.assert_close(*results)


def test_compiled_ensemble_of_gradients_is_right():
    """torch.func under the compiler must not lose the operator's derivative."""
    unit = nn.NMU(4, 3, dtype=torch.float64)

    def loss(weight, row):
        return torch.func.functional_call(unit, {"weight": weight}, row).sin().sum()

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))
    x, weight = inputs(5).double(), unit.weight.detach()
    compiled = torch.compile(each, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(weight, x), each(weight, x))
    assert compiled(weight, x).ne(0).all()


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by torch's own formulas
@pytest.mark.parametrize("case", UNITS, ids=str)
def test_forward_derivatives_equal_backward_ones(case):
    """In torch.func, once and over themselves, and with dual numbers."""
    unit, x = case.make(dtype=torch.float64), inputs(1).double()[0] + 2
    jacobian = torch.func.jacrev(unit)(x)
    torch.testing.assert_close(torch.func.jacfwd(unit)(x), jacobian)
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(unit(forward_ad.make_dual(x, torch.ones_like(x)))).tangent
    torch.testing.assert_close(tangent, jacobian.sum(1))
    second = torch.func.jacrev(torch.func.jacrev(unit))(x)
    torch.testing.assert_close(torch.func.jacfwd(torch.func.jacrev(unit))(x), second)
    torch.testing.assert_close(torch.func.jacfwd(torch.func.jacfwd(unit))(x), second)


@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec.` is deprecated:FutureWarning")
def test_onnx_runtime_gives_the_same_values_for_any_batch():
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra torchalu[onnx]")
    model = EveryUnit().eval()
    batch = torch.export.Dim("batch", min=1, max=1024)
    program = torch.onnx.export(
        model, (inputs(3),), dynamo=True, dynamic_shapes=({0: batch},), verbose=False
    )
    assert program is not None
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    name = session.get_inputs()[0].name
    for rows in (1, 3, 50):
        x = inputs(rows)
        outputs = session.run(None, {name: x.numpy()})
        for case, got, expected in zip(UNITS, outputs, model(x), strict=True):
            torch.testing.assert_close(
                torch.from_numpy(got), expected.detach(), rtol=1e-4, atol=1e-5, msg=str(case)
            )


def test_exported_program_holds_no_operator_of_this_library():
    program = torch.export.export(EveryUnit(), (inputs(3),))
    targets = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert not [target for target in targets if target.startswith("torchalu")]
