from .catalogue import (
    OBJECTS as OBJECTS,
    Catalogue as Catalogue,
    Entry as Entry,
    as_number as as_number,
    counted_concept as counted_concept,
)
from .editing import (
    EXACT as EXACT,
    METHODS as METHODS,
    Candidate as Candidate,
    Refit as Refit,
    SplitErrors as SplitErrors,
    StateRows as StateRows,
    candidates as candidates,
    edit_terms as edit_terms,
    old_weights as old_weights,
    refit_weights as refit_weights,
)
from .equivalence import (
    SharedTerm as SharedTerm,
    denotations as denotations,
    features_of as features_of,
    shared_terms as shared_terms,
)
from .explanation import (
    KINDS as KINDS,
    Explanation as Explanation,
    explanation_from_json as explanation_from_json,
    register as register,
)
from .export import (
    FORMS as FORMS,
    LARGEST as LARGEST,
    LARGEST_PARTS as LARGEST_PARTS,
    Form as Form,
    express as express,
    express_term as express_term,
    file_text as file_text,
    ordered_terms as ordered_terms,
)
from .families.closing import Closing as Closing, close_families as close_families
from .families.family import abbreviate as abbreviate, values_of as values_of
from .provenance import Chain as Chain, Provenance as Provenance, StateFeature as StateFeature
from .ranking import Ranking as Ranking, descends as descends
from .value_function import (
    ValueFunction as ValueFunction,
    has_integer_weights as has_integer_weights,
    weighted_sum as weighted_sum,
)
