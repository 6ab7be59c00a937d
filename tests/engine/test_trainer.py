"""The native trainer against PyTorch in float64."""

import pytest
import torch
from torch import nn

from torchalu import _core, functional
from torchalu.engine import instruction_set, instruction_sets, sample_batch, train
from torchalu.engine import select_instruction_set as select
from torchalu.nn import (
    INALU,
    NAC,
    NALU,
    NAU,
    NMRU,
    NMU,
    NPU,
    SNMU,
    GatedNAUNMU,
    NACMul,
    RealNPU,
    constrain_after,
    penalty,
    penalty_ramp,
)
from torchalu.tasks import SimpleFunction, Table


class DrawnSNMU(SNMU):
    """An SNMU with the noise that the native trainer draws for seed 5, replica 2."""

    place = 0
    step = 0

    def forward(self, input):
        columns = torch.empty(input.shape[1], -(-len(input) // 16) * 16, dtype=self.dtype_drawn)
        interval = (*self.noise, 0.0, 1.0, False)
        _core.sample(5, 2, 16 * (1 + self.place), self.step, interval, columns)
        self.step += 1
        noise = columns.T[: len(input)].to(input.dtype)
        return functional.snmu(input, self.effective_weight(), noise)


# A second layer in log space has a large eps here: with 1e-7 a row whose first layer comes near 0
# amplifies the rounding of either program by 1e7, and the comparison would measure nothing else.
STACKS = {
    "nau_nmu": lambda: [NAU(10, 3), NMU(3, 1)],
    "nmu_nau": lambda: [NMU(10, 3), NAU(3, 1)],
    "nac": lambda: [NAC(10, 2), NAC(2, 1)],
    "nac_mul_tanh_sigmoid": lambda: [NAC(10, 2), NACMul(2, 1, eps=0.1)],
    "nac_mul_sigmoid": lambda: [NACMul(10, 2, parametrization="sigmoid"), NAC(2, 1)],
    "nac_mul_clamped": lambda: [NAC(10, 3), NACMul(3, 1, parametrization="clamped", eps=0.1)],
    "nalu": lambda: [NALU(10, 2), NALU(2, 1, eps=0.1)],
    "nalu_separate": lambda: [NALU(10, 3, separate=True), NALU(3, 1, separate=True, eps=0.1)],
    "gated": lambda: [GatedNAUNMU(10, 3), GatedNAUNMU(3, 1)],
    "real_npu": lambda: [NAU(10, 3), RealNPU(3, 1)],
    "real_npu_first": lambda: [RealNPU(10, 3), NAU(3, 1)],
    "real_npu_modified": lambda: [RealNPU(10, 3, modified=True), NAU(3, 1)],
    "npu": lambda: [NAU(10, 3), NPU(3, 1)],
    "npu_first": lambda: [NPU(10, 3), NAU(3, 1)],
    "nmru": lambda: [NAU(10, 3), NMRU(3, 1, eps=0.1)],
    "nmru_first": lambda: [NMRU(10, 3, eps=0.1), NAU(3, 1)],
    "snmu": lambda: [NAU(10, 3), SNMU(3, 1)],
    "snmu_first": lambda: [SNMU(10, 5), NAU(5, 1)],
    "inalu": lambda: [NAU(10, 3), INALU(3, 2, eps=0.1), NAU(2, 1)],
    "inalu_first": lambda: [INALU(10, 3, max_exponent=0.5), INALU(3, 1, eps=0.1)],
    "linear": lambda: [nn.Linear(10, 4), nn.Linear(4, 1, bias=False)],
    "relu": lambda: [nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 1)],
    "relu6": lambda: [nn.Linear(10, 5), nn.ReLU6(), nn.Linear(5, 1)],
    "no_clamp": lambda: [NAU(10, 3, clamp=False), NMU(3, 1, clamp=False)],
    "wide": lambda: [NAU(10, 37), NMU(37, 5), NAU(5, 1)],
}
RANGES = {"positive": (1.0, 2.0), "mixed": (-2.0, 2.0)}


def moderate(state):
    """Start values in the curved part of tanh and sigmoid, where both programs keep all digits."""
    return {
        name: value.abs() / 8 + 0.1 if "_hat" in name else value.clone()
        for name, value in state.items()
    }


def train_in_pytorch(modules, task, initial, steps, dtype, batch_size=100, clip_norm=None):
    """The same training, written out with torch's own autograd and Adam, in float64."""
    model = nn.Sequential(*modules).double()
    for place, module in enumerate(model):
        if isinstance(module, SNMU):
            module.__class__ = DrawnSNMU
            module.place, module.dtype_drawn = place, dtype
    model.load_state_dict({name: value.double() for name, value in initial.items()})
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    constrain_after(optimizer, model)
    for step in range(steps):
        x, _ = sample_batch(task, seed=5, replica=2, step=step, batch_size=batch_size, dtype=dtype)
        x = x.double()
        y = task.target(x, *task.subsets_of(5, 2))
        loss = nn.functional.mse_loss(model(x), y)
        loss = loss + 0.5 * penalty_ramp(step, 10, 40) * penalty(model)
        optimizer.zero_grad()
        loss.backward()
        if clip_norm is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        optimizer.step()
    return model.state_dict()


def native(modules, task, initial, steps, dtype, **options):
    return train(
        modules,
        task,
        steps=steps,
        replicas=[2],
        seed=5,
        dtype=dtype,
        batch_size=100,
        penalty=0.5,
        penalty_start=10,
        penalty_end=40,
        initial=initial,
        **options,
    )


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
@pytest.mark.parametrize("sampled_from", RANGES)
@pytest.mark.parametrize("name", STACKS)
def test_equals_pytorch_in_float64(name, sampled_from, dtype, tolerance):
    torch.manual_seed(1)
    modules = STACKS[name]()
    task = SimpleFunction(
        "mul", in_features=10, subset_ratio=0.3, interpolation_range=RANGES[sampled_from]
    )
    initial = moderate(nn.Sequential(*modules).to(dtype).state_dict())
    expected = train_in_pytorch(modules, task, initial, 50, dtype)
    actual = native(STACKS[name](), task, initial, 50, dtype).parameters
    for key, value in expected.items():
        torch.testing.assert_close(actual[key][0].double(), value, rtol=tolerance, atol=tolerance)


def test_modules_that_only_pytorch_trains_are_named():
    """A subclass is not taken for its base: it may compute something else."""
    message = r"stack\[1\] is a Doubled; the native trainer knows .*NMU.*PyTorch training"
    with pytest.raises(TypeError, match=message):
        train(
            [NAU(10, 3), type("Doubled", (NMU,), {})(3, 1)],
            SimpleFunction("mul", in_features=10),
            steps=1,
            replicas=1,
        )


@pytest.mark.parametrize("sparse", [False, True])
def test_noise_of_snmu_is_that_of_its_training_alone(sparse):
    """Weights of 0 and 1 cancel it; others see it in the training loss, not in the others."""
    weight = torch.tensor([[1.0, 1.0, 0.0]] if sparse else [[0.9, 0.8, 0.1]], dtype=torch.float64)
    task = SimpleFunction("mul", in_features=3, subsets=((0,), (1,)))
    losses = [
        train(
            [unit(3, 1)],
            task,
            steps=1,
            replicas=[0],
            initial={"0.weight": weight},
            learning_rate=1e-12,
            dtype=torch.float64,
            evaluate_every=1,
        ).records.row(-1, named=True)
        for unit in (NMU, SNMU)
    ]
    for column in ("validation_loss", "extrapolation_loss"):
        assert losses[1][column] == pytest.approx(losses[0][column], rel=1e-9, abs=1e-20)
    without, noisy = (loss["training_loss"] for loss in losses)
    assert (noisy < 1e-25) if sparse else (abs(noisy / without - 1) > 0.01)


def test_penalty_of_inalu_ends_at_saturated_parameters():
    """A pull of 1/20 a parameter, averaged over each matrix, and none from 20 on."""
    size = torch.tensor([[3.0, -19.0, 20.5, -21.0]], dtype=torch.float64)
    initial = {f"0.{name}": size for name in ("w_hat", "m_hat", "mul_w_hat", "mul_m_hat")}
    initial["0.gate_hat"] = torch.tensor([40.0], dtype=torch.float64)  # the sum alone
    task = SimpleFunction("add", in_features=4, subsets=((0,), (1,)))
    options = {"replicas": [0], "dtype": torch.float64, "initial": initial}
    options |= {"learning_rate": 0.1, "penalty_start": 0, "penalty_end": 1}
    before, free, pulled = (
        train([INALU(4, 1)], task, steps=steps, penalty=weight, **options).parameters
        for steps, weight in ((1, 0.0), (2, 0.0), (2, 1e9))
    )
    # Adam's second step where its second gradient is all that matters.
    step = 0.1 * (0.1 / (1 - 0.9**2)) / (0.001 / (1 - 0.999**2)) ** 0.5
    for name in initial.keys() - {"0.gate_hat"}:
        moved = (pulled[name] - before[name])[0, 0]
        assert moved[:2].tolist() == pytest.approx([step, -step], rel=1e-3)
        assert pulled[name][0, 0, 2:].tolist() == free[name][0, 0, 2:].tolist()


@pytest.fixture(params=instruction_sets())
def _each_instruction_set(request):
    before = instruction_set()
    select(request.param)
    yield
    select(before)


@pytest.mark.usefixtures("_each_instruction_set")
@pytest.mark.parametrize("name", ["nau_nmu", "nalu", "npu", "nmru", "snmu_first", "inalu", "wide"])
def test_every_instruction_set_equals_pytorch(name):
    torch.manual_seed(1)
    modules = STACKS[name]()
    task = SimpleFunction("mul", in_features=10, subset_ratio=0.3)
    initial = moderate(nn.Sequential(*modules).double().state_dict())
    expected = train_in_pytorch(modules, task, initial, 20, torch.float64)
    actual = native(STACKS[name](), task, initial, 20, torch.float64).parameters
    for key, value in expected.items():
        torch.testing.assert_close(actual[key][0], value, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("_each_instruction_set")
@pytest.mark.parametrize(
    ("kinds", "dtype", "tolerance"),
    [
        ((NAU, NMU), torch.float64, 1e-12),
        ((NMU, NAU), torch.float64, 1e-12),
        ((NMU, NMU), torch.float64, 1e-12),
        ((NAU, NMU), torch.float32, 1e-6),
    ],
    ids=str,
)
def test_weights_that_are_clamped_in_the_forward_pass_alone(kinds, dtype, tolerance):
    """They start on both sides of their bounds; the penalty alone moves those beyond."""

    def stack():
        return [kinds[0](10, 5, clamp="forward"), kinds[1](5, 1, clamp="forward")]

    torch.manual_seed(1)
    task = SimpleFunction("mul", in_features=10, subset_ratio=0.3)
    start = nn.Sequential(*stack()).to(dtype).state_dict()
    initial = {name: 6 * value - 1.5 for name, value in start.items()}
    expected = train_in_pytorch(stack(), task, initial, 50, dtype)
    result = native(stack(), task, initial, 50, dtype, evaluate_every=50)
    outside = 0
    for module, (key, value) in zip(stack(), expected.items(), strict=True):
        actual = result.parameters[key][0].double()
        torch.testing.assert_close(actual, value, rtol=tolerance, atol=tolerance)
        outside += (value != value.clamp(*module.bounds)).sum()
    assert outside > 5
    weights = [layer.effective_weight().abs() for layer in result.module(0)]
    errors = [torch.minimum(w, (1 - w).abs()).max().item() for w in weights]
    assert result.records["sparsity_error"][-1] == pytest.approx(max(errors), rel=1e-6)


def test_clipping_by_norm_equals_pytorch():
    task = SimpleFunction("mul", in_features=10, subset_ratio=0.3)
    torch.manual_seed(1)
    initial = moderate(nn.Sequential(NAU(10, 3), NMU(3, 1)).double().state_dict())
    stack = STACKS["nau_nmu"]
    expected = train_in_pytorch(stack(), task, initial, 20, torch.float64, clip_norm=0.01)
    actual = native(stack(), task, initial, 20, torch.float64, clip_norm=0.01).parameters
    for key, value in expected.items():
        torch.testing.assert_close(actual[key][0], value, rtol=1e-12, atol=1e-12)


def test_clipping_by_value_bounds_the_first_step_of_plain_momentum():
    # With beta2 = 0 and a huge eps the first Adam step is -learning_rate * gradient / eps.
    table = Table([[1.0, -1.0], [2.0, 3.0]], [100.0, -50.0])
    start = {"0.weight": torch.zeros(1, 2, dtype=torch.float64)}
    result = train(
        [NAU(2, 1)], table, steps=1, dtype=torch.float64, initial=start, clip_value=0.5,
        betas=(0.0, 0.0), adam_eps=1e6, learning_rate=1e6,
    )  # fmt: skip
    # The gradient of the mean squared error at 0 is -mean(2 y x) = (0, 250): clipped to (0, 0.5).
    expected = torch.tensor([[0.0, -0.5 / (1 + 0.5e-6)]], dtype=torch.float64)
    torch.testing.assert_close(result.parameters["0.weight"][0], expected)


def test_weighted_table_equals_pytorch():
    generator = torch.Generator().manual_seed(3)
    x = torch.rand(37, 4, generator=generator, dtype=torch.float64) + 1
    y = x[:, 0] * x[:, 1] - x[:, 2]
    weight = torch.rand(37, generator=generator, dtype=torch.float64)
    torch.manual_seed(2)
    model = nn.Sequential(NMU(4, 2), NAU(2, 1)).double()
    initial = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    constrain_after(optimizer, model)
    for _ in range(30):
        loss = (weight * (model(x)[:, 0] - y) ** 2).sum() / weight.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    table = Table(x.numpy(), y.numpy(), sample_weight=weight.numpy())
    result = train(model, table, steps=30, dtype=torch.float64, initial=initial, learning_rate=0.01)
    for key, value in model.state_dict().items():
        torch.testing.assert_close(result.parameters[key][0], value, rtol=1e-12, atol=1e-12)
    final = ((weight * (model(x)[:, 0] - y) ** 2).sum() / weight.sum()).item()
    assert result.records["validation_loss"][-1] == pytest.approx(final, rel=1e-12)


def test_losses_in_the_records_are_those_of_fresh_samples():
    task = SimpleFunction("mul", in_features=4, subsets=((0, 1), (2, 3)), evaluation_rows=10_000)
    exact = {
        "0.weight": torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.5]]),
        "1.weight": torch.ones(1, 2),
    }
    result = train([NAU(4, 2), NMU(2, 1)], task, steps=1, learning_rate=0.0, initial=exact)
    row = result.records.row(-1, named=True)
    # The error is (x1 + x2) x4 / 2; its mean square for uniform inputs in closed form.
    for name, (low, high) in {"validation_loss": (1, 2), "extrapolation_loss": (2, 6)}.items():
        mean, square = (low + high) / 2, (high**3 - low**3) / 3 / (high - low)
        expected = (2 * square + 2 * mean**2) * square / 4
        assert row[name] == pytest.approx(expected, rel=0.03)
    assert row["sparsity_error"] == pytest.approx(0.5)


class Squared(nn.Sequential):
    def forward(self, input):
        return super().forward(input) ** 2


def test_stacks_that_would_be_trained_otherwise_than_pytorch_trains_them():
    twice, frozen = NAU(10, 10), NAU(10, 1).requires_grad_(False)
    normed = nn.utils.spectral_norm(nn.Linear(10, 1))
    task = SimpleFunction("add", in_features=10)
    for stack, error, message in (
        ([twice, twice, NAU(10, 1)], ValueError, r"stack\[1\] is in the stack twice"),
        ([NAU(10, 10), frozen], ValueError, r"stack\[1\].weight has requires_grad = False"),
        (Squared(NAU(10, 1)), TypeError, "stack is a Squared with a forward of its own"),
        ([normed], TypeError, r"stack\[0\] has forward hooks, such as those of spectral_norm"),
    ):
        with pytest.raises(error, match=message):
            train(stack, task, steps=1, replicas=1)


@pytest.mark.parametrize("replicas", [[3, 3], [2**64], [-1], []])
def test_replicas_that_are_none_or_the_same(replicas):
    with pytest.raises(ValueError, match="give a positive integer, or different integers from 0"):
        train([NAU(10, 1)], SimpleFunction("add", in_features=10), steps=1, replicas=replicas)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"step": 0.5}, TypeError, r"step is 0\.5; give an integer, 0 or more"),
        ({"seed": -1}, ValueError, "seed is -1; give an integer, 0 or more"),
        ({"replica": 2**64}, ValueError, f"replica is {2**64}; give an integer from 0 to below"),
        ({"batch_size": 0}, ValueError, "batch_size is 0; give a positive integer"),
        ({"dtype": torch.half}, TypeError, r"dtype is torch\.float16; give torch\.float32 or"),
    ],
)
def test_what_a_batch_cannot_be_drawn_with_is_named(changes, error, message):
    task = SimpleFunction("add", in_features=10)
    with pytest.raises(error, match=message):
        sample_batch(task, **{"seed": 0, "replica": 0, "step": 0, **changes})


def test_sizes_of_subsets_are_those_of_decimal_numbers():
    """100 * 0.29 is 28.999999999999996 in binary; 25 * 0.5 is no whole number in any base."""
    sizes = [SimpleFunction("add", subset_ratio=n / 100).subset_size for n in range(1, 51)]
    assert sizes == list(range(1, 51))
    task = SimpleFunction("add", subset_ratio=0.25, overlap_ratio=0.5)
    assert (task.subset_size, task.shift) == (25, 13)
