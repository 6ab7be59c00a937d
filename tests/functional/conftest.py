"""A check of a function's value and gradients against arithmetic of 460 digits."""

import itertools
import math

import mpmath
import pytest
import torch

EXTREMES = (0.0, 1e-310, -1e-310, 1e-30, -1e-30, 0.3, -0.7, 1.0, -1.0, 2.5, -2.5, 1e30, -1e30)


@pytest.fixture
def extreme_pairs():
    """Pairs of 0, denormals, tiny, usual and huge numbers of both signs."""
    return list(itertools.product(EXTREMES, (0.0, -1e-310, 1e-30, -0.7, 1e30)))


@pytest.fixture
def agrees_with_mpmath():
    """Compare `function(x, *parameters)`, for one row and one output, with `equation`."""
    return _agrees


def _agrees(function, equation, x, parameters, dtype, scaled=False):
    """`equation(x, *parameters)` takes and answers with mpmath numbers, one list an argument.

    Where the exact number is beyond the dtype only NaN is refused; a gradient at x = 0 is
    compared where the equation has one from both sides. A gradient is asked for as exactly as
    the value, since log(1 + eps) is as exact as 1 is. `scaled` says that every gradient is the
    value times something, and hence compared only where the value is a normal number.
    """
    tensors = [_tensor(v, dtype) for v in (x, *parameters)]
    value = function(*tensors).squeeze()
    value.backward()
    numbers = [[mpmath.mpf(t.item()) for t in tensor.flatten()] for tensor in tensors]
    finfo = torch.finfo(dtype)
    relative = 1000 * finfo.eps
    least = finfo.smallest_normal * finfo.eps * max(1.0, *(abs(a) for a in x))
    with mpmath.workdps(460):
        expected = equation(*numbers)
        normal = finfo.tiny <= abs(expected) <= finfo.max
        _compare(value.item(), expected, relative * abs(expected) + finfo.tiny, dtype, x)
        for a, tensor in enumerate(tensors):
            assert tensor.grad is not None
            for i, got in enumerate(tensor.grad.flatten().tolist()):
                slope = _slope(equation, numbers, a, i)
                where = (a, i, x, parameters)
                assert not math.isnan(got), where
                if slope is not None and (normal or not scaled):
                    scale = abs(slope) + abs(expected) / max(1, abs(numbers[a][i]))
                    _compare(got, slope, relative * scale + 4 * least, dtype, where)


def _tensor(values, dtype):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def _slope(equation, numbers, argument, index):
    """Derivative by one number; None where the two sides differ by more than their sign."""

    def shifted(step):
        moved = [list(each) for each in numbers]
        moved[argument][index] += step
        return equation(*moved)

    center = numbers[argument][index]
    step = (abs(center) or 1) * mpmath.mpf(10) ** -120
    up, down, here = shifted(step), shifted(-step), shifted(mpmath.mpf(0))
    left, right = (here - down) / step, (up - here) / step
    if center == 0 and abs(abs(left) - abs(right)) > 1e-9 * abs(right):
        return None
    return (left + right) / 2


def _compare(got, expected, allowed, dtype, where):
    """Close, unless the exact number is beyond the dtype; then only not NaN."""
    assert not math.isnan(got), where
    if abs(expected) < torch.finfo(dtype).max:
        assert abs(got - expected) <= allowed, f"{where}: {got}, not {mpmath.nstr(expected, 20)}"
