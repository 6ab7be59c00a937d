"""Each method of training against its equation, written out in NumPy or as another training."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from torchalu.nn import NeuralGPU
from torchalu.tasks import algorithm
from torchalu.train import Hook, Progress, TrainingConfiguration, fit
from torchalu.train.algorithms import (
    ClippedAdamax,
    EndWhenRight,
    GradientNoise,
    Hardening,
    LengthCurriculum,
    PlateauDecay,
    Rounding,
    SaturationCost,
    SharingRelaxation,
    Sharpening,
    WeightAverage,
    string_loss,
)
from torchalu.train.algorithms.batches import TrainingGroup
from torchalu.train.algorithms.relaxation import merge_equal_sets
from torchalu.train.configuration import plain


def progress(parameter, **fields):
    module = nn.ParameterDict({"weight": parameter})
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    return Progress(module, optimizer, [parameter], seed=3, **fields)


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (GradientNoise(0.5, "error"), 0.5 * 16**-0.25 * 0.4),
        (GradientNoise(1e-4, "learning_rate"), 1e-4 * 0.02),
    ],
)
def test_noise_has_the_deviation_of_its_law(noise, expected):
    parameter = nn.Parameter(torch.zeros(200, 200))
    parameter.grad = torch.ones(200, 200)
    measures = {"string_error": torch.tensor(0.4)}
    noise.change_gradients(progress(parameter, step=15, learning_rate=0.02, measures=measures))
    drawn = parameter.grad.double() - 1
    resolution = 2**-24
    assert drawn.std().item() == pytest.approx(expected, rel=0.02, abs=resolution)
    assert abs(drawn.mean().item()) < 4 * max(expected / 200, resolution / 100)


def test_noise_follows_from_seed_and_step():
    def drawn(step, seed=3):
        parameter = nn.Parameter(torch.zeros(20))
        parameter.grad = torch.zeros(20)
        state = progress(parameter, step=step, learning_rate=1.0)
        state.seed = seed
        GradientNoise(1.0).change_gradients(state)
        return parameter.grad

    assert torch.equal(drawn(4), drawn(4))
    assert not torch.equal(drawn(4), drawn(5))
    assert not torch.equal(drawn(4), drawn(4, seed=4))


def test_a_perfect_model_gets_no_noise():
    parameter = nn.Parameter(torch.zeros(3))
    parameter.grad = torch.zeros(3)
    measures = {"string_error": torch.tensor(0.0)}
    GradientNoise(9.0, "error").change_gradients(progress(parameter, measures=measures))
    assert not parameter.grad.any()


def test_adamax_is_its_equation():
    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(60, 5)) * 10.0 ** rng.integers(-6, 1, size=(60, 1))
    weight = nn.Parameter(torch.zeros(5, dtype=torch.float64))
    optimizer = ClippedAdamax([weight], lr=0.01)
    expected, momentum, largest = np.zeros(5), np.zeros(5), np.zeros(5)
    clipped = 0
    for step, gradient in enumerate(gradients):
        weight.grad = torch.from_numpy(gradient)
        optimizer.step()
        limit = 1.2 * largest + 1e-4
        clipped += (np.abs(gradient) > limit).sum()
        cut = np.maximum(np.minimum(gradient, limit), -limit)
        momentum = 0.9 * momentum + 0.1 * cut
        decay = 1 - max(0.0005, 0.01 * 2 ** (-step / 2000))
        largest = np.maximum(decay * largest, np.abs(cut))
        expected = expected - 0.01 * momentum / (largest + 1e-8)
    assert 10 < clipped < 200
    np.testing.assert_allclose(weight.detach().numpy(), expected, rtol=1e-12)


def test_adamax_without_clipping_is_torch_s_but_for_the_start_of_its_momentum():
    rng = np.random.default_rng(0)
    ours, theirs = (nn.Parameter(torch.zeros(4, dtype=torch.float64)) for _ in range(2))
    first = ClippedAdamax([ours], lr=1.0, clip=1e9, clip_floor=1e9)
    second = torch.optim.Adamax([theirs], lr=1.0, betas=(0.9, 0.99), eps=1e-8)
    for step in range(30):
        gradient = torch.from_numpy(rng.normal(size=4))
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        second.param_groups[0]["lr"] = 1 - 0.9 ** (step + 1)
        decay = 1 - max(0.0005, 0.01 * 0.5 ** (step / 2000))
        second.param_groups[0]["betas"] = (0.9, decay)
        first.step()
        second.step()
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=0)


def test_the_saturation_s_weight_follows_the_loss():
    cost, rate = SaturationCost(most=1e-3, every=2), 0.005
    weights, totals = [], []
    for loss, saturation in [(2.0, 50.0), (1.0, 70.0), (0.5, 3.0), (0.3, 1.0), (4.0, 0.0)]:
        tensor = torch.tensor(saturation, dtype=torch.float64)
        state = SimpleNamespace(loss=loss, measures={"saturation": tensor}, learning_rate=rate)
        total = cost.add_to_loss(state, torch.tensor(loss, dtype=torch.float64))
        totals.append(total.item())
        cost.after_step(state)
        weights.append(cost.weight)
    second = rate * 3.0 / 120.0
    assert weights == pytest.approx([1e-3, second, second, 1e-3, 1e-3])
    assert rate * 0.8 / 4.0 == pytest.approx(1e-3)
    expected = [2.05, 1.07, 0.5 + 3 * second, 0.3 + second, 4.0]
    assert totals == pytest.approx(expected)


def test_the_saturation_s_weight_has_a_floor():
    cost = SaturationCost(most=1e-2, least=1e-3, every=1)
    for loss, weight in [(1e-6, 1e-3), (1.0, 5e-3), (9.0, 1e-2)]:
        measures = {"saturation": torch.tensor(1.0)}
        cost.after_step(SimpleNamespace(loss=loss, measures=measures, learning_rate=5e-3))
        assert cost.weight == pytest.approx(weight)


def test_the_average_is_evaluated_and_the_parameters_trained():
    weight = nn.Parameter(torch.zeros(2, dtype=torch.float64))
    state, average = progress(weight), WeightAverage(0.6)
    average.begin(state)
    expected = np.zeros(2)
    for step in range(1, 12):
        weight.data = torch.tensor([float(step), -(float(step) ** 2)], dtype=torch.float64)
        state.step = step
        average.after_step(state)
        decay = min(0.6, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * weight.detach().numpy()
    with average.evaluating(state):
        np.testing.assert_allclose(weight.detach().numpy(), expected, rtol=1e-12)
    assert weight.tolist() == [11.0, -121.0]


def test_the_learning_rate_falls_where_the_loss_does_not():
    decay = PlateauDecay(0.7, floor=0.4, every=2)
    rates = []
    for mean in [1.0, 0.9, 1.1, 0.95, 0.8, 0.85, 0.9, 0.95, 1.0]:
        for loss in (mean - 0.5, mean + 0.5):
            decay.after_step(SimpleNamespace(loss=loss))
        rates.append(decay.learning_rate_factor(0))
    down, floor = 0.7, 0.4
    assert rates == pytest.approx([1, 1, 1, down, down, down, 0.49, floor, floor])


def test_the_learning_rate_stays_once_noise_rises():
    hardening = Hardening(1.0, ramp=9, settle=9)
    decay = PlateauDecay(0.5, every=1, rests=hardening)
    for loss in (1.0, 2.0, 3.0):
        decay.after_step(SimpleNamespace(loss=loss))
    assert decay.rate == 0.5
    hardening.began = 3
    for loss in (4.0, 5.0, 6.0):
        decay.after_step(SimpleNamespace(loss=loss))
    assert decay.rate == 0.5


def test_what_a_checkpoint_must_agree_in_is_the_same_in_another_process():
    """There, the hook that a hook is told of lies elsewhere in memory."""
    first, second = (PlateauDecay(rests=Hardening(1.0, ramp=9, settle=9)) for _ in range(2))
    assert first.settings() == second.settings() != PlateauDecay().settings()
    functions = [lambda: None for _ in range(2)]
    assert plain(functions[0]) == plain(functions[1]) == repr(functions[0]).split(" at 0x")[0] + ">"
    assert plain({"d", "a", "c"}) == ["a", "c", "d"]
    assert plain({"of": (1, math.inf)}) == {"of": [1, "inf"]}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_tensors_that_differ_are_other_settings(dtype):
    numbers, others = torch.zeros(2, 1000, dtype=dtype), torch.zeros(2, 1000, dtype=dtype)
    assert plain(numbers) == plain(others)
    others[1, 500] = 1  # which `repr` does not show
    assert plain(numbers) != plain(others)
    assert plain(numbers) != plain(numbers.flatten()) != plain(numbers.double().flatten())
    assert plain(numbers[:, ::2]) == plain(numbers[:, ::2].contiguous())
    if dtype != torch.bfloat16:
        assert plain(numbers.numpy()) != plain(others.numpy())


def test_a_run_ends_when_all_strings_are_right_often_enough():
    end, state = EndWhenRight(2), progress(nn.Parameter(torch.zeros(1)))
    right = {"right@9": 1.0, "right@20": 1.0, "digits@9": 1.0, "step": 3.0}
    for row in (right, {**right, "right@20": 0.9}, {**right, "right@20": float("nan")}, right):
        end.after_evaluation(state, row)
        assert not state.ended
    end.after_evaluation(state, right)
    assert state.ended
    end, state = EndWhenRight(1), progress(nn.Parameter(torch.zeros(1)))
    end.after_evaluation(state, {"validation_loss": 1.0})
    assert not state.ended, "nothing was tried"


def relaxed(sets=3):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(5)
    return NeuralGPU(3, maps=3, width=2, parameter_sets=sets, generator=generator).double()


def strings(step):
    rng = np.random.default_rng(step)
    symbols = torch.from_numpy(rng.integers(1, 3, size=(4, 5)))
    return [TrainingGroup(symbols, symbols.flip(1), torch.full((4,), 5), seed=0)]


def test_the_pull_grows_as_the_curriculum_advances_until_the_sets_are_averaged():
    curriculum = LengthCurriculum(algorithm("copy"), threshold=0.15)
    relaxation = SharingRelaxation(curriculum, pull=0.02, factor=2.0, most=0.1, rate_decay=0.5)
    module = relaxed()
    before = {name: value.detach().clone() for name, value in module.named_parameters()}
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    state = Progress(module, optimizer, list(module.parameters()), seed=0)
    loss = relaxation.add_to_loss(state, torch.tensor(1.0, dtype=torch.float64))
    deviations = sum(
        ((value - value.mean(0)) ** 2).sum() for name, value in before.items()
        if name.startswith(("gate", "candidate"))
    )  # fmt: skip
    assert loss.item() == pytest.approx(1 + 0.02 * deviations.item(), rel=1e-12)
    seen = []
    for error in (0.1, 0.1, 0.1, 0.1, 0.04, None):
        if error is not None:
            curriculum.advances += 1
            curriculum.error = error
        relaxation.after_step(state)
        seen.append((relaxation.pull, relaxation.averaged, relaxation.learning_rate_factor(0)))
    assert seen == [
        *((0.04, False, 1), (0.08, False, 1), (0.16, False, 1)),
        *((0.16, True, 1), (0.16, True, 0.5), (0.16, True, 0.5)),
    ]
    for name in ("gate_weight", "candidate_bias"):
        mean = before[name].mean(0)
        for one in module.get_parameter(name):
            torch.testing.assert_close(one, mean, rtol=1e-12, atol=1e-15)
    one = torch.tensor(1.0)
    assert relaxation.add_to_loss(state, one) is one


def test_after_averaging_it_is_the_training_of_a_single_set():
    """Three equal sets that share their gradients, against one set with a third of its own."""

    class Third(Hook):
        def change_gradients(self, progress):
            for name in ("gate_weight", "gate_bias", "candidate_weight", "candidate_bias"):
                progress.module.get_parameter(name).grad.div_(3)

    curriculum = LengthCurriculum(algorithm("copy"))
    relaxation = SharingRelaxation(curriculum, pull=1.0, most=0.1)
    curriculum.advances = 1
    shared, single = relaxed(), relaxed()
    single.average_parameter_sets()
    first = torch.optim.SGD(shared.parameters(), lr=0.0)
    relaxation.after_step(Progress(shared, first, list(shared.parameters()), seed=0))
    numbers = TrainingConfiguration(steps=6, learning_rate=0.05)
    options = {"optimizer": lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9)}
    fit(shared, lambda s, _: strings(s), string_loss, numbers, hooks=[relaxation], **options)
    fit(single, lambda s, _: strings(s), string_loss, numbers, hooks=[Third()], **options)
    merge_equal_sets(shared)
    assert shared.parameter_sets == 1
    for name, value in single.named_parameters():
        torch.testing.assert_close(shared.get_parameter(name), value, rtol=1e-9, atol=1e-12)


def test_sets_that_differ_are_not_merged():
    module = relaxed()
    merge_equal_sets(module)
    assert module.parameter_sets == 3


def test_wrong_numbers_are_named():
    curriculum = LengthCurriculum(algorithm("copy"))
    for wrong, message in [
        (lambda: GradientNoise(1.0, "none"), "law is 'none'; give 'error' or 'learning_rate'"),  # pyright: ignore
        (lambda: SaturationCost(0.0), "most is 0.0 and every 200; give positive numbers"),
        (lambda: SaturationCost(1e-3, 1e-2), "least is 0.01 and most 0.001"),
        (lambda: WeightAverage(1.0), "decay is 1.0; give a number between 0 and 1"),
        (lambda: PlateauDecay(1.2), "factor is 1.2"),
        (lambda: PlateauDecay(every=0), "every is 0"),
        (lambda: EndWhenRight(0), "times is 0"),
        (lambda: Hardening(-0.1, 1, 1), "noise is -0.1; give a number from 0 up"),
        (lambda: Hardening(0.5, 0, 1), "ramp is 0; give a positive integer"),
        (lambda: Sharpening(Hardening(0.5, 1, 1), 0.5), "factor is 0.5; give 1 or more"),
        (lambda: Rounding(Hardening(0.5, 1, 1), 0), "levels is 0; give a positive integer"),
        (lambda: Hardening(0.5, 1, 1, learned=2.0), "learned is 2.0"),
        (lambda: Hardening(0.5, 1, 1, wait=-1), "wait is -1; give 0 or more"),
        (lambda: SharingRelaxation(curriculum, factor=1.0), "pull is 0.0005, factor 1.0"),
        (lambda: ClippedAdamax([nn.Parameter(torch.zeros(1))], lr=0.0), "lr is 0.0"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()
