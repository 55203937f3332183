from .ablations import Ablation as Ablation, ablations_of as ablations_of, plan_ablations as plan_ablations
from .batch import JobBatch as JobBatch, Work as Work
from .config import Document as Document, check_source as check_source, is_class_file as is_class_file
from .detached import (
    CANCELLED as CANCELLED,
    DONE as DONE,
    FAILED as FAILED,
    RUNNING as RUNNING,
    WAITING as WAITING,
    DetachedJob as DetachedJob,
    JobState as JobState,
    detached_jobs as detached_jobs,
    launch as launch,
)
from .executors import executor as executor
from .job import do_job as do_job
from .refinement import REFINED as REFINED, Round as Round, refine as refine
from .run_config import RunConfig as RunConfig, parse_override as parse_override
from .schema import run_schema as run_schema, sweep_schema as sweep_schema
from .stability import (
    Stability as Stability,
    plan_stability as plan_stability,
    stability_of as stability_of,
    write_stability as write_stability,
)
from .stages import Stages as Stages
from .summary import (
    MEASURES as MEASURES,
    SWEEPS as SWEEPS,
    SettingEffect as SettingEffect,
    effects as effects,
    table_of as table_of,
    write_summary as write_summary,
)
from .sweep import Sweep as Sweep, is_sweep as is_sweep
from .template import config_template as config_template
from .training import (
    TrainingConfig as TrainingConfig,
    checkpoint_of as checkpoint_of,
    train_networks as train_networks,
    with_metrics as with_metrics,
)
