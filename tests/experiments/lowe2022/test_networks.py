"""The networks of Lowe et al. 2022: their layers, their sizes, and sizes that are to be equal."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from torchalu.experiments.lowe2022.mnist import NETWORKS
from torchalu.experiments.lowe2022.networks import (
    cnn,
    cnn_parameters,
    count_parameters,
    mlp,
    mlp_parameters,
    start,
)
from torchalu.experiments.lowe2022.preactivation_resnet import Bottleneck, preactivation_resnet
from torchalu.experiments.lowe2022.sizing import nearest_widths, scaled
from torchalu.nn import activation, features_multiple

SIX = (12, 12, 24, 24, 48, 48)
ACTIVATIONS = ("relu", "max_out", "nail_or_and_d", "ail_or_and_xnor_d", "ail_or_and_xnor_p")


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_counted_parameters_are_those_of_the_networks(name):
    widths = (24, 12, 36)
    assert mlp_parameters(7, widths, 5, name) == count_parameters(mlp(7, widths, 5, name))
    assert cnn_parameters(SIX, widths[:2], name) == count_parameters(cnn(SIX, widths[:2], name))


def test_the_published_widths_have_equally_many_parameters():
    """Section 4.5: 512, 650 and 438 neurons, on the 512 features of a ResNet-18."""
    for classes in (100, 102):
        wanted = mlp_parameters(512, (512, 512), classes, "relu")
        for name, published in (("or_ail", 650), ("ail_or_and_xnor_d", 438)):
            width, other = nearest_widths(
                (512, 512),
                wanted,
                lambda found, n=name, c=classes: mlp_parameters(512, found, c, n),
                2,
            )
            assert width == other
            assert width == pytest.approx(published, rel=0.01)


@settings(max_examples=30)
@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=4),
    st.integers(1, 10**6),
    st.integers(1, 6),
    st.integers(1, 50),
)
def test_no_other_scale_comes_nearer_to_the_wanted_parameters(widths, wanted, multiple, inputs):
    def count(found):
        return sum(a * b for a, b in zip([inputs, *found], [*found, 3], strict=True))

    found = nearest_widths(widths, wanted, count, multiple)
    assert all(width % multiple == 0 and width >= multiple for width in found)
    others = (scaled(widths, grains / 64, multiple) for grains in range(1, 6000))
    assert abs(count(found) - wanted) <= min(abs(count(other) - wanted) for other in others)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=4))
def test_widths_that_are_right_stay_as_they_are(widths):
    def count(found):
        return sum((k + 1) * width for k, width in enumerate(found))

    assert nearest_widths(widths, count(widths), count) == tuple(widths)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_all_activations_get_about_as_many_parameters_as_relu(network, name):
    family, multiple = NETWORKS[network], features_multiple(activation(name))
    for width in (16, 32):
        wanted = family.parameters(family.widths(width, "relu"), "relu")
        widths = family.widths(width, name)
        assert all(found % multiple == 0 for found in widths)
        assert family.parameters(widths, name) == pytest.approx(wanted, rel=0.12)


def test_the_mlp_computes_what_the_paper_writes():
    network = mlp(3, (8, 4), 2, "max_min_d")
    x = torch.randn(5, 3)
    y = x
    *hidden, last = [(layer.weight, layer.bias) for layer in network if hasattr(layer, "weight")]
    for weight, bias in hidden:
        pairs = (y @ weight.T + bias).unflatten(1, (-1, 2))
        y = torch.cat([pairs.amax(-1), pairs.amin(-1)], 1)
    torch.testing.assert_close(network(x), y @ last[0].T + last[1])


def test_the_cnn_has_six_convolutions_three_poolings_and_three_linear_layers():
    torch.manual_seed(0)
    network = cnn((2, 2, 4, 4, 8, 8), (16, 16), "relu").eval()
    x = torch.randn(3, 1, 28, 28)
    y = x
    layers = [layer for layer in network if list(layer.parameters())]
    convolutions, linears = layers[:12], layers[12:]
    for place in range(6):
        convolution, norm = convolutions[2 * place : 2 * place + 2]
        y = functional.conv2d(y, convolution.weight, padding=1)
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        y = (y - norm.running_mean.view(-1, 1, 1)) * scale.view(-1, 1, 1)
        y = functional.relu(y + norm.bias.view(-1, 1, 1))
        if place % 2:
            y = functional.max_pool2d(y, 2, 2)
    y = y.reshape(3, 8 * 3 * 3)
    for linear in linears[:2]:
        y = functional.relu(functional.linear(y, linear.weight, linear.bias))
    y = functional.linear(y, linears[2].weight, linears[2].bias)
    torch.testing.assert_close(network(x), y, rtol=1e-4, atol=1e-5)


def preactivation_parameters(blocks, ratio, classes, width_factor=1.0):
    """He et al. 2016, block by block: each convolution reads `ratio` of what was normalized."""
    embedding = int(64 * width_factor)
    total = 3 * 9 * embedding
    for stage, count in enumerate(blocks):
        width = int(64 * 2**stage * width_factor)
        for block in range(count):
            shortcut = int(ratio * embedding) * 4 * width if block == 0 else 0
            norms = 2 * (embedding + 2 * width)
            first = int(ratio * embedding) * width
            second = int(ratio * width) * width * 9
            third = int(ratio * width) * 4 * width
            total += norms + first + second + third + shortcut
            embedding = 4 * width
    return total + 2 * embedding + (int(ratio * embedding) + 1) * classes


@pytest.mark.parametrize(
    ("depth", "blocks", "name", "ratio", "factor"),
    [
        (50, (3, 4, 6, 3), "relu", 1, 1.0),
        (50, (3, 4, 6, 3), "or_ail", 0.5, 1.0),
        (50, (3, 4, 6, 3), "ail_or_and_xnor_d", 1.5, 0.5),
        (26, (2, 2, 2, 2), "relu", 1, 2.0),
        (101, (3, 4, 23, 3), "max_min_d", 1, 0.25),
    ],
)
def test_parameters_of_the_residual_networks(depth, blocks, name, ratio, factor):
    with torch.device("meta"):
        network = preactivation_resnet(10, name, factor, depth)
    assert count_parameters(network) == preactivation_parameters(blocks, ratio, 10, factor)
    layers = [m for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    shortcuts = [m for m in network.modules() if isinstance(m, Bottleneck) and m.shortcut]
    assert len(layers) - len(shortcuts) == depth


def test_the_residual_network_with_relu_has_the_size_that_follows_from_the_published_one():
    """ResNet-50 for ImageNet has 25,557,032 parameters.

    Ten classes for 1000, a stem of 3 by 3 for 7 by 7, norms where they stand before convolutions,
    of which those of the four shortcuts fall away.
    """
    classes, stem = 2049 * (10 - 1000), 64 * 3 * (9 - 49)
    norms = 2 * ((64 - 2048) - (256 + 512 + 1024 + 2048) + (2048 - 64))
    with torch.device("meta"):
        count = count_parameters(preactivation_resnet(10, "relu"))
    assert count == 25_557_032 + classes + stem + norms


@pytest.mark.parametrize("name", ["relu", "xnor_ail", "ail_or_and_xnor_p"])
def test_the_embedding_keeps_its_size_whatever_the_activation(name):
    network = preactivation_resnet(7, name, width_factor=0.19, depth=26)
    sizes = []
    for module in network.modules():
        if isinstance(module, Bottleneck):
            module.register_forward_hook(lambda _, a, out: sizes.append(tuple(out.shape[1:])))
    assert network(torch.randn(2, 3, 32, 32)).shape == (2, 7)
    multiple = features_multiple(activation(name))
    wide = [multiple * round(256 * 2**k * 0.19 / multiple) for k in range(4)]
    expected = [(width, 32 >> k, 32 >> k) for k, width in enumerate(wide) for _ in range(2)]
    assert sizes == expected


def test_a_bottleneck_adds_its_branch_to_the_input_itself():
    block = Bottleneck(8, 4, 8, 1, "or_ail").eval()
    x = torch.randn(2, 8, 5, 5)
    nn.init.zeros_(block.rest[-1].weight)
    assert torch.equal(block(x), x)


def test_starts_follow_torchs_law_and_the_generator_alone():
    torch.manual_seed(0)
    network, again = (cnn(SIX, (48, 48), "relu") for _ in range(2))
    before = torch.random.get_rng_state()
    start(network, torch.Generator().manual_seed(5))
    start(again, torch.Generator().manual_seed(5))
    assert torch.equal(torch.random.get_rng_state(), before)
    for name, value in network.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])
    layer = nn.Linear(400, 300)
    spread = layer.weight.std().item()
    start(layer, torch.Generator().manual_seed(5))
    assert layer.weight.std().item() == pytest.approx(spread, rel=0.01)
    assert layer.weight.abs().max().item() == pytest.approx(0.05, rel=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scaled((), 1.0), r"widths is \(\); give one or more positive integers"),
        (lambda: scaled((8,), 0.0), "factor is 0.0; give a finite number above 0"),
        (lambda: scaled((8,), math.inf), "factor is inf; give a finite number above 0"),
        (lambda: nearest_widths((8,), 0, sum), "parameters is 0; give a positive integer"),
        (lambda: cnn((1, 2), (3, 4), "relu"), "channels has 2 widths and hidden 2; give 6 and 2"),
        (lambda: mlp(4, (4,), 2, "rleu"), "no activation called 'rleu'; did you mean"),
        (lambda: mlp(4, (3,), 2, "or_ail"), "takes multiples of 2"),
        (lambda: preactivation_resnet(10, "relu", depth=18), "depth is 18; choose from 26, 38, 50"),
        (lambda: preactivation_resnet(10, "relu", 0.0), "factor is 0.0"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
