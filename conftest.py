"""What pytest leaves out where an optional package is not installed, and threads of its workers."""

import os
from importlib.util import find_spec

collect_ignore = [] if find_spec("triton") else ["src/torchalu/kernels/logic_triton.py"]

if "PYTEST_XDIST_WORKER" in os.environ:  # each has a core, and programs that it starts stay on it
    os.environ.setdefault("OMP_NUM_THREADS", "1")
