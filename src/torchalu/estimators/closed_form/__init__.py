"""Structures that closed forms and least squares find: milliseconds each, a second at most."""

from torchalu.estimators.closed_form.added_terms import added_term_structures
from torchalu.estimators.closed_form.common_factors import common_factor_structures
from torchalu.estimators.closed_form.library import library_structures
from torchalu.estimators.closed_form.linear import linear_structures, transformed_structures
from torchalu.estimators.closed_form.multilinear import multilinear_structures
from torchalu.estimators.closed_form.power_beside import power_beside_structures
from torchalu.estimators.closed_form.power_of_sum import power_of_sum_structures
from torchalu.estimators.closed_form.powers import power_structures
from torchalu.estimators.closed_form.powers_of_two_terms import powers_of_two_terms_structures
from torchalu.estimators.closed_form.powers_with_sums import powers_with_sums_structures
from torchalu.estimators.closed_form.products import quadratic_structures
from torchalu.estimators.closed_form.ratios import ratio_structures
from torchalu.estimators.closed_form.ratios_of_products import ratio_of_products_structures
from torchalu.estimators.closed_form.signed_factors import signed_factor_structures
from torchalu.estimators.closed_form.splits import split_structures
from torchalu.estimators.closed_form.sum_library import sum_library_structures
from torchalu.estimators.closed_form.sums_of_powers import sum_of_powers_structures
from torchalu.estimators.closed_form.sums_over_roots import sum_over_root_structures

__all__ = [
    "added_term_structures",
    "common_factor_structures",
    "library_structures",
    "linear_structures",
    "multilinear_structures",
    "power_beside_structures",
    "power_of_sum_structures",
    "power_structures",
    "powers_of_two_terms_structures",
    "powers_with_sums_structures",
    "quadratic_structures",
    "ratio_of_products_structures",
    "ratio_structures",
    "signed_factor_structures",
    "split_structures",
    "sum_library_structures",
    "sum_of_powers_structures",
    "sum_over_root_structures",
    "transformed_structures",
]
