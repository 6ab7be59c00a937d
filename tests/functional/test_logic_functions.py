"""The functions of groups: their conventions, properties, layouts and refusals."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchalu import functional

NAMES = (
    "and_ail", "or_ail", "xnor_ail", "max_out", "min_out",
    "logit_and", "logit_or", "logit_xnor", "signed_geomean",
)  # fmt: skip
EXACT = ("logit_and", "logit_or", "logit_xnor")
SYMMETRIC = ("xnor_ail", "logit_xnor", "signed_geomean")  # odd in each operand
each = pytest.mark.parametrize("name", NAMES)


def logits(*shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def equation(name, z):
    """The function of one group, in Python's floats."""
    sigmoids = [1 / (1 + math.exp(-x)) for x in z]
    match name:
        case "and_ail":
            return sum(x for x in z if x < 0) if min(z) < 0 else min(z)
        case "or_ail":
            return sum(x for x in z if x > 0) if max(z) > 0 else max(z)
        case "xnor_ail":
            return math.copysign(min(map(abs, z)), math.prod(math.copysign(1, x) for x in z))
        case "max_out":
            return max(z)
        case "min_out":
            return min(z)
        case "logit_and":
            p = math.prod(sigmoids)
            return math.log(p) - math.log1p(-p)
        case "logit_or":
            p = math.prod(1 - s for s in sigmoids)
            return math.log1p(-p) - math.log(p)
        case "logit_xnor":
            return 2 * math.atanh(math.prod(math.tanh(x / 2) for x in z))
    product = math.prod(z)
    return math.copysign(abs(product) ** (1 / len(z)), product)


def groups(features, k, layout):
    """The features of each group, as the two layouts are described."""
    count = features // k
    if layout == "pairs":
        return [[k * i + j for j in range(k)] for i in range(count)]
    return [[i + count * j for j in range(k)] for i in range(count)]


def gradient(function, z, slope=None):
    z = z.detach().clone().requires_grad_()
    output = function(z)
    return torch.autograd.grad(output, z, torch.ones_like(output) if slope is None else slope)[0]


@st.composite
def inputs(draw):
    """A shape with groups along some dimension, and how they lie."""
    k = draw(st.integers(2, 6))
    layout = draw(st.sampled_from(["pairs", "halves"]))
    shape = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    dim = draw(st.integers(-len(shape), len(shape) - 1))
    shape[dim] = k * draw(st.integers(0, 20))
    return shape, dim, k, layout, draw(st.permutations(range(len(shape)))), draw(st.integers(1, 2))


@each
@settings(max_examples=60, deadline=None)
@given(case=inputs())
def test_every_shape_layout_and_stride(name, case):
    """Features along any dimension of an input that lies in memory in any order."""
    shape, dim, k, layout, order, step = case
    stored = logits(*[shape[d] * (step if d == order[-1] else 1) for d in order])
    z = stored[..., ::step].permute(*[order.index(d) for d in range(len(shape))])
    assert list(z.shape) == shape
    operator = getattr(functional, name)
    output = operator(z, k=k, dim=dim, layout=layout)
    rows = z.movedim(dim, -1).reshape(-1, shape[dim]).tolist() if z.numel() else []
    expected = [
        [equation(name, [row[i] for i in group]) for group in groups(shape[dim], k, layout)]
        for row in rows
    ]
    reduced = [shape[d] // k if d == dim % len(shape) else shape[d] for d in range(len(shape))]
    assert list(output.shape) == reduced
    flat = torch.tensor(expected, dtype=torch.float64).flatten()
    torch.testing.assert_close(output.movedim(dim, -1).flatten(), flat, rtol=1e-9, atol=1e-12)
    slope = logits(*reduced, seed=1)
    plain = z.movedim(dim, -1).contiguous()
    (last,) = (gradient(lambda x: operator(x, k=k, dim=-1, layout=layout), plain,
                        slope.movedim(dim, -1)),)  # fmt: skip
    got = gradient(lambda x: operator(x, k=k, dim=dim, layout=layout), z, slope)
    torch.testing.assert_close(got, last.movedim(-1, dim), rtol=1e-12, atol=1e-12)


@each
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_gradients_equal_differences(name, k, layout):
    """Far from ties and kinks; sizes at which whole vectors, lines and rests of them occur."""
    for shape in ((1, 19 * k), (1, k, 17), (2, 2 * k, 3)):
        z = logits(*shape).requires_grad_()
        operator = getattr(functional, name)
        assert torch.autograd.gradcheck(lambda z: operator(z, k=k, layout=layout), (z,))  # noqa: B023
        # Of all second derivatives a random projection is compared; the whole takes minutes.
        assert torch.autograd.gradgradcheck(
            lambda z: operator(z, k=k, layout=layout),  # noqa: B023
            (z,),
            fast_mode=True,
        )


@each
@pytest.mark.parametrize("k", [2, 3])
def test_channels_last_stays_channels_last(name, k):
    z = logits(2, 4 * k, 5, 3)
    last = z.contiguous(memory_format=torch.channels_last).requires_grad_()
    operator = getattr(functional, name)
    output = operator(last, k=k)
    assert output.is_contiguous(memory_format=torch.channels_last)
    assert output.equal(operator(z, k=k))
    output.sum().backward()
    assert last.grad is not None
    assert last.grad.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("and_ail", {
            (-1, -2): (1, 1), (1, 2): (1, 0), (-1, 2): (1, 0), (2, 2): (0.5, 0.5),
            (0, 0): (0.5, 0.5), (-1, 0): (1, 0), (0, 3): (1, 0), (-2, -2): (1, 1),
            (1, 1, 1): (1 / 3,) * 3, (1, 1, 2): (0.5, 0.5, 0),
            (-1, -2, 3): (1, 1, 0), (0, 0, -1): (0, 0, 1), (0, 0, 1): (0.5, 0.5, 0),
        }),
        ("xnor_ail", {
            (1, 2): (1, 0), (-1, 2): (1, 0), (1, -2): (-1, 0), (-1, -2): (-1, 0),
            (2, 2): (0.5, 0.5), (2, -2): (-0.5, 0.5), (-2, -2): (-0.5, -0.5),
            (0, 3): (1, 0), (0, -3): (-1, 0), (0, 0): (0.5, 0.5),
            (-1, -2, 3): (-1, 0, 0), (1, -1, 1): (-1 / 3, 1 / 3, -1 / 3),
            (0, -2, -3): (1, 0, 0), (0, 0, -1): (-0.5, -0.5, 0),
        }),
        ("max_out", {(1, 2): (0, 1), (2, 2): (0.5, 0.5), (0, -0.0): (0.5, 0.5),
                     (3, 3, 1): (0.5, 0.5, 0)}),
        ("min_out", {(1, 2): (1, 0), (-2, -2): (0.5, 0.5), (3, 3, 5): (0.5, 0.5, 0)}),
        ("signed_geomean", {(0, 4): (0, 0), (0, 0): (0, 0), (1, 4): (1, 0.25),
                            (-1, 4): (1, -0.25), (0, 1, 1): (0, 0, 0)}),
        ("logit_xnor", {(0, 0): (0, 0), (0, math.log(3)): (0.5, 0),
                        (0, 0, 1): (0, 0, 0), (0, math.log(3), math.log(3)): (0.25, 0, 0)}),
        ("logit_and", {(0, 0): (2 / 3, 2 / 3), (0, 0, 0): (4 / 7, 4 / 7, 4 / 7)}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_slopes_at_ties_and_zeros(name, cases, dtype):
    for group, slopes in cases.items():
        z = torch.tensor([group], dtype=dtype)
        wanted = torch.tensor([slopes], dtype=dtype)
        got = gradient(lambda z: getattr(functional, name)(z, k=z.shape[1]), z)
        torch.testing.assert_close(got, wanted, msg=lambda text, group=group: f"{group}: {text}")
        if name == "and_ail":
            mirrored = gradient(lambda z: functional.or_ail(z, k=z.shape[1]), -z)
            torch.testing.assert_close(mirrored, wanted)


@pytest.mark.parametrize("name", ["and_ail", "or_ail", "xnor_ail", "max_out", "min_out"])
def test_zeros_are_alike_whatever_their_sign(name):
    z = torch.tensor([[0.0, -3.0], [0.0, 0.0], [0.0, 2.0]])
    operator = getattr(functional, name)
    signed = z.where(z != 0, torch.tensor(-0.0))
    assert gradient(operator, signed).equal(gradient(operator, z))


@pytest.mark.parametrize("k", [127, 128, 300])
@pytest.mark.parametrize("name", ["and_ail", "or_ail", "xnor_ail", "max_out", "min_out"])
def test_any_number_of_operands_can_tie(name, k):
    got = gradient(lambda z: getattr(functional, name)(z, k=k), torch.zeros(2, k))
    torch.testing.assert_close(got, torch.full((2, k), 1 / k))


OPERANDS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e4, -1e4, 1e-9, -1e-9, 40.0, -40.0]),
    st.floats(-3, 3),
    st.floats(-1e4, 1e4),
)


@st.composite
def operands(draw, least=2, most=6):
    """Rows of operands, with ties, zeros and magnitudes of all sizes among them."""
    k = draw(st.integers(least, most))
    row = st.lists(OPERANDS, min_size=k, max_size=k)
    return torch.tensor(draw(st.lists(row, min_size=1, max_size=6)), dtype=torch.float64)


def whole(name, z):
    """The function of each row."""
    return getattr(functional, name)(z, k=z.shape[1])


def assert_same(got, wanted):
    """To rounding, which the order of operands may change."""
    torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("names", [("and_ail", "or_ail"), ("logit_and", "logit_or")])
@settings(max_examples=60, deadline=None)
@given(z=operands())
def test_de_morgan(names, z):
    conjunction, disjunction = names
    assert whole(disjunction, z).equal(-whole(conjunction, -z))
    slopes = gradient(lambda z: whole(disjunction, z), z)
    assert slopes.equal(gradient(lambda z: whole(conjunction, z), -z))


@each
@settings(max_examples=60, deadline=None)
@given(z=operands(), data=st.data())
def test_order_does_not_matter(name, z, data):
    order = data.draw(st.permutations(range(z.shape[1])))
    assert_same(whole(name, z[:, order]), whole(name, z))
    slopes = [gradient(lambda z: whole(name, z), x) for x in (z, z[:, order])]
    assert_same(slopes[1], slopes[0][:, order])


@pytest.mark.parametrize("name", [*EXACT, "xnor_ail", "max_out", "min_out"])
@settings(max_examples=60, deadline=None)
@given(z=operands(3, 6), data=st.data())
def test_what_is_taken_together_first_does_not_matter(name, z, data):
    first = data.draw(st.integers(2, z.shape[1] - 1))
    assert_same(
        whole(name, torch.cat([whole(name, z[:, :first]), z[:, first:]], 1)), whole(name, z)
    )


@pytest.mark.parametrize("name", SYMMETRIC)
@settings(max_examples=60, deadline=None)
@given(z=operands(), data=st.data())
def test_not_is_a_change_of_sign(name, z, data):
    signs = data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=6, max_size=6))
    turned = torch.tensor(signs[: z.shape[1]], dtype=z.dtype)
    assert whole(name, z * turned).equal(turned.prod() * whole(name, z))


@pytest.mark.parametrize("name", EXACT)
def test_truth_tables_of_sure_events(name):
    z = torch.tensor([[100.0, 100.0], [100.0, -100.0], [-100.0, 100.0], [-100.0, -100.0]])
    truth = {"logit_and": [1, 0, 0, 0], "logit_or": [1, 1, 1, 0], "logit_xnor": [1, 0, 0, 1]}
    for form in (name, name.replace("logit_", "") + "_ail"):
        assert getattr(functional, form)(z).gt(0).flatten().tolist() == truth[name]


@each
@pytest.mark.parametrize("k", [2, 3])
def test_half_precision_rounds_once(name, k):
    operator = getattr(functional, name)
    for dtype in (torch.bfloat16, torch.float16):
        z = logits(40, 8 * k, dtype=dtype)
        slope = logits(40, 8, seed=1, dtype=dtype)
        exact = operator(z.double(), k=k)
        assert operator(z, k=k).dtype == dtype
        bound = torch.finfo(dtype).eps * 0.51
        torch.testing.assert_close(operator(z, k=k).double(), exact, rtol=bound, atol=1e-7)
        grads = [gradient(lambda z: operator(z, k=k), x, s)
                 for x, s in ((z, slope), (z.double(), slope.double()))]  # fmt: skip
        torch.testing.assert_close(grads[0].double(), grads[1], rtol=bound, atol=1e-7)
        with torch.autocast("cpu", torch.bfloat16):
            assert operator(z, k=k).equal(operator(z, k=k))
            assert operator(z, k=k).dtype == dtype
            assert operator(z.float(), k=k).dtype == torch.float32


@pytest.mark.parametrize("layout", ["pairs", "halves"])
@pytest.mark.parametrize("strategy", ["duplicate", "partition"])
@pytest.mark.parametrize("operators", [NAMES, ("or_ail", "and_ail", "xnor_ail"), ("logit_or",)])
def test_ensembles_equal_their_members(operators, strategy, layout):
    count = len(operators)
    for shape in ((5, 6 * count), (2, 6 * count, 19), (1, 120 * count)):
        z = logits(*shape)
        options = {"k": 3, "layout": layout}
        members = [getattr(functional, name) for name in operators]
        if strategy == "duplicate":
            parts = [z] * count
        elif layout == "pairs":
            parts = z.chunk(count, 1)
        else:
            blocks = z.unflatten(1, (3, count, -1))
            parts = [block.flatten(1, 2) for block in blocks.unbind(2)]
        wanted = [f(part, **options) for f, part in zip(members, parts, strict=True)]
        output = functional.logic_ensemble(z, operators, strategy=strategy, **options)
        assert output.equal(torch.cat(wanted, 1))
        assert torch.autograd.gradcheck(
            lambda z: functional.logic_ensemble(z, operators, strategy=strategy, **options),  # noqa: B023
            (logits(2, 6 * count).requires_grad_(),),
        )


def test_operators_may_come_from_a_generator():
    z = torch.randn(3, 4)
    names = ["or_ail", "and_ail"]
    found = functional.logic_ensemble(z, (name for name in names))
    torch.testing.assert_close(found, functional.logic_ensemble(z, names))
    assert found.shape == (3, 4)


def test_wrong_arguments_are_named():
    z = torch.ones(2, 6)
    with pytest.raises(TypeError, match=r"torch\.int64"):
        functional.or_ail(z.long())
    with pytest.raises(TypeError, match="input is a list; give a tensor"):
        functional.or_ail([1.0, 2.0])
    with pytest.raises(TypeError, match="input is a ndarray; give a tensor"):
        functional.max_out(z.numpy())
    with pytest.raises(TypeError, match="normalized is 'yes'; give True or False"):
        functional.or_ail(z, normalized="yes")
    with pytest.raises(TypeError, match="normalized is 1; give True or False"):
        functional.logic_ensemble(z, ["or_ail"], normalized=1)
    for k in (1, 0, -3):
        with pytest.raises(ValueError, match=f"k is {k}; a group has 2 features or more"):
            functional.or_ail(z, k=k)
    with pytest.raises(TypeError, match=r"k is 2\.0; give an integer"):
        functional.or_ail(z, k=2.0)
    with pytest.raises(ValueError, match=r"6 features along dimension 1.* a multiple of 4"):
        functional.or_ail(z, k=4)
    with pytest.raises(ValueError, match=r"dim is 2, but input has shape \(2, 6\)"):
        functional.or_ail(z, dim=2)
    with pytest.raises(ValueError, match="layout is 'thirds'; give 'pairs' or 'halves'"):
        functional.or_ail(z, layout="thirds")
    with pytest.raises(ValueError, match="2 equal shares of groups of 2; give a multiple of 4"):
        functional.logic_ensemble(z, ("or_ail", "max_out"), strategy="partition")
    with pytest.raises(ValueError, match="operators holds 'nor_ail'; choose from and_ail"):
        functional.logic_ensemble(z, ["nor_ail"])
    with pytest.raises(ValueError, match="operators is empty"):
        functional.logic_ensemble(z, [])
    with pytest.raises(TypeError, match="operators is 'or_ail'; give a list"):
        functional.logic_ensemble(z, "or_ail")
    with pytest.raises(ValueError, match="strategy is 'share'"):
        functional.logic_ensemble(z, ["or_ail"], strategy="share")
    with pytest.raises(ValueError, match="max_out has no normalized form"):
        functional.logic_ensemble(z, ["or_ail", "max_out"], normalized=True)
