"""Colourings, canonical forms, conflicts, and quotients."""

from distill.structures import Options
from distill.symmetry.automorphisms import canonical_orders, group_sizes
from distill.symmetry.canonical import canonical_forms
from distill.symmetry.classes import isomorphism_classes, reduced_model
from distill.symmetry.conflicts import VARIANTS, Conflicts, find_conflicts
from distill.symmetry.folklore import PairRefinement
from distill.symmetry.interning import Interner
from distill.symmetry.object_graphs import object_graphs
from distill.symmetry.quotients import Labelled, QuotientMap, build_quotient
from distill.symmetry.reduction import colour_classes
from distill.symmetry.refinement import Refinement, histograms
from distill.symmetry.signatures import signatures

__all__ = [
    "VARIANTS",
    "Conflicts",
    "Interner",
    "Labelled",
    "Options",
    "PairRefinement",
    "QuotientMap",
    "Refinement",
    "build_quotient",
    "canonical_forms",
    "canonical_orders",
    "colour_classes",
    "find_conflicts",
    "group_sizes",
    "histograms",
    "isomorphism_classes",
    "object_graphs",
    "reduced_model",
    "signatures",
]
