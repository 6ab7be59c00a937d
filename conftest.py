"""What pytest leaves out where an optional package is not installed, and threads of its workers."""

import os
from importlib.util import find_spec

IN_TRITON = ("logic_triton", "recurrence_cuda", "recurrence_tiles", "recurrence_triton")
collect_ignore = (
    [] if find_spec("triton") else [f"src/torchalu/kernels/{name}.py" for name in IN_TRITON]
)

if "PYTEST_XDIST_WORKER" in os.environ:  # each has a core, and programs that it starts stay on it
    os.environ.setdefault("OMP_NUM_THREADS", "1")
