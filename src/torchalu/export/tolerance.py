"""The relative error that the precision of the data allows."""

import numpy as np
import torch

_FINEST = 1e-9
_COARSER = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 8e-2}


def default_tolerance(*dtypes: np.dtype | torch.dtype) -> float:
    """The relative error up to which a prediction counts as exact on data of these dtypes.

    Args:
        dtypes: those of the data; the coarsest one decides.

    Returns:
        1e-9 for float64 and whole numbers, more for coarser ones: see
        :func:`torchalu.export.certify`.

    Example:
        >>> default_tolerance(torch.float64), default_tolerance(torch.int8, np.dtype("float32"))
        (1e-09, 1e-05)
    """
    names = [
        dtype.name if isinstance(dtype, np.dtype) else str(dtype).removeprefix("torch.")
        for dtype in dtypes
    ]
    return max(_COARSER.get(name, _FINEST) for name in names)
