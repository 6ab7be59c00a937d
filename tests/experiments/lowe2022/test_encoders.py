"""The encoders against a peer, against published counts, and on pictures whose answer is plain."""

import hashlib

import numpy as np
import pytest
import torch
from efficientnet_lite_pytorch import EfficientNet
from safetensors.torch import save

from data_sets import needs
from torchalu.experiments.lowe2022 import efficientnet_lite, resnet18
from torchalu.experiments.lowe2022.efficientnet_lite import (
    EfficientNetLite0,
    SameConv2d,
    load_efficientnet_lite0,
    translated,
)
from torchalu.experiments.lowe2022.pictures import enlarge
from torchalu.experiments.lowe2022.resnet18 import ResNet18, load_resnet18
from torchalu.tasks import DataError, DataFiles, load_cifar10


@pytest.fixture
def noise():
    return torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def peer():
    """The peer with random weights, its normalizations as if it had been trained."""
    generator = torch.Generator().manual_seed(1)
    network = EfficientNet.from_name("efficientnet-lite0").eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            for name in ("running_mean", "running_var", "weight", "bias"):
                getattr(module, name).data.uniform_(0.5, 1.5, generator=generator)
    return network


@torch.inference_mode()
def test_efficientnet_equals_the_peer(peer, noise):
    network = EfficientNetLite0().eval()
    network.load_state_dict(translated(peer.state_dict()))
    torch.testing.assert_close(network.features(noise), peer.extract_features(noise))
    torch.testing.assert_close(network(noise), peer(noise))


def test_every_name_of_the_peer_has_one_of_ours(peer):
    ours = EfficientNetLite0().state_dict()
    assert list(translated(peer.state_dict())) == list(ours)
    shapes = [tensor.shape for tensor in peer.state_dict().values()]
    assert [tensor.shape for tensor in ours.values()] == shapes


@torch.inference_mode()
def test_loaded_weights_are_fused_and_give_what_the_peer_gives(peer, noise, monkeypatch, tmp_path):
    content = save({name: tensor.contiguous() for name, tensor in peer.state_dict().items()})
    (tmp_path / "weights").write_bytes(content)
    files = DataFiles("one", "One", {"weights": hashlib.sha256(content).hexdigest()})
    monkeypatch.setattr(efficientnet_lite, "EFFICIENTNET_LITE0", files)
    network = load_efficientnet_lite0(tmp_path)
    assert not network.training
    assert not any(parameter.requires_grad for parameter in network.parameters())
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in network.modules())
    expected = peer.extract_features(noise)
    torch.testing.assert_close(network.features(noise), expected, rtol=1e-3, atol=1e-3)
    images = torch.randint(256, (2, 3, 32, 32), dtype=torch.uint8)
    inputs = (enlarge(images) - 127) / 128
    means = peer.extract_features(inputs).flatten(2).mean(2)
    torch.testing.assert_close(network.embed(images), means, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("size", [7, 8, 9, 14])
@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("stride", [1, 2])
def test_padding_is_the_one_of_tensorflow(size, kernel, stride):
    """Against sums over the windows that the rule of TensorFlow gives, one by one."""
    convolution = SameConv2d(1, 1, kernel, stride=stride, bias=False)
    torch.nn.init.ones_(convolution.weight)
    rows = torch.arange(1.0, size + 1).view(1, 1, size, 1).expand(-1, -1, -1, size)
    outputs = -(-size // stride)
    before = max((outputs - 1) * stride + kernel - size, 0) // 2
    expected = [
        sum(
            (row + 1)
            for row in range(number * stride - before, number * stride - before + kernel)
            if 0 <= row < size
        )
        for number in range(outputs)
    ]
    found = convolution(rows)
    assert found.shape == (1, 1, outputs, outputs)
    middle = outputs // 2
    assert (found[0, 0, :, middle] / kernel).tolist() == pytest.approx(expected)


def test_weights_of_another_network(monkeypatch, tmp_path):
    for content in (save({"a": torch.zeros(1)}), b"no safetensors"):
        (tmp_path / "weights").write_bytes(content)
        files = DataFiles("one", "One", {"weights": hashlib.sha256(content).hexdigest()})
        monkeypatch.setattr(efficientnet_lite, "EFFICIENTNET_LITE0", files)
        with pytest.raises(DataError, match="'weights' does not hold this network"):
            load_efficientnet_lite0(tmp_path)


@needs("efficientnet")
@needs("cifar10")
@torch.inference_mode()
def test_the_published_weights_see_what_is_on_pictures():
    """ImageNet's classes 151 to 268 are dogs, 403 to 914 things: planes, ships, cars among them."""
    network = load_efficientnet_lite0()
    test = load_cifar10("test")
    dogs, trucks = (test.images[test.labels == label][:20] for label in (5, 9))
    classes = [network((enlarge(images) - 127) / 128).argmax(1) for images in (dogs, trucks)]
    is_dog = [((found >= 151) & (found <= 268)).float().mean().item() for found in classes]
    assert is_dog[0] > 0.5
    assert is_dog[1] < 0.1


def test_resnet18_has_the_published_size_and_names():
    network = ResNet18()
    assert sum(parameter.numel() for parameter in network.parameters()) == 11_689_512
    names = list(network.state_dict())
    assert len(names) == 122
    for name in (
        *("conv1.weight", "bn1.running_var", "layer1.0.conv1.weight", "layer4.1.bn2.bias"),
        *("layer2.0.downsample.0.weight", "layer2.0.downsample.1.num_batches_tracked", "fc.bias"),
    ):
        assert name in names
    assert network.get_parameter("layer3.0.downsample.0.weight").shape == (256, 128, 1, 1)


@torch.inference_mode()
def test_shapes_of_resnet18(noise):
    network = ResNet18().eval()
    assert network.features(noise).shape == (1, 512, 7, 7)
    assert network(noise).shape == (1, 1000)
    assert network.embed(torch.zeros(2, 28, 28, dtype=torch.uint8)).shape == (2, 512)


@torch.inference_mode()
def test_a_block_is_the_sum_of_its_ways():
    block = resnet18.Residual(2, 4).eval()
    inputs = torch.randn(1, 2, 6, 6)
    torch.nn.init.zeros_(block.bn2.weight)
    expected = torch.relu(block.downsample(inputs))
    torch.testing.assert_close(block(inputs), expected)
    same = resnet18.Residual(2, 2).eval()
    torch.nn.init.zeros_(same.bn2.weight)
    torch.testing.assert_close(same(inputs), torch.relu(inputs))


def test_resnet18_from_a_file(monkeypatch, tmp_path):
    network = ResNet18()
    path = tmp_path / "resnet18-f37072fd.pth"
    torch.save(network.state_dict(), path)
    with pytest.raises(DataError, match="where f37072fd is due"):
        load_resnet18(tmp_path)
    known(monkeypatch, path)
    loaded = load_resnet18(tmp_path)
    assert not loaded.training
    for name, tensor in network.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


def known(monkeypatch, path):
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}
    monkeypatch.setattr(resnet18, "RESNET18", DataFiles("one", "One", sums))


class Hostile:
    def __reduce__(self):
        return (pytest.fail, ("it ran",))


@pytest.mark.parametrize("content", [{"conv1.weight": Hostile()}, {"a": torch.zeros(1)}, [1], b""])
def test_what_is_no_checkpoint_of_resnet18(monkeypatch, tmp_path, content):
    path = tmp_path / "resnet18-f37072fd.pth"
    torch.save(content, path) if content != b"" else path.write_bytes(b"")
    known(monkeypatch, path)
    with pytest.raises(DataError, match=r"resnet18-f37072fd\.pth' does not hold this network"):
        load_resnet18(tmp_path)


def test_enlarging_keeps_colors_and_places():
    images = torch.zeros(1, 3, 32, 32, dtype=torch.uint8)
    images[:, 1, :, 16:] = 255
    large = enlarge(images)
    assert large.shape == (1, 3, 224, 224)
    assert large[:, [0, 2]].abs().max() == 0
    assert large[:, 1, :, :90].max().item() == pytest.approx(0, abs=1e-3)
    assert large[:, 1, :, 134:].min().item() == pytest.approx(255, abs=1e-3)
    assert (large.min(), large.max()) == (0, 255)  # without bounds it goes beyond at the edge
    ramp = torch.arange(0, 256, 8, dtype=torch.uint8).expand(1, 32, 32)
    found = enlarge(ramp)[0, 2, 100].numpy()
    np.testing.assert_allclose(found[3::7], ramp[0, 0], atol=1e-4)  # the middle of each pixel
    assert (np.diff(found[14:-14]) > 0).all()


@pytest.mark.parametrize(
    "images",
    [
        torch.zeros(2, 28, 28),
        torch.zeros(2, 1, 28, 28, dtype=torch.uint8),
        torch.zeros(28, 28, dtype=torch.uint8),
    ],
)
def test_pictures_that_cannot_be(images):
    with pytest.raises(ValueError, match="give bytes of shape"):
        enlarge(images)
