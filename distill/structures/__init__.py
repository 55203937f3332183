"""Relational structures as flat arrays: what everything downstream reads."""

from distill.structures.archive import read_archive, write_archive
from distill.structures.batch import Structures, concatenate
from distill.structures.quotient import Layer, Links, Options, Pairs, Quotient, joint_messages
from distill.structures.ranges import distinct_rows, offsets, ranges
from distill.structures.vocabulary import Predicate, Vocabulary

__all__ = [
    "Layer",
    "Links",
    "Options",
    "Pairs",
    "Predicate",
    "Quotient",
    "Structures",
    "Vocabulary",
    "concatenate",
    "distinct_rows",
    "joint_messages",
    "offsets",
    "ranges",
    "read_archive",
    "write_archive",
]
