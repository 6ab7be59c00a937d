"""How Python and C write what others write differently."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import sympy
from sympy import Basic, Expr

from torchalu.export.operators import CosPi, exact_fraction
from torchalu.export.source import (
    ATOM,
    LARGEST_EXACT,
    POWER,
    PRODUCT,
    Dialect,
    Piece,
    literal,
)


class PythonDialect(Dialect):
    """Python with the module `math`."""

    calls: ClassVar[Mapping[type[Basic], str]] = {
        sympy.Abs: "abs",
        sympy.log: "math.log",
        sympy.sin: "math.sin",
        sympy.cos: "math.cos",
        sympy.tan: "math.tan",
        sympy.tanh: "math.tanh",
    }
    helpers: ClassVar[Mapping[type[Basic], str]] = {
        sympy.Max: "def {name}(x, y):\n    return x if x > y or x != x else y",
        sympy.Min: "def {name}(x, y):\n    return x if x < y or x != x else y",
        sympy.sign: "def {name}(x):\n    return 1.0 if x > 0 else -1.0 if x < 0 else x",
        sympy.Heaviside: "def {name}(x):\n    return 1.0 if x > 0 else 0.0 if x <= 0 else x",
        CosPi: (
            "def {name}(x):\n    x = abs(math.remainder(x, 2.0))\n"
            "    return math.cos(math.pi * x) if x < 0.25 else math.sin(math.pi * (0.5 - x))"
        ),
    }

    def integer(self, value: int) -> str:
        """A whole number."""
        return str(value)

    def constant(self, value: Expr) -> str:
        """Pi or e."""
        return "math.pi" if value == sympy.pi else "math.e"

    def power(self, base: Piece, exponent: Expr, exponent_piece: Piece) -> Piece:
        """A power; one that is not whole must not become a complex number."""
        if exponent == 1:
            return base
        if exponent == sympy.Rational(1, 2):
            return Piece(f"math.sqrt({base.signed})")
        if exponent.is_Integer:
            return Piece(f"{base.within(POWER)}**{exponent}", POWER)
        shown = exponent if exponent.is_Rational else exponent_piece.signed
        return Piece(f"math.pow({base.signed}, {shown})")

    def special(self, function: type[Basic], arguments: Sequence[Piece]) -> Piece:
        """A function that is no plain call of the same meaning."""
        texts = [argument.signed for argument in arguments]
        if function is sympy.exp:
            return Piece(f"math.exp(min({texts[0]}, 709.0))")
        return self.helped(function, texts)


def _c_helper(parameters: str, value: str) -> str:
    """A C function for this file alone; its name is still open."""
    return f"static double {{name}}({parameters})\n{{{{\n    return {value};\n}}}}"


class CDialect(Dialect):
    """C99 with `math.h`."""

    calls: ClassVar[Mapping[type[Basic], str]] = {
        sympy.Abs: "fabs",
        sympy.exp: "exp",
        sympy.log: "log",
        sympy.sin: "sin",
        sympy.cos: "cos",
        sympy.tan: "tan",
        sympy.tanh: "tanh",
    }
    helpers: ClassVar[Mapping[type[Basic], str]] = {
        sympy.Max: _c_helper("double x, double y", "x > y || x != x ? x : y"),
        sympy.Min: _c_helper("double x, double y", "x < y || x != x ? x : y"),
        sympy.sign: _c_helper("double x", "x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x"),
        sympy.Heaviside: _c_helper("double x", "x > 0.0 ? 1.0 : x <= 0.0 ? 0.0 : x"),
        CosPi: (
            "static double {name}(double x)\n{{\n    const double pi = 3.141592653589793;\n"
            "    x = fabs(remainder(x, 2.0));\n"
            "    return x < 0.25 ? cos(pi * x) : sin(pi * (0.5 - x));\n}}"
        ),
    }

    def integer(self, value: int) -> str:
        """A whole number."""
        return f"{value}.0"

    def constant(self, value: Expr) -> str:
        """Pi or e."""
        return "3.141592653589793" if value == sympy.pi else "2.718281828459045"

    def power(self, base: Piece, exponent: Expr, exponent_piece: Piece) -> Piece:
        """A power; a square of a name is a product."""
        if exponent == 1:
            return base
        if exponent == sympy.Rational(1, 2):
            return Piece(f"sqrt({base.signed})")
        if exponent == 2 and base.binding == ATOM and base.text.isidentifier():
            return Piece(f"{base.text} * {base.text}", PRODUCT)
        shown = _c_rational(exponent) if exponent.is_Rational else exponent_piece.signed
        return Piece(f"pow({base.signed}, {shown})")

    def special(self, function: type[Basic], arguments: Sequence[Piece]) -> Piece:
        """A function that is no plain call of the same meaning."""
        return self.helped(function, [argument.signed for argument in arguments])


def _c_rational(value: Expr) -> str:
    """A rational as a quotient of doubles, as near to it as a double can be."""
    fraction = exact_fraction(value)
    if max(fraction.numerator, fraction.denominator) >= LARGEST_EXACT:
        return literal(fraction.numerator, fraction.denominator)
    above, below = f"{fraction.numerator}.0", f"{fraction.denominator}.0"
    return above if fraction.denominator == 1 else f"{above} / {below}"
