"""From state features to a value function."""

from distill.regression.exact import Exact, fit_exact
from distill.regression.linear import Fit, Method, fit_linear
from distill.regression.value import has_integer_weights, rounded, value_function

__all__ = [
    "Exact",
    "Fit",
    "Method",
    "fit_exact",
    "fit_linear",
    "has_integer_weights",
    "rounded",
    "value_function",
]
