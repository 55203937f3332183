"""A restricted unpickler: nothing in a file is executed.

Files are unpickled by torch's restricted loader. The few classes of pymimir-rgnn that its files name are
replaced by inert classes.
"""

import re
import warnings
from pathlib import Path
from typing import Any

import torch

from distill.common import InputError, open_regular


class _StandIn:
    """Replaces a class of pymimir-rgnn: it stores the arguments and does nothing."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments


_PYMIMIR_RGNN = {
    "pymimir_rgnn.encodings": "InputType OutputNodeType OutputValueType",
    "pymimir_rgnn.model": "AggregationFunction MessageFunction UpdateFunction",
    "pymimir_rgnn.aggregations": "MeanAggregation SumAggregation HardMaximumAggregation "
    "SmoothMaximumAggregation",
    "pymimir_rgnn.messages": "PredicateMLPMessages PredicateLinearMessages SparseMLPMessages "
    "SenderOnlyMLPMessages AttentionMessages PredicateAttentionMessages FixedAttentionMessages",
    "pymimir_rgnn.updates": "MLPUpdates LinearUpdates SparseMLPUpdates",
    "pymimir_rgnn.encoders": "StateEncoder GoalEncoder GroundActionsEncoder TransitionEffectsEncoder "
    "VirtualNodeEncoder ExpressiveStateEncoder ExpressiveGoalEncoder",
    "pymimir_rgnn.decoders": "ActionScalarDecoder ActionEmbeddingDecoder ObjectsScalarDecoder "
    "ObjectsEmbeddingDecoder",
    "pymimir_rgnn.modules": "MLP SparseMLP SumReadout ChannelwiseAffine",
    "torch.nn.modules.container": "ModuleDict ParameterDict ModuleList",
    "torch.nn.modules.linear": "Linear NonDynamicallyQuantizableLinear",
}
_STAND_INS = {
    f"{module}.{name}": type(name, (_StandIn,), {})
    for module, names in _PYMIMIR_RGNN.items()
    for name in names.split()
}


def unpickle(path: Path) -> Any:
    """The content of a file that torch wrote."""
    named = [(stand_in, name) for name, stand_in in _STAND_INS.items()]
    try:
        with open_regular(path), torch.serialization.safe_globals(named), warnings.catch_warnings():  # type: ignore[arg-type]
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    except InputError:
        raise
    except Exception as error:  # a damaged file can raise any exception
        refused = re.search(r"GLOBAL (\S+)", str(error))
        if refused:
            raise InputError(
                f"{path} asks to load {refused[1]}, which no network needs; it was refused, nothing was run."
            ) from error
        raise InputError(f"{path} is damaged or no checkpoint; get it again.") from error
