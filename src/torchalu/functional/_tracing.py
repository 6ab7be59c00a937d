"""What a function has to know of who is looking at it."""

import torch


def wants_torch_operations() -> bool:
    """Whether an operator of ours would not survive what is done to the function.

    A runtime for exported models does not know the operator, and the compiler cannot
    differentiate one that `torch.func` transforms.
    """
    if torch.compiler.is_exporting():
        return True
    return torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active()
