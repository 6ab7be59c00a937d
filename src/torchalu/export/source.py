"""A formula as statements of a programming language."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import sympy
from sympy import Basic, Expr

from torchalu.export.operators import CosPi, exact_fraction, half_turns, walk

SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly a piece of text is bound."""

LARGEST_EXACT = 2**53
"""Whole numbers below it are doubles."""

_DEEPEST = 16
_MOST_REPEATED_ARGUMENTS = 3


@dataclass(frozen=True)
class Piece:
    """A piece of source text.

    Args:
        text: the text, without a minus sign that stands before all of it.
        binding: SUM, PRODUCT, POWER or ATOM.
        negative: whether a minus sign stands before all of it.
        depth: how many operators are nested in it.
    """

    text: str
    binding: int = ATOM
    negative: bool = False
    depth: int = 0

    @property
    def signed(self) -> str:
        """The text with its sign."""
        if not self.negative:
            return self.text
        return f"-{self.text}" if self.binding > SUM else f"-({self.text})"

    def within(self, binding: int) -> str:
        """The text with its sign, in parentheses unless it is bound more tightly."""
        bound = self.binding > binding and not self.negative
        return self.text if bound else f"({self.signed})"


class Dialect(ABC):
    """How a language writes what others write differently.

    Args:
        names: an identifier for each symbol's name.
        helper_names: an identifier for each of the `helpers`.
    """

    calls: ClassVar[Mapping[type[Basic], str]]
    """The functions of one argument, by SymPy's class."""

    helpers: ClassVar[Mapping[type[Basic], str]]
    """Functions of which the language has none of the same meaning; those it has drop a NaN."""

    def __init__(self, names: Mapping[str, str], helper_names: Mapping[type[Basic], str]) -> None:
        self.names = names
        self.helper_names = helper_names

    @abstractmethod
    def integer(self, value: int) -> str:
        """A whole number between 0 and 2^53."""

    @abstractmethod
    def constant(self, value: Expr) -> str:
        """Pi or e."""

    @abstractmethod
    def power(self, base: Piece, exponent: Expr, exponent_piece: Piece) -> Piece:
        """A power whose exponent is no negative rational."""

    @abstractmethod
    def special(self, function: type[Basic], arguments: Sequence[Piece]) -> Piece:
        """A function that is not in `calls`."""

    def used_helpers(self, expr: Expr) -> list[str]:
        """The texts of the helpers that a formula calls."""
        used = {CosPi if half_turns(part) else type(part) for part in walk(expr)}
        return [
            text.format(name=self.helper_names[function])
            for function, text in self.helpers.items()
            if function in used
        ]

    def helped(self, function: type[Basic], texts: Sequence[str]) -> Piece:
        """A call of a helper; maximum and minimum of several numbers are calls within calls."""
        name = self.helper_names[function]
        if function not in (sympy.Max, sympy.Min):
            return Piece(f"{name}({texts[0]})")
        joined = texts[-1]
        for text in reversed(texts[:-1]):
            joined = f"{name}({text}, {joined})"
        return Piece(joined)


def literal(numerator: int, denominator: int = 1) -> str:
    """The nearest double to a fraction, with as many digits as it takes to read it back.

    Args:
        numerator: any whole number.
        denominator: a positive one.

    Returns:
        A number that Python and C read as the same double.

    Raises:
        ValueError: the fraction is too large for a double.

    Example:
        >>> literal(1, 3), literal(10**20)
        ('0.3333333333333333', '1e+20')
    """
    try:
        return repr(numerator / denominator)
    except OverflowError:
        raise ValueError(
            f"expr has a number of about 2**{numerator.bit_length() - denominator.bit_length()}; "
            "allowed: numbers below 1.8e308, which is the largest double"
        ) from None


def statements(expr: Expr, dialect: Dialect) -> tuple[list[tuple[str, str]], str]:
    """The formula as assignments to temporaries, and the text of its value.

    A part gets a temporary if it is used more than once and longer than a few symbols, or if
    parentheses would nest too deeply for a compiler.

    Args:
        expr: the formula.
        dialect: the language.

    Returns:
        Pairs of a temporary's name and its text, in order; and the text of the value.

    Raises:
        TypeError: `expr` is not a SymPy expression.
        ValueError: a part has no text form.
    """
    parts = walk(expr)
    uses = Counter(child for part in parts for child in half_turns(part) or part.args)
    fresh = _temporaries(dialect)
    pieces: dict[Basic, Piece] = {}
    assignments: list[tuple[str, str]] = []
    for part in parts:
        piece = _piece(part, pieces, dialect)
        long = piece.depth > 1 or len(part.args) > _MOST_REPEATED_ARGUMENTS
        deep = uses[part] > 0 and piece.depth > _DEEPEST
        if part is not parts[-1] and ((uses[part] > 1 and long) or deep):
            name = next(fresh)
            assignments.append((name, piece.signed))
            piece = Piece(name)
        pieces[part] = piece
    return assignments, pieces[parts[-1]].signed


def _temporaries(dialect: Dialect) -> Iterator[str]:
    """Names that no argument has: t1, t2 and so on."""
    taken = set(dialect.names.values())
    number = 0
    while True:
        number += 1
        if f"t{number}" not in taken:
            yield f"t{number}"


def _piece(part: Expr, pieces: Mapping[Basic, Piece], dialect: Dialect) -> Piece:
    """The text of one part, given the texts of its arguments."""
    if isinstance(part, sympy.Symbol):
        return Piece(dialect.names[part.name])
    if part in (sympy.pi, sympy.E):
        return Piece(dialect.constant(part))
    if isinstance(part, sympy.Add):
        piece = _sum([pieces[term] for term in part.args])
    elif isinstance(part, sympy.Mul):
        piece = _product(part.args, pieces, dialect)
    elif isinstance(part, sympy.Pow) or not part.args:
        piece = _product((part,), pieces, dialect)
    elif factors := half_turns(part):
        piece = dialect.helped(CosPi, [_product(factors, pieces, dialect).signed])
    elif type(part) in dialect.calls:
        piece = Piece(f"{dialect.calls[type(part)]}({pieces[part.args[0]].signed})")
    else:
        piece = dialect.special(type(part), [pieces[argument] for argument in part.args])
    depth = 1 + max((pieces[argument].depth for argument in part.args), default=-1)
    return replace(piece, depth=depth)


def _sum(terms: list[Piece]) -> Piece:
    """Terms joined by plus and minus; one that is not negative comes first, if there is one."""
    first, *others = sorted(terms, key=lambda term: term.negative)
    text = first.signed
    for term in others:
        shown = replace(term, negative=False).within(SUM)
        text += f" - {shown}" if term.negative else f" + {shown}"
    return Piece(text, SUM)


def _product(factors: Sequence[Basic], pieces: Mapping[Basic, Piece], dialect: Dialect) -> Piece:
    """Factors joined by times, over those with a negative power."""
    above: list[Piece] = []
    below: list[Piece] = []
    for factor in factors:
        known = pieces.get(factor)
        if isinstance(factor, (sympy.Rational, sympy.Float)):
            numerator, denominator = _fraction(factor, dialect)
            above += numerator
            below += denominator
        elif isinstance(factor, sympy.Pow) and not (known and known.binding == ATOM):
            base, exponent = factor.args
            inverse = isinstance(exponent, sympy.Rational) and exponent.is_negative
            power = dialect.power(
                pieces[base], -exponent if inverse else exponent, pieces[exponent]
            )
            (below if inverse else above).append(power)
        else:
            above.append(pieces[factor])
    return _quotient(above, below, dialect)


def _quotient(above: list[Piece], below: list[Piece], dialect: Dialect) -> Piece:
    """The product of some pieces over the product of others."""
    negative = sum(piece.negative for piece in above) % 2 == 1
    shown = [replace(piece, negative=False) for piece in above if piece.text != dialect.integer(1)]
    if not below and len(shown) == 1:
        return replace(shown[0], negative=negative)
    text = " * ".join(piece.within(PRODUCT) for piece in shown) or dialect.integer(1)
    if len(below) == 1:
        text += f" / {below[0].within(PRODUCT)}"
    elif below:
        text += f" / ({' * '.join(piece.within(PRODUCT) for piece in below)})"
    return Piece(text, PRODUCT if shown or below else ATOM, negative)


def _fraction(
    value: sympy.Rational | sympy.Float, dialect: Dialect
) -> tuple[list[Piece], list[Piece]]:
    """A number as what stands above and below a fraction bar."""
    fraction = exact_fraction(value)
    numerator, denominator = abs(fraction.numerator), fraction.denominator
    negative = fraction < 0
    exact = max(numerator, denominator) < LARGEST_EXACT and isinstance(value, sympy.Rational)
    if not exact:
        return [Piece(literal(numerator, denominator), ATOM, negative)], []
    above = [Piece(dialect.integer(numerator), ATOM, negative)]
    return above, [Piece(dialect.integer(denominator))] if denominator != 1 else []
