"""What pytest leaves out where an optional package is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("triton") else ["src/torchalu/kernels/logic_triton.py"]
