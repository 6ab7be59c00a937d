"""One step of the Neural GPU and of its improved form."""

import math
import re

import pytest
import torch

import neural_gpu_steps as loops
from torchalu.functional import cgru, diagonal_cgru, diagonal_shift, gate_cutoff, hard_sigmoid


def draw(*shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    return [
        (0.7 * torch.randn(shape, generator=generator, dtype=torch.float64)).to(dtype)
        for shape in shapes
    ]


def cgru_tensors(dtype=torch.float64):
    return draw((2, 5, 3, 2), (4, 2, 3, 5), (4,), (2, 2, 3, 5), (2,), dtype=dtype)


def diagonal_tensors(dtype=torch.float64):
    return draw((2, 5, 6), (12, 6, 3), (12,), (6, 6, 3), (6,), dtype=dtype)


@pytest.mark.parametrize("cutoff", [True, False])
def test_cgru_equals_loops_over_single_numbers(cutoff):
    state, *parameters = cgru_tensors()
    new = cgru(state, *parameters, cutoff=cutoff)
    arrays = [part.numpy() for part in parameters]
    for row, sequence in zip(new, state, strict=True):
        expected = torch.from_numpy(loops.cgru(sequence.numpy(), *arrays, cutoff=cutoff))
        torch.testing.assert_close(row, expected)


def test_diagonal_cgru_equals_loops_over_single_numbers():
    state, *parameters = diagonal_tensors()
    new = diagonal_cgru(state, *parameters)
    arrays = [part[..., None].numpy() if part.ndim > 1 else part.numpy() for part in parameters]
    for row, sequence in zip(new, state, strict=True):
        expected, _ = loops.diagonal(sequence[:, None].numpy(), *arrays)
        torch.testing.assert_close(row[:, None], torch.from_numpy(expected))


@pytest.mark.parametrize("step", [cgru, diagonal_cgru])
def test_a_masked_sequence_equals_a_short_one(step):
    state, *parameters = cgru_tensors() if step is cgru else diagonal_tensors()
    state[1, 3:] = 0
    new = step(state, *parameters, lengths=torch.tensor([5, 3]))
    assert new[1, 3:].eq(0).all()
    torch.testing.assert_close(new[1:, :3], step(state[1:, :3], *parameters))
    torch.testing.assert_close(new[:1], step(state[:1], *parameters))


@pytest.mark.parametrize("step", [cgru, diagonal_cgru])
def test_gradients_equal_numeric_ones(step):
    inputs = cgru_tensors() if step is cgru else diagonal_tensors()
    assert torch.autograd.gradcheck(step, [part.requires_grad_() for part in inputs])


@pytest.mark.parametrize("step", [cgru, diagonal_cgru])
def test_compiles_without_a_graph_break(step):
    inputs = cgru_tensors() if step is cgru else diagonal_tensors()
    lengths = torch.tensor([5, 3])
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*inputs, lengths=lengths), step(*inputs, lengths=lengths))
    with pytest.raises(RuntimeError, match="lengths contains a wrong number; give numbers from 0"):
        compiled(*inputs, lengths=lengths + 1)


@pytest.mark.parametrize("step", [cgru, diagonal_cgru])
def test_autocast_is_near_float32(step):
    tensors = cgru_tensors if step is cgru else diagonal_tensors
    inputs = [part.requires_grad_() for part in tensors(torch.float32)]
    exact = step(*tensors())
    with torch.autocast("cpu", torch.bfloat16):
        new = step(*inputs)
    torch.testing.assert_close(new.double(), exact, rtol=0, atol=0.05)
    new.sum().backward()
    assert all(part.grad is not None and part.grad.isfinite().all() for part in inputs)


def test_gates_reach_their_bounds():
    # 1.2 sigmoid(x) - 0.1 is 0 at x = -log(11)
    bound = math.log(11)
    x = torch.tensor([-bound - 1e-6, 0.0, 1.0, bound + 1e-6], dtype=torch.float64)
    middle = 1.2 / (1 + math.exp(-1)) - 0.1
    assert gate_cutoff(x).tolist() == pytest.approx([0.0, 0.5, middle, 1.0], rel=1e-15)
    assert gate_cutoff(x)[[0, 3]].tolist() == [0.0, 1.0]
    assert gate_cutoff(x[[0, 3]] * (1 - 1e-5)).sub(torch.tensor([0.0, 1.0])).ne(0).all()
    line = torch.tensor([-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    assert hard_sigmoid(line).tolist() == [0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0]


def test_shift_moves_a_third_each_way():
    state = torch.arange(1.0, 13.0).reshape(1, 2, 6)  # at position 0: 1 to 6, at 1: 7 to 12
    assert diagonal_shift(state).tolist() == [
        [[0.0, 0.0, 9.0, 10.0, 5.0, 6.0], [1.0, 2.0, 0.0, 0.0, 11.0, 12.0]]
    ]
    assert diagonal_shift(state[:, :1]).tolist() == [[[0.0, 0.0, 0.0, 0.0, 5.0, 6.0]]]


def test_open_gates_carry_the_state_along():
    maps, length = 6, 7
    state = torch.rand(1, length, maps, generator=torch.Generator().manual_seed(0))
    gates = torch.zeros(2 * maps, maps, 3), torch.ones(2 * maps)
    candidate = torch.zeros(maps, maps, 3), torch.ones(maps)
    new = state
    for _ in range(length - 1):
        new = diagonal_cgru(new, *gates, *candidate)
    assert new[0, -1, :2].equal(state[0, 0, :2])
    assert new[0, 0, 2:4].equal(state[0, -1, 2:4])
    assert new[0, :, 4:].equal(state[0, :, 4:])


def test_wrong_arguments_are_named():
    state, *parameters = cgru_tensors()
    wrong = [
        (0, parameters[0][:3], "gate_weight has shape (3, 2, 3, 5); for a state of 2 maps"),
        (0, parameters[0][..., 0], "give (4, 2, *kernel sizes)"),
        (1, parameters[1][:2], "gate_bias has shape (2,); for a state of 2 maps give (4,)"),
        (2, parameters[2][..., :4], "(2, 2, 3, 4); give kernels of odd sizes, such as 3"),
        (3, parameters[3][:1], "candidate_bias has shape (1,)"),
    ]
    for index, value, message in wrong:
        arguments = [*parameters[:index], value, *parameters[index + 1 :]]
        with pytest.raises(ValueError, match=re.escape(message)):
            cgru(state, *arguments)
    with pytest.raises(ValueError, match=re.escape("give (batch, length, width, maps)")):
        cgru(state[0], *parameters)
    with pytest.raises(TypeError, match=r"lengths is torch\.int32"):
        cgru(state, *parameters, lengths=torch.tensor([5, 3], dtype=torch.int32))
    with pytest.raises(ValueError, match="one number for each of the 2 sequences"):
        cgru(state, *parameters, lengths=torch.tensor([5]))
    for number in (6, -1):
        with pytest.raises(
            ValueError, match=f"lengths contains {number}; give numbers from 0 to 5"
        ):
            cgru(state, *parameters, lengths=torch.tensor([5, number]))
    state, *parameters = diagonal_tensors()
    with pytest.raises(ValueError, match="lengths contains 6; give numbers from 0 to 5"):
        diagonal_cgru(state, *parameters, lengths=torch.tensor([6, 5]))
    with pytest.raises(ValueError, match=r"state has 5 maps; .* give a multiple of 3"):
        diagonal_cgru(state[..., :5], *parameters)
    with pytest.raises(ValueError, match=re.escape("give (batch, length, maps)")):
        diagonal_shift(state[0])
    with pytest.raises(ValueError, match=r"candidate_weight has shape .* odd sizes"):
        diagonal_cgru(state, *parameters[:2], parameters[2][..., :2], parameters[3])
