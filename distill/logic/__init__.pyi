from .figures import draw_state as draw_state
from .handmade.library import hand_made as hand_made, library as library, read_formula as read_formula
from .notation.c2_writer import check_c2 as check_c2, write_c2 as write_c2
from .notation.definitions import (
    DefinedFunction as DefinedFunction,
    define_shared as define_shared,
    write_defined as write_defined,
)
from .notation.dlplan import dlplan_name as dlplan_name, write_dlplan as write_dlplan
from .notation.english import explain as explain
from .notation.formats import FORMATS as FORMATS
from .notation.parser import parse as parse
from .notation.pddl import write_derived as write_derived
from .notation.storage import (
    NodeTable as NodeTable,
    from_json as from_json,
    read_nodes as read_nodes,
    to_json as to_json,
)
from .notation.writer import (
    ASCII as ASCII,
    EMLC as EMLC,
    LATEX as LATEX,
    WRITERS as WRITERS,
    Notation as Notation,
    Writer as Writer,
    write as write,
)
from .rewriting.bounds import bounds_of as bounds_of
from .rewriting.minimisation import minimise as minimise
from .rewriting.renaming import Formula as Formula, renamed as renamed
from .rewriting.simplification import simplify as simplify
from .rewriting.unrolling import (
    Bounds as Bounds,
    Unrolled as Unrolled,
    unroll as unroll,
)
from .search.enumeration import short_formulas as short_formulas
from .search.expressions import (
    Expression as Expression,
    ExpressionSearch as ExpressionSearch,
    Recipe as Recipe,
    formula_of as formula_of,
    truth_of as truth_of,
    variants_of as variants_of,
)
from .search.language import Language as Language, Modality as Modality
from .search.neighbourhoods import neighbourhood as neighbourhood
from .search.row_relations import RowRelation as RowRelation
from .search.synthesis import resynthesise as resynthesise
from .semantics.denotations import pack as pack, unpack as unpack
from .semantics.evaluation import Evaluator as Evaluator, resolve_predicate as resolve_predicate
from .semantics.quotients import QuotientEvaluator as QuotientEvaluator
from .syntax.features import (
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
from .syntax.formulas import (
    BOTTOM as BOTTOM,
    And as And,
    Atom as Atom,
    Modal as Modal,
    Not as Not,
    Or as Or,
    Top as Top,
    Truth as Truth,
)
from .syntax.nodes import MOST_STEPS as MOST_STEPS, Node as Node, walk as walk
from .syntax.relations import (
    Closure as Closure,
    Relation as Relation,
    RelationAnd as RelationAnd,
    RelationNot as RelationNot,
    RelationOr as RelationOr,
    Role as Role,
)
