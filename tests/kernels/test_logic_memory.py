"""What the logic operators keep for the backward pass, and the memory that they take."""

import subprocess
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchalu import functional


class Sizes(TorchDispatchMode):
    """Remembers the size of each tensor made, by number of elements and dtype."""

    def __init__(self):
        super().__init__()
        self.made = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple) else (result,):
            if isinstance(tensor, torch.Tensor):
                self.made.append((tensor.numel(), tensor.dtype))
        return result


def saved_by(function, z):
    """What is kept for the backward pass."""
    saved = []

    def pack(tensor):
        saved.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        function(z)
    return saved


def test_one_byte_an_element_is_saved():
    z = torch.randn(64, 36, requires_grad=True)
    saved = saved_by(functional.or_ail, z)
    assert [(tensor.numel(), tensor.dtype) for tensor in saved] == [(64 * 36, torch.int8)]
    with Sizes() as sizes:
        functional.or_ail(z).sum().backward()
    assert max(count for count, _ in sizes.made) == 64 * 36
    with Sizes() as sizes, torch.no_grad():
        functional.or_ail(z)
    assert (64 * 36, torch.int8) not in sizes.made


THREE = ("or_ail", "and_ail", "xnor_ail")


@pytest.mark.parametrize("operators", [THREE, THREE[:2]])
def test_a_partition_saves_a_byte_for_each_operand(operators):
    z = torch.randn(64, 36, requires_grad=True)
    saved = saved_by(lambda z: functional.logic_ensemble(z, operators, strategy="partition"), z)
    assert [(tensor.numel(), tensor.dtype) for tensor in saved] == [(64 * 36, torch.int8)]


@pytest.mark.parametrize("operators", [THREE, THREE[:2], ("or_ail", "logit_xnor")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_several_functions_of_the_same_groups_save_the_input_itself(operators, dtype):
    z = torch.randn(64, 36, dtype=dtype, requires_grad=True)
    (saved,) = saved_by(lambda z: functional.logic_ensemble(z, operators), z)
    assert (saved.data_ptr(), saved.numel()) == (z.data_ptr(), z.numel())


# In a process of its own, whose greatest memory is of this alone. It is read from /proc, since
# ru_maxrss begins with that of the process that started it.
PEAK = """
import sys
import torch
from torchalu import functional

def peak():
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM:"))

z = torch.randn(4096, 4096).requires_grad_()
functional.or_ail(z[:2])
before = peak()
copies = [z.detach().clone() for _ in range(int(sys.argv[1]))]
output = functional.or_ail(z)
print((peak() - before) / (output.nbytes + z.numel()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the greatest memory is read from /proc")
@pytest.mark.parametrize(("copies", "within"), [(0, True), (1, False)])
def test_memory_beyond_input_and_output_is_one_byte_an_element(copies, within):
    """With copies of the input beside it, to see that they would be noticed."""
    ran = subprocess.run(
        [sys.executable, "-c", PEAK, str(copies)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert (0.9 < float(ran.stdout) < 1.1) == within
