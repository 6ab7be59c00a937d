"""Sequences for tests of the Neural GPUs' recurrence."""

import torch


class Problem:
    """Random sequences of mixed lengths and steps, among them length 1 and no step."""

    def __init__(
        self,
        *,
        cell="cgru",
        batch=7,
        length=11,
        width=4,
        maps=24,
        sets=1,
        layers=2,
        kernel=(3, 3),
        dropout=True,
        noise=0.0,
        cutoff=True,
        levels=0,
        dtype=torch.float64,
        device="cpu",
    ):
        generator = torch.Generator().manual_seed(3)

        def normal(*sizes):
            return torch.randn(*sizes, generator=generator, dtype=torch.float64)

        self.lengths = torch.randint(0, length + 1, (batch,), generator=generator)
        self.lengths[0], self.lengths[-1] = length, 1 if batch > 1 else length
        self.steps = torch.randint(0, 7, (batch,), generator=generator)
        self.steps[0], self.steps[batch // 2] = 5, 5 if batch == 1 else 0
        spread = 1.5 / (maps * kernel[0] * kernel[1]) ** 0.5
        tensors = (
            normal(batch, length, width, maps).clamp(-1, 1),
            normal(sets, layers, 2 * maps, maps, *kernel) * spread,
            normal(sets, layers, 2 * maps),
            normal(sets, layers, maps, maps, *kernel) * spread,
            normal(sets, layers, maps),
        )
        self.lengths, self.steps = self.lengths.to(device), self.steps.to(device)
        self.tensors = [tensor.to(device, dtype) for tensor in tensors]
        keep = 0.5 + 0.5 * torch.rand(batch, generator=generator, dtype=torch.float64)
        self.options = {
            "cell": cell,
            "cutoff": cutoff,
            "levels": levels,
            "keep": keep.to(device, dtype) if dropout else None,
            "noise": noise,
            "seed": 0xFEDC_BA98_7654_3210,
        }
        slopes = normal(batch, length, width, maps), normal(batch)
        self.slopes = [slope.to(device, dtype) for slope in slopes]

    def outputs(self, function, tensors=None):
        state, *parameters = self.tensors if tensors is None else tensors
        return function(state, self.lengths, self.steps, *parameters, **self.options)

    def outputs_and_gradients(self, function):
        tensors = [tensor.clone().requires_grad_() for tensor in self.tensors]
        outputs = self.outputs(function, tensors)
        loss = (outputs[0] * self.slopes[0]).sum() + 0.01 * (outputs[1] * self.slopes[1]).sum()
        grads = torch.autograd.grad(loss, tensors)
        return [*(output.detach() for output in outputs), *grads]


def assert_near(got, wanted, bound):
    """Within `bound` of the largest number of each tensor."""
    for result, right in zip(got, wanted, strict=True):
        scale = float(right.abs().max()) if right.numel() else 0.0
        torch.testing.assert_close(result, right, rtol=0, atol=bound * max(scale, 1e-3))
