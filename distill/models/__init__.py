"""The R-GNN family: networks, training, checkpoints (ours and others'), replay."""

from distill.models.bags import Bags
from distill.models.checkpoint import Checkpoint
from distill.models.examples import Examples
from distill.models.execution import evaluate, evaluate_lifted, values
from distill.models.matching import check_vocabulary
from distill.models.network import Activations, Network
from distill.models.replay import Replay, replay
from distill.models.training import Epoch, Trained, train
from distill.models.wiring import Wiring, wire_quotient, wire_structures
from distill.settings import Architecture, Training

__all__ = [
    "Activations",
    "Architecture",
    "Bags",
    "Checkpoint",
    "Epoch",
    "Examples",
    "Network",
    "Replay",
    "Trained",
    "Training",
    "Wiring",
    "check_vocabulary",
    "evaluate",
    "evaluate_lifted",
    "replay",
    "train",
    "values",
    "wire_quotient",
    "wire_structures",
]
