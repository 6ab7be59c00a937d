"""The pictures show what they should, on the axes that suit it."""

import builtins

import numpy as np
import pytest

from torchalu.report import FitPicture, draw_fit, plot_fit, require_matplotlib, stretch
from torchalu.report.style import image
from torchalu.tasks import Table, load_table


def power(X):
    return X[:, 0] ** 1.5


def line(X):
    return 2 * X[:, 0] + 1


def one_feature(outside):
    frame = load_table("kepler")
    a, period = frame["a"].to_numpy(), frame["period"].to_numpy()
    inner = a < 6
    table = Table(a[inner, None], period[inner], ["a"], "period")
    beyond = {"outer": Table(a[~inner, None], period[~inner], ["a"], "period")}
    return FitPicture(table, power, "a**(3/2)", line, beyond if outside else {}, "Kepler")


def two_features(outside):
    generator = np.random.default_rng(0)
    X = generator.uniform(1, 2, (40, 2))
    far = generator.uniform(2, 6, (30, 2))
    beyond = {"far": Table(far, far.prod(axis=1))} if outside else {}
    return FitPicture(Table(X, X.prod(axis=1)), lambda X: X.prod(axis=1), "x0*x1", line, beyond)


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_kepler_is_logarithmic_and_reaches_the_outermost_body():
    top, bottom = draw_fit(one_feature(outside=True)).axes
    assert (top.get_xscale(), top.get_yscale(), bottom.get_xscale()) == ("log", "log", "log")
    assert labels(top) == [
        "rows learned from", "plain MLP on the same rows", "formula", "data", "outer",
    ]  # fmt: skip
    curve = next(drawn for drawn in top.lines if drawn.get_label() == "formula")
    x, y = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert x.max() > 487
    np.testing.assert_allclose(y, x**1.5)


def test_the_lower_panel_has_the_relative_residuals():
    picture = one_feature(outside=False)
    bottom = draw_fit(picture).axes[1]
    points = next(drawn for drawn in bottom.lines if drawn.get_label() == "data")
    expected = picture.table.y / picture.table.X[:, 0] ** 1.5 - 1
    np.testing.assert_allclose(np.asarray(points.get_ydata()), expected)


def test_boyle_is_linear_and_the_curve_goes_beyond():
    frame = load_table("boyle")
    table = Table(frame["volume"].to_numpy()[:, None], frame["pressure"].to_numpy(), ["volume"])
    top = draw_fit(FitPicture(table, lambda X: 1409 / X[:, 0], "1409/volume", line)).axes[0]
    assert (top.get_xscale(), top.get_yscale()) == ("linear", "linear")
    curve = next(drawn for drawn in top.lines if drawn.get_label() == "formula")
    x = np.asarray(curve.get_xdata())
    assert 0 < x.min() <= 4.01
    assert x.max() > 80


def test_several_features_are_shown_as_predicted_against_true():
    left, right = draw_fit(two_features(outside=True)).axes
    assert labels(left) == ["plain MLP", "formula", "exact"]
    assert labels(right) == ["plain MLP, far", "formula, far", "exact"]
    formula = next(drawn for drawn in right.lines if drawn.get_label() == "formula, far")
    np.testing.assert_allclose(np.asarray(formula.get_xdata()), np.asarray(formula.get_ydata()))
    assert len(np.asarray(formula.get_xdata())) == 30


def test_without_rows_outside_the_formula_is_the_reference():
    right = draw_fit(two_features(outside=False)).axes[1]
    assert right.get_xlabel() == "y, by the formula"


@pytest.mark.parametrize("outside", [True, False])
@pytest.mark.parametrize("picture", [one_feature, two_features])
def test_writes_a_png(tmp_path, picture, outside):
    plot_fit(picture(outside), tmp_path / "fit.png")
    data = (tmp_path / "fit.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    assert len(data) > 20_000


def test_long_formulas_are_cut_and_dollars_are_dollars():
    table = Table([[1.0], [2.0]], [1.0, 2.0], ["$a$"], "$y$")
    picture = FitPicture(table, lambda X: X[:, 0], "$a$" * 60, line)
    figure = draw_fit(picture)
    title = figure.get_suptitle()
    assert title.endswith("…")
    assert len(title.replace("\\", "")) < 90


@pytest.mark.parametrize("columns", [1, 2])
def test_names_with_dollars_are_no_formulas_of_matplotlib(columns):
    names = ["$_a$", "$_b$"][:columns]
    inside = Table(np.arange(2.0 * columns).reshape(2, columns), [1.0, 2.0], names, "$_y$")
    beyond = {"$_far$": Table(3 + inside.X, inside.y, names, "$_y$")}
    figure = draw_fit(FitPicture(inside, lambda X: X[:, 0] + 1, "$_a$ + 1", line, beyond))
    assert image(figure, "png").startswith(b"\x89PNG")


def test_characters_that_the_font_lacks_are_no_warnings(recwarn):
    table = Table([[1.0], [2.0]], [1.0, 2.0], ["质量"], "能量")
    image(draw_fit(FitPicture(table, lambda X: X[:, 0], "质量", line)), "png")
    assert not [warning for warning in recwarn if "Glyph" in str(warning.message)]


def test_values_of_any_sign_and_zero():
    table = Table([[-1.0], [0.0], [2.0]], [1.0, 0.0, 4.0])
    top = draw_fit(FitPicture(table, lambda X: X[:, 0] ** 2, "x0**2", line)).axes[0]
    assert top.get_xscale() == "linear"


def test_wrong_extension(tmp_path):
    with pytest.raises(ValueError, match=r"fit.jpg'; allowed: a name that ends in .png"):
        plot_fit(two_features(outside=True), tmp_path / "fit.jpg")


def test_names_the_extra_if_matplotlib_is_missing(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **others):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'torchalu\[plots\]'"):
        require_matplotlib()


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([1.0, 2.0], 2, 6), ([-2.0, -1.0], -6, -1), ([-1.0, 2.0], -3, 6)],
)
def test_stretch_goes_outwards(values, low, high):
    beyond = stretch(Table([[v] for v in values], [1.0, 2.0]), lambda X: X[:, 0] ** 2)
    assert low <= beyond.X.min()
    assert beyond.X.max() <= high
    np.testing.assert_allclose(beyond.y, beyond.X[:, 0] ** 2)


def test_stretch_leaves_out_what_has_no_value():
    table = Table([[-1.0], [2.0]], [1.0, 2.0])
    assert stretch(table, lambda X: np.sqrt(X[:, 0])).X.min() >= 0
    assert stretch(table, lambda X: np.full(len(X), np.nan)) is None


def test_a_formula_without_values_farther_out_leaves_that_panel_empty():
    X = np.random.default_rng(0).uniform(0.5, 4, (40, 2))

    def root(X):
        with np.errstate(invalid="ignore"):
            return np.sqrt(8 - X.sum(axis=1))

    left, right = draw_fit(FitPicture(Table(X, root(X)), root, "sqrt(8 - x0 - x1)", line)).axes
    assert labels(left)
    assert not right.lines
    assert [text.get_text() for text in right.texts] == ["the formula has no finite values there"]
