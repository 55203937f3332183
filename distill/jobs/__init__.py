"""What combines the other packages: data stages and analyses."""

from distill.jobs.analysis import Analysis, analyse
from distill.jobs.reduction import REDUCTIONS, keep_one_of_each, prepare_reduced

__all__ = ["REDUCTIONS", "Analysis", "analyse", "keep_one_of_each", "prepare_reduced"]
