"""The text forms, run and read."""

import ctypes
import itertools
import math
import random
import re
import shutil
import subprocess
import sys
from copy import deepcopy

import pytest
import sympy
import torch
from torch import nn

from torchalu.export import evaluate, to_c, to_latex, to_python, to_sympy
from torchalu.nn import NMRU, RealNPU

NAMES = ["a", "column b", "exp"]
SEEDS = range(60)
A, B, C = sympy.symbols("a b c")


def _rows(seed, count):
    draw = random.Random(seed)
    values = [quarters / 4 for quarters in range(-12, 13) if quarters]
    return [tuple(draw.choice(values) for _ in NAMES) for _ in range(count)]


def _compile_c(folder, texts, standard="c99"):
    """All functions in one library; warnings are errors."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler, and compiled C is what is tested")
    source, library = folder / "formulas.c", folder / "formulas.so"
    source.write_text("\n".join(texts), encoding="ascii")
    flags = [f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    subprocess.run(
        [compiler, *flags, "-shared", "-fPIC", "-O1", "-o", library, source, "-lm"], check=True
    )
    return ctypes.CDLL(str(library))


def _call_c(library, name, row):
    function = library[name]
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * len(row)
    return function(*row)


def _python(text, name):
    scope = {}
    exec(compile(text, "formula.py", "exec", dont_inherit=True), scope)
    return scope[name]


@pytest.fixture(scope="module")
def stacks(make_stack):
    return [make_stack(seed, snapped=seed % 2 == 0) for seed in SEEDS]


@pytest.fixture(scope="module")
def formulas(stacks):
    return [to_sympy(stack, NAMES) for stack in stacks]


@pytest.fixture(scope="module")
def c_library(formulas, tmp_path_factory):
    texts = [to_c(formula, f"f{i}", NAMES) for i, formula in enumerate(formulas)]
    return _compile_c(tmp_path_factory.mktemp("c"), texts)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_form_equals_the_module(
    seed, stacks, formulas, c_library, true_value, largest_activation
):
    rows = _rows(seed, 8)
    table = torch.tensor(rows, dtype=torch.float64)
    module = stacks[seed](table).flatten().tolist()
    python = _python(to_python(formulas[seed], "f", NAMES), "f")
    scale = max(1.0, largest_activation(stacks[seed], table))
    values = evaluate(formulas[seed], rows, NAMES)
    for row, output, value in zip(rows, module, values, strict=True):
        close = pytest.approx(true_value(formulas[seed], NAMES, row), rel=1e-12, abs=1e-12 * scale)
        assert output == close
        assert _call_c(c_library, f"f{seed}", row) == close
        assert python(*row) == close
        assert value == close


X, Y = sympy.symbols("x y")
OPERATORS = [
    X - Y,
    -X,
    -X - Y,
    -(X + Y),
    sympy.Mul(-1, X + Y, evaluate=False),
    sympy.Mul(X, sympy.Mul(Y, X, evaluate=False), evaluate=False),
    X * (Y - 2),
    X / Y,
    1 / X / Y,
    -1 / X,
    X / (Y * (X + 7)),
    sympy.Rational(2, 3) * X,
    -sympy.Rational(2, 3) * X * Y,
    sympy.Rational(7, 3),
    -sympy.Rational(7, 3),
    sympy.Rational(1, 10**400) * 10**390,
    sympy.Integer(10) ** 40 * X,
    sympy.Float(-0.1, 17) * X,
    X - sympy.Float(0.1, 17) * Y,
    (X + 1) ** 2,
    (-X) ** 3,
    X**2 / Y**2,
    X**-3,
    sympy.sqrt(X**2 + Y**2),
    1 / sympy.sqrt(X**2 + 1),
    (X**2) ** sympy.Rational(1, 3),
    (X**2) ** sympy.Rational(-2, 3),
    sympy.Abs(X) ** sympy.Float(-0.37, 17),
    sympy.Abs(X) ** Y,
    sympy.Integer(2) ** -Y,
    sympy.exp(-X) / (1 + sympy.exp(-Y)),
    sympy.exp(1) * X + sympy.pi,
    sympy.log(sympy.Abs(X)) + sympy.sin(X) * sympy.cos(Y) - sympy.tan(X / 9),
    sympy.tanh(X) - sympy.sign(Y) * sympy.sign(-X),
    sympy.Heaviside(-X, 0) - sympy.Heaviside(X + Y, 0),
    sympy.Max(0, X, Y) - sympy.Min(6, X * Y, X),
    (X + Y) ** 2 * sympy.sin((X + Y) ** 2) + (X + Y) ** 2,
]


@pytest.fixture(scope="module")
def operator_library(tmp_path_factory):
    texts = [to_c(formula, f"g{i}", ["x", "y"]) for i, formula in enumerate(OPERATORS)]
    return _compile_c(tmp_path_factory.mktemp("c"), texts)


@pytest.mark.parametrize("index", range(len(OPERATORS)), ids=map(str, OPERATORS))
def test_every_operator(index, operator_library, true_value):
    formula = OPERATORS[index]
    python = _python(to_python(formula, "g", ["x", "y"]), "g")
    for row in itertools.product([-2.5, 0.75, 3.0], [-1.5, 2.0]):
        close = pytest.approx(true_value(formula, ["x", "y"], row), rel=1e-13, abs=1e-15)
        assert _call_c(operator_library, f"g{index}", row) == close
        assert python(*row) == close
        assert evaluate(formula, [row], ["x", "y"])[0] == close


NAN = [
    sympy.Max(0, X),
    sympy.Max(X, Y, 3),
    sympy.Min(6, X),
    sympy.sign(X) + 1,
    sympy.Heaviside(-X, 0),
    sympy.Max(1, sympy.Heaviside(X, 0)),
]


@pytest.mark.parametrize("formula", NAN, ids=str)
def test_nan_stays_nan(formula, tmp_path):
    library = _compile_c(tmp_path, [to_c(formula, "f", ["x", "y"])])
    python = _python(to_python(formula, "f", ["x", "y"]), "f")
    assert math.isnan(_call_c(library, "f", (math.nan, 2.0)))
    assert math.isnan(python(math.nan, 2.0))
    assert math.isnan(evaluate(formula, [[math.nan, 2.0]], ["x", "y"])[0])


def test_a_root_of_a_negative_number_is_no_smaller_than_zero(tmp_path):
    library = _compile_c(tmp_path, [to_c(sympy.Max(0, sympy.sqrt(X)), "f", ["x"])])
    assert math.isnan(_call_c(library, "f", (-1.0,)))
    assert _call_c(library, "f", (4.0,)) == 2.0


def test_a_column_called_as_a_helper_is(tmp_path):
    formula = sympy.Max(sympy.Symbol("f_max"), sympy.Symbol("f_step"))
    library = _compile_c(tmp_path, [to_c(formula, "f")])
    assert _call_c(library, "f", (2.0, 5.0)) == 5.0
    assert _python(to_python(formula, "f"), "f")(2.0, 5.0) == 5.0


C_NAMES = ["unix", "linux", "M_PI", "M_E", "FP_NAN", "math_errhandling", "HUGE_VALF", "fabsf"]


@pytest.mark.parametrize("name", [*C_NAMES, "scalb", "drem", "finite", "isinff", "gammaf", "sinl"])
def test_names_that_compilers_and_math_h_have(name, tmp_path):
    text = to_c(2 * sympy.Symbol(name), "f")
    assert _call_c(_compile_c(tmp_path, [text], "gnu11"), "f", (3.0,)) == 6.0
    with pytest.raises(ValueError, match=f"name is '{name}'"):
        to_c(X, name)


def test_awkward_names_run(tmp_path):
    names = ["*/ abort(); /*", 'quote " and \\', "line\nbreak", "exp", "π", "a b", "a_b", "", '"""']
    weights = [2**i for i in range(len(names))]
    formula = sympy.Add(
        *(weight * sympy.Symbol(name) for name, weight in zip(names, weights, strict=True)),
        sympy.exp(sympy.Symbol("exp")),
    )
    row = [1.0] * len(names)
    expected = sum(weights) + math.e
    library = _compile_c(tmp_path, [to_c(formula, "f", names)])
    assert _call_c(library, "f", row) == pytest.approx(expected, rel=1e-15)
    text = to_python(formula, "f", names)
    assert _python(text, "f")(*row) == pytest.approx(expected, rel=1e-15)


def test_python_text_runs_alone(tmp_path):
    text = to_python(sympy.sqrt(A) * B, "root")
    assert [line for line in text.splitlines() if "import" in line] == ["import math"]
    script = tmp_path / "formula.py"
    script.write_text(text + "\nprint(root(4, 3))\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-I", "-W", "error", script], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "6.0\n"


def test_order_of_arguments():
    formula = sum(sympy.Symbol(name) for name in ("x10", "x2", "b"))
    assert "def f(b, x2, x10):" in to_python(formula, "f")
    assert "def f(x10, b, z, x2):" in to_python(formula, "f", ["x10", "b", "z", "x2"])
    assert "double f(double b, double x2, double x10)" in to_c(formula, "f")
    assert "double f(void)" in to_c(sympy.Integer(3), "f")


def test_shared_part_is_written_once():
    part = sympy.sin(A) + B
    text = to_c(part**2 + sympy.cos(part), "f")
    assert text.count("sin(") == 1
    assert "const double t1 = " in text


def test_temporary_avoids_names():
    part = sympy.sin(sympy.Symbol("t1")) + B
    assert "t2 = b + math.sin(t1)" in to_python(part**2 + sympy.cos(part), "f")


def test_deep_formula_compiles(tmp_path):
    formula = A
    for _ in range(140):
        formula = sympy.sin(formula)
    expected = 0.5
    for _ in range(140):
        expected = math.sin(expected)
    assert _python(to_python(formula, "f"), "f")(0.5) == pytest.approx(expected, rel=1e-12)
    library = _compile_c(tmp_path, [to_c(formula, "f")])
    assert _call_c(library, "f", [0.5]) == pytest.approx(expected, rel=1e-12)


def test_root_of_a_negative_number_is_no_complex_number():
    with pytest.raises(ValueError, match="domain"):
        _python(to_python(A ** sympy.Rational(3, 2), "f"), "f")(-1.0)


def test_shut_gate_is_zero_in_python():
    assert _python(to_python(1 / (1 + sympy.exp(-A)), "f"), "f")(-1e6) < 1e-300


@pytest.mark.parametrize("write", [to_python, to_c])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((A, "2x"), ValueError, "name is '2x'"),
        ((A, "pow"), ValueError, "name is 'pow'"),
        ((A, "f(double"), ValueError, "name is"),
        ((A, None), ValueError, "name is None"),
        ((A, "f", ["b"]), ValueError, "names is"),
        ((A, "f", ["a", "a"]), ValueError, "names is"),
        (([A, B], "f"), TypeError, "one output at a time"),
        ((sympy.gamma(A), "f"), ValueError, "gamma"),
        ((sympy.I * A, "f"), ValueError, "ImaginaryUnit"),
        ((sympy.oo * A, "f"), ValueError, "Infinity"),
        ((sympy.Dummy("a"), "f"), ValueError, "Dummy"),
        ((A + sympy.Symbol("a", real=True), "f"), ValueError, "two different symbols"),
        ((sympy.Heaviside(A), "f"), ValueError, "value 1/2 at 0"),
        ((sympy.Integer(10) ** 400, "f"), ValueError, "largest double"),
    ],
)
def test_bad_arguments(write, arguments, error, message):
    with pytest.raises(error, match=message):
        write(*arguments)


@pytest.mark.parametrize(
    ("formula", "latex"),
    [
        (A ** sympy.Rational(3, 2), r"a^{\frac{3}{2}}"),
        (A * B / C**2, r"\frac{a b}{c^{2}}"),
        (sympy.Symbol("x1") + sympy.Symbol("alpha"), r"\alpha + x_{1}"),
        (sympy.Symbol("50 % of_b"), r"\mathrm{50\ \%\ of\_b}"),
        (sympy.Symbol(r"\input{x}") ** 2, r"\mathrm{\backslash{}input\{x\}}^{2}"),
        (sympy.Abs(A) + sympy.Rational(1, 10**7), r"\left|{a}\right| + \frac{1}{10000000}"),
        (sympy.Heaviside(-A, 0), r"\left[a < 0\right]"),
        (sympy.Heaviside(A - B, 0) ** 2, r"\left[a - b > 0\right]^{2}"),
        (sympy.Float(0.1, 17) * A, r"0.10000000000000001 a"),
    ],
)
def test_latex(formula, latex):
    assert to_latex(formula) == latex


def test_half_turns_are_exact_in_every_form(tmp_path):
    """A double of pi q is no multiple of pi / 2, so that its cosine is 3e-16 and not 0."""
    half, third = RealNPU(1, 1, dtype=torch.float64), RealNPU(1, 1, dtype=torch.float64)
    for unit, weight in ((half, 2.5), (third, 1 / 3)):
        unit.weight.data.fill_(weight)
        unit.gate.data.fill_(1)
    reciprocal = NMRU(1, 1, dtype=torch.float64)
    reciprocal.weight.data.fill_(0)
    reciprocal.reciprocal_weight.data.fill_(1)
    quotient = nn.Sequential(deepcopy(half), reciprocal)
    points = (-1e7, -4.0, -0.3, 0.0, 5.0)
    formulas = [to_sympy(module, ["x"]) for module in (half, third, quotient)]
    texts = [to_c(formula, f"f{k}", ["x"]) for k, formula in enumerate(formulas)]
    library = _compile_c(tmp_path, texts)
    for number, module in enumerate((half, third, quotient)):
        called = _python(to_python(formulas[number], "f", ["x"]), "f")
        for x in points:
            expected = module(torch.tensor([[x]], dtype=torch.float64)).item()
            found = (
                evaluate(formulas[number], [[x]], ["x"]).item(),
                called(x),
                _call_c(library, f"f{number}", (x,)),
            )
            assert found == pytest.approx((expected,) * 3, rel=1e-14, abs=0), (number, x)
    assert half(torch.tensor([[-1e7]], dtype=torch.float64)).item() == 0


def test_words_of_newer_c_are_no_arguments():
    words = ["nullptr", "constexpr", "thread_local", "alignof"]
    text = to_c(sympy.Add(*map(sympy.Symbol, words)))
    assert not re.search(rf"double ({'|'.join(words)})\\b", text)
