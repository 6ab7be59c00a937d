"""The loss of strings, and what else the methods of training measure on them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from torchalu.train.algorithms.batches import TrainingGroup
from torchalu.train.hooks import Measured


def string_loss(module: nn.Module, groups: Sequence[TrainingGroup]) -> Measured:
    r"""The cross-entropy of the symbols of each string, averaged over the groups.

    .. math:: L = \frac{1}{G} \sum_g \frac{1}{\sum_b n_b} \sum_b \sum_{k < n_b}
              -\log \operatorname{softmax}(\ell_{bk})_{y_{bk}}

    Args:
        module: one with an `unroll`, such as a Neural GPU; or any that maps symbols and lengths to
            logits, whose random numbers are then its own.
        groups: the strings of a step.

    Returns:
        The loss, and as measures `string_error`, the fraction of strings that are not wholly
        right; `digit_error`, that of symbols; and for a module with an `unroll` `saturation`,

        .. math:: \frac{1}{G} \sum_g \frac{1}{N_g^2 B_g} \sum_b S_b

        with the saturation S of each of the B strings of a group that is padded to N symbols.

    Source:
        Kaiser & Sutskever 2016, section 2, for the loss; Freivalds & Liepins 2017, section 3, for
        the saturation and the mean over bins. Departure from the latter: padding beyond a string's
        own n symbols does not count.
    """
    losses, saturations = [], []
    wrong_strings, wrong_digits, strings, digits = 0, 0, 0, 0
    for group in groups:
        count, length = group.inputs.shape
        logits, saturation = _run(module, group)
        inside = torch.arange(length, device=group.lengths.device) < group.lengths[:, None]
        losses.append(functional.cross_entropy(logits[inside], group.targets[inside]))
        if saturation is not None:
            saturations.append(saturation.sum() / (length**2 * count))
        wrong = (logits.detach().argmax(-1) != group.targets) & inside
        wrong_strings = wrong_strings + wrong.any(1).sum()
        wrong_digits = wrong_digits + wrong.sum()
        strings, digits = strings + count, digits + group.lengths.sum()
    measures = {
        "string_error": torch.as_tensor(wrong_strings / strings),
        "digit_error": torch.as_tensor(wrong_digits / digits),
    }
    if saturations:
        measures["saturation"] = torch.stack(saturations).mean()
    return Measured(torch.stack(losses).mean(), measures)


def _run(module: nn.Module, group: TrainingGroup) -> tuple[Tensor, Tensor | None]:
    """Logits, and the saturation of each string if the module has one."""
    unroll = getattr(module, "unroll", None)
    if unroll is None:
        return module(group.inputs, group.lengths), None
    unrolled = unroll(group.inputs, group.lengths, seed=group.seed)
    return unrolled.logits, unrolled.saturation
