"""What combines the other packages: data stages, analyses, training, evaluation and replay."""

from distill.jobs.ablations import Ablation, ablations_of, plan_ablations
from distill.jobs.analysis import Analysis, analyse
from distill.jobs.batch import Batch, Work
from distill.jobs.beyond import Beyond, label_beyond, validated
from distill.jobs.comparing import Comparison, compare_runs
from distill.jobs.distillation import Effort, distil
from distill.jobs.distilled import Distilled
from distill.jobs.evaluation import Evaluation, Score, evaluate, evaluate_checkpoint, policy, predict
from distill.jobs.examples import Example, examples
from distill.jobs.executors import executor as executor_of
from distill.jobs.faithfulness import Faithfulness, faithfulness
from distill.jobs.families import ClosedRun, close_run
from distill.jobs.forms import FORMS, express, express_term, ordered_terms
from distill.jobs.job import Status, do_job
from distill.jobs.probing import ProbeRow, probe_checkpoint, state_features
from distill.jobs.quotient import build_quotient_of
from distill.jobs.reduction import REDUCTIONS, keep_one_of_each, prepare_reduced
from distill.jobs.replay import Replayed, replay_of
from distill.jobs.report import report, verdict
from distill.jobs.run import Run
from distill.jobs.run_config import RunConfig, parse_override
from distill.jobs.stability import Stability, plan_stability, stability_of, write_stability
from distill.jobs.stages import STAGES, Stages
from distill.jobs.store import Store
from distill.jobs.summary import Effect, effects, table_of, write_summary
from distill.jobs.sweep import Sweep
from distill.jobs.training import TrainingConfig, checkpoint_of, train_networks, with_metrics
from distill.jobs.verification import Check, verify_run

__all__ = [
    "FORMS",
    "REDUCTIONS",
    "STAGES",
    "Ablation",
    "Analysis",
    "Batch",
    "Beyond",
    "Check",
    "ClosedRun",
    "Comparison",
    "Distilled",
    "Effect",
    "Effort",
    "Evaluation",
    "Example",
    "Faithfulness",
    "ProbeRow",
    "Replayed",
    "Run",
    "RunConfig",
    "Score",
    "Stability",
    "Stages",
    "Status",
    "Store",
    "Sweep",
    "TrainingConfig",
    "Work",
    "ablations_of",
    "analyse",
    "build_quotient_of",
    "checkpoint_of",
    "close_run",
    "compare_runs",
    "distil",
    "do_job",
    "effects",
    "evaluate",
    "evaluate_checkpoint",
    "examples",
    "executor_of",
    "express",
    "express_term",
    "faithfulness",
    "keep_one_of_each",
    "label_beyond",
    "ordered_terms",
    "parse_override",
    "plan_ablations",
    "plan_stability",
    "policy",
    "predict",
    "prepare_reduced",
    "probe_checkpoint",
    "replay_of",
    "report",
    "stability_of",
    "state_features",
    "table_of",
    "train_networks",
    "validated",
    "verdict",
    "verify_run",
    "with_metrics",
    "write_stability",
    "write_summary",
]
