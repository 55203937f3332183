"""Syntax: concepts, relations and features are immutable nodes, and equal nodes are the same object."""

from distill.logic.syntax.features import (
    Compare as Compare,
    Constant as Constant,
    Count as Count,
    Distance as Distance,
    Indicator as Indicator,
    Number as Number,
    Product as Product,
    Scaled as Scaled,
    Sum as Sum,
    weighted as weighted,
)
from distill.logic.syntax.formulas import (
    BOTTOM as BOTTOM,
    And as And,
    Atom as Atom,
    Modal as Modal,
    Not as Not,
    Or as Or,
    Top as Top,
    Truth as Truth,
)
from distill.logic.syntax.nodes import Fragment as Fragment, Node as Node
from distill.logic.syntax.relations import (
    Closure as Closure,
    Everything as Everything,
    Identity as Identity,
    Relation as Relation,
    RelationAnd as RelationAnd,
    RelationNot as RelationNot,
    RelationOr as RelationOr,
    Role as Role,
)
