"""Pictures as the encoders trained on ImageNet take them."""

from __future__ import annotations

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

SIZE = 224


def enlarge(images: UInt8[Tensor, "pictures ..."]) -> Float[Tensor, "pictures 3 224 224"]:
    """Gray or color pictures of any size as color pictures of 224 by 224 pixels, 0 to 255.

    Bicubic interpolation; what it carries out of the range of the pixels is set to its bounds. A
    gray picture has three equal colors.

    Args:
        images: of shape (pictures, height, width) or (pictures, 3, height, width).

    Raises:
        ValueError: another shape, or other numbers than bytes.

    Source:
        Lowe et al. 2022, section 4.5, embed pictures of all sizes; how they are enlarged, the main
        text does not say.

    Example:
        >>> enlarge(torch.full((2, 28, 28), 7, dtype=torch.uint8)).unique()
        tensor([7.])
    """
    gray = images.ndim == 3
    if images.dtype != torch.uint8 or not (gray or (images.ndim == 4 and images.shape[1] == 3)):
        raise ValueError(
            f"images has shape {tuple(images.shape)} and {images.dtype}; give bytes of shape "
            "(pictures, height, width) or (pictures, 3, height, width)"
        )
    planes = (images.unsqueeze(1) if gray else images).float()
    large = torch.nn.functional.interpolate(planes, (SIZE, SIZE), mode="bicubic")
    return large.clamp_(0, 255).expand(-1, 3, -1, -1)
