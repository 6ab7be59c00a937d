"""From a trained model to a formula, a certificate and text.

:func:`snap` moves weights onto their discrete sets, :func:`verify` and :func:`certify` check a
model or a formula against a table, :func:`to_sympy` reads a model off, and the rest writes a
formula down. For models of bits :func:`to_logic` reads off Boolean formulas,
:func:`truth_table` tries all inputs, and :func:`to_verilog` writes layers of gates as a circuit.
"""

from torchalu.export import logic_units as logic_units  # registers its expressions
from torchalu.export import polar_units as polar_units  # as does this one
from torchalu.export.boolean import evaluate_boolean, short_formula
from torchalu.export.certificate import Certificate, certify, verify
from torchalu.export.logic import LogicReading, to_logic
from torchalu.export.logic_certificate import LogicCertificate, certify_logic
from torchalu.export.snap import SnapEntry, SnapReport, snap
from torchalu.export.sympy import to_sympy
from torchalu.export.text import to_c, to_latex, to_python
from torchalu.export.tree import from_json, to_json
from torchalu.export.truth_table import TruthTable, truth_table
from torchalu.export.units import unit_expressions
from torchalu.export.values import evaluate
from torchalu.export.verilog import to_verilog

__all__ = [
    "Certificate",
    "LogicCertificate",
    "LogicReading",
    "SnapEntry",
    "SnapReport",
    "TruthTable",
    "certify",
    "certify_logic",
    "evaluate",
    "evaluate_boolean",
    "from_json",
    "short_formula",
    "snap",
    "to_c",
    "to_json",
    "to_latex",
    "to_logic",
    "to_python",
    "to_sympy",
    "to_verilog",
    "truth_table",
    "unit_expressions",
    "verify",
]
