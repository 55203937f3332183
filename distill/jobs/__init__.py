"""What combines the other packages: data stages, analyses, training, evaluation and replay."""

from distill.jobs.analysis import Analysis, analyse
from distill.jobs.beyond import Beyond, label_beyond, validated
from distill.jobs.distillation import Distilled, Effort, distil
from distill.jobs.evaluation import Evaluation, Score, evaluate, evaluate_checkpoint, policy, predict
from distill.jobs.examples import Example, examples
from distill.jobs.probing import ProbeRow, probe_checkpoint, state_features
from distill.jobs.quotient import build_quotient_of
from distill.jobs.reduction import REDUCTIONS, keep_one_of_each, prepare_reduced
from distill.jobs.replay import Replayed, replay_of
from distill.jobs.run import Run, RunConfig, run
from distill.jobs.training import TrainingConfig, checkpoint_of, train_networks, with_metrics

__all__ = [
    "REDUCTIONS",
    "Analysis",
    "Beyond",
    "Distilled",
    "Effort",
    "Evaluation",
    "Example",
    "ProbeRow",
    "Replayed",
    "Run",
    "RunConfig",
    "Score",
    "TrainingConfig",
    "analyse",
    "build_quotient_of",
    "checkpoint_of",
    "distil",
    "evaluate",
    "evaluate_checkpoint",
    "examples",
    "keep_one_of_each",
    "label_beyond",
    "policy",
    "predict",
    "prepare_reduced",
    "probe_checkpoint",
    "replay_of",
    "run",
    "state_features",
    "train_networks",
    "validated",
    "with_metrics",
]
