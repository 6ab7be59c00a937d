"""Gate layers: their wiring, what they learn, and what they are once trained."""

import copy
import math

import pytest
import torch
from safetensors.torch import load, save
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.func import functional_call, stack_module_state, vmap

from torchalu import functional
from torchalu.functional import GATE_NAMES
from torchalu.nn import GroupSum, LogicGates

ROWS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
PAIR = torch.tensor([[0], [1]])


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def set_gates(layer, gates):
    layer.weight.data.copy_(torch.eye(16)[list(gates)])
    return layer


@pytest.mark.parametrize("kind", ["random", "unique"])
@pytest.mark.parametrize(
    ("in_features", "out_features"), [(2, 1), (7, 3), (7, 7), (8, 28), (9, 5), (8, 13)]
)
def test_inputs_are_dealt_out_evenly(kind, in_features, out_features):
    layer = LogicGates(in_features, out_features, connections=kind, generator=seeded())
    first, second = layer.connections
    assert layer.connections.shape == (2, out_features)
    assert not first.eq(second).any()
    uses = torch.bincount(layer.connections.flatten(), minlength=in_features)
    assert uses.max() - uses.min() <= (1 if kind == "random" else 2)
    firsts = torch.bincount(first, minlength=in_features)
    assert firsts.max() - firsts.min() <= 1


@pytest.mark.parametrize("in_features", range(2, 12))
def test_unique_pairs_are_unique_up_to_the_last(in_features):
    most = in_features * (in_features - 1) // 2
    for out_features in range(1, most + 1):
        layer = LogicGates(in_features, out_features, connections="unique")
        pairs = {frozenset(pair) for pair in layer.connections.T.tolist()}
        assert len(pairs) == out_features
        assert all(len(pair) == 2 for pair in pairs)
        assert len(frozenset().union(*pairs)) == min(in_features, 2 * out_features)
    with pytest.raises(ValueError, match=f"make {most} different pairs"):
        LogicGates(in_features, most + 1, connections="unique")


def test_generator_decides_wiring_and_start_and_leaves_the_global_one_alone():
    state = torch.get_rng_state()
    layers = [LogicGates(20, 30, generator=seeded(seed)) for seed in (0, 0, 1)]
    assert torch.get_rng_state().equal(state)
    assert layers[0].connections.equal(layers[1].connections)
    assert layers[0].weight.equal(layers[1].weight)
    assert not layers[0].connections.equal(layers[2].connections)
    layers[2].reset_parameters(seeded(3))
    layers[0].reset_parameters(seeded(3))
    assert layers[0].weight.equal(layers[2].weight)


def test_wiring_that_is_given_is_kept():
    connections = torch.tensor([[0, 2], [1, 1]], dtype=torch.int32)
    layer = set_gates(LogicGates(3, 2, connections=connections).eval(), [2, 7])
    assert layer.connections.tolist() == connections.tolist()
    bits = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    assert layer(bits).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_evaluation_gives_bits_for_bits_whatever_the_mode():
    bits = (torch.rand(40, 12, generator=seeded()) > 0.5).float()
    for mode in ("soft", "hard", "gumbel_soft", "gumbel_hard"):
        layer = LogicGates(12, 20, mode=mode, generator=seeded())
        value = layer.eval()(bits)
        a, b = bits[:, layer.connections[0]].long(), bits[:, layer.connections[1]].long()
        truth = layer.gates() >> (3 - 2 * a - b) & 1
        assert value.equal(truth.float())


def test_training_modes_differ_as_they_should():
    layer = LogicGates(4, 50, generator=seeded())
    bits = (torch.rand(8, 4, generator=seeded()) > 0.5).float()
    soft, hard = layer(bits), copy.deepcopy(layer).eval()(bits)
    assert not soft.equal(hard)
    layer.temperature = 1e-3
    torch.testing.assert_close(layer(bits), hard, rtol=0, atol=1e-3)
    layer.mode = "hard"
    assert layer(bits).equal(hard)
    layer.mode = "gumbel_hard"
    torch.manual_seed(0)
    first, second = layer(bits), layer(bits)
    assert set(first.unique().tolist()) == {0.0, 1.0}
    assert not first.equal(second)


def test_residual_start_is_nearly_a_wire():
    layer = LogicGates(9, 12, initialization="residual", generator=seeded())
    assert layer.gate_names() == ["a"] * 12
    e5 = 148.4131591025766
    torch.testing.assert_close(layer.probabilities()[:, 3], torch.full((12,), e5 / (e5 + 15)))
    bits = (torch.rand(40, 9, generator=seeded()) > 0.5).float()
    assert (layer(bits) - bits[:, layer.connections[0]]).abs().max() < 0.06


@pytest.mark.parametrize("mode", ["soft", "gumbel_hard"])
@pytest.mark.parametrize("initialization", ["normal", "residual"])
def test_every_gate_is_learned(mode, initialization):
    torch.manual_seed(0)
    connections = PAIR.expand(2, 16)
    layer = LogicGates(
        2,
        16,
        connections=connections,
        mode=mode,
        initialization=initialization,
        generator=seeded(),
    )
    target = torch.tensor([[gate >> (3 - row) & 1 for gate in range(16)] for row in range(4)])
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    for _ in range(300):
        optimizer.zero_grad()
        nn.functional.mse_loss(layer(ROWS), target.float(), reduction="sum").backward()
        optimizer.step()
    assert layer.eval().gate_names() == list(GATE_NAMES)
    assert layer(ROWS).equal(target.float())


def test_group_sum_scores_are_counts():
    layers = nn.Sequential(LogicGates(6, 12, generator=seeded()), GroupSum(3, 2.0)).eval()
    bits = (torch.rand(10, 6, generator=seeded()) > 0.5).float()
    counts = layers[0](bits).reshape(10, 3, 4).sum(-1)
    assert layers(bits).equal(counts / 2)
    assert repr(layers[1]) == "GroupSum(num_groups=3, temperature=2.0)"


def test_state_holds_the_wiring():
    layer, other = LogicGates(8, 6, generator=seeded()), LogicGates(8, 6, generator=seeded(1))
    bits = (torch.rand(10, 8, generator=seeded()) > 0.5).float()
    assert tuple(layer.state_dict()) == ("weight", "connections")
    other.load_state_dict(load(save(layer.state_dict())))
    assert other(bits).equal(layer(bits))
    assert copy.deepcopy(layer)(bits).equal(layer(bits))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_device_and_dtype_reach_the_parameters(dtype):
    assert LogicGates(4, 3, device="meta", dtype=dtype).connections.device.type == "meta"
    layer = LogicGates(4, 3, dtype=dtype)
    output = layer(torch.rand(5, 4, dtype=dtype))
    assert (layer.weight.dtype, output.dtype) == (dtype, dtype)
    output.sum().backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.isfinite().all()
    assert layer.connections.dtype == torch.int64


@pytest.mark.parametrize("mode", ["soft", "hard", "gumbel_soft", "gumbel_hard"])
def test_compiles_without_a_graph_break(mode):
    layer, x = LogicGates(6, 5, mode=mode, generator=seeded()), torch.rand(4, 6, generator=seeded())
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    torch.manual_seed(0)
    value = compiled(x)
    torch.manual_seed(0)
    torch.testing.assert_close(value, layer(x))
    value.sum().backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.ne(0).any()


def test_exports():
    layer, x = LogicGates(6, 5, generator=seeded()).eval(), torch.rand(4, 6, generator=seeded())
    exported = torch.export.export(layer, (x,))
    torch.testing.assert_close(exported.module()(x), layer(x))


def test_ensemble_equals_its_members():
    members = [LogicGates(6, 5, generator=seeded(seed)) for seed in range(3)]
    base = LogicGates(6, 5, device="meta")
    parameters, buffers = stack_module_state(members)
    x = torch.rand(4, 6, generator=seeded())

    def call(values, wiring):
        return functional_call(base, (values, wiring), x)

    expected = torch.stack([member(x) for member in members])
    torch.testing.assert_close(vmap(call)(parameters, buffers), expected)


def test_autocast_computes_in_float32():
    model = nn.Sequential(nn.Linear(6, 6), nn.Sigmoid(), LogicGates(6, 4))
    with torch.autocast("cpu", torch.bfloat16):
        hidden = model[:2](torch.rand(5, 6, generator=seeded()))
        output = model[2](hidden)
    assert (hidden.dtype, output.dtype) == (torch.bfloat16, torch.float32)
    torch.testing.assert_close(output, model[2](hidden.float()))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((0, 1), {}, ValueError, "in_features is 0"),
        ((1, 1), {}, ValueError, "in_features is 1; a gate needs 2 inputs"),
        ((2, 2.5), {}, TypeError, r"out_features is 2\.5"),
        ((2, 1), {"mode": "warm"}, ValueError, "mode is 'warm'"),
        ((2, 1), {"temperature": 0.0}, ValueError, r"temperature is 0\.0"),
        ((2, 1), {"initialization": "zero"}, ValueError, "give 'normal' or 'residual'"),
        ((2, 1), {"connections": "all"}, ValueError, "give 'random', 'unique' or a tensor"),
        ((2, 1), {"connections": torch.zeros(2, 2).long()}, ValueError, r"give \(2, 1\)"),
        ((2, 1), {"connections": torch.zeros(2, 1)}, TypeError, r"connections is torch\.float32"),
        ((2, 1), {"connections": 2 * PAIR}, ValueError, "holds 2; give indices from 0 to 1"),
        ((2, 1), {"connections": -PAIR}, ValueError, "holds -1"),
        ((2, 1), {"dtype": torch.int64}, TypeError, r"dtype is torch\.int64"),
    ],
)
def test_bad_arguments(arguments, options, error, message):
    with pytest.raises(error, match=message):
        LogicGates(*arguments, **options)


def test_bad_input_and_groups():
    with pytest.raises(ValueError, match="must be in_features = 4"):
        LogicGates(4, 3)(torch.ones(2, 5))
    with pytest.raises(TypeError, match=r"input is torch\.float64"):
        LogicGates(4, 3)(torch.ones(2, 4, dtype=torch.float64))
    with pytest.raises(ValueError, match="num_groups is 0"):
        GroupSum(0)
    with pytest.raises(ValueError, match="temperature is -1"):
        GroupSum(2, -1.0)
    with pytest.raises(ValueError, match="temperature is 0"):
        functional.group_sum(torch.ones(4), 2, 0)
    with pytest.raises(TypeError, match=r"weight is torch\.int64"):
        functional.gate_probabilities(torch.ones(16).long())


def test_meta_gates_get_their_wiring_with_their_weights():
    with torch.device("meta"):
        first, second = LogicGates(6, 9), LogicGates(6, 9)
    assert first(torch.rand(2, 6, device="meta")).shape == (2, 9)
    first.to_empty(device="cpu").reset_parameters()
    assert torch.bincount(first.connections.flatten(), minlength=6).tolist() == [3] * 6
    second.to_empty(device="cpu").load_state_dict(first.state_dict())
    second.reset_parameters()
    assert torch.equal(second.connections, first.connections)


def test_wiring_comes_through_meta_unharmed():
    layer = LogicGates(6, 9)
    wiring = layer.connections.clone()
    assert torch.equal(layer.to("meta").to_empty(device="cpu").connections, wiring)
    layer.load_state_dict({"connections": wiring.flip(0)}, strict=False)
    assert torch.equal(layer.to("meta").to_empty(device="cpu").connections, wiring.flip(0))
    empty = LogicGates(6, 9, device="meta").to_empty(device="cpu")
    empty.load_state_dict({"weight": torch.ones(9, 16)}, strict=False)
    assert torch.bincount(empty.connections.flatten(), minlength=6).tolist() == [3] * 6
    skipped = torch.nn.utils.skip_init(LogicGates, 6, 9)
    assert torch.bincount(skipped.connections.flatten(), minlength=6).tolist() == [3] * 6
    with pytest.raises(ValueError, match="connections is on the device meta"):
        LogicGates(6, 9, connections=wiring.to("meta"))


def test_wiring_that_is_given_belongs_to_its_giver():
    given = torch.tensor([[0, 1, 2], [3, 4, 5]])
    first, second = (LogicGates(6, 3, connections=given) for _ in range(2))
    first.load_state_dict({"connections": given.flip(0)}, strict=False)
    assert given.tolist() == second.connections.tolist() == [[0, 1, 2], [3, 4, 5]]
    given.zero_()
    assert second.connections.tolist() == [[0, 1, 2], [3, 4, 5]]
    empty = LogicGates(6, 3, connections=second.connections, device="meta")
    second.connections.zero_()
    assert empty.to_empty(device="cpu").connections.tolist() == [[0, 1, 2], [3, 4, 5]]
    before = empty.connections
    empty.to("meta")
    before.zero_()
    assert empty.to_empty(device="cpu").connections.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_wiring_comes_through_to_empty_on_a_real_device(monkeypatch):
    layer = LogicGates(6, 9, generator=seeded())
    layer.load_state_dict({"connections": layer.connections.flip(0)}, strict=False)
    wiring = layer.connections.clone()
    plain = torch.empty_like
    monkeypatch.setattr(torch, "empty_like", lambda *a, **o: plain(*a, **o).fill_(77))
    layer.to_empty(device="cpu").reset_parameters()
    assert layer.connections.equal(wiring)
    assert layer.double().half().connections.equal(wiring)
    assert torch.nn.Sequential(layer).to_empty(device="cpu")[0].connections.equal(wiring)


def test_a_state_with_other_inputs_is_refused():
    layer, state = LogicGates(50, 64), LogicGates(100, 64).state_dict()
    with pytest.raises(RuntimeError, match=r"connections holds 9\d; give indices from 0 to 49"):
        layer.load_state_dict(state)
    half = {name: value.half() for name, value in layer.state_dict().items()}
    with pytest.raises(RuntimeError, match=r"connections is torch\.float16; give indices"):
        layer.load_state_dict(half)


def test_fake_tensors_show_the_shape():
    with FakeTensorMode():
        assert LogicGates(6, 9)(torch.rand(2, 6)).shape == (2, 9)


def test_repr_shows_the_arguments():
    assert repr(LogicGates(4, 3, mode="hard")) == (
        "LogicGates(in_features=4, out_features=3, mode='hard', temperature=1.0, "
        "initialization='normal')"
    )


def test_noise_differs_over_a_mapped_dimension_and_is_that_of_gumbel():
    layer = LogicGates(2, 1, mode="gumbel_hard", generator=seeded())
    with torch.no_grad():
        layer.weight.fill_(-50.0)
        layer.weight[0, 0], layer.weight[0, 15] = 0.0, math.log(3)  # False, or True: 3 of 4 times
    torch.manual_seed(0)
    rows = 4000
    drawn = torch.vmap(layer, randomness="different")(torch.zeros(rows, 2))
    assert drawn.shape == (rows, 1)
    share = drawn.mean().item()
    assert abs(share - 0.75) < 4 * math.sqrt(0.75 * 0.25 / rows)


def test_no_temperature_makes_a_gate_no_number():
    layer = LogicGates(2, 1, temperature=1e-39)
    layer.weight.data.copy_(5.0 * torch.eye(16)[[6]])  # a xor b
    bits = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    for training in (False, True):
        layer.train(training)
        assert (layer(bits) - torch.tensor([[0.0], [1.0], [1.0], [0.0]])).abs().max() == 0
