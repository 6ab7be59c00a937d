"""The same checks on every activation that reduces groups."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from activations import ACTIVATIONS, Case, logits

NORMALIZED = [case for case in ACTIVATIONS if case.normalized]
each = pytest.mark.parametrize("case", ACTIVATIONS, ids=str)


def groups(count, k, layout):
    """The features of each group, as the two layouts are described."""
    if layout == "pairs":
        return [[k * i + j for j in range(k)] for i in range(count)]
    return [[i + count * j for j in range(k)] for i in range(count)]


@each
@pytest.mark.parametrize("layout", ["pairs", "halves"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_each_group_follows_the_equation(case: Case, k, layout):
    z = logits(5, 12)
    output = case.make(k=k, layout=layout)(z)
    assert output.shape == (5, 12 // k)
    expected = torch.tensor(
        [[case.equation([row[i] for i in group]) for group in groups(12 // k, k, layout)]
         for row in z.tolist()],
        dtype=torch.float64,
    )  # fmt: skip
    if case.normalized:  # any affine form will do here; its constants have a test of their own
        pair = torch.stack([expected.flatten(), torch.ones(expected.numel()).double()], 1)
        solution = torch.linalg.lstsq(pair, output.flatten()[:, None]).solution
        expected = (pair @ solution).view_as(expected)
    torch.testing.assert_close(output, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", NORMALIZED, ids=str)
def test_normalized_output_has_mean_0_and_variance_1(case: Case):
    for k in (2, 5):
        output = case.make(k=k)(logits(200_000, k, seed=k)).flatten()
        square = output.square()
        assert abs(output.mean()) < 4 / math.sqrt(len(output))
        assert abs(square.mean() - 1) < 4 * square.std() / math.sqrt(len(output))


@each
@pytest.mark.parametrize(
    ("dim", "shape", "expected"),
    [(1, (2, 6, 5, 3), (2, 3, 5, 3)), (-1, (2, 5, 6), (2, 5, 3)), (0, (6,), (3,))],
)
def test_features_lie_along_dim(case: Case, dim, shape, expected):
    z = logits(*shape)
    output = case.make(dim=dim)(z)
    assert output.shape == expected
    last = case.make(dim=-1)(z.movedim(dim, -1))
    torch.testing.assert_close(output, last.movedim(-1, dim))


@each
@pytest.mark.parametrize("k", [2, 3])
def test_ratio_and_multiple_are_those_of_the_output(case: Case, k):
    unit = case.make(k=k)
    assert unit.features_ratio == Fraction(1, k)
    assert unit.features_multiple == k
    for features in range(1, 8):
        if features % k == 0:
            assert unit(logits(1, features)).shape[1] == features * unit.features_ratio
        else:
            with pytest.raises(ValueError, match=str(k)):
                unit(logits(1, features))


@each
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_dtype_is_kept(case: Case, dtype):
    unit, z = case.make(), logits(4, 6, dtype=dtype)
    output = unit(z)
    assert output.dtype == dtype
    epsilon = torch.finfo(dtype).eps
    torch.testing.assert_close(
        output.double(), unit(z.double()), rtol=4 * epsilon, atol=4 * epsilon
    )


@each
def test_there_is_nothing_to_learn_or_to_save(case: Case):
    unit = case.make()
    assert not list(unit.parameters())
    assert not unit.state_dict()
    z = logits(2, 4)
    assert copy.deepcopy(unit)(z).equal(unit(z))


@each
def test_gradients_equal_numeric_ones(case: Case):
    assert torch.autograd.gradcheck(case.make(k=3), (logits(2, 6).requires_grad_(),))


@each
def test_traced_modules_equal_the_eager_one(case: Case):
    unit, z = case.make(), logits(4, 6, dtype=torch.float32)
    compiled = torch.compile(unit, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(z), unit(z))
    program = torch.export.export(unit, (z,))
    torch.testing.assert_close(program.module()(z), unit(z))
    targets = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert not [target for target in targets if target.startswith("torchalu")]


@each
def test_vmap_equals_a_loop(case: Case):
    unit, z = case.make(dim=0), logits(5, 6)
    torch.testing.assert_close(torch.vmap(unit)(z), torch.stack([unit(row) for row in z]))


@each
def test_integers_of_numpy_are_integers(case: Case):
    unit, plain, z = case.make(k=np.int64(3), dim=np.int32(1)), case.make(k=3), logits(2, 6)
    assert (type(unit.k), type(unit.dim)) == (int, int)
    assert repr(unit) == repr(plain)
    assert unit(z).equal(plain(z))


@each
def test_repr_shows_the_arguments(case: Case):
    text = repr(case.make(k=3, dim=-1, layout="halves"))
    form = "" if case.normalized is None else f", normalized={case.normalized}"
    assert text == f"{case.unit.__name__}(k=3, dim=-1, layout='halves'{form})"


@each
def test_wrong_arguments_are_named(case: Case):
    for k in (1, 0, -2):
        with pytest.raises(ValueError, match=f"k is {k}; a group has 2 features or more"):
            case.make(k=k)
    with pytest.raises(TypeError, match=r"k is 2\.0; give an integer"):
        case.make(k=2.0)
    with pytest.raises(TypeError, match="dim is None; give an integer"):
        case.make(dim=None)
    with pytest.raises(ValueError, match="layout is 'quarters'; give 'pairs' or 'halves'"):
        case.make(layout="quarters")
    with pytest.raises(TypeError, match=r"torch\.int64"):
        case.make()(torch.ones(2, 4, dtype=torch.int64))
    with pytest.raises(TypeError, match="input is a list; give a tensor"):
        case.make()([1.0, 2.0])
    for wrong in ("yes", 1, None):
        if case.normalized is not None:
            with pytest.raises(TypeError, match=f"normalized is {wrong!r}; give True or False"):
                case.unit(normalized=wrong)
