"""The DNC against its equations, written out index by index in NumPy."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from torchalu.experiments.trask2018.dnc import DNC
from torchalu.experiments.trask2018.dnc_memory import allocation, content_weighting
from torchalu.experiments.trask2018.ugrnn import UGRNN

ROWS, WIDTH, HEADS, HIDDEN, INPUT = 5, 3, 2, 4, 3


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def lstm(network, x, h, c):
    """One step of the controller; torch orders its gates i, f, g, o."""
    cell = network.controller
    w, u = cell.weight_ih.detach().numpy(), cell.weight_hh.detach().numpy()
    z = w @ x + u @ h + (cell.bias_ih + cell.bias_hh).detach().numpy()
    i, f, g, o = (z[k * HIDDEN : (k + 1) * HIDDEN] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def by_content(memory, key, strength):
    norm = math.sqrt(sum(k * k for k in key) + 1e-6)
    cosines = []
    for i in range(ROWS):
        size = math.sqrt(sum(memory[i, n] ** 2 for n in range(WIDTH)) + 1e-6)
        cosines.append(sum(memory[i, n] * key[n] for n in range(WIDTH)) / (norm * size))
    return softmax(strength * np.array(cosines))


def first(numbers, count):
    return np.array([numbers.pop(0) for _ in range(count)])


def run_by_index(network, inputs):
    """The outputs of one sequence, and the last memory."""
    h = c = np.zeros(HIDDEN)
    memory, links = np.zeros((ROWS, WIDTH)), np.zeros((ROWS, ROWS))
    usage = wrote = precedence = np.zeros(ROWS)
    heads, vectors = np.zeros((HEADS, ROWS)), np.zeros((HEADS, WIDTH))
    outputs = []
    for x in inputs:
        h, c = lstm(network, np.concatenate([x, vectors.ravel()]), h, c)
        xi = network.interface.weight.detach().numpy() @ h
        xi = list(xi + network.interface.bias.detach().numpy())
        take = partial(first, xi)
        read_keys = take(HEADS * WIDTH).reshape(HEADS, WIDTH)
        read_strengths = 1 + np.log1p(np.exp(take(HEADS)))
        key, strength = take(WIDTH), 1 + np.log1p(np.exp(take(1)[0]))
        erase, vector = sigmoid(take(WIDTH)), take(WIDTH)
        free, to_free, to_write = sigmoid(take(HEADS)), sigmoid(take(1)[0]), sigmoid(take(1)[0])
        modes = [softmax(row) for row in take(3 * HEADS).reshape(HEADS, 3)]
        assert not xi

        new_usage = np.zeros(ROWS)
        for i in range(ROWS):
            kept = math.prod(1 - free[r] * heads[r, i] for r in range(HEADS))
            new_usage[i] = (usage[i] + wrote[i] - usage[i] * wrote[i]) * kept
        usage = new_usage
        order = sorted(range(ROWS), key=lambda i, u=usage: (u[i], i))
        free_places = np.zeros(ROWS)
        for j, place in enumerate(order):
            free_places[place] = (1 - usage[place]) * math.prod(usage[k] for k in order[:j])
        found = by_content(memory, key, strength)
        wrote = to_write * (to_free * free_places + (1 - to_free) * found)
        new_links = np.zeros((ROWS, ROWS))
        for i in range(ROWS):
            for n in range(WIDTH):
                memory[i, n] = memory[i, n] * (1 - wrote[i] * erase[n]) + wrote[i] * vector[n]
            for j in range(ROWS):
                if i != j:
                    kept = (1 - wrote[i] - wrote[j]) * links[i, j]
                    new_links[i, j] = kept + wrote[i] * precedence[j]
        links = new_links
        precedence = (1 - sum(wrote)) * precedence + wrote
        for r in range(HEADS):
            last, found = heads[r].copy(), by_content(memory, read_keys[r], read_strengths[r])
            for i in range(ROWS):
                backward = sum(links[j, i] * last[j] for j in range(ROWS))
                forward = sum(links[i, j] * last[j] for j in range(ROWS))
                heads[r, i] = (
                    modes[r][0] * backward + modes[r][1] * found[i] + modes[r][2] * forward
                )
            vectors[r] = sum(heads[r, i] * memory[i] for i in range(ROWS))
        outputs.append(np.concatenate([h, vectors.ravel()]))
    return np.array(outputs), links


@pytest.fixture
def network():
    torch.manual_seed(0)
    made = DNC(INPUT, HIDDEN, rows=ROWS, width=WIDTH, heads=HEADS).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(3)  # away from the middle of all gates
    return made


def test_twelve_steps_equal_the_equations_written_out_by_index(network):
    inputs = torch.randn(3, 12, INPUT, dtype=torch.float64)
    outputs = network(inputs).detach().numpy()
    for row, sequence in zip(outputs, inputs.numpy(), strict=True):
        expected, links = run_by_index(network, sequence)
        np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-12)
        assert np.abs(links).max() > 1e-3  # or the links were never at work


def test_packed_sequences_have_the_outputs_and_gradients_of_each_alone(network):
    lengths = [3, 7, 1, 7]
    sequences = [torch.randn(n, INPUT, dtype=torch.float64) for n in lengths]
    packed = network(pack_sequence(sequences, enforce_sorted=False))
    together, ends = pad_packed_sequence(packed, batch_first=True)
    assert ends.tolist() == lengths
    (together**2).sum().backward()
    gradients = {name: p.grad.clone() for name, p in network.named_parameters()}
    network.zero_grad()
    for row, sequence in zip(together.detach(), sequences, strict=True):
        alone = network(sequence.unsqueeze(0))[0]
        np.testing.assert_allclose(row[: len(sequence)], alone.detach(), rtol=1e-12)
        assert not row[len(sequence) :].any()
        (alone**2).sum().backward()
    for name, parameter in network.named_parameters():
        np.testing.assert_allclose(gradients[name], parameter.grad, rtol=1e-9, atol=1e-12)


def test_gradients_of_a_few_steps(network):
    inputs = torch.randn(1, 3, INPUT, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(network, (inputs,), fast_mode=True)


def test_no_place_is_used_more_than_wholly_and_links_have_no_diagonal(network):
    inputs = torch.randn(4, 20, INPUT, dtype=torch.float64)
    state, vectors = network.initial_state(inputs[:, 0]), inputs.new_zeros(4, HEADS * WIDTH)
    for step in inputs.unbind(1):
        state, vectors = network.step(step, state, vectors)
        memory = state.memory
        for weights in (memory.usage, memory.written, memory.precedence, memory.read):
            assert weights.min() >= 0
            assert weights.max() <= 1
        for weights in (memory.written, memory.precedence, memory.read):
            assert weights.sum(-1).max() <= 1 + 1e-12
        assert memory.links.diagonal(dim1=1, dim2=2).abs().max() == 0
        assert memory.links.sum(-1).max() <= 1 + 1e-12


def test_an_empty_memory_is_filled_from_the_first_place():
    assert allocation(torch.zeros(1, 3)).tolist() == [[1, 0, 0]]
    shares = allocation(torch.tensor([[0.5, 0.25, 1.0]]))
    assert shares.tolist() == [[0.5 * 0.25, 0.75, 0.0]]


def test_the_place_that_holds_the_key_is_found():
    content = torch.eye(3).unsqueeze(0)
    found = content_weighting(content, torch.tensor([[[0.0, 2.0, 0.0]]]), torch.tensor([[50.0]]))
    torch.testing.assert_close(found[0, 0], torch.tensor([0.0, 1.0, 0.0]))


def test_ugrnn_equals_its_equations():
    torch.manual_seed(0)
    network = UGRNN(2, 3, keep=0.5).double()
    inputs = torch.randn(1, 4, 2, dtype=torch.float64)
    w, b = network.from_input.weight.detach().numpy(), network.from_input.bias.detach().numpy()
    u = network.from_state.weight.detach().numpy()
    state = np.zeros(3)
    for x, output in zip(inputs[0].numpy(), network(inputs)[0].detach().numpy(), strict=True):
        z = w @ x + b + u @ state
        gate = sigmoid(z[3:] + 0.5)
        state = gate * state + (1 - gate) * np.tanh(z[:3])
        np.testing.assert_allclose(output, state, rtol=1e-12)


@pytest.mark.parametrize("name", ["input_size", "hidden_size", "rows", "width", "heads"])
def test_sizes_are_positive(name):
    sizes = {"input_size": 2, "hidden_size": 2, "rows": 2, "width": 2, "heads": 2} | {name: 0}
    with pytest.raises(ValueError, match=f"{name} is 0; give a positive integer"):
        DNC(**sizes)
