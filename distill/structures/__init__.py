"""Relational structures as flat arrays: what everything downstream reads."""

from distill.structures.archive import read_archive, write_archive
from distill.structures.batch import Structures, concatenate
from distill.structures.quotient import Layer, Links, Pairs, Quotient
from distill.structures.ranges import distinct_rows, offsets, ranges
from distill.structures.vocabulary import Predicate, Vocabulary

__all__ = [
    "Layer",
    "Links",
    "Pairs",
    "Predicate",
    "Quotient",
    "Structures",
    "Vocabulary",
    "concatenate",
    "distinct_rows",
    "offsets",
    "ranges",
    "read_archive",
    "write_archive",
]
