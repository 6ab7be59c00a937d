"""What the tests of pictures have in common: rows of a summary, and text that must not collide."""

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg


def summary_row(*, solved=25, seeds=50, steps=1e6, sparsity=0.01, **labels):
    """A row as `evaluate.summarize` gives it, with intervals that are easy to tell."""
    rate = solved / seeds
    row = {
        "seeds": seeds,
        "solved": solved,
        "solved_rate": rate,
        "solved_low": max(rate - 0.1, 0.0),
        "solved_high": min(rate + 0.05, 1.0),
    }
    for name, value in (("solved_at", steps), ("sparsity_error", sparsity)):
        value = value if solved else None
        row |= {
            f"{name}_mean": value,
            f"{name}_low": value and 0.9 * value,
            f"{name}_high": value and 1.2 * value,
        }
    return labels | row | {"solved_at_median": row["solved_at_mean"]}


def collisions(figure):
    """Pairs of texts that lie on each other, and texts that reach out of the figure."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent()) for text in _texts(figure)]
    width, height = canvas.get_width_height()
    outside = [
        (name,)
        for name, box in boxes
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    return outside + [
        (first, second)
        for (first, a), (second, b) in combinations(boxes, 2)
        if a.x0 < b.x1 - 1 and b.x0 < a.x1 - 1 and a.y0 < b.y1 - 1 and b.y0 < a.y1 - 1
    ]


def _texts(figure):
    """All texts that are drawn; of the ticks those within their axis."""
    found = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in filter(Axes.get_visible, figure.axes):
        found += [axes.title, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = axis.get_major_ticks() + axis.get_minor_ticks()
            found += [axis.label, axis.get_offset_text()]
            found += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
    return [text for text in found if text.get_visible() and text.get_text().strip()]
