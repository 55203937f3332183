from .automorphisms import canonical_orders as canonical_orders, group_sizes as group_sizes
from .canonical import canonical_forms as canonical_forms
from .classes import isomorphism_classes as isomorphism_classes
from .conflict_examples import Example as Example, examples as examples
from .conflicts import (
    COLOURINGS as COLOURINGS,
    VARIANTS as VARIANTS,
    Colouring as Colouring,
    Conflicts as Conflicts,
    split_groups as split_groups,
)
from .dataset_quotient import build_quotient_of as build_quotient_of, labelled_states as labelled_states
from .equivalence_classes import (
    KINDS as KINDS,
    EquivalenceClasses as EquivalenceClasses,
    count_ambiguous_states as count_ambiguous_states,
    stable_depth as stable_depth,
)
from .expressivity import Expressivity as Expressivity, whole_instances as whole_instances
from .figures import check_drawable as check_drawable, draw_state_model as draw_state_model
from .interning import Interner as Interner
from .object_graph import object_graphs as object_graphs
from .quotients import (
    LabelledBatch as LabelledBatch,
    QuotientMap as QuotientMap,
    build_quotient as build_quotient,
)
from .reduction import colour_classes as colour_classes
from .refinement import Refinement as Refinement, histograms as histograms
from .signature import signatures as signatures
from .state_model import StateModel as StateModel
from .two_fwl import PairRefinement as PairRefinement
