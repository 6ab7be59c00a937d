"""Films of the mental image: what a learned algorithm does with a string, step by step."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from torch import Tensor

from torchalu.train import write_atomic

_MARGIN, _LABELS, _LINE = 8, 48, 14
_SIDE, _CELL_WIDTHS, _CELL_HEIGHTS = 480, (8, 24), (2, 16)
_MOST_PIXELS = 2**28
_STEP_MILLISECONDS, _LAST_MILLISECONDS = 120, 2000
_WHITE, _BLACK = 255, 0


def shades(state: Float[Tensor, "length width maps"]) -> UInt8[np.ndarray, "rows length"]:
    r"""A mental image as shades of gray.

    .. math:: p = \mathrm{round}\left(255 \, \frac{1 - \mathrm{clip}(s, -1, 1)}{2}\right)

    Args:
        state: of one string.

    Returns:
        A row for each map of the first column of the mental image, then for each of the second,
        and so on; a column for each position. -1 is white (255), 1 black (0).

    Raises:
        ValueError: a value is NaN.

    Source:
        Kaiser & Sutskever 2016, section 4, where white is -1 and black 1 in the films.

    Example:
        >>> import torch
        >>> shades(torch.tensor([[[-1.0, 0.0, 1.0]], [[-2.0, 0.5, 2.0]]])).tolist()
        [[255, 255], [128, 64], [0, 0]]
    """
    rows = state.detach().cpu().double().permute(1, 2, 0).flatten(0, 1).numpy()
    if np.isnan(rows).any():
        raise ValueError("a state holds NaN, which no shade of gray stands for; train it again")
    return np.rint(_WHITE * (1 - np.clip(rows, -1, 1)) / 2).astype(np.uint8)


def frames(
    states: Iterable[Float[Tensor, "length width maps"]], text: str, answer: str, steps: int
) -> Iterator[Any]:
    """The frames of a film, one a state.

    Args:
        states: the mental image at the start and after each step.
        text: the input, written below, each symbol under its position.
        answer: written below the input.
        steps: after the start; for the number that each frame bears.

    Returns:
        Pillow images in shades of gray. The mental image begins at (56, 9); a cell is 8 to 24
        pixels wide and 2 to 16 high, the fewer the more of them there are.

    Raises:
        ValueError: a state holds NaN.
        ImportError: Pillow is missing.

    Example:
        >>> import torch
        >>> [frame.size for frame in frames([torch.zeros(3, 1, 6)] * 2, "101", "110", 1)]
        [(137, 156), (137, 156)]
    """
    image, draw, font = pillow()
    for step, state in enumerate(states):
        gray = shades(state)
        width, height = _cell(*gray.shape)
        cells = np.repeat(np.repeat(gray, height, 0), width, 1)
        page = np.full(_size(*gray.shape), _WHITE, np.uint8)
        top, left = _MARGIN, _MARGIN + _LABELS - 1
        page[top : top + cells.shape[0] + 2, left : left + cells.shape[1] + 2] = _BLACK
        page[top + 1 : top + 1 + cells.shape[0], left + 1 : left + 1 + cells.shape[1]] = cells
        frame = image.fromarray(page)
        pen, line = draw.Draw(frame), top + cells.shape[0] + 2 + _LINE // 2
        for label, symbols in (("input", text), ("answer", answer)):
            pen.text((_MARGIN, line), label, fill=_BLACK, font=font, anchor="lm")
            for position, symbol in enumerate(symbols):
                middle = left + 1 + width * position + width // 2
                pen.text((middle, line), symbol, fill=_BLACK, font=font, anchor="mm")
            line += _LINE
        pen.text((_MARGIN, line), f"step {step} of {steps}", fill=_BLACK, font=font, anchor="lm")
        yield frame


def write_film(
    path: str | Path,
    states: Iterable[Float[Tensor, "length width maps"]],
    text: str,
    answer: str,
    *,
    steps: int,
) -> None:
    """Writes a film as an animated GIF, a frame a step.

    Args:
        path: the file, which ends in .gif; an existing one is replaced.
        states: the mental image at the start and after each step.
        text: the input.
        answer: what the algorithm made of it.
        steps: after the start.

    Raises:
        ValueError: another ending, or a state that holds NaN.
        OSError: the file cannot be written.
        ImportError: Pillow is missing.
    """
    write_frames(path, frames(states, text, answer, steps), _STEP_MILLISECONDS, _LAST_MILLISECONDS)


def write_frames(
    path: str | Path, pictures: Iterable[Any], milliseconds: int, last_milliseconds: int
) -> None:
    """Writes pictures as an animated GIF that begins again when it is over.

    Args:
        path: the file, which ends in .gif; an existing one is replaced.
        pictures: Pillow images.
        milliseconds: how long each is shown.
        last_milliseconds: how long the last one is.

    Raises:
        ValueError: another ending.
        OSError: the file cannot be written.
        ImportError: Pillow is missing.
    """
    check_film(path)
    first, *others = pictures
    buffer = io.BytesIO()
    first.save(
        buffer,
        format="GIF",
        save_all=True,
        append_images=others,
        duration=[milliseconds] * len(others) + [last_milliseconds],
        loop=0,
        optimize=False,
    )
    write_atomic(path, buffer.getvalue())


def check_film(path: str | Path) -> None:
    """Raises where no film can be written, before anything is computed for it.

    Args:
        path: where the film should go.

    Raises:
        ValueError: the name does not end in .gif, is that of a folder, or its folder does not
            exist.
        ImportError: Pillow is missing.

    Example:
        >>> check_film("film.mp4")
        Traceback (most recent call last):
        ...
        ValueError: the film's path is 'film.mp4', which does not end in .gif; name it film.gif
    """
    path = Path(path)
    if path.suffix.lower() != ".gif":
        raise ValueError(
            f"the film's path is {str(path)!r}, which does not end in .gif; name it "
            f"{path.with_suffix('.gif') if path.name else 'film.gif'}"
        )
    if not path.parent.is_dir():
        raise ValueError(f"the film's folder {str(path.parent)!r} does not exist; make it first")
    if path.is_dir():
        raise ValueError(f"the film's path {str(path)!r} is a folder; name a file in it")
    pillow()


def check_film_size(rows: int, positions: int, steps: int) -> None:
    """Raises where a film would be too large to make and to show.

    Args:
        rows: maps times columns of the mental image.
        positions: of the string with its padding.
        steps: after the start.

    Raises:
        ValueError: its frames have more than 2**28 pixels in all.

    Example:
        >>> check_film_size(96, 4001, 4001)
        Traceback (most recent call last):
        ...
        ValueError: ...6.93e+10 pixels; allowed: 2.68e+08; film a string of at most 244 positions
    """
    pixels = (steps + 1) * np.prod(_size(rows, positions), dtype=float)
    if pixels <= _MOST_PIXELS:
        return
    most = positions
    while most > 1 and np.prod(_size(rows, most), dtype=float) * (most + 1) > _MOST_PIXELS:
        most -= 1
    raise ValueError(
        f"a film of {positions} positions and {steps + 1} frames has {pixels:.3g} pixels; allowed: "
        f"{_MOST_PIXELS:.3g}; film a string of at most {most} positions"
    )


def _cell(rows: int, positions: int) -> tuple[int, int]:
    """Width and height of a cell in pixels, so that a frame fits on a screen if it can."""
    (narrow, wide), (low, high) = _CELL_WIDTHS, _CELL_HEIGHTS
    return min(max(_SIDE // positions, narrow), wide), min(max(_SIDE // rows, low), high)


def _size(rows: int, positions: int) -> tuple[int, int]:
    """Height and width of a frame."""
    width, height = _cell(rows, positions)
    return (
        rows * height + 2 + 2 * _MARGIN + 3 * _LINE,
        positions * width + 1 + 2 * _MARGIN + _LABELS,
    )


def pillow() -> tuple[Any, Any, Any]:
    """Pillow's modules for images and drawing, and its font.

    Raises:
        ImportError: Pillow is missing.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise ImportError("films are written by Pillow: pip install 'torchalu[images]'") from None
    return Image, ImageDraw, ImageFont.load_default(size=11)
