"""From state features to a value function."""

from distill.regression.exact import Exact, fit_exact
from distill.regression.families import Check, Closing, check_family, close_families, find_families
from distill.regression.family import Family
from distill.regression.linear import Fit, Method, fit_linear
from distill.regression.value import has_integer_weights, rounded, value_function

__all__ = [
    "Check",
    "Closing",
    "Exact",
    "Family",
    "Fit",
    "Method",
    "check_family",
    "close_families",
    "find_families",
    "fit_exact",
    "fit_linear",
    "has_integer_weights",
    "rounded",
    "value_function",
]
