"""The unrolled recurrence in torch's operations, against loops over single numbers."""

import pytest
import torch

import neural_gpu_steps as loops
from torchalu import kernels
from torchalu.kernels import recurrence_forms as forms

CELLS = ["cgru", "diagonal"]
NAMES = ("state", "gate_weight", "gate_bias", "candidate_weight", "candidate_bias")
LENGTHS, STEPS = torch.tensor([5, 2, 4]), torch.tensor([3, 4, 0])
KEEP = torch.tensor([0.9, 0.5, 0.75], dtype=torch.float64)
both = pytest.mark.parametrize("unroll", [forms.unroll, kernels.unroll], ids=["form", "operator"])
each_cell = pytest.mark.parametrize("cell", CELLS)


def tensors(cell, batch=3, length=5, *, sets=2, dtype=torch.float64, seed=0):
    """A state and parameters of some size; hard nonlinearities are partly saturated."""
    generator = torch.Generator().manual_seed(seed)
    layers, maps, width, kernel = (2, 2, 3, (3, 5)) if cell == "cgru" else (1, 6, 1, (3, 1))
    shapes = (
        (batch, length, width, maps),
        (sets, layers, 2 * maps, maps, *kernel),
        (sets, layers, 2 * maps),
        (sets, layers, maps, maps, *kernel),
        (sets, layers, maps),
    )
    return [
        (0.6 * torch.randn(shape, generator=generator, dtype=torch.float64)).to(dtype)
        for shape in shapes
    ]


def gradients(results, inputs):
    """Of a sum that weighs every element differently."""
    total = sum((x * (1 + torch.arange(x.numel()).reshape(x.shape)).sin()).sum() for x in results)
    return torch.autograd.grad(total, inputs)


@both
@each_cell
@pytest.mark.parametrize("cutoff", [True, False])
@pytest.mark.parametrize("noise", [0.0, 0.6])
@pytest.mark.parametrize("keep", [None, KEEP], ids=["whole", "dropout"])
def test_equals_loops_over_single_numbers(unroll, cell, cutoff, keep, noise):
    state, *parameters = tensors(cell)
    seed = 2**40 + 12345
    options = {"cell": cell, "cutoff": cutoff, "seed": seed, "noise": noise}
    final, saturation = unroll(state, LENGTHS, STEPS, *parameters, keep=keep, **options)
    arrays = [part.numpy() for part in parameters]
    for row, (length, steps) in enumerate(zip(LENGTHS.tolist(), STEPS.tolist(), strict=True)):
        share = None if keep is None else keep[row].item()
        sequence, expected = state[row].numpy(), torch.zeros_like(final[row])
        options |= {"keep": share, "sequence": row}
        last, saturated = loops.unroll(sequence, length, steps, *arrays, **options)
        expected[:length] = torch.from_numpy(last)
        torch.testing.assert_close(final[row], expected)
        assert saturation[row].item() == pytest.approx(saturated, rel=1e-12, abs=1e-12)
    if cell == "diagonal":
        assert saturation[:2].gt(1).all()


@both
@each_cell
@pytest.mark.parametrize("keep", [None, KEEP], ids=["whole", "dropout"])
def test_padding_changes_neither_values_nor_gradients(unroll, cell, keep):
    inputs = [part.requires_grad_() for part in tensors(cell)]
    options = {"cell": cell, "keep": keep, "noise": 0.3, "seed": 3}
    state, *parameters = inputs
    short = unroll(state, LENGTHS, STEPS, *parameters, **options)
    padded = torch.cat([state, torch.full_like(state[:, :4], 7.0)], 1)
    final, saturation = unroll(padded, LENGTHS, STEPS, *parameters, **options)
    assert final[:, 5:].eq(0).all()
    torch.testing.assert_close((final[:, :5], saturation), short)
    weighed = gradients((final[:, :5], saturation), inputs)
    torch.testing.assert_close(weighed, gradients(short, inputs))
    assert weighed[0][1, 2:].eq(0).all()
    assert all(gradient.ne(0).any() for gradient in weighed)


@both
@each_cell
def test_a_batch_equals_its_sequences(unroll, cell):
    inputs = [part.requires_grad_() for part in tensors(cell)]
    state, *parameters = inputs
    together = unroll(state, LENGTHS, STEPS, *parameters, cell=cell)
    alone = [
        unroll(state[[row]], LENGTHS[[row]], STEPS[[row]], *parameters, cell=cell)
        for row in range(3)
    ]
    expected = tuple(torch.cat(parts) for parts in zip(*alone, strict=True))
    torch.testing.assert_close(together, expected)
    torch.testing.assert_close(gradients(together, inputs), gradients(expected, inputs))


@both
@each_cell
def test_no_steps_give_the_masked_start(unroll, cell):
    state, *parameters = tensors(cell)
    expected = state.clone()
    expected[1, 2:] = 0
    expected[2, 4:] = 0
    final, saturation = unroll(state, LENGTHS, torch.zeros_like(STEPS), *parameters, cell=cell)
    assert final.equal(expected)
    assert saturation.tolist() == [0.0, 0.0, 0.0]
    empty = unroll(state[:0], LENGTHS[:0], STEPS[:0], *parameters, cell=cell)
    assert [part.shape for part in empty] == [state[:0].shape, (0,)]


@both
@each_cell
def test_sets_are_used_in_turn(unroll, cell):
    state, *parameters = tensors(cell, sets=3)
    steps = torch.full_like(LENGTHS, 5)
    final, saturation = unroll(state, LENGTHS, steps, *parameters, cell=cell)
    added = torch.zeros_like(saturation)
    for number in (0, 1, 2, 0, 1):
        one = [part[[number]] for part in parameters]
        state, part = unroll(state, LENGTHS, torch.ones_like(steps), *one, cell=cell)
        added = added + part
    torch.testing.assert_close((state, added), (final, saturation))


@each_cell
@pytest.mark.parametrize("keep", [None, KEEP[:2]], ids=["whole", "dropout"])
def test_gradients_equal_numeric_ones(cell, keep):
    inputs = [part.requires_grad_() for part in tensors(cell, batch=2, length=3, seed=1)]
    lengths, steps = torch.tensor([3, 2]), torch.tensor([3, 2])

    def function(state, *parameters):
        options = {"cell": cell, "keep": keep, "noise": 0.2, "seed": 1}
        return forms.unroll(state, lengths, steps, *parameters, **options)

    assert torch.autograd.gradcheck(function, inputs, fast_mode=True)


@each_cell
def test_bfloat16_is_near_float64(cell):
    inputs = tensors(cell, dtype=torch.bfloat16)
    exact = forms.unroll(
        inputs[0].double(), LENGTHS, STEPS, *(part.double() for part in inputs[1:]), cell=cell
    )
    results = forms.unroll(inputs[0], LENGTHS, STEPS, *inputs[1:], cell=cell)
    assert all(result.dtype == torch.bfloat16 for result in results)
    torch.testing.assert_close(results[0].double(), exact[0], rtol=0, atol=0.06)
    torch.testing.assert_close(results[1].double(), exact[1], rtol=0.02, atol=0)


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1, -1])
def test_dropout_keeps_the_share_that_it_should(seed):
    keep = torch.tensor([0.5, 0.9, 0.99, 1.0, 0.0])
    state = torch.ones(5, 200, 5, 20)
    dropout = forms.Dropout(state, keep, seed)
    image = state.permute(0, 3, 1, 2)
    kept = [dropout(image, step).ne(0) for step in (0, 1, 2)]
    deviation = (keep * (1 - keep) / 20_000).sqrt()
    for stays in kept:
        assert ((stays.float().mean((1, 2, 3)) - keep).abs() <= 4.5 * deviation).all()
    first, second, _ = (stays[0].float() for stays in kept)
    assert (first * second).mean().item() == pytest.approx(0.25, abs=0.02)
    assert (first[:, 1:] * first[:, :-1]).mean().item() == pytest.approx(0.25, abs=0.02)
    assert dropout(image, 0)[1].unique().tolist() == [0.0, pytest.approx(1 / 0.9)]
    assert not forms.Dropout(state, keep, seed + 1)(image, 0).equal(dropout(image, 0))


def test_dropout_equals_whole_numbers():
    keep = torch.tensor([0.9, 0.3, 1 / 3], dtype=torch.float64)
    state = torch.ones(3, 4, 2, 3, dtype=torch.float64)
    for seed in (0, 7, 2**40 + 3, -5):
        dropout = forms.Dropout(state, keep, seed)
        for step in (-1, 0, 100_000):
            image = dropout(state.permute(0, 3, 1, 2), step)
            expected = torch.stack(
                [
                    torch.from_numpy(loops.dropped(row.numpy(), share, seed, number, step))
                    for number, (row, share) in enumerate(zip(state, keep.tolist(), strict=True))
                ]
            )
            torch.testing.assert_close(image.permute(0, 2, 3, 1), expected)


def test_noise_is_uniform_and_its_streams_are_independent():
    image = torch.zeros(4, 30, 50, 10, dtype=torch.float64)
    noise = forms.Noise(image, 0.5, seed=9)
    first, other, later = noise(image, 1, 0), noise(image, 2, 0), noise(image, 1, 1)
    for values in (first, other, later):
        assert -0.5 <= values.min() < -0.499
        assert 0.499 < values.max() < 0.5
        assert values.mean().item() == pytest.approx(0, abs=4.5 * (0.25 / 3 / 60_000) ** 0.5)
        assert values.square().mean().item() == pytest.approx(0.25 / 3, rel=0.02)
    scale = (0.25 / 3) / 60_000**0.5
    assert (first * other).mean().abs() < 4.5 * scale
    assert (first * later).mean().abs() < 4.5 * scale
    assert (first[0] * first[1]).mean().abs() < 4.5 * scale * 2
    assert (first[..., 1:] * first[..., :-1]).mean().abs() < 5 * scale
