"""From results to what people look at: pictures, and files written whole."""

from torchalu.report.baseline import Predict, fit_mlp
from torchalu.report.console import candidates_grid, constant_lines, print_fit
from torchalu.report.files import write_atomic
from torchalu.report.formulas import FORMULA_EXTENSIONS, readable, write_formula
from torchalu.report.plots import FitPicture, draw_fit, plot_fit, require_matplotlib, stretch

__all__ = [
    "FORMULA_EXTENSIONS",
    "FitPicture",
    "Predict",
    "candidates_grid",
    "constant_lines",
    "draw_fit",
    "fit_mlp",
    "plot_fit",
    "print_fit",
    "readable",
    "require_matplotlib",
    "stretch",
    "write_atomic",
    "write_formula",
]
