"""What combines the other packages: data stages and analyses."""

from distill.jobs.analysis import Analysis, analyse
from distill.jobs.examples import Example, examples
from distill.jobs.quotient import build_quotient_of
from distill.jobs.reduction import REDUCTIONS, keep_one_of_each, prepare_reduced

__all__ = [
    "REDUCTIONS",
    "Analysis",
    "Example",
    "analyse",
    "build_quotient_of",
    "examples",
    "keep_one_of_each",
    "prepare_reduced",
]
