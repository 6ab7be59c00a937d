"""From a trained model to a formula, a certificate and text.

:func:`snap` moves weights onto their discrete sets, :func:`verify` and :func:`certify` check a
model or a formula against a table, :func:`to_sympy` reads a model off, and the rest writes a
formula down.
"""

from torchalu.export.certificate import Certificate, certify, verify
from torchalu.export.snap import SnapEntry, SnapReport, snap
from torchalu.export.sympy import to_sympy
from torchalu.export.text import to_c, to_latex, to_python
from torchalu.export.tree import from_json, to_json
from torchalu.export.units import unit_expressions
from torchalu.export.values import evaluate

__all__ = [
    "Certificate",
    "SnapEntry",
    "SnapReport",
    "certify",
    "evaluate",
    "from_json",
    "snap",
    "to_c",
    "to_json",
    "to_latex",
    "to_python",
    "to_sympy",
    "unit_expressions",
    "verify",
]
