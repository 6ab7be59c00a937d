"""The estimator from table to formula."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sympy
import torch
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from torchalu.estimators import ArithmeticRegressor
from torchalu.export import evaluate
from torchalu.tasks import Needle, load_table

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.recovery import LAWS, make_table, run_trial

FAST = {"restarts": 4, "steps": 200, "threads": 1, "random_state": 0}
FASTEST = FAST | {"restarts": 1}


def equal(formula, text):
    return sympy.simplify(formula - sympy.sympify(text)) == 0


@pytest.mark.parametrize(
    ("operation", "columns", "noise"),
    [
        pytest.param(*law, noise, marks=() if noise and index % 24 == 5 else pytest.mark.long)
        for noise in (0.0, 0.01)
        for index, law in enumerate(LAWS)
    ],
)
def test_recovery(operation, columns, noise):
    X, y = make_table(operation, noise, 100, columns)
    model = ArithmeticRegressor(**FAST).fit(X, y)
    assert equal(model.formula_, operation)
    assert model.certificate_.exact is (noise == 0)


@pytest.mark.long
@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(("operation", "columns"), LAWS)
def test_recovery_of_twenty(operation, columns, noise):
    trials = [run_trial(operation, noise, seed, columns) for seed in range(20)]
    assert sum(trial.found for trial in trials) >= 19


@pytest.mark.parametrize(
    "operation",
    [
        "9*a/5 + 32",
        "2.37*a*b",
        "(a - b)/(a + b) + 3",
        "(a + b)*(c - d)*u",
        "a**2 + b**2",
        "5/2",
        "a*(b**2 + c**2 + d**2)/2",
        pytest.param("a*b + c*d + b*u + a*d", marks=pytest.mark.long),
        "1/(1/a + b/c)",
        "3.7*a/(1.9 + a)",
        pytest.param("sqrt((a - b)**2 + (c - d)**2 + 1)", marks=pytest.mark.long),
        "a/sqrt(1 + b**2/c**2)",
        "a/(b + c) + 1.7*d",
    ],
)
def test_constants_and_other_forms_without_noise(operation):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.uniform(0.5, 4, (300, 5)), columns=list("abcdu"))
    expression = sympy.sympify(operation)
    if not expression.free_symbols:
        expression += sympy.Symbol("a")
    model = ArithmeticRegressor(**FAST).fit(X, evaluate(expression, X, list(X.columns)))
    assert model.certificate_.exact
    outside = generator.uniform(10, 20, (50, 5))
    expected = evaluate(expression, outside, list(X.columns))
    np.testing.assert_allclose(
        model.predict(pd.DataFrame(outside, columns=X.columns)), expected, rtol=1e-9
    )


def test_noisy_constants_lie_in_their_intervals():
    generator = np.random.default_rng(2)
    X = generator.uniform(0.5, 4, (300, 4))
    y = 2.37 * X[:, 0] * X[:, 1] + 11.3 + 0.05 * generator.normal(size=300)
    model = ArithmeticRegressor(families=["sum", "powers"], **FAST).fit(X, y)
    scale, offset = model.constants_["scale"], model.constants_["offset"]
    assert scale.free
    assert offset.free
    assert scale.low < 2.37 < scale.high
    assert offset.low < 11.3 < offset.high
    reference = stats.linregress(X[:, 0] * X[:, 1], y)
    assert scale.value == pytest.approx(reference.slope)
    assert scale.high - scale.value == pytest.approx(
        stats.t.ppf(0.975, 298) * reference.stderr, rel=1e-6
    )


@pytest.mark.parametrize("holdout", ["outer", "random", "none"])
def test_kepler(holdout):
    table = load_table("kepler")
    planets = table.filter(pl.col("kind") == "planet").head(5)
    model = ArithmeticRegressor(holdout=holdout, random_state=0, threads=1)
    model.fit(planets.select("a"), planets["period"].to_numpy())
    assert model.formula_ == sympy.sympify("a**(3/2)")
    assert list(model.feature_names_in_) == ["a"]
    far = table.filter(pl.col("a") > 9)
    np.testing.assert_allclose(model.predict(far.select("a")), far["period"], rtol=2e-3)


def test_boyle():
    table = load_table("boyle")
    model = ArithmeticRegressor(**FAST).fit(table.select("volume"), table["pressure"].to_numpy())
    volume = sympy.Symbol("volume")
    constant = model.constants_["scale"]
    assert sympy.simplify(model.formula_ * volume).is_number
    product = table["volume"].to_numpy() * table["pressure"].to_numpy()
    assert constant.low < np.mean(product) < constant.high
    assert model.certificate_.exact is False


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.002, marks=pytest.mark.long)])
def test_needle_among_thirty(noise):
    needle = Needle(columns=30, width=8, shared=4)
    table = needle.sample(1500, 1.0, 2.0, noise=noise)
    model = ArithmeticRegressor(**FAST).fit(table.X, table.y)
    outside = needle.sample(200, -6.0, -2.0)
    np.testing.assert_allclose(model.predict(outside.X), outside.y, rtol=1e-12)


@pytest.mark.long
def test_a_long_table():
    needle = Needle(columns=8, width=4, shared=2)
    table = needle.sample(6000, 1.0, 2.0, noise=0.01)
    model = ArithmeticRegressor(**FAST).fit(table.X, table.y)
    outside = needle.sample(200, 2.0, 6.0)
    np.testing.assert_allclose(model.predict(outside.X), outside.y, rtol=1e-12)


@pytest.mark.parametrize("rows", [2, 5, 60])
@pytest.mark.parametrize("exponent", [5, 90])
def test_extreme_magnitudes_are_no_errors(rows, exponent):
    generator = np.random.default_rng(rows)
    X = 10.0 ** generator.uniform(-exponent, exponent, (rows, 3))
    y = 10.0 ** generator.uniform(-exponent, exponent, rows)
    model = ArithmeticRegressor(**FAST).fit(X, y)
    assert np.all(np.isfinite(model.predict(X)))
    product = ArithmeticRegressor(**FAST).fit(X, np.sqrt(X[:, 0]) * np.sqrt(X[:, 1]))
    if rows == 60:
        assert equal(product.formula_, "sqrt(x0)*sqrt(x1)")


@pytest.mark.parametrize("exponent", [pytest.param(-95, marks=pytest.mark.long), 95])
def test_a_law_that_is_not_found_is_no_error_at_any_magnitude(exponent):
    generator = np.random.default_rng(0)
    X = generator.uniform(1, 2, (40, 2))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] ** 1.3 + 2) * 10.0**exponent
    model = ArithmeticRegressor(restarts=0, random_state=0).fit(X, y)
    assert not model.certificate_.exact
    assert model.score(X, y) > 0.9


def test_says_so_when_nothing_exact_explains_the_data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 3))
    y = np.sin(3 * X[:, 0]) + X @ [2.0, -1.0, 0.0] + 0.3 * generator.normal(size=200)
    model = ArithmeticRegressor(**FAST).fit(X, y)
    assert model.certificate_.exact is False
    assert model.certificate_.rows == 200
    assert model.score(X, y) > 0.5


def test_pure_noise_gets_a_short_formula():
    generator = np.random.default_rng(0)
    X, y = generator.uniform(1, 2, (200, 5)), generator.normal(size=200)
    model = ArithmeticRegressor(**FAST).fit(X, y)
    assert model.candidates_.complexity[0] <= 5
    assert not model.candidates_.exact.any()


def test_a_target_that_is_zero_but_at_the_rim_is_no_error():
    x = np.linspace(-1, 1, 41)
    model = ArithmeticRegressor(restarts=0, random_state=0)
    assert np.isfinite(model.fit(x[:, None], np.where(abs(x) > 0.85, x, 0)).predict([[0.5]]))
    X = np.random.default_rng(5).uniform(1, 5, (40, 2))
    assert np.isfinite(model.fit(X, (X[:, 0] > 4.5).astype(int)).predict(X)).all()


@pytest.mark.parametrize(("rows", "level"), [(10, 293.0), (20, 293.0), (40, 3.0), (100, 3.0)])
def test_a_column_that_does_not_vary_is_no_constant(rows, level):
    a = np.random.default_rng(0).uniform(1, 5, rows)
    X = np.stack([a, np.full(rows, level)], axis=1)
    model = ArithmeticRegressor(restarts=0, random_state=0).fit(X, 2 * a + 1)
    assert str(model.formula_) == "2*x0 + 1"


def test_magnitudes_have_no_offset():
    X = np.random.default_rng(0).uniform(-3, 3, (60, 2))
    far = [[1e10, -2.0], [-1e10, 2.0]]
    model = ArithmeticRegressor(restarts=0, random_state=0)
    for y, expected in ((abs(X[:, 0]), 1e10), (abs(X[:, 0] * X[:, 1]), 2e10)):
        model.fit(X, y)
        assert model.certificate_.exact
        np.testing.assert_allclose(model.predict(far), expected, rtol=1e-9)


def test_candidates_are_ranked():
    X, y = make_table("a*b", 0.01, 0)
    frame = ArithmeticRegressor(families=["sum", "powers"], **FAST).fit(X, y).candidates_
    assert equal(frame.formula[0], "a*b")
    assert frame.description.is_monotonic_increasing
    assert frame.formula.map(str).is_unique
    assert {"formula", "family", "error", "complexity", "exact"} <= set(frame.columns)


def test_neither_order_nor_repeats_matter():
    X, y = make_table("a/b", 0.01, 5)
    X, options = X[["a", "b"]], FASTEST | {"families": ["sum", "powers"]}
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    order = np.random.default_rng(1).permutation(len(y))
    weighted = ArithmeticRegressor(**options).fit(X, y, sample_weight=weight)
    shuffled = ArithmeticRegressor(**options).fit(X.iloc[order], y[order], weight[order])
    repeated = ArithmeticRegressor(**options).fit(X.loc[X.index.repeat(weight)], y.repeat(weight))
    assert weighted.candidates_.equals(shuffled.candidates_)
    assert weighted.candidates_.equals(repeated.candidates_)
    assert weighted.certificate_.rows == (weight > 0).sum()
    assert repeated.certificate_.rows == weight.sum()


def test_weights_decide_which_rows_are_explained():
    X, _ = make_table("a*b", 0.0, 0)
    product, total = (X.a * X.b).to_numpy(), (X.a + X.b).to_numpy()
    first = np.arange(len(X)) % 2 == 0
    y = np.where(first, product, total)
    model = ArithmeticRegressor(**FAST)
    assert equal(model.fit(X, y, sample_weight=first).formula_, "a*b")
    assert equal(model.fit(X, y, sample_weight=~first).formula_, "a + b")


def test_clone_pipeline_and_cross_validation():
    X, y = make_table("a*b", 0.0, 1)
    model = clone(ArithmeticRegressor(families=["powers"], **FAST))
    assert model.get_params()["families"] == ["powers"]
    pipeline = make_pipeline(FunctionTransformer(np.abs), model)
    assert pipeline.fit(X, y).score(X, y) == pytest.approx(1)
    assert cross_val_score(model, X, y, cv=3) == pytest.approx([1, 1, 1])


def test_pickling_keeps_the_formula():
    X, y = make_table("a/b", 0.0, 1)
    model = ArithmeticRegressor(**FAST).fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    assert twin.formula_ == model.formula_
    assert twin.certificate_ == model.certificate_
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


@pytest.mark.long
def test_a_seed_repeats_the_fit():
    X, y = make_table("a/b", 0.01, 1)
    first, second = (ArithmeticRegressor(**FASTEST).fit(X[["a", "b", "u"]], y) for _ in range(2))
    assert first.candidates_.equals(second.candidates_)


def test_families_restrict_the_answer():
    X, y = make_table("a*b + c*d", 0.0, 0)
    model = ArithmeticRegressor(families=["sum", "powers"], **FAST).fit(X, y)
    assert set(model.candidates_.family) <= {"sum", "powers"}
    assert model.certificate_.exact is False


def test_float32_tables_have_a_tolerance_of_their_own():
    X, y = make_table("a*b", 0.0, 0)
    single = X.to_numpy(np.float32)
    model = ArithmeticRegressor(families=["powers"], **FAST)
    model.fit(single, single[:, 0] * single[:, 1])
    assert model.certificate_.exact
    assert model.certificate_.tolerance == 1e-5
    assert ArithmeticRegressor(tolerance=1e-12, **FAST).fit(X, y).certificate_.tolerance == 1e-12


@pytest.mark.parametrize(
    ("dtypes", "tolerance"),
    [
        (("float64", "float64", "float64"), 1e-9),
        (("float32", "float64", "float64"), 1e-5),
        (("int64", "int64", "float32"), 1e-5),
        (("float32", "float64", "float16"), 1e-2),
    ],
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_coarsest_column_decides_the_tolerance(frame, dtypes, tolerance):
    a, b = np.arange(1, 31) % 5 + 1, np.arange(1, 31) % 7 + 1
    a, b, y = (column.astype(dtype) for column, dtype in zip((a, b, a * b), dtypes, strict=True))
    model = ArithmeticRegressor(families=["powers"], **FAST).fit(frame({"a": a, "b": b}), y)
    assert model.certificate_.tolerance == tolerance
    assert equal(model.formula_, "a*b")


def test_a_wide_tolerance_does_not_end_the_search_early():
    X, y = make_table("a*b/c**2", 0.01, 0)
    model = ArithmeticRegressor(families=["sum", "powers"], tolerance=0.5, **FAST).fit(X, y)
    assert equal(model.formula_, "a*b/c**2")
    assert model.certificate_.exact


def test_a_small_signal_on_a_large_offset_is_found_and_noise_there_is_not_exact():
    generator = np.random.default_rng(0)
    X = generator.uniform(0.5, 4, (60, 2))
    model = ArithmeticRegressor(restarts=0, random_state=0).fit(X, 1e6 + X.prod(axis=1))
    assert str(model.formula_) == "x0*x1 + 1000000.0"
    assert model.certificate_.exact
    model.fit(X, 1.7e9 + generator.uniform(0, 1, 60))
    assert not model.certificate_.exact
    assert not model.candidates_["exact"].any()


@pytest.mark.parametrize(("slope", "all_free"), [(0.9955, False), (3.14159, True)])
def test_constants_lie_in_the_intervals_beside_them(slope, all_free):
    for seed in range(2, 6):
        generator = np.random.default_rng(seed)
        x = generator.uniform(1, 2, 40)
        y = slope * x * (1 + 0.01 * generator.standard_normal(40))
        model = ArithmeticRegressor(families=["sum"], restarts=0, random_state=0).fit(x[:, None], y)
        constants = model.constants_.values()
        assert all(c.low < c.value < c.high for c in constants if c.free)
        assert all(c.free for c in constants) is all_free
        if all_free:
            assert all(c.value == pytest.approx((c.low + c.high) / 2) for c in constants)


def test_intervals_are_those_of_a_fit_that_frees_all_constants():
    generator = np.random.default_rng(3)
    x = generator.uniform(0.1, 9, 40)
    y = x + 0.2137 + 0.003 * generator.standard_normal(40)
    model = ArithmeticRegressor(restarts=0, random_state=0).fit(x[:, None], y)
    scale, offset = model.constants_["scale"], model.constants_["offset"]
    assert (scale.value, scale.free, offset.free) == (1.0, False, True)
    assert model.candidates_["noise"][0] == "constant"
    freed = stats.linregress(x, y)
    half = stats.t.ppf(0.975, 38) * freed.stderr
    assert (scale.low, scale.high) == pytest.approx((freed.slope - half, freed.slope + half))
    half = stats.t.ppf(0.975, 38) * freed.intercept_stderr
    middle = freed.intercept
    assert (offset.low, offset.high) == pytest.approx((middle - half, middle + half))


@pytest.mark.long
def test_a_rounded_neighbor_does_not_narrow_an_interval():
    covered = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        x = generator.uniform(1, 5, (20, 1))
        y = 3.14159 * x[:, 0] + 20.7 + generator.normal(0, 0.3, 20)
        model = ArithmeticRegressor(families=["sum"], restarts=0, random_state=0).fit(x, y)
        offset = model.constants_["offset"]
        covered += offset.low < 20.7 < offset.high
    assert covered >= 34  # 38 are expected; by fits with the scale as printed it was 14


def test_a_table_that_is_refused_leaves_no_formula_of_another():
    X, y = make_table("a*b", 0.0, 0)
    model = ArithmeticRegressor(restarts=0, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="constant"):
        model.fit(X, np.ones(len(y)))
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_the_random_numbers_of_torch_stay_where_they_are():
    X, y = make_table("a*b", 0.3, 0)
    state = torch.random.get_rng_state()
    ArithmeticRegressor(restarts=2, steps=20, random_state=0).fit(X, np.sin(3 * y))
    assert torch.equal(torch.random.get_rng_state(), state)


def test_prediction_is_the_formula():
    X, y = make_table("1/(a + b)", 0.01, 3)
    model = ArithmeticRegressor(families=["sum", "powers"], **FAST).fit(X, y)
    function = sympy.lambdify(list(X.columns), model.formula_)
    np.testing.assert_allclose(model.predict(X), function(*X.to_numpy().T), rtol=1e-13)


def test_constants_of_names_that_are_no_words_are_called_as_they_are_printed():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.uniform(1, 3, (60, 2)), columns=["x-y", "mass [kg]"])
    y = 2 * X["x-y"] + 3.3 * X["mass [kg]"] + 0.001 * generator.normal(size=60)
    model = ArithmeticRegressor(families=["sum"], **FAST).fit(X, y)
    assert set(model.constants_) >= {"coefficient of `x-y`", "coefficient of `mass [kg]`"}
    assert {symbol.name for symbol in model.formula_.free_symbols} == set(X.columns)


def test_a_missing_package_names_the_extra():
    code = "import sys; sys.modules['sklearn'] = None; import torchalu.estimators"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'torchalu[estimators]'" in done.stderr
