"""Histograms, surfaces and counts show what is in the table."""

import numpy as np
import polars as pl
import pytest

from report.pictures import collisions
from torchalu.report import draw_counts, draw_gates, draw_surfaces
from torchalu.report.style import image


def gates():
    generator = np.random.default_rng(0)
    runs = [
        {"model": model, "operation": operation, "gate": gate, "solved": gate < 0.3}
        for model in ("Gated NAU/NMU", "NALU (separate)", "NALU (shared)")
        for operation in ("mul", "add")
        for gate in generator.beta(0.3, 0.3, 100).tolist()
    ]
    return pl.DataFrame(runs)


def test_each_run_is_counted_once():
    table = gates()
    figure = draw_gates(table)
    assert [axes.get_title() for axes in figure.axes[:3]] == [
        "Gated NAU/NMU", "NALU (separate)", "NALU (shared)",
    ]  # fmt: skip
    first = table.filter(model="Gated NAU/NMU", operation="add")
    solved, unsolved = figure.axes[0].containers
    assert sum(bar.get_height() for bar in solved) == first["solved"].sum()
    assert sum(bar.get_height() for bar in unsolved) == 100 - first["solved"].sum()
    counts = np.histogram(first.filter("solved")["gate"].to_numpy(), 20, (0, 1))[0]
    assert [bar.get_height() for bar in solved] == counts.tolist()
    assert collisions(figure) == []


def test_runs_without_a_gate_are_left_out():
    table = gates().with_columns(gate=pl.lit(float("nan")))
    assert sum(bar.get_height() for axes in draw_gates(table).axes for bar in axes.patches) == 0


def surface(points=21):
    grid = np.linspace(-1, 1, points)
    rows = [
        (eps, a, b, abs(a - b) * 10**k)
        for k, eps in enumerate((1e-7, 0.1, 1.0))
        for a in grid
        for b in grid
    ]
    return pl.DataFrame(rows, ["eps", "w1", "w2", "loss"], orient="row").sample(
        fraction=1.0, shuffle=True, seed=0
    )


def test_surface_is_the_logarithm_of_the_loss_wherever_it_is_in_the_table():
    panels = draw_surfaces(surface()).axes[:3]
    assert [axes.get_title() for axes in panels] == ["ε = $10^{-7}$", "ε = 0.1", "ε = 1"]
    mesh = panels[1].collections[0]
    heights = np.asarray(mesh.get_array()).reshape(21, 21)
    grid = np.linspace(-1, 1, 21)
    with np.errstate(divide="ignore"):
        expected = np.log10(10 * np.abs(grid[None, :] - grid[:, None]))
    np.testing.assert_allclose(heights, np.clip(expected, *mesh.get_clim()), atol=1e-12)
    assert heights[3, 7] == heights[7, 3]


def test_surface_can_be_read_and_holes_are_named():
    assert collisions(draw_surfaces(surface(), title="Title")) == []
    with pytest.raises(ValueError, match=r"eps 1e-07 has 440 points, not the 21 x 21"):
        draw_surfaces(surface().sort("eps")[1:])


def test_counts_stand_in_their_cells():
    rows = [
        {"model": m, "operation": o, "range": r, "solved": 10 * i + k, "seeds": 25}
        for o in ("sub", "add")
        for i, m in enumerate(("NAU", "least squares (log|x|)"))
        for k, r in enumerate(("U[-20,-10]", "U[1,2]", "U[10,20]"))
    ]
    figure = draw_counts(pl.DataFrame(rows), "range", title="2 inputs")
    assert [axes.get_title() for axes in figure.axes] == ["+", "−"]
    cells = {text.get_position(): text.get_text() for text in figure.axes[0].texts}
    assert cells == {(k, i): str(10 * i + k) for i in range(2) for k in range(3)}
    colors = np.asarray(figure.axes[0].images[0].get_array())
    np.testing.assert_allclose(colors, [[0, 0.04, 0.08], [0.4, 0.44, 0.48]])
    assert collisions(figure) == []


def test_a_cell_that_was_not_run_stays_empty():
    rows = [
        {"model": "NAU", "operation": "add", "range": "a", "solved": 1, "seeds": 2},
        {"model": "NMU", "operation": "add", "range": "b", "solved": 1, "seeds": 2},
    ]
    assert len(draw_counts(pl.DataFrame(rows), "range").axes[0].texts) == 2


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_picture_gives_the_same_file(kind):
    first, second = (image(draw_gates(gates()), kind) for _ in range(2))
    assert first == second
    assert first.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
