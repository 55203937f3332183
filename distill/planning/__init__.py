"""PDDL, instances, V*, labelled data sets, policies and plan validation."""

from distill.planning.collection import collect
from distill.planning.comparison import Coverage, compare
from distill.planning.dataset import UNSOLVABLE, DataSet, join
from distill.planning.labelling import expand, label, sample, transitions
from distill.planning.pddl import Domain, Instance, instance_files
from distill.planning.planners import PLANNERS, Limits, find_plan
from distill.planning.policy import execute
from distill.planning.preparation import REDUCTIONS, data_key, prepare
from distill.planning.problems import ProblemClass, problem_class, problem_classes
from distill.planning.splits import SPLITS, Split, splits_by_size, splits_from_folders
from distill.planning.validation import Verdict, validate
from distill.settings import Labelling

__all__ = [
    "PLANNERS",
    "REDUCTIONS",
    "SPLITS",
    "UNSOLVABLE",
    "Coverage",
    "DataSet",
    "Domain",
    "Instance",
    "Labelling",
    "Limits",
    "ProblemClass",
    "Split",
    "Verdict",
    "collect",
    "compare",
    "data_key",
    "execute",
    "expand",
    "find_plan",
    "instance_files",
    "join",
    "label",
    "prepare",
    "problem_class",
    "problem_classes",
    "sample",
    "splits_by_size",
    "splits_from_folders",
    "transitions",
    "validate",
]
