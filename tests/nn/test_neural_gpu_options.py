"""Options of both Neural GPUs, their start, how they are stored, and what they refuse."""

import copy
import json
import math
import re

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from neural_gpus import SYMBOLS, kinds, make
from torchalu.nn import DiagonalNeuralGPU, NeuralGPU


@kinds
def test_configuration_and_state_rebuild_the_module(kind):
    options = {"maps": 9, "kernel_size": 5, "parameter_sets": 2, "dropout": 0.2, "noise": 0.1}
    options |= {"levels": 3, "extra_steps": 2}
    if kind is NeuralGPU:
        options |= {"width": 2, "layers": 3, "cutoff": False, "initial_scale": 1.5}
    model = make(kind, **options)
    configuration = json.loads(json.dumps(model.configuration()))
    assert configuration == {"num_symbols": 4, **options}
    again = kind(**configuration).double()
    again.load_state_dict(load(save(model.state_dict())))
    assert again(SYMBOLS, seed=1).equal(model(SYMBOLS, seed=1))
    assert copy.deepcopy(model)(SYMBOLS, seed=1).equal(model(SYMBOLS, seed=1))
    assert "kernel_size=5" in repr(model)


@kinds
def test_numbers_of_numpy_are_stored_as_python_s(kind):
    options = {
        "maps": np.int64(6),
        "extra_steps": np.int32(2),
        "levels": np.int64(2),
        "dropout": np.float32(0.25),
    }
    if kind is NeuralGPU:
        options |= {"width": np.int64(2), "cutoff": np.False_}
    configuration = json.loads(json.dumps(kind(np.int64(4), **options).configuration()))
    assert configuration.items() >= {name: value.item() for name, value in options.items()}.items()
    assert configuration["num_symbols"] == 4


@kinds
def test_extra_steps_are_taken_outside_training_mode(kind):
    model, more = make(kind), make(kind, extra_steps=3)
    lengths, steps = model.lengths_and_steps(SYMBOLS)
    expected = model.unroll(SYMBOLS, steps=steps + 3)
    assert more.eval()(SYMBOLS).equal(expected.logits)
    assert more.lengths_and_steps(SYMBOLS, lengths)[1].equal(steps + 3)
    assert [*more.states(SYMBOLS)][-1].equal(expected.state)
    assert more(SYMBOLS, steps=steps).equal(model(SYMBOLS, steps=steps))
    assert more.train()(SYMBOLS).equal(model(SYMBOLS))


@kinds
@pytest.mark.parametrize(
    ("wrong", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError), ("1", TypeError)]
)
@pytest.mark.parametrize("name", ["extra_steps", "levels"])
def test_counts_that_there_are_not(kind, name, wrong, error):
    with pytest.raises(error, match=f"{name} is {wrong!r}; give "):
        kind(4, maps=6, **{name: wrong})


@kinds
def test_generator_decides_the_start_and_leaves_the_global_one_alone(kind):
    state = torch.get_rng_state()
    models = [make(kind, generator=torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    assert torch.get_rng_state().equal(state)
    assert models[0](SYMBOLS).equal(models[1](SYMBOLS))
    assert not models[0](SYMBOLS).equal(models[2](SYMBOLS))
    models[2].reset_parameters(torch.Generator().manual_seed(0))
    assert models[2](SYMBOLS).equal(models[0](SYMBOLS))


def within(values, bound):
    """Whether values fill U(-bound, bound)."""
    return 0.97 * bound < values.abs().max() <= bound and values.std().item() == pytest.approx(
        bound / math.sqrt(3), rel=0.08
    )


def test_start_of_the_neural_gpu():
    model = NeuralGPU(60, generator=torch.Generator().manual_seed(0))
    kernel = 1.8 * math.sqrt(3 / (3 * 3 * 24))
    assert within(model.gate_weight, kernel)
    assert within(model.candidate_weight, kernel)
    assert within(model.input_weight, 1.8 * math.sqrt(3 / 24))
    assert within(model.output_weight, 1.8 * math.sqrt(3 / 24))
    assert within(model.embedding, 1.7)
    assert model.gate_bias.unique().tolist() == [1.0]
    assert not model.candidate_bias.any()
    assert not model.input_bias.any()
    smaller = NeuralGPU(60, initial_scale=0.9, generator=torch.Generator().manual_seed(0))
    assert within(smaller.gate_weight, kernel / 2)
    # the paper: "the Neural GPU uses m=24 and has about 30k parameters"
    assert sum(p.numel() for p in NeuralGPU(4).parameters()) == pytest.approx(32_000, rel=0.02)


def test_start_of_the_diagonal_neural_gpu():
    model = DiagonalNeuralGPU(60, generator=torch.Generator().manual_seed(0))
    reference = torch.empty(96, 96, 3)
    torch.nn.init.xavier_uniform_(reference, generator=torch.Generator().manual_seed(0))
    bound = reference.abs().max().item()
    assert within(model.gate_weight, bound * 1.0001)
    assert within(model.candidate_weight, bound * 1.0001)
    assert within(model.input_weight, math.sqrt(6 / (60 + 96)))
    assert within(model.output_weight, math.sqrt(6 / (60 + 96)))
    reset, update = model.gate_bias.squeeze().chunk(2)
    assert (reset.unique().tolist(), update.unique().tolist()) == ([0.5], [pytest.approx(0.7)])
    assert not torch.cat([model.candidate_bias.squeeze(), model.input_bias]).any()
    assert not model.output_bias.any()


@kinds
def test_device_and_dtype_reach_the_parameters(kind):
    model = kind(4, maps=6, device="meta", dtype=torch.bfloat16)
    assert {(p.device.type, p.dtype) for p in model.parameters()} == {("meta", torch.bfloat16)}
    model = kind(4, maps=6, dtype=torch.bfloat16)
    logits = model(SYMBOLS, seed=0)
    assert logits.dtype == torch.bfloat16
    assert logits.isfinite().all()


@kinds
@pytest.mark.parametrize("training", [True, False])
def test_shapes_alone_come_out_of_meta_tensors(kind, training):
    options = {"dropout": 0.1, "noise": 0.5, "parameter_sets": 2}
    real = make(kind, **options).train(training)
    model = kind(**real.configuration(), device="meta").train(training)
    expected, shapes = real.unroll(SYMBOLS, seed=0), model.unroll(SYMBOLS.to("meta"), seed=0)
    assert [part.shape for part in shapes] == [part.shape for part in expected]
    assert all(part.is_meta for part in shapes)
    shapes.logits.sum().backward()
    assert all(p.grad.shape == p.shape and p.grad.is_meta for p in model.parameters())


@kinds
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maps": 0}, "maps is 0; give a positive integer"),
        ({"kernel_size": 4}, "kernel_size is 4; give an odd number"),
        ({"parameter_sets": -1}, "parameter_sets is -1"),
        ({"dropout": 1.0}, "dropout is 1.0; give a share of at least 0 and less than 1"),
        ({"dropout": -0.1}, "dropout is -0.1"),
        ({"dropout": math.nan}, "dropout is nan"),
        ({"noise": -0.1}, "noise is -0.1; give an amplitude from 0 up, such as 0.5"),
        ({"noise": math.inf}, "noise is inf"),
    ],
)
def test_wrong_options_are_named(kind, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        kind(4, **options)


def test_options_of_one_form_alone():
    with pytest.raises(ValueError, match="maps is 8; give a multiple of 3, such as 96"):
        DiagonalNeuralGPU(4, maps=8)
    with pytest.raises(ValueError, match="width is 0"):
        NeuralGPU(4, width=0)
    with pytest.raises(ValueError, match="num_symbols is 1; padding counts"):
        NeuralGPU(1)
    with pytest.raises(ValueError, match=r"initial_scale is 0\.0; give a positive number"):
        NeuralGPU(4, initial_scale=0.0)
    with pytest.raises(TypeError, match=r"layers is 2\.0; give a positive integer"):
        NeuralGPU(4, layers=2.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"dtype is torch\.int64"):
        NeuralGPU(4, dtype=torch.int64)


@kinds
def test_wrong_inputs_are_named(kind):
    model = make(kind)
    three = torch.tensor([3, 3, 3])
    wrong = [
        (TypeError, (SYMBOLS.int(),), "symbols is torch.int32; convert the numbers with .long()"),
        (ValueError, (SYMBOLS + 1,), "symbols contains 4; give numbers from 0 to 3"),
        (ValueError, (SYMBOLS - 1,), "symbols contains -1"),
        (ValueError, (SYMBOLS[0],), "symbols has shape (5,); give (batch, length)"),
        (ValueError, (SYMBOLS[:, :0],), "symbols has shape (3, 0)"),
        (ValueError, (SYMBOLS, 2 * three), "lengths contains 6; give numbers from 1 to 5"),
        (ValueError, (SYMBOLS, 0 * three), "lengths contains 0; give numbers from 1 to 5"),
        (ValueError, (SYMBOLS, three[:2]), "lengths has shape (2,)"),
        (TypeError, (SYMBOLS, three.float()), "lengths is torch.float32"),
        (ValueError, (SYMBOLS, three, -three), "steps contains -3; give numbers 0 or more"),
        (TypeError, (SYMBOLS, None, three.int()), "steps is torch.int32"),
        (TypeError, ([[1, 2]],), "symbols is a list; give a tensor of int64 numbers"),
        (TypeError, (SYMBOLS, [3, 3, 3]), "lengths is a list; give a tensor of int64 numbers"),
    ]
    for error, arguments, message in wrong:
        with pytest.raises(error, match=re.escape(message)):
            model(*arguments)


@kinds
def test_refuses_to_be_mapped_over_sequences(kind):
    model = make(kind, maps=6)
    with pytest.raises(TypeError, match="symbols is mapped over by"):
        torch.vmap(lambda sequence: model(sequence[None]))(SYMBOLS)
