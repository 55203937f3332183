"""From state features to a value function."""

from distill.regression.linear import Fit, Method, fit_linear
from distill.regression.value import has_integer_weights, rounded, value_function

__all__ = ["Fit", "Method", "fit_linear", "has_integer_weights", "rounded", "value_function"]
