"""What all pictures have in common: who draws them, the ink, the frame, how they are told apart."""

from __future__ import annotations

import io
import warnings
from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#444444"

MODEL_STYLES = {
    "NMU": ("#0072B2", "o"),
    "NAU": ("#0072B2", "o"),
    "NAC*,NMU": ("#009E73", "s"),
    "NAC*,sigma": ("#E69F00", "^"),
    "NAC*": ("#D55E00", "D"),
    "NAC+": ("#D55E00", "D"),
    "NAC+,Rz": ("#009E73", "s"),
    "NALU": ("#000000", "X"),
    "Gated NAU/NMU": ("#CC79A7", "v"),
    "LSTM": ("#8C6D31", "P"),
    "NMU, no W clamp": ("#009E73", "s"),
    "NMU, no Rsparse": ("#D55E00", "D"),
    "NMU, no Rsparse, no W-clamp": ("#CC79A7", "v"),
}
"""A color and a marker for each model, the same in every figure; NAU and NMU never meet in one."""

_OTHERS = (
    ("#56B4E9", "<"), ("#8C6D31", ">"), ("#332288", "h"), ("#882255", "p"), ("#117733", "*"),
    ("#E69F00", "^"), ("#AA4499", "d"), ("#D55E00", "D"),
)  # fmt: skip


def require_matplotlib() -> Any:
    """Imports what draws the pictures.

    Returns:
        The class of matplotlib's figures.

    Raises:
        ImportError: if matplotlib is missing, with the extra that brings it.

    Example:
        >>> require_matplotlib().__name__
        'Figure'
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed; run: pip install 'torchalu[plots]'"
        ) from error
    return Figure


def polish(*all_axes: Axes) -> None:
    """Light grid, no frame."""
    for axes in all_axes:
        axes.grid(True, color="#000000", alpha=0.1, lw=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK)


def styles(models: list[str]) -> dict[str, tuple[str, str]]:
    """A color and a marker for each model: its own, or one that no other has, while there are such.

    Example:
        >>> styles(["LSTM", "NAC", "summing"])
        {'LSTM': ('#8C6D31', 'P'), 'NAC': ('#56B4E9', '<'), 'summing': ('#332288', 'h')}
    """
    taken = {MODEL_STYLES[name][0] for name in models if name in MODEL_STYLES}
    others = cycle([style for style in _OTHERS if style[0] not in taken])
    return {name: MODEL_STYLES.get(name) or next(others) for name in models}


def in_letters(model: str) -> str:
    """A model's name as the paper prints it."""
    return model.replace(",sigma", ",σ").replace("Rsparse", "$R_{sparse}$").replace("Rz", "$R_z$")


def image(figure: Figure, kind: str) -> bytes:
    """The figure as a file, the same bytes in every run.

    Args:
        figure: what was drawn.
        kind: "png" or "svg".
    """
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # shown as boxes
        if kind == "svg":
            import matplotlib

            with matplotlib.rc_context({"svg.hashsalt": "torchalu"}):
                figure.savefig(buffer, format="svg", metadata={"Date": None})
        else:
            figure.savefig(buffer, format=kind, dpi=150)
    return buffer.getvalue()
