from .classification import (
    FoldScore as FoldScore,
    Validation as Validation,
    cross_validate as cross_validate,
    predict_classes as predict_classes,
)
from .graph_set import GraphSet as GraphSet
from .settings import Classification as Classification
from .synthetic import (
    SYNTHETIC as SYNTHETIC,
    synthetic_graphs as synthetic_graphs,
)
from .tu_format import read_graphs as read_graphs
