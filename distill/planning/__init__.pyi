from .coverage import Coverage as Coverage, Solver as Solver, compare as compare
from .encoding import collect as collect
from .enumeration import Layouts as Layouts, all_layouts as all_layouts, parameters_of as parameters_of
from .expansion import Successors as Successors, successors as successors
from .figures import draw_labels as draw_labels, draw_states as draw_states
from .generators import Layout as Layout
from .grounding import Task as Task
from .instance_families import (
    InstanceFamilies as InstanceFamilies,
    InstanceFamily as InstanceFamily,
    Row as Row,
)
from .labelling import expand as expand, label as label, sample as sample, transitions as transitions
from .pddl import (
    Domain as Domain,
    Instance as Instance,
    instance_files as instance_files,
    silent_stdout as silent_stdout,
)
from .plan_result import GAVE_UP as GAVE_UP, SOLVED as SOLVED, PlanResult as PlanResult
from .planners import PLANNERS as PLANNERS, Limits as Limits, find_plan as find_plan
from .policy import MAX_STEPS as MAX_STEPS, execute as execute
from .preparation import data_key as data_key, prepare as prepare
from .problems import (
    BEYOND as BEYOND,
    ProblemClass as ProblemClass,
    problem_class as problem_class,
    problem_classes as problem_classes,
    thesis_classes as thesis_classes,
)
from .reduction import (
    REDUCTIONS as REDUCTIONS,
    keep_representatives as keep_representatives,
    prepare_reduced as prepare_reduced,
)
from .schemas import condition_predicates as condition_predicates
from .settings import MOST_STEPS as MOST_STEPS, Labelling as Labelling
from .splits import (
    SPLITS as SPLITS,
    Split as Split,
    splits_by_size as splits_by_size,
    splits_from_folders as splits_from_folders,
)
from .state_text import read_state_text as read_state_text
from .stored_states import splits_of_archives as splits_of_archives, with_states as with_states
from .validation import Verdict as Verdict, validate as validate
