"""Decision trees on Boolean columns, sets of their leaves, and R-IDTs made of them."""

from distill.trees.chains import Chain
from distill.trees.clustering import DISTANCES, LINKAGES, Dendrogram, leaf_sets
from distill.trees.growing import merge_rows
from distill.trees.grown import Grown, pack_trees, trees_from_json, trees_to_json, unpack_trees
from distill.trees.learned import Learned
from distill.trees.learning import learn, learn_classifier, set_formula
from distill.trees.origin import Origin, StateFeature
from distill.trees.readable import Reader
from distill.trees.tree import Columns, Tree, fit_classifier, fit_tree, one_hot

__all__ = [
    "DISTANCES",
    "LINKAGES",
    "Chain",
    "Columns",
    "Dendrogram",
    "Grown",
    "Learned",
    "Origin",
    "Reader",
    "StateFeature",
    "Tree",
    "fit_classifier",
    "fit_tree",
    "leaf_sets",
    "learn",
    "learn_classifier",
    "merge_rows",
    "one_hot",
    "pack_trees",
    "set_formula",
    "trees_from_json",
    "trees_to_json",
    "unpack_trees",
]
