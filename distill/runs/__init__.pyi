from .closed_forms import ClosedRun as ClosedRun, close_run as close_run, value_text as value_text
from .comparison import (
    Comparison as Comparison,
    DistinctFunction as DistinctFunction,
    compare_runs as compare_runs,
    distinct_functions as distinct_functions,
    flatten as flatten,
    main_metrics as main_metrics,
)
from .faithfulness import Faithfulness as Faithfulness, measure_faithfulness as measure_faithfulness
from .figures import draw_comparison as draw_comparison, draw_weights as draw_weights
from .html_report import report as report, verdict as verdict
from .markup import Markup as Markup, element as element
from .metrics import EvaluationResult as EvaluationResult, metrics_of as metrics_of
from .refitting import (
    Request as Request,
    StoredRefit as StoredRefit,
    refit_run as refit_run,
    refits_in as refits_in,
    splits_of as splits_of,
)
from .run import Run as Run, checksum as checksum
from .run_index import RunSummary as RunSummary
from .sections import (
    SECTIONS as SECTIONS,
    problem_name as problem_name,
    variants as variants,
    with_family as with_family,
)
from .settings import Export as Export
from .status import (
    FAILED as FAILED,
    JOBS as JOBS,
    RUNNING as RUNNING,
    Status as Status,
    report_failure as report_failure,
    status_file as status_file,
)
from .store import Store as Store
from .stored_tree import (
    STATES as STATES,
    StoredTree as StoredTree,
    cut as cut,
    sets_with_leaf as sets_with_leaf,
    stored_trees as stored_trees,
)
from .verification import RunCheck as RunCheck, verify_run as verify_run
from .writer import (
    PART as PART,
    RunContents as RunContents,
    StageRecord as StageRecord,
    write_run as write_run,
)
