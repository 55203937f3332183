from .beyond import (
    BeyondSplit as BeyondSplit,
    label_beyond as label_beyond,
    validate_labels as validate_labels,
)
from .conflict_suite import (
    SuiteDomain as SuiteDomain,
    SuiteSettings as SuiteSettings,
    analyse_suite as analyse_suite,
    domain_folders as domain_folders,
)
from .descent import descending_policy as descending_policy
from .disagreement import (
    ChoiceAgreement as ChoiceAgreement,
    Disagreement as Disagreement,
    compare_choices as compare_choices,
    compare_values as compare_values,
    merge_disagreements as merge_disagreements,
)
from .distinction import (
    Distinction as Distinction,
    compare_up_to_names as compare_up_to_names,
    find_distinctions as find_distinctions,
    find_short_distinctions as find_short_distinctions,
)
from .formula_neighbours import (
    EQUAL as EQUAL,
    OPPOSITE as OPPOSITE,
    STRONGER as STRONGER,
    WEAKER as WEAKER,
    Neighbour as Neighbour,
    Neighbourhood as Neighbourhood,
    sample_evenly as sample_evenly,
)
from .formula_shortening import Shortening as Shortening, shorten as shorten
from .greedy_choices import (
    choices_by_v_star as choices_by_v_star,
    sample_by_v_star as sample_by_v_star,
    tabulate_choices as tabulate_choices,
)
from .inspection import (
    ApplicableAction as ApplicableAction,
    Inspection as Inspection,
    InstanceState as InstanceState,
    Rollout as Rollout,
    TermValue as TermValue,
    mark_best as mark_best,
    subformulas as subformulas,
)
from .layer_r2 import BASES as BASES, LayerR2 as LayerR2, measure_layer_r2 as measure_layer_r2
from .published_counts import (
    DomainCounts as DomainCounts,
    PublishedCounts as PublishedCounts,
    PublishedTables as PublishedTables,
    brief_count as brief_count,
    published_conflicts as published_conflicts,
)
from .scores import (
    Evaluation as Evaluation,
    Score as Score,
    evaluate as evaluate,
    evaluate_checkpoint as evaluate_checkpoint,
    fidelity as fidelity,
    greedy_policy as greedy_policy,
    network_policy as network_policy,
)
from .settings import Measurement as Measurement
from .state_search import states_with as states_with
