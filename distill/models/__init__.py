"""The R-GNN family: networks, training, checkpoints (ours and others'), replay."""

from distill.models.bags import Bags
from distill.models.execution import evaluate, evaluate_lifted, values
from distill.models.network import Activations, Network
from distill.models.wiring import Wiring, wire_quotient, wire_structures
from distill.settings import Architecture, Training

__all__ = [
    "Activations",
    "Architecture",
    "Bags",
    "Network",
    "Training",
    "Wiring",
    "evaluate",
    "evaluate_lifted",
    "values",
    "wire_quotient",
    "wire_structures",
]
