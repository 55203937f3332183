"""Checkpoints made by others, read without running anything that is in them.

Files are unpickled by torch's restricted loader; the few classes of pymimir-rgnn that its files name become
inert stand-ins. Sizes are taken from the tensors.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from distill.errors import InputError
from distill.models.network import Network
from distill.models.wiring import TOP_TYPE
from distill.settings import Architecture
from distill.structures import Predicate, Vocabulary
from distill.structures.vocabulary import ACHIEVED, GOAL, MISSING

Content = Mapping[str, Any]


class _StandIn:
    """In place of a class of pymimir-rgnn: keeps what the file says of it and does nothing."""

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


@dataclass(frozen=True)
class _Parts:
    """A checkpoint taken apart.

    Attributes
    ----------
    relations : for each predicate, in their spelling, the prefix of its tensors.
    pieces : for each other part of our network the prefix of its tensors.
    maps : what they call the two linear maps of a perceptron.
    ignored : prefixes of tensors that V does not need.
    """

    architecture: Architecture
    relations: Mapping[str, str]
    pieces: Mapping[str, str]
    maps: tuple[str, str]
    ignored: tuple[str, ...]


def read_foreign(path: Path) -> tuple[Network, str]:
    """Read a network from a file of one of `FORMATS`; also the name of the format."""
    content = _unpickled(path)
    for name, (belongs, take_apart) in FORMATS.items():
        if isinstance(content, dict) and belongs(content):
            try:
                tensors, parts = take_apart(content)
                return _assembled(tensors, parts), name
            except InputError as error:
                raise InputError(f"{path} ({name}): {error}") from error
            except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
                raise InputError(
                    f"{path} looks like {name}, but lacks what these have ({error!r}); give another file."
                ) from error
    raise InputError(f"{path} is no checkpoint we know; we read our own and those of {', '.join(FORMATS)}.")


def _unpickled(path: Path) -> Any:
    named = [(stand_in, name) for name, stand_in in _STAND_INS.items()]
    try:
        with torch.serialization.safe_globals(named), warnings.catch_warnings():  # type: ignore[arg-type]
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error
    except Exception as error:  # a broken file can fail in any way
        wanted = re.search(r"GLOBAL (\S+)", str(error))
        if wanted:
            raise InputError(
                f"{path} asks to load {wanted[1]}, which no network needs; it was refused, nothing was run."
            ) from error
        raise InputError(f"{path} is damaged or no checkpoint; get it again.") from error


def _assembled(tensors: Mapping[str, Tensor], parts: _Parts) -> Network:
    """Our network with their tensors."""
    size = tensors[f"{parts.pieces['update']}.{parts.maps[1]}.weight"].shape[0]
    prefixes, predicates = dict(parts.pieces), []
    for number, (name, prefix) in enumerate(parts.relations.items()):
        arity, rest = divmod(tensors[f"{prefix}.{parts.maps[0]}.weight"].shape[1], size)
        if rest or not arity:
            raise InputError(f"the weights of {name} do not fit embeddings of {size} numbers.")
        predicates.append(_predicate(name, arity))
        prefixes[f"messages.{number}"] = prefix
    ours: dict[str, Tensor] = {}
    used: set[str] = set()
    for piece, prefix in prefixes.items():
        pairs = [("", "")] if piece == "norm" else [("inner.", parts.maps[0]), ("outer.", parts.maps[1])]
        for own, theirs in pairs:
            for kind in ("weight", "bias"):
                key = ".".join(filter(None, (prefix, theirs, kind)))
                ours[f"{piece}.{own}{kind}"] = tensors[key].float()
                used.add(key)
    unknown = [key for key in tensors if key not in used and not key.startswith(parts.ignored)]
    if unknown:
        raise InputError(f"it has weights that we cannot place ({', '.join(unknown[:3])}).")
    architecture = Architecture(**{**parts.architecture.to_mapping(), "size": size})
    return build_network(Vocabulary(predicates), architecture, ours)


def build_network(
    vocabulary: Vocabulary, architecture: Architecture, tensors: Mapping[str, Tensor]
) -> Network:
    """A network with given weights; hidden sizes are theirs."""
    hidden = {
        name.removesuffix(".inner.weight"): value.shape[0]
        for name, value in tensors.items()
        if name.endswith(".inner.weight")
    }
    network = Network(vocabulary, architecture, hidden)
    try:
        network.load_state_dict(dict(tensors))
    except RuntimeError as error:
        told = str(error).splitlines()[-1].strip().rstrip(".")
        raise InputError(f"the weights do not fit the architecture ({told}).") from error
    broken = [name for name, value in tensors.items() if not value.isfinite().all()]
    if broken:
        raise InputError(f"weights are not finite numbers ({', '.join(broken[:3])}); train it again.")
    return network.eval()


def _predicate(name: str, arity: int) -> Predicate:
    """Our predicate for one in their spelling: `on`, `on_goal`, `on_goal_true`, `on_goal_false`."""
    for ending, own in (("_goal_true", GOAL + ACHIEVED), ("_goal_false", GOAL + MISSING), ("_goal", GOAL)):
        if name.endswith(ending):
            return Predicate(name.removesuffix(ending) + own, arity, "goal")
    return TOP_TYPE if (name, arity) == (TOP_TYPE.name, TOP_TYPE.arity) else Predicate(name, arity)


def _kr22(content: Content) -> tuple[Mapping[str, Tensor], _Parts]:
    tensors, options = content["state_dict"], content["hyper_parameters"]
    network = "model.relation_network"
    relations = {
        name: f"{network}.relation_modules.{number}"
        for number, (name, _) in enumerate(options["predicates"])
        if f"{network}.relation_modules.{number}.0.weight" in tensors
    }
    size = tensors[f"{network}.update.2.weight"].shape[0]
    architecture = Architecture(
        layers=int(options["iterations"]),
        nullary=False,
        smoothness=8.0,
        floor="batch",
        activation="relu",
        message_residual=False,
        update_residual=False,
        update_order="aggregate",
        random_initial=size // 2,
        readout="two-part",
        readout_activation="relu",
        absolute=True,
    )
    pieces = {"update": f"{network}.update", "first_readout": "readout.pre", "readout": "readout.post"}
    ignored = ("model.dummy", f"{network}.dummy", "readout.dummy", "solvable_readout.")
    return tensors, _Parts(architecture, relations, pieces, ("0", "2"), ignored)


def _rnn_python(content: Content) -> tuple[Mapping[str, Tensor], _Parts]:
    tensors, network = content["model"], "_module._relation_network"
    relations = _relations(tensors, f"{network}._relation_mlps.relation_")
    architecture = Architecture(
        layers=int(content["hparams"]["num_layers"]),
        goal_marking=_is_marked(relations),
        smoothness=12.0,
        **_MISH_RELATIVES,
    )
    pieces = {"update": f"{network}._update_mlp", "readout": "_readout._value"}
    return tensors, _Parts(architecture, relations, pieces, ("_inner", "_outer"), ("_module._dummy",))


def _pymimir_rgnn_01(content: Content) -> tuple[Mapping[str, Tensor], _Parts]:
    options = content["config"]
    _refuse_extras(
        [item.arguments[0] for item in options["input_specification"]],
        options,
        message=options["message_function"].arguments[0],
        update=options["update_function"].arguments[0],
    )
    network = "_mpnn_module._relation_network"
    how = options["message_aggregation"].arguments[0]
    random = options["embedding_size"] if options.get("random_initialization") else 0
    prefixes = (f"{network}._relation_mlps.relation_", f"{network}._update")
    return _pymimir_rgnn(content, options, how, random, *prefixes)


def _pymimir_rgnn_02(content: Content) -> tuple[Mapping[str, Tensor], _Parts]:
    options, modules = content["hparam_config"], content["module_config"]
    _refuse_extras(
        [type(item).__name__ for item in content["input_spec"]],
        options,
        message=type(modules["message_function"]).__name__,
        update=type(modules["update_function"]).__name__,
    )
    network = "_mpnn_module._relation_network"
    how = type(modules["aggregation_function"]).__name__
    prefixes = (f"{network}._message._relation_mlps.relation_", f"{network}._update._update")
    return _pymimir_rgnn(content, options, how, 0, *prefixes)


def _pymimir_rgnn(
    content: Content, options: Content, how: str, random: int, relation_prefix: str, update: str
) -> tuple[Mapping[str, Tensor], _Parts]:
    tensors = content["model"]
    relations = _relations(tensors, relation_prefix)
    names = sorted({key.split(".")[1] for key in tensors if re.match(r"_readouts\.[^.]+\._object", key)})
    heads = [name for name in names if f"_readouts.{name}._action_value._inner.weight" not in tensors]
    if len(heads) != 1:
        raise InputError(f"it must have one value of the state to read, not {len(heads)}.")
    head = f"_readouts.{heads[0]}"
    two = f"{head}._state_value._inner.weight" in tensors
    architecture = Architecture(
        layers=int(options["num_layers"]),
        goal_marking=_is_marked(relations),
        aggregation=_AGGREGATIONS[how],
        smoothness=12.0,
        layer_norm=bool(options["normalize_updates"]),
        random_initial=random,
        readout="twice" if two else "pooled",
        **{**_MISH_RELATIVES, "update_residual": bool(options.get("residual_updates", True))},
    )
    pieces = {"update": update}
    if two:
        pieces |= {"first_readout": f"{head}._object_readout._value", "readout": f"{head}._state_value"}
    else:
        pieces |= {"readout": f"{head}._object_readout._value"}
    if architecture.layer_norm:
        pieces["norm"] = "_mpnn_module._update_normalization"
    # In files of 0.2 the message module is listed twice.
    others = [f"_readouts.{name}." for name in names if name != heads[0]]
    ignored = ("_dummy", "_mpnn_module._message.", *others)
    return tensors, _Parts(architecture, relations, pieces, ("_inner", "_outer"), ignored)


_MISH_RELATIVES: dict[str, Any] = {
    "nullary": False,
    "floor": "object",
    "update_order": "aggregate",
    "readout_activation": "mish",
}
_AGGREGATIONS = {
    "add": "sum",
    "mean": "mean",
    "hmax": "max",
    "smax": "logsumexp",
    "SumAggregation": "sum",
    "MeanAggregation": "mean",
    "HardMaximumAggregation": "max",
    "SmoothMaximumAggregation": "logsumexp",
}
_READABLE_INPUTS = {"state", "goal", "StateEncoder", "GoalEncoder"}
_READABLE_MODULES = {"predicate_mlp", "mlp", "PredicateMLPMessages", "MLPUpdates"}
_UNREADABLE_OPTIONS = (
    "global_readout",
    "binarize_updates",
    "or_residual_updates",
    "ternarize_messages",
    "channelwise_normalization",
)


def _refuse_extras(inputs: Iterable[str], options: Content, **modules: str) -> None:
    """Name what the file has that a relational GNN over a state and its goal has not."""
    found = [name for name in inputs if name not in _READABLE_INPUTS]
    found += [name for name in modules.values() if name not in _READABLE_MODULES]
    found += [name for name in _UNREADABLE_OPTIONS if options.get(name)]
    if found:
        raise InputError(f"it uses {', '.join(found)}, which we do not replay.")


def _relations(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, str]:
    """For each predicate the prefix of its tensors."""
    ending = "._inner.weight"
    keys = [key for key in tensors if key.startswith(prefix) and key.endswith(ending)]
    return {key[len(prefix) : -len(ending)]: key[: -len(ending)] for key in keys}


def _is_marked(relations: Iterable[str]) -> bool:
    return any(name.endswith(("_goal_true", "_goal_false")) for name in relations)


FORMATS: Mapping[
    str, tuple[Callable[[Content], bool], Callable[[Content], tuple[Mapping[str, Tensor], _Parts]]]
] = {
    "gnn-policy-kr22": (lambda content: {"state_dict", "hyper_parameters"} <= set(content), _kr22),
    "relational-neural-network-python": (lambda content: {"model", "hparams"} <= set(content), _rnn_python),
    "pymimir-rgnn 0.1": (lambda content: {"model", "config"} <= set(content), _pymimir_rgnn_01),
    "pymimir-rgnn 0.2": (lambda content: {"model", "hparam_config"} <= set(content), _pymimir_rgnn_02),
}
