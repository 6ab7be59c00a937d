"""What both Neural GPUs compute, and what padding, dropout and parameter sets change."""

import math

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

import neural_gpu_steps as loops
from neural_gpus import LENGTHS, SYMBOLS, kinds, make
from torchalu.kernels import unroll
from torchalu.nn import DiagonalNeuralGPU, NeuralGPU

CELL = ("gate_weight", "gate_bias", "candidate_weight", "candidate_bias")


def widened(symbols, places=3):
    return torch.nn.functional.pad(symbols, (0, places))


def loss_gradients(unrolled, model):
    logits, _, saturation = unrolled
    total = (logits * (1 + torch.arange(logits.numel()).reshape(logits.shape)).sin()).sum()
    total = total + (saturation * torch.tensor([1.0, 2.0, 3.0])).sum()
    return torch.autograd.grad(total, list(model.parameters()))


@pytest.mark.parametrize("levels", [0, 2])
def test_neural_gpu_equals_loops_over_single_numbers(levels):
    model = make(NeuralGPU, parameter_sets=2, levels=levels)
    logits, state, saturation = model.unroll(SYMBOLS)
    value = {name: part.detach().numpy() for name, part in model.named_parameters()}
    for row, (symbols, length) in enumerate(zip(SYMBOLS.tolist(), LENGTHS, strict=True)):
        start = np.zeros((5, 3, 6))
        for place, symbol in enumerate(symbols):
            hidden = np.tanh(value["embedding"][symbol])
            start[place, 0] = value["input_weight"] @ hidden + value["input_bias"]
        parameters = [value[name] for name in CELL]
        start = loops.rounded(start, levels)
        last, _ = loops.unroll(start, length, length, *parameters, cell="cgru", levels=levels)
        torch.testing.assert_close(state[row, :length], torch.from_numpy(last))
        scores = torch.from_numpy(last[:, 0] @ value["output_weight"].T)
        torch.testing.assert_close(logits[row, :length], scores)
    assert saturation.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("levels", [0, 2])
def test_diagonal_neural_gpu_equals_loops_over_single_numbers(levels):
    model = make(DiagonalNeuralGPU, parameter_sets=2, levels=levels)
    with torch.no_grad():
        for part in model.parameters():
            part.mul_(2)
    logits, state, saturation = model.unroll(SYMBOLS)
    value = {name: part.detach().numpy() for name, part in model.named_parameters()}
    for row, (symbols, length) in enumerate(zip(SYMBOLS.tolist(), LENGTHS, strict=True)):
        before = torch.from_numpy(value["input_weight"][symbols] + value["input_bias"])[:length]
        start = loops.rounded(before.clamp(-1, 1)[:, None].numpy(), levels)
        parameters = [value[name] for name in CELL]
        last, saturated = loops.unroll(
            start, length, 5, *parameters, cell="diagonal", levels=levels
        )
        torch.testing.assert_close(state[row, :length], torch.from_numpy(last))
        scores = torch.from_numpy(last[:, 0] @ value["output_weight"].T + value["output_bias"])
        torch.testing.assert_close(logits[row, :length], scores)
        saturated += 5 * (before.abs() - 0.9).clamp(min=0).sum().item()
        assert saturation[row].item() == pytest.approx(saturated, rel=1e-12)
        assert saturated > 1


@kinds
def test_each_state_has_few_levels(kind):
    model = make(kind, levels=4)
    states = torch.cat([*model.states(SYMBOLS)], 1)
    assert (4 * states).eq((4 * states).round()).all()
    assert states.unique().numel() > 3
    assert states[:, -5:].equal(model.unroll(SYMBOLS).state)


@kinds
def test_gradients_go_through_what_is_rounded(kind):
    """Its slope is 1: one layer of one step has the gradients that it has without rounding."""
    model = make(kind)
    steps = torch.ones(3, dtype=torch.int64)
    start = model.embed(SYMBOLS)
    options = {"cell": model.cell, "cutoff": model.cutoff}
    slopes = []
    for levels in (0, 2):
        parameters = [value.detach().clone().requires_grad_() for value in model._shared()]
        cut = [value[:, :1] for value in parameters]  # one layer
        last, _ = unroll(start, torch.tensor(LENGTHS), steps, *cut, **options, levels=levels)
        weights = torch.arange(last.numel(), dtype=last.dtype).reshape(last.shape).cos()
        slopes.append(torch.autograd.grad((last * weights).sum(), parameters))
    for rounded, smooth in zip(*reversed(slopes), strict=True):
        torch.testing.assert_close(rounded, smooth)


@kinds
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_padding_changes_neither_values_nor_gradients(kind, dropout):
    model = make(kind, dropout=dropout)
    steps = torch.tensor([4, 3, 6])
    short = model.unroll(SYMBOLS, steps=steps, seed=5)
    wide = model.unroll(widened(SYMBOLS), steps=steps, seed=5)
    assert wide.state[:, 5:].eq(0).all()
    cut = wide._replace(logits=wide.logits[:, :5], state=wide.state[:, :5])
    torch.testing.assert_close(cut, short)
    torch.testing.assert_close(loss_gradients(cut, model), loss_gradients(short, model))
    assert not short.logits.equal(model(SYMBOLS, steps=steps, seed=6)) or not dropout


def test_defaults_of_lengths_and_steps():
    model, diagonal = make(NeuralGPU), make(DiagonalNeuralGPU)
    lengths = torch.tensor(LENGTHS)
    assert model(SYMBOLS).equal(model(SYMBOLS, lengths, lengths))
    assert diagonal(SYMBOLS).equal(diagonal(SYMBOLS, lengths, torch.tensor([5, 5, 5])))
    nothing = torch.zeros(1, 4, dtype=torch.int64)
    one = torch.tensor([1])
    assert model(nothing).equal(model(nothing, one, one))
    torch.testing.assert_close(model(widened(SYMBOLS))[:, :5], model(SYMBOLS))
    assert not diagonal(widened(SYMBOLS))[:, :5].allclose(diagonal(SYMBOLS))
    assert model(SYMBOLS[:0]).shape == (0, 5, 4)


@kinds
def test_states_lead_to_the_last_one(kind):
    model = make(kind, dropout=0.5, parameter_sets=2)
    steps = torch.tensor([4, 3, 6])
    frames = list(model.states(SYMBOLS, steps=steps))
    assert len(frames) == 7
    assert all(frame.shape == (3, 5, 3 if kind is NeuralGPU else 1, 6) for frame in frames)
    assert frames[0].equal(model.embed(SYMBOLS))
    assert not any(frame.requires_grad for frame in frames)
    last = model.eval().unroll(SYMBOLS, steps=steps).state
    torch.testing.assert_close(frames[-1], last.detach())
    for count in (1, 5):
        part = model.unroll(SYMBOLS, steps=steps.clamp(max=count)).state
        torch.testing.assert_close(frames[count], part.detach())


@kinds
@pytest.mark.parametrize("options", [{"dropout": 0.3}, {"noise": 0.3}], ids=["dropout", "noise"])
def test_what_is_random_depends_on_its_seed_and_is_left_out_in_evaluation(kind, options):
    model = make(kind, **options)
    first = model(SYMBOLS, seed=1)
    assert first.equal(model(SYMBOLS, seed=1))
    assert not first.equal(model(SYMBOLS, seed=2))
    torch.manual_seed(0)
    drawn = model(SYMBOLS)
    assert not drawn.equal(model(SYMBOLS))
    torch.manual_seed(0)
    assert drawn.equal(model(SYMBOLS))
    model.eval()
    state = torch.get_rng_state()
    assert model(SYMBOLS, seed=1).equal(model(SYMBOLS, seed=2))
    assert model(SYMBOLS).equal(make(kind)(SYMBOLS))
    assert torch.get_rng_state().equal(state)


@kinds
@pytest.mark.parametrize("wrong", [0.5, "5", True])
def test_a_seed_is_an_integer(kind, wrong):
    with pytest.raises(TypeError, match=f"seed is {wrong!r}; give an integer, or none to have"):
        make(kind)(SYMBOLS, seed=wrong)


@kinds
def test_a_seed_may_be_one_of_numpy(kind):
    model = make(kind, noise=0.3)
    for seed in (np.int64(-5), np.uint64(2**63 + 7)):
        assert model(SYMBOLS, seed=seed).equal(model(SYMBOLS, seed=int(seed)))


def test_share_of_the_state_that_dropout_keeps():
    lengths = torch.tensor([8, 41, 3, 1])
    keep = make(NeuralGPU, dropout=0.15)._keep(lengths)
    assert keep.tolist() == pytest.approx([0.85, 1 - 1.2 / 41, 0.6, 0.1])
    assert make(DiagonalNeuralGPU, dropout=0.25)._keep(lengths).tolist() == [0.75] * 4


def test_dropout_of_the_start_of_the_diagonal_form():
    model = make(DiagonalNeuralGPU, dropout=0.25)
    state = model.unroll(SYMBOLS, steps=torch.zeros(3, dtype=torch.int64), seed=9).state
    embedded = model.embed(SYMBOLS)
    for row, sequence in enumerate(embedded):
        expected = loops.dropped(sequence.numpy(), 0.75, 9, row, -1)
        torch.testing.assert_close(state[row].detach(), torch.from_numpy(expected))


@kinds
def test_relaxation_penalty_and_average(kind):
    model = make(kind, parameter_sets=3)
    values = [getattr(model, name).detach().clone() for name in CELL]
    by_hand = sum(
        (value[number] - sum(value) / 3).square().sum() for value in values for number in range(3)
    )
    penalty = model.relaxation_penalty()
    assert penalty.item() == pytest.approx(by_hand.item(), rel=1e-12)
    penalty.backward()
    mean = values[0].mean(0)
    torch.testing.assert_close(model.gate_weight.grad, 2 * (values[0] - mean))
    names = [name for name, _ in model.named_parameters()]
    model.average_parameter_sets()
    assert model.parameter_sets == 1
    assert [name for name, _ in model.named_parameters()] == names
    for name, value in zip(CELL, values, strict=True):
        torch.testing.assert_close(getattr(model, name).detach()[0], sum(value) / 3)
    assert model.relaxation_penalty().item() == 0.0
    assert model.configuration()["parameter_sets"] == 1
    model(SYMBOLS).sum().backward()
    assert model.gate_weight.grad is not None
    assert model.gate_weight.grad.shape == model.gate_weight.shape


@kinds
def test_averaging_equal_sets_changes_nothing(kind):
    one, many = make(kind), make(kind, parameter_sets=4)
    with torch.no_grad():
        for name, value in many.named_parameters():
            value.copy_(one.get_parameter(name).expand_as(value))
    assert many.relaxation_penalty().item() == pytest.approx(0.0, abs=1e-24)
    torch.testing.assert_close(many(SYMBOLS), one(SYMBOLS))
    before = many(SYMBOLS)
    many.average_parameter_sets()
    torch.testing.assert_close(many(SYMBOLS), before)


@kinds
def test_sets_are_used_in_turn(kind):
    model = make(kind, parameter_sets=3)
    model(SYMBOLS, steps=torch.tensor([2, 2, 2])).sum().backward()
    used = [grad.ne(0).any().item() for grad in model.candidate_weight.grad]
    assert used == [True, True, False]


@kinds
def test_parameters_may_come_from_elsewhere(kind):
    model, other = make(kind), make(kind, generator=torch.Generator().manual_seed(1))
    values = {name: value.detach() for name, value in other.named_parameters()}
    assert torch.func.functional_call(model, values, (SYMBOLS,)).equal(other(SYMBOLS))
    assert not model(SYMBOLS).equal(other(SYMBOLS))


def test_sharp_update_gates_are_open_or_shut():
    """Far beyond the gate's threshold a cell is its old state, moved, or the candidate."""
    generator = torch.Generator().manual_seed(4)
    module = DiagonalNeuralGPU(4, maps=6, generator=generator, dtype=torch.float64).eval()
    symbols, lengths = torch.tensor([[1, 3, 2, 2, 1, 3]]), torch.tensor([6])
    one = torch.tensor([1])
    image = module.embed(symbols)[:, :, 0].transpose(1, 2)
    layer = [getattr(module, name)[0, 0] for name in CELL]

    def convolved(image, weight, bias):
        return torch.nn.functional.conv1d(image, weight[..., 0], bias, padding=1)

    gates = convolved(image, *layer[:2])
    reset = (0.5 * gates[:, :6] + 0.5).clamp(0, 1)
    update = (gates[:, 6:] > 0).double()
    candidate = convolved(reset * image, *layer[2:]).clamp(-1, 1)
    left, right, stays = image.chunk(3, 1)
    edge = torch.zeros(1, 2, 1, dtype=torch.float64)
    moved = torch.cat(
        [torch.cat([edge, left[..., :-1]], 2), torch.cat([right[..., 1:], edge], 2), stays], 1
    )
    expected = update * moved + (1 - update) * candidate
    assert module.sharpen_update_gates_(1e12) is module
    state = module.unroll(symbols, lengths, one).state[:, :, 0].transpose(1, 2)
    torch.testing.assert_close(state, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("factor", [0.0, -2.0, math.inf, math.nan])
def test_factors_that_sharpen_nothing(factor):
    with pytest.raises(ValueError, match=r"factor is .*give a positive number, such as 2"):
        DiagonalNeuralGPU(4, maps=6).sharpen_update_gates_(factor)


@kinds
@pytest.mark.parametrize("training", [True, False])
def test_compiles_without_a_graph_break(kind, training):
    options = {"dropout": 0.2} if training else {"dropout": 0.0, "levels": 2}
    model = make(kind, **options).train(training)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    expected = model(SYMBOLS, seed=4)
    torch.testing.assert_close(compiled(SYMBOLS, seed=4), expected)
    wanted = torch.autograd.grad(expected.sin().sum(), list(model.parameters()))
    compiled(SYMBOLS, seed=4).sin().sum().backward()
    for part, gradient in zip(model.parameters(), wanted, strict=True):
        torch.testing.assert_close(part.grad, gradient)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
def test_the_compiler_takes_seed_after_seed_in_training():
    """The second seed is a symbol to it, on which it must not unfold the scrambling of words."""
    torch.compiler.reset()
    model = make(DiagonalNeuralGPU, dropout=0.2)
    compiled = torch.compile(model, fullgraph=True, options={"cpp_cache_precompile_headers": False})
    with torch.no_grad():
        for seed in (4, 5, 2**63 + 7):
            torch.testing.assert_close(compiled(SYMBOLS, seed=seed), model(SYMBOLS, seed=seed))


@kinds
def test_a_compiled_module_refuses_what_is_out_of_range(kind):
    torch.compiler.reset()
    compiled = torch.compile(make(kind).eval(), fullgraph=True, backend="aot_eager")
    three, steps = torch.tensor([3, 3, 3]), torch.tensor([2, 2, 2])
    compiled(SYMBOLS, three, steps)
    for arguments, message in (
        ((SYMBOLS + 1, three, steps), "symbols contains a wrong number; give numbers from 0 to 3"),
        ((SYMBOLS - 1, three, steps), "symbols contains a wrong number"),
        ((SYMBOLS, 2 * three, steps), "lengths contains a wrong number; give numbers from 1 to 5"),
        ((SYMBOLS, three, -steps), "steps contains a wrong number; give numbers 0 or more"),
    ):
        with pytest.raises(RuntimeError, match=message):
            compiled(*arguments)


@kinds
def test_exports(kind):
    model = make(kind).eval()
    exported = torch.export.export(model, (SYMBOLS,)).module()
    torch.testing.assert_close(exported(SYMBOLS.flip(0)), model(SYMBOLS.flip(0)))


@kinds
def test_autocast_is_near_float32(kind):
    model = make(kind).float()
    exact = model(SYMBOLS)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(SYMBOLS)
    torch.testing.assert_close(logits.float(), exact, rtol=0.1, atol=0.1)
    logits.float().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("kind", [NeuralGPU, DiagonalNeuralGPU])
@pytest.mark.parametrize("training", [False, True])
def test_fake_tensors_show_the_shapes(kind, training):
    with FakeTensorMode():
        model = kind(4, maps=6).train(training)
        logits = model(torch.zeros(2, 3, dtype=torch.long), torch.tensor([2, 3]))
        assert logits.shape == (2, 3, 4)
        logits.sum().backward()
        assert model.gate_weight.grad.shape == model.gate_weight.shape


def test_an_average_of_frozen_parameter_sets_is_frozen():
    model = NeuralGPU(4, maps=6, parameter_sets=3)
    model.gate_weight.requires_grad_(False)
    mean = model.gate_weight.mean(0, keepdim=True)
    model.average_parameter_sets()
    assert torch.equal(model.gate_weight, mean)
    assert [getattr(model, name).requires_grad for name in CELL] == [False, True, True, True]
