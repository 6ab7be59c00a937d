"""Legal names in Python and C for columns that may be called anything."""

import keyword
import re
import unicodedata
from collections.abc import Iterable, Sequence

_FUNCTIONS = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2
expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp
lgamma llogb llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter
nexttoward pow pow10 remainder remquo rint round roundeven scalb scalbln scalbn significand sin
sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""
_MACROS = """
fpclassify isfinite isnormal signbit isgreater isgreaterequal isless islessequal islessgreater
isunordered iseqsig issignaling issubnormal iszero canonicalize math_errhandling signgam double_t
float_t NAN SNAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL HUGE MAXFLOAT FP_NAN FP_INFINITE FP_ZERO
FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL
MATH_ERRNO MATH_ERREXCEPT M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI
M_2_SQRTPI M_SQRT2 M_SQRT1_2 linux unix
main math max min abs print
"""
_C = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while asm typeof typeof_unqual bool true false alignas alignof constexpr nullptr
static_assert thread_local
"""
_MATH = {name + suffix for name in _FUNCTIONS.split() for suffix in ("", "f", "l")}
RESERVED = _MATH.union(_MACROS.split(), _C.split(), keyword.kwlist, keyword.softkwlist)
"""Words that neither a function nor an argument may be called, in either language.

Among them is what compilers define unasked.
"""

_LONGEST = 60


def is_identifier(name: str) -> bool:
    """Whether a name is legal, unreserved and in ASCII, in Python and in C.

    Example:
        >>> [is_identifier(name) for name in ("area", "x_2", "2x", "pow", "größe", "_x")]
        [True, True, False, False, False, False]
    """
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None
    return plain and name not in RESERVED and len(name) <= _LONGEST


def check_function_name(name: str) -> None:
    """Raise ValueError where a function cannot be called so."""
    if not isinstance(name, str) or not is_identifier(name):
        raise ValueError(
            f"name is {name!r}; allowed: ASCII letters, digits and underscores after a letter, at "
            f"most {_LONGEST}, and no word that Python, C or math.h uses; choose another, such as "
            "'formula'"
        )


def identifiers(names: Sequence[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Map names to legal identifiers, different for different names.

    A legal name stays as it is. In others an accented letter loses its accent, every other
    illegal character becomes an underscore, a leading digit or underscore gets an `x` before it,
    and a reserved word an underscore behind it. Where two names would meet, the later one gets
    a number.

    Args:
        names: the names of the columns, all different.
        taken: identifiers that are in use already.

    Returns:
        Identifier by name, in the order of `names`.

    Example:
        >>> identifiers(["a b", "a_b", "a-b", "2 x", "exp", "größe", "%"])
        {'a b': 'a_b_2', 'a_b': 'a_b', 'a-b': 'a_b_3', '2 x': 'x2_x', 'exp': 'exp_',
         'größe': 'gro_e', '%': 'x_'}
    """
    used = set(taken)
    legal = {name for name in names if is_identifier(name) and name not in used}
    used |= legal
    mapping: dict[str, str] = {}
    for name in names:
        mapping[name] = name if name in legal else _fresh(_legalize(name), used)
    return mapping


def _legalize(name: str) -> str:
    """A legal identifier that looks like the name."""
    decomposed = unicodedata.normalize("NFKD", name)
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    word = re.sub(r"[^A-Za-z0-9_]", "_", bare)[: _LONGEST - 10]
    if not re.match(r"[A-Za-z]", word):
        word = f"x{word}"
    return f"{word}_" if word in RESERVED else word


def _fresh(word: str, used: set[str]) -> str:
    """The word, numbered if it is in use; it is in use from then on."""
    candidate, number = word, 1
    while candidate in used:
        number += 1
        candidate = f"{word}_{number}"
    used.add(candidate)
    return candidate
