"""Laws on small tables: higher powers, roots at their zero, truth tables, the fewest rows."""

import numpy as np
import pandas as pd
import pytest
import sympy
from scipy import stats

from torchalu import ArithmeticRegressor


def fitted(law, columns, noise=0.0):
    """The regressor on the rows of a law in SymPy's words."""
    X = pd.DataFrame(columns)
    formula = sympy.sympify(law)
    symbols = [sympy.Symbol(name) for name in X]
    y = sympy.lambdify(symbols, formula)(*(X[name].to_numpy() for name in X))
    y = y * (1 + noise * np.random.default_rng(1).standard_normal(len(X)))
    return ArithmeticRegressor(random_state=0).fit(X, y)


def uniform(rows, names):
    values = np.random.default_rng(0).uniform(0.5, 4, (rows, len(names)))
    return pd.DataFrame(values, columns=list(names))


def normal(rows, names):
    values = np.random.default_rng(0).standard_normal((rows, len(names)))
    return pd.DataFrame(values, columns=list(names))


@pytest.mark.parametrize("law", ["a**3 - 2*a + 1", "a**3 + b**3", "a/b**3 + b", "a**4 + a"])
def test_sums_of_third_and_fourth_powers(law):
    model = fitted(law, uniform(40, "ab"))
    assert sympy.simplify(model.formula_ - sympy.sympify(law)) == 0
    assert model.certificate_.exact


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("f*sqrt(1 + b)/sqrt(1 - b)", {"f": (1, 5), "b": (-0.9, 0.9)}),  # light of a moving source
        ("sqrt(c + v)*f/sqrt(c - v)", {"f": (1, 5), "v": (1, 2), "c": (3, 10)}),  # likewise
        ("((n - m)/(n + m))**2", {"n": (1, 3), "m": (1, 3)}),  # light that a surface sends back
        ("r*s/((n - 1)*(r + s))", {"n": (1.3, 2), "r": (1, 3), "s": (4, 8)}),  # a lens
        ("a*b/((a + c)*(b + d))", dict.fromkeys("abcd", (1, 5))),  # an enzyme of two substrates
    ],
)
def test_products_of_powers_of_two_sums(law, ranges, noise):
    generator = np.random.default_rng(0)
    columns = {name: generator.uniform(*bounds, 200) for name, bounds in ranges.items()}
    model = fitted(law, columns, noise)
    names = {name: sympy.Symbol(name, positive=True) for name in ranges}
    found, wanted = (
        sympy.sympify(str(f), locals=names) for f in (model.formula_, sympy.sympify(law))
    )
    assert sympy.simplify(found / wanted) == 1
    assert model.certificate_.exact is (noise == 0)


@pytest.mark.parametrize("power", ["3/4", "2/5", "7/4", "2/7", "237/100"])
def test_powers_that_are_fractions(power):
    law = f"17*a**({power})/5"
    assert fitted(law, uniform(30, "a")).formula_ == sympy.sympify(law)


def test_small_targets_have_products_of_roots():
    """The frequency of a circuit of a coil and a capacitor, below 1 on all rows."""
    generator = np.random.default_rng(0)
    columns = {"L": generator.uniform(1, 5, 200), "C": generator.uniform(0.1, 1, 200)}
    formula = fitted("1/(6.2831853*sqrt(L)*sqrt(C))", columns).formula_
    scale, powers = formula.as_coeff_Mul()
    assert float(scale) == pytest.approx(1 / 6.2831853)
    assert powers == sympy.sympify("1/(sqrt(L)*sqrt(C))")


def test_kleibers_law_under_noise():
    mass = np.geomspace(1e-2, 1e4, 40)
    model = fitted("17*m**(3/4)/5", {"m": mass}, noise=0.1)
    (power,) = model.formula_.atoms(sympy.Pow)
    assert power == sympy.Symbol("m") ** sympy.Rational(3, 4)


def test_a_saturation_curve_may_start_at_zero():
    substrate = np.linspace(0, 9, 11)
    rate = 3.7137 * substrate / (1.9043 + substrate)
    model = ArithmeticRegressor(random_state=0).fit(pd.DataFrame({"S": substrate}), rate)
    assert model.certificate_.exact
    np.testing.assert_allclose(model.predict(pd.DataFrame({"S": substrate})), rate, rtol=1e-9)
    assert model.constants_["offset"].value == pytest.approx(1 / 3.7137, rel=1e-9)
    assert model.constants_["scale"].value == pytest.approx(1.9043 / 3.7137, rel=1e-9)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_saturation_curve_that_starts_at_zero_may_have_a_background(noise):
    substrate = np.linspace(0, 9, 40)
    model = fitted("3.7137*s/(1.9043 + s) + 0.8311", {"s": substrate}, noise=noise)
    assert model.certificate_.exact is (noise == 0)
    s = np.array([0.0, 0.3, 30.0])
    law = 3.7137 * s / (1.9043 + s) + 0.8311
    error = 1e-9 if noise == 0 else 0.04
    np.testing.assert_allclose(model.predict(pd.DataFrame({"s": s})), law, rtol=error)


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
def test_a_root_of_a_sum_beside_a_column(noise):
    model = fitted("sqrt(a**2 + b**2) + 2*c", uniform(80, "abcd"), noise=noise)
    assert sympy.simplify(model.formula_ - sympy.sympify("sqrt(a**2 + b**2) + 2*c")) == 0
    inside = {"coefficient of a**2", "coefficient of b**2"}
    assert set(model.constants_) == inside | {"added coefficient of c"}
    added = model.constants_["added coefficient of c"]
    assert added.low <= 2 <= added.high


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
def test_the_pressure_of_a_real_gas(noise):
    """Van der Waals' equation, the pressure of carbon dioxide in bar."""
    generator = np.random.default_rng(0)
    columns = {"T": generator.uniform(250, 400, 400), "V": generator.uniform(0.1, 1, 400)}
    model = fitted("0.08314*T/(V - 0.0427) - 3.64/V**2", columns, noise=noise)
    assert model.certificate_.exact is (noise == 0)
    attraction = model.constants_["added coefficient of V**(-2)"]
    assert attraction.low <= -3.64 <= attraction.high
    slope, offset = model.constants_["scale"], model.constants_["offset"]
    assert slope.low <= 1 / 0.08314 <= slope.high
    assert offset.low <= -0.0427 / 0.08314 <= offset.high


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
def test_the_shift_of_a_moving_source_and_a_moving_ear(noise):
    """Doppler's shift of a tone of 1 to 4 kHz, in m/s."""
    generator = np.random.default_rng(0)
    speeds = generator.uniform(0, 60, (2, 400))
    columns = {"f": generator.uniform(1, 4, 400), "u": speeds[0], "v": speeds[1]}
    model = fitted("f*(343.217 + u)/(343.217 - v)", columns, noise=noise)
    assert model.certificate_.exact is (noise == 0)
    assert model.candidates_["free_constants"].iloc[0] == 1  # the speed of sound
    outside = pd.DataFrame({"f": [5.0, 1.0], "u": [100.0, 0.0], "v": [0.0, 100.0]})
    expected = [5 * 443.217 / 343.217, 343.217 / 243.217]
    np.testing.assert_allclose(model.predict(outside), expected, rtol=max(noise, 1e-9))


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("law", "noise"),
    [
        ("a*b/(1 + c**2)", 0.01),
        pytest.param("a/sqrt(b**2 + c**2)", 0.01, marks=LONG),
        ("a/sqrt(a**2 + b**2 + c**2)", 0.0),
        pytest.param("a/sqrt(a**2 + b**2 + c**2)", 0.01, marks=LONG),
        pytest.param("a*b/(1 + c**2)", 0.0, marks=LONG),
        pytest.param("a/sqrt(b**2 + c**2)", 0.0, marks=LONG),
        pytest.param("a*b/sqrt(1 + c**2)", 0.01, marks=LONG),
        pytest.param("(a*b + c*d)/sqrt(1 + a**2)", 0.01, marks=LONG),
    ],
)
def test_a_target_of_both_signs_over_a_sum_or_its_root(law, noise):
    model = fitted(law, normal(240, "abcdu"), noise=noise)
    assert sympy.simplify(model.formula_ - sympy.sympify(law)) == 0
    assert model.certificate_.exact is (noise == 0)


@pytest.mark.parametrize("law", ["a*b + c*d", pytest.param("a**2 - b*c + d", marks=LONG)])
def test_a_law_among_many_columns_that_do_not_matter(law):
    model = fitted(law, normal(240, "zyxwvutsrdcba"), noise=0.01)
    assert sympy.simplify(model.formula_ - sympy.sympify(law)) == 0


@pytest.mark.long
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_where_and_when_in_a_moving_frame(noise):
    """Lorentz's transformation, with the speed of light as a column and as the unit."""
    generator = np.random.default_rng(0)
    columns = {
        "x": generator.uniform(5, 10, 200),
        "v": generator.uniform(1, 2, 200),
        "t": generator.uniform(1, 2, 200),
        "c": generator.uniform(3, 20, 200),
    }
    law = "(x - v*t)/sqrt(1 - v**2/c**2)"
    model = fitted(law, columns, noise=noise)
    assert sympy.simplify(model.formula_ - sympy.sympify(law)) == 0
    assert model.certificate_.exact is (noise == 0)
    columns = {name: columns[name] for name in "xt"} | {"v": columns["v"] / 2.1}
    model = fitted("(t - v*x)/sqrt(1 - v**2)", columns, noise=noise)
    ratio = model.formula_ / sympy.sympify("(t - v*x)/sqrt(1 - v**2)")
    assert sympy.simplify(ratio) == 1


@pytest.mark.long
def test_the_distance_from_a_line():
    law = "(a*x + b*y + 2.3)/sqrt(a**2 + b**2)"
    model = fitted(law, uniform(60, "abxy"))
    assert model.certificate_.exact
    assert sympy.nsimplify(model.formula_ - sympy.sympify(law)).simplify() == 0


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_terms_that_share_a_constant_share_its_interval(noise):
    """Rydberg's formula, wave numbers in 10**7/m."""
    generator = np.random.default_rng(0)
    columns = {"m": generator.integers(5, 12, 200), "n": generator.integers(1, 5, 200)}
    model = fitted("1.0973731*(1/n**2 - 1/m**2)", columns, noise=noise)
    scale, levels = model.formula_.as_coeff_Mul()
    assert levels == sympy.sympify("1/n**2 - 1/m**2")
    first, second = (model.constants_[f"coefficient of {k}**(-2)"] for k in "nm")
    assert first.value == -second.value == float(scale)
    assert first.free
    assert not second.free
    assert first.low <= 1.0973731 <= first.high
    assert second.low <= -1.0973731 <= second.high


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
def test_terms_with_constants_of_their_own_keep_them(noise):
    """The second is 5/4 of the first to within two parts in a thousand, which 1% of noise hide."""
    model = fitted("0.7313*a*b + 0.9129*c*d", uniform(200, "abcd"), noise=noise)
    assert [constant.free for constant in model.constants_.values()] == [True, True]
    for name, value in (("a*b", 0.7313), ("c*d", 0.9129)):
        constant = model.constants_[f"coefficient of {name}"]
        assert constant.low <= value <= constant.high


@pytest.mark.parametrize(
    ("scale", "terms"), [(0.56704, "a*(t**4 - s**4)"), (0.7313, "a*t + 2*s**2")]
)
def test_a_constant_of_all_terms_stands_before_them(scale, terms):
    found, others = fitted(f"{scale}*({terms})", uniform(60, "ast")).formula_.as_coeff_Mul()
    assert others == sympy.sympify(terms)
    assert float(found) == pytest.approx(scale, rel=1e-12)


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
def test_the_sum_of_speeds_near_that_of_light(noise):
    model = fitted("(u + v)/(1 + u*v/8.98)", uniform(300, "uv"), noise=noise)
    constant = model.constants_["denominator coefficient of u*v"]
    assert constant.low <= 1 / 8.98 <= constant.high
    assert constant.high - constant.low < 0.02 * constant.value
    outside = model.predict(pd.DataFrame({"u": [5.0, 0.0], "v": [5.0, 7.0]}))
    np.testing.assert_allclose(outside, [10 / (1 + 25 * constant.value), 7.0], rtol=1e-12)


def test_a_ratio_with_powers_of_one_column():
    model = fitted("(1.3 + 2.1*x)/(0.7 + 0.35*x + x**2)", uniform(60, "x"))
    law = sympy.sympify("(13 + 21*x)/(7 + 7*x/2 + 10*x**2)")
    assert sympy.simplify(model.formula_ - law) == 0


def test_a_mean_that_is_weighted():
    formula = fitted("(a*m + b*n)/(m + n)", uniform(100, "abmn")).formula_
    assert formula == sympy.sympify("(a*m + b*n)/(m + n)")


@pytest.mark.long
def test_a_background_of_a_ratio_has_an_interval():
    """An inhibited enzyme's rate, measured to 1%."""
    law = "3.7*s/(1.9*(1 + i/2.3) + s) + 0.4"
    model = fitted(law, uniform(300, "is"), noise=0.01)
    background = model.constants_["added constant"]
    assert background.low < 0.4 < background.high
    assert background.high - background.low < 0.1
    outside = pd.DataFrame({"i": [6.0, 0.1], "s": [0.5, 30.0]})
    expected = [
        3.7 * 0.5 / (1.9 * (1 + 6 / 2.3) + 0.5) + 0.4,
        3.7 * 30 / (1.9 * (1 + 0.1 / 2.3) + 30) + 0.4,
    ]
    np.testing.assert_allclose(model.predict(outside), expected, rtol=0.05)


def test_a_root_at_its_zero_has_intervals():
    a, b = (grid.ravel() for grid in np.meshgrid(np.arange(6.0), np.arange(6.0)))
    model = fitted("sqrt(a**2 + b**2)", {"a": a, "b": b}, noise=0.01)
    assert model.formula_ == sympy.sympify("sqrt(a**2 + b**2)")
    away = (a > 0) | (b > 0)  # y**2 has a slope there; its noise is twice that of y
    y = model.predict(pd.DataFrame({"a": a, "b": b}))[away]
    noisy = y * (1 + 0.01 * np.random.default_rng(1).standard_normal(36)[away])
    shares = np.stack([a[away] ** 2, b[away] ** 2], 1) / y[:, None] ** 2
    free = noisy**2 / y**2
    freedom = len(free) - 2
    left = free - shares @ np.linalg.lstsq(shares, free)[0]
    error = np.sqrt(left @ left / freedom * np.linalg.inv(shares.T @ shares)[0, 0])
    half = stats.t.ppf(0.975, freedom) * error
    constant = model.constants_["coefficient of a**2"]
    assert (constant.high - constant.low) / 2 == pytest.approx(half, rel=0.1)
    assert constant.low < 1 < constant.high


def test_the_magnitude_of_a_column():
    model = ArithmeticRegressor(random_state=0)
    x = np.arange(-5.0, 6.0)
    assert str(model.fit(pd.DataFrame({"x": x}), np.abs(x)).formula_) == "sqrt(x**2)"


@pytest.mark.parametrize(
    ("name", "law"),
    [("or", "p + q - p*q"), ("multiplexer", "p*q + r - p*r"), ("implication", "1 - p + p*q")],
)
def test_logic_of_three_columns(name, law):
    bits = np.array([[row >> 2 & 1, row >> 1 & 1, row & 1] for row in range(8)])
    p, q, r = bits.T
    expected = {"or": p | q, "multiplexer": np.where(p, q, r), "implication": ~p & 1 | q}[name]
    table = pd.DataFrame(bits, columns=list("pqr"))
    model = ArithmeticRegressor(random_state=0).fit(table, expected)
    assert sympy.expand(model.formula_ - sympy.sympify(law)) == 0


def test_a_sum_of_three_products_of_twelve_rows():
    assert fitted("s + v*t + a*t**2/2", uniform(12, "svta")).certificate_.exact


def test_two_rows_are_enough_for_a_proportion():
    assert fitted("3*a", {"a": [1.0, 2.0]}).formula_ == sympy.sympify("3*a")


def test_every_constant_lies_in_its_own_interval():
    year = np.arange(1990.0, 2020.0)
    constants = fitted("(year - 2000)**2", {"year": year}).constants_.values()
    assert all(constant.low <= constant.value <= constant.high for constant in constants)


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "law",
    [
        "a + 2*b",
        pytest.param("3*a*b**2/c", marks=pytest.mark.long),
        pytest.param("1.73*(a - 4*b - 5*c)**2", marks=pytest.mark.long),
        "sqrt(a**2 + b**2)",
        pytest.param("1/(1/a + b/c)", marks=pytest.mark.long),
        pytest.param("(a*b + c)/(a + c)", marks=pytest.mark.long),
        pytest.param("a*(b**2 + c**2)**(-3/2)", marks=pytest.mark.long),
        pytest.param("sqrt(a**2 + b**2) + c", marks=pytest.mark.long),
    ],
)
def test_the_opposite_of_a_target_above_zero_has_the_opposite_formula(law, noise):
    X = uniform(200, "abc")
    y = sympy.lambdify(list(X), sympy.sympify(law))(X.a, X.b, X.c)
    y = y * (1 + noise * np.random.default_rng(1).standard_normal(200))
    assert y.min() > 0
    above, below = (ArithmeticRegressor(random_state=0).fit(X, t) for t in (y, -y))
    assert below.formula_ == -above.formula_
    assert below.certificate_.exact is above.certificate_.exact is (noise == 0)
    np.testing.assert_allclose(below.predict(X), -above.predict(X), rtol=1e-13)
    assert list(map(str, below.candidates_.formula)) == [str(-f) for f in above.candidates_.formula]
    for name, constant in below.constants_.items():
        other = above.constants_[name]
        assert constant.low <= constant.value <= constant.high
        assert (constant.value, constant.low, constant.high) in [
            (other.value, other.low, other.high),
            (-other.value, -other.high, -other.low),
        ]


def test_constants_of_an_opposite_are_those_of_its_formula():
    X = uniform(200, "abc")
    constants = ArithmeticRegressor(random_state=0).fit(X, -2 * X.a - 3 * X.b).constants_
    assert {name: one.value for name, one in constants.items()} == pytest.approx(
        {"coefficient of a": -2, "coefficient of b": -3}
    )
    model = ArithmeticRegressor(random_state=0).fit(X, -np.sqrt(2 * X.a**2 + 3) - 5 * X.b)
    assert str(model.formula_) == "-5*b - sqrt(2*a**2 + 3)"
    assert {name: one.value for name, one in model.constants_.items()} == pytest.approx(
        {"scale": 2, "offset": 3, "added coefficient of b": -5}
    )
