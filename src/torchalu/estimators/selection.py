"""Which candidate to believe: the shortest description of the table."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import attrgetter

import numpy as np

from torchalu.estimators.constants import (
    ConstantFit,
    Fixed,
    Multiple,
    fit_constants,
    unit_constants,
)
from torchalu.estimators.least_squares import NOISE_FLOOR
from torchalu.estimators.simple_numbers import (
    simple_fraction,
    simple_nats,
    simple_nodes,
    simple_value,
)
from torchalu.estimators.structures import (
    Structure,
    count_nodes,
    description_nats,
    family_of,
    inverses,
    make_structure,
    make_term,
)
from torchalu.estimators.table import CanonicalTable
from torchalu.export.certificate import relative_errors

FREE_CONSTANT_NODES = 3
"""What a free real constant adds to the complexity, on top of its own node."""

_ROUNDING = 1e-9
_LARGEST_RATIO = 4
_MANY_TERMS = 12
_SKETCHED_ROWS = 5000
_SKETCH_ROWS = 2000
_SKETCH_KEPT = 6
_HOPELESS_NATS = 40.0
_HOPELESS_NATS_A_ROW = 0.2
_NEAR_NATS = 10.0


@dataclass(frozen=True)
class Candidate:
    """A structure with its constants, and how short it makes the description of the table.

    Args:
        structure: the discrete part.
        fixed: for each constant the simple value that it has, of what it is a multiple, or None.
        fit: the constants.
        nats: description length: of the structure, of its constants, and of the residuals.
    """

    structure: Structure
    fixed: Fixed
    fit: ConstantFit
    nats: float

    @property
    def family(self) -> str:
        """Name of the family."""
        return family_of(self.structure)

    @cached_property
    def complexity(self) -> int:
        """Nodes of the expression, and a surcharge for each free real constant."""
        nodes = count_nodes(self.structure)
        for given, term in zip(self.fixed, self.structure.multiplied, strict=True):
            value = given.ratio if isinstance(given, Multiple) else given
            if value is None:
                nodes += 2 + FREE_CONSTANT_NODES
            elif value != 1 or not term.factors:
                nodes += simple_nodes(value)
        return nodes

    @cached_property
    def order(self) -> tuple[float, int, int, Structure]:
        """What candidates are ranked by: of two equally short ones the simpler is first."""
        return self.nats, self.complexity, inverses(self.structure), self.structure

    @property
    def free_constants(self) -> int:
        """Number of constants that were fitted; a multiple of another is not counted."""
        return sum(value is None for value in self.fixed)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The formula's value on each row."""
        return self.structure.values(X, self.fit.values)

    def is_exact(self, table: CanonicalTable, tolerance: float) -> bool:
        """Whether it gives every row of the table to within a relative tolerance."""
        error = np.abs(self.predict(table.X) - table.y)
        return bool(np.all(relative_errors(error, table.y) <= tolerance))


def make_candidate(
    structure: Structure,
    table: CanonicalTable,
    fixed: Fixed | None = None,
    hopeless: float = math.inf,
) -> Candidate | None:
    """Fits a structure and weighs it; None where it cannot be fitted.

    The description length is that of two-part codes::

        L = -log p(y | formula) + sum_constants max(log(n) / 2, log|c / error| + 1)
            + nats of the simple values and multiples + nats of the structure

    Among formulas that explain the rows equally well the simplest is therefore the shortest; a
    term more has to earn what it takes to write it down.
    """
    if fixed is None:
        signs = (1, -1) if structure.root_below else (1,)  # of which a ratio needs but one
        units = [unit_constants(structure, sign=sign) for sign in signs]
        found = [make_candidate(structure, table, unit, hopeless) for unit in units]
        usable = [candidate for candidate in found if candidate is not None]
        return min(usable, key=attrgetter("order"), default=None)
    fit = fit_constants(structure, table, fixed, hopeless)
    if fit is None:
        return None
    nats = fit.nats + description_nats(structure, table.features)
    for given, value, error in zip(fixed, fit.values, fit.errors, strict=True):
        if given is None:
            nats += _free_nats(value, error, table.count)
        elif isinstance(given, Multiple):
            nats += math.log(2) + math.log(len(fixed)) + simple_nats(given.ratio)
        else:
            nats += simple_nats(given)
    return Candidate(structure, fixed, fit, nats)


def _free_nats(value: float, error: float, count: float) -> float:
    """What it takes to write a constant down that was fitted."""
    digits = abs(value) / max(error, NOISE_FLOOR * abs(value), 1e-300)
    return max(0.5 * math.log(count + 1), math.log(max(digits, 1e-9)) + 1) + 1


class Pool:
    """All candidates so far, each structure once.

    Args:
        table: the table, held-out rows marked.
        families: names of the families whose structures are taken; sums with no column, that is
            constants, are always taken.
    """

    def __init__(self, table: CanonicalTable, families: Collection[str]) -> None:
        self.table = table
        self.families = frozenset(families)
        self.candidates: dict[tuple[Structure, Fixed], Candidate] = {}
        self._seen: set[Structure] = set()
        self._shortest = math.inf

    def add_all(self, structures: Iterable[Structure]) -> None:
        """Adds structures; of a long table's only those that fit a part of its rows best."""
        if len(self.table.y) <= _SKETCHED_ROWS:
            for structure in structures:
                self.add(structure)
            return
        sketch = self.table.thin(_SKETCH_ROWS)
        rated: dict[Structure, float] = {}
        for structure in filter(self._is_wanted, structures):
            candidate = make_candidate(replace(structure, offset=True), sketch)
            if candidate is not None:
                rated[structure] = candidate.nats
        for structure in sorted(rated, key=lambda s: (rated[s], s))[:_SKETCH_KEPT]:
            self.add(structure)

    def add(self, structure: Structure) -> None:
        """Fits a structure with and without an offset, with free and with simple constants.

        Simple ones are tried where the description before any constant is written down is at most
        ten nats longer than the shortest so far: no constants make it shorter than that.

        Sums of more than twelve terms get an offset only: without one they are rarely better, and
        take long.
        """
        shape = replace(structure, offset=True)
        if shape in self._seen:
            return
        self._seen.add(shape)
        if not self._is_wanted(structure):
            return
        alone = _as_one_term(structure)
        if alone is not None:
            self.add(alone)
        fewest = 1 if alone is None else 2
        for offset in (False, True):
            if offset or fewest <= len(structure.terms) <= _MANY_TERMS:
                self._add_variants(replace(structure, offset=offset))

    def _is_wanted(self, structure: Structure) -> bool:
        """Whether it is of one of the families, or a constant."""
        return not structure.terms or family_of(structure) in self.families

    def _add_variants(self, structure: Structure) -> None:
        hopeless = self._shortest + _HOPELESS_NATS + _HOPELESS_NATS_A_ROW * self.table.count
        free = make_candidate(structure, self.table, hopeless=hopeless)
        if free is None:
            if not structure.offset and structure.multiplied == structure.terms:
                self._add_fixed(structure, (Fraction(1),) * len(structure.terms))
            return
        least = free.fit.nats + description_nats(structure, self.table.features)
        if least > self._shortest + _NEAR_NATS:
            self._keep(free)
            return  # whatever its constants cost
        for same in _in_other_units(free, self.table):
            self._keep(same)
            self._add_rounded(same)

    def _add_rounded(self, free: Candidate) -> None:
        """Adds a candidate with simple constants, and with simple multiples of one of them."""
        structure = free.structure
        values = [simple_value(v, e) for v, e in zip(free.fit.values, free.fit.errors, strict=True)]
        if structure.offset:
            terms = len(structure.terms)
            self._add_fixed(structure, (*values[:terms], None, *values[terms + 1 :]))
        self._add_fixed(structure, tuple(values))
        for given in (free.fixed, tuple(values)):
            tied = _with_multiples(given, free.fit)
            if tied != given:
                self._add_fixed(structure, tied)

    def _add_fixed(self, structure: Structure, fixed: Fixed) -> None:
        if any(value is not None for value in fixed):
            candidate = make_candidate(structure, self.table, fixed)
            if candidate is not None:
                self._keep(candidate)

    def _keep(self, candidate: Candidate) -> None:
        self.candidates[candidate.structure, candidate.fixed] = candidate
        self._shortest = min(self._shortest, candidate.nats)

    def ranked(self) -> list[Candidate]:
        """All candidates, the shortest description first; of equal ones the simplest."""
        return sorted(self.candidates.values(), key=attrgetter("order"))

    def best(self) -> Candidate | None:
        """The candidate with the shortest description."""
        return min(self.candidates.values(), key=attrgetter("order"), default=None)

    def solved(self) -> bool:
        """Whether the best candidate is exact and so simple that no search could better it.

        Exact to rounding, that is, whatever tolerance the user's data ask for: within a wide one a
        wrong formula may lie too.
        """
        best = self.best()
        if best is None or not best.is_exact(self.table, min(self.table.tolerance, _ROUNDING)):
            return False
        return best.free_constants <= 2 and len(best.structure.terms) <= 3


def _with_multiples(given: Fixed, fit: ConstantFit) -> Fixed:
    """The free constants as simple multiples of one of them, where they may be.

    The ratios are those to the surest constant, the errors of two being taken as independent. Under
    noise they are whole numbers up to four or one over them: others lie near many a ratio. The
    constant of which the others are the simplest multiples stays free, one above 0 if there are
    several.
    """
    free = [place for place, value in enumerate(given) if value is None and fit.values[place] != 0]
    shares = {place: abs(fit.errors[place] / fit.values[place]) for place in free}
    if len(free) < 2:
        return given
    surest = min(free, key=shares.__getitem__)
    ratios = {surest: Fraction(1)}
    for place in free:
        ratio = float(fit.values[place] / fit.values[surest])
        error = abs(ratio) * math.hypot(shares[place], shares[surest])
        simple = simple_fraction(ratio, error) if place != surest else None
        if simple is not None and (error < _ROUNDING * abs(ratio) or _is_plain(simple)):
            ratios[place] = simple
    sizes = {
        one: (sum(simple_nats(ratio / unit) for ratio in ratios.values()), fit.values[one] < 0)
        for one, unit in ratios.items()
    }
    of = min(ratios, key=sizes.__getitem__)
    multiples = {one: Multiple(of, r / ratios[of]) for one, r in ratios.items() if one != of}
    return tuple(multiples.get(place, value) for place, value in enumerate(given))


def _is_plain(ratio: Fraction) -> bool:
    """Whether it is a whole number up to four, or one over such a number."""
    parts = abs(ratio.numerator), ratio.denominator
    return min(parts) == 1 and max(parts) <= _LARGEST_RATIO


def _in_other_units(free: Candidate, table: CanonicalTable) -> Iterator[Candidate]:
    """The candidate; if terms stand below, for each of these with its constant 1 or -1.

    The signs are those with which the sum below is above 0 where it has one sign.
    """
    structure = free.structure
    if not structure.below:
        yield free
        return
    above = len(structure.summands)
    below = free.fit.values[above:]
    total = structure.design(table.X)[:, above:] @ below
    for place, value in enumerate(below * np.sign(np.median(total))):
        given = unit_constants(structure, place, -1 if value < 0 else 1)
        candidate = make_candidate(structure, table, given)
        if candidate is not None:
            yield candidate


def _as_one_term(structure: Structure) -> Structure | None:
    """A power of one term as a term, as (a b)**(1/2) is one and |a|, the root of a**2, is not."""
    if structure.power == 1 or len(structure.terms) != 1 or structure.beside:
        return None
    factors = structure.terms[0].factors
    even = any(f.power.denominator == 1 and f.power.numerator % 2 == 0 for f in factors)
    if even and structure.power.denominator % 2 == 0:
        return None
    return make_structure(
        [make_term(replace(f, power=f.power * structure.power) for f in factors)], False
    )
