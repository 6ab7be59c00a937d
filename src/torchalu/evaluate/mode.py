"""Modules in evaluation mode, and as they were afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluation_mode(module: nn.Module) -> Iterator[None]:
    """Put a module into evaluation mode, and each of its parts back into the mode that it had.

    Args:
        module: some of whose parts may be in evaluation mode already, as frozen ones are.

    Example:
        >>> model = nn.Sequential(nn.Dropout(), nn.Dropout().eval())
        >>> with evaluation_mode(model):
        ...     [part.training for part in model]
        [False, False]
        >>> [part.training for part in model]
        [True, False]
    """
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training
