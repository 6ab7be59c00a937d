"""From results to what people look at: pictures, and files written whole."""

from torchalu.report.baseline import Predict, fit_mlp
from torchalu.report.console import candidates_grid, constant_lines, print_fit
from torchalu.report.exhibits import EXHIBITS, Exhibit
from torchalu.report.formulas import FORMULA_EXTENSIONS, readable, write_formula
from torchalu.report.maps import draw_counts, draw_gates, draw_surfaces
from torchalu.report.panels import draw_rates, draw_sweep
from torchalu.report.plots import FitPicture, draw_fit, plot_fit, stretch
from torchalu.report.reproduction import draw_exhibit, read_exhibit
from torchalu.report.style import image, require_matplotlib
from torchalu.report.tables import in_brief, print_frame
from torchalu.train.files import write_atomic

__all__ = [
    "EXHIBITS",
    "FORMULA_EXTENSIONS",
    "Exhibit",
    "FitPicture",
    "Predict",
    "candidates_grid",
    "constant_lines",
    "draw_counts",
    "draw_exhibit",
    "draw_fit",
    "draw_gates",
    "draw_rates",
    "draw_surfaces",
    "draw_sweep",
    "fit_mlp",
    "image",
    "in_brief",
    "plot_fit",
    "print_fit",
    "print_frame",
    "read_exhibit",
    "readable",
    "require_matplotlib",
    "stretch",
    "write_atomic",
    "write_formula",
]
