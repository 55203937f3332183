"""Formulas: syntax, reading and writing, evaluation, translation, simplification."""

from distill.logic.c2 import write_c2
from distill.logic.c2_reading import parse_c2
from distill.logic.definitions import DefinedFunction, define_shared, parse_defined, write_defined
from distill.logic.derived import write_derived
from distill.logic.dlplan import dlplan_name, write_dlplan
from distill.logic.english import explain
from distill.logic.evaluation import Evaluator
from distill.logic.features import (
    Compare,
    Constant,
    Count,
    Distance,
    Indicator,
    Number,
    Product,
    Scaled,
    Sum,
    weighted,
)
from distill.logic.figures import draw_state
from distill.logic.formats import FORMATS, Format, read_formula
from distill.logic.formulas import BOTTOM, And, Atom, Modal, Not, Or, Top, Truth
from distill.logic.library import HandMade, hand_made, library
from distill.logic.minimisation import Minimised, minimise
from distill.logic.nodes import Fragment, Node
from distill.logic.python import write_python
from distill.logic.quotients import QuotientEvaluator
from distill.logic.reading import parse, parse_relation
from distill.logic.relations import (
    Closure,
    Everything,
    Identity,
    Relation,
    RelationAnd,
    RelationNot,
    RelationOr,
    Role,
)
from distill.logic.simplification import simplify
from distill.logic.storage import NodeTable, from_json, read_nodes, to_json
from distill.logic.synthesis import Synthesised, Synthesiser, resynthesise
from distill.logic.writing import ASCII, EMLC, LATEX, Notation, write

__all__ = [
    "ASCII",
    "BOTTOM",
    "EMLC",
    "FORMATS",
    "LATEX",
    "And",
    "Atom",
    "Closure",
    "Compare",
    "Constant",
    "Count",
    "DefinedFunction",
    "Distance",
    "Evaluator",
    "Everything",
    "Format",
    "Fragment",
    "HandMade",
    "Identity",
    "Indicator",
    "Minimised",
    "Modal",
    "Node",
    "NodeTable",
    "Not",
    "Notation",
    "Number",
    "Or",
    "Product",
    "QuotientEvaluator",
    "Relation",
    "RelationAnd",
    "RelationNot",
    "RelationOr",
    "Role",
    "Scaled",
    "Sum",
    "Synthesised",
    "Synthesiser",
    "Top",
    "Truth",
    "define_shared",
    "dlplan_name",
    "draw_state",
    "explain",
    "from_json",
    "hand_made",
    "library",
    "minimise",
    "parse",
    "parse_c2",
    "parse_defined",
    "parse_relation",
    "read_formula",
    "read_nodes",
    "resynthesise",
    "simplify",
    "to_json",
    "weighted",
    "write",
    "write_c2",
    "write_defined",
    "write_derived",
    "write_dlplan",
    "write_python",
]
