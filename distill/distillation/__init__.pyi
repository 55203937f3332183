from .feature_pool import usable_relations as usable_relations
from .idt import fit_idt as fit_idt, label_embeddings as label_embeddings
from .pipeline import (
    check_distillation as check_distillation,
    distil as distil,
    find_features as find_features,
    fit_features as fit_features,
    take_sample as take_sample,
)
from .policy_distillation import PolicyResult as PolicyResult, distil_policy as distil_policy
from .readable_extractor import ReadableExtractor as ReadableExtractor
from .result import DistillationResult as DistillationResult
from .ridt import fit_ridt as fit_ridt
from .ridt_features import RidtFeatures as RidtFeatures
from .sample import Sample as Sample, known_rows as known_rows, marks_goals as marks_goals
from .settings import Distillation as Distillation
from .situations import Situations as Situations, find_situations as find_situations
from .targets import Target as Target, target_of as target_of
from .teachers import (
    TEACHERS as TEACHERS,
    Teacher as Teacher,
    allowed_transitions as allowed_transitions,
)
from .thesis_ridt import ThesisLayers as ThesisLayers, TreeFitter as TreeFitter
from .tree_with_formulas import (
    TreeWithFormulas as TreeWithFormulas,
    leaf_set_formula as leaf_set_formula,
    pack_trees as pack_trees,
    trees_from_json as trees_from_json,
    trees_to_json as trees_to_json,
    unpack_trees as unpack_trees,
)
