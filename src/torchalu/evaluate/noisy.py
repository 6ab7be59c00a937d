"""A Neural GPU whose every step is disturbed."""

from typing import Any

from jaxtyping import Float, Int64
from torch import Tensor, nn

from torchalu.nn import NeuralGPUBase


class Noisy(nn.Module):
    r"""A Neural GPU with noise on its pre-activations, and nothing else of training mode.

    .. math:: x \leftarrow x + \nu u, \quad u \sim U(-1, 1)

    What a network bears on short strings tells something of how far it holds without noise.

    Args:
        module: the Neural GPU; it is left as it was.
        amplitude: nu.

    Raises:
        ValueError: `amplitude` is negative.

    Source:
        Ours; see :class:`torchalu.train.algorithms.Hardening`.

    Example:
        >>> import torch
        >>> from torchalu.nn import DiagonalNeuralGPU
        >>> module = DiagonalNeuralGPU(4, maps=6, generator=torch.Generator().manual_seed(0))
        >>> symbols = torch.tensor([[1, 3, 2]])
        >>> exact = module.eval()(symbols)
        >>> [torch.equal(Noisy(module, amplitude)(symbols), exact) for amplitude in (0.0, 0.5)]
        [True, False]
    """

    def __init__(self, module: NeuralGPUBase, amplitude: float) -> None:
        super().__init__()
        if not amplitude >= 0:
            raise ValueError(f"amplitude is {amplitude}; give a number from 0 up")
        self.module, self.amplitude = module, amplitude
        self.calls = 0

    def forward(
        self, symbols: Int64[Tensor, "batch length"], lengths: Int64[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "batch length num_symbols"]:
        """Answer with logits; the noise follows from the number of calls before this one."""
        self.calls += 1
        module = self.module
        kept = module.training, module.noise, module.dropout
        try:
            lengths, steps = module.eval().lengths_and_steps(symbols, lengths)
            module.noise, module.dropout = self.amplitude, 0.0
            return module.train()(symbols, lengths, steps, seed=self.calls)
        finally:
            module.noise, module.dropout = kept[1:]
            module.train(kept[0])

    def configuration(self) -> dict[str, Any]:
        """The network's settings, for estimates of memory."""
        return self.module.configuration()
