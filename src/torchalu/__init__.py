"""Learn the exact rule, then prove it.

Units that learn exact arithmetic (`torchalu.nn`), the native trainer for thousands of them
(`torchalu.engine`), exactness (`snap`, `verify`, `to_sympy`) and, from a table to its formula in
one call, `ArithmeticRegressor`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchalu import engine, export, functional, nn, tasks, zoo
    from torchalu.estimators import ArithmeticRegressor
    from torchalu.export import (
        Certificate,
        SnapReport,
        snap,
        to_c,
        to_json,
        to_latex,
        to_python,
        to_sympy,
        verify,
    )

__version__ = "0.1.0"

__all__ = [
    "ArithmeticRegressor",
    "Certificate",
    "SnapReport",
    "engine",
    "export",
    "functional",
    "nn",
    "snap",
    "tasks",
    "to_c",
    "to_json",
    "to_latex",
    "to_python",
    "to_sympy",
    "verify",
    "zoo",
]

_ROOMS = ("engine", "export", "functional", "nn", "tasks", "zoo")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a wrong command line need not wait for torch."""
    if name not in __all__:
        raise AttributeError(f"module 'torchalu' has no attribute {name!r}")
    if name in _ROOMS:
        return importlib.import_module(f"torchalu.{name}")
    room = "estimators" if name == "ArithmeticRegressor" else "export"
    return getattr(importlib.import_module(f"torchalu.{room}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
