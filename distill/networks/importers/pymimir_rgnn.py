"""Checkpoints of pymimir-rgnn, and of relational-neural-network-python before it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from distill.common import InputError
from distill.networks.importers.parts import Content, Parts
from distill.networks.settings import Architecture

_MISH_RELATIVES: dict[str, Any] = {
    "nullary": False,
    "floor": "object",
    "update_order": "aggregate",
    "readout_activation": "mish",
}
_AGGREGATIONS: dict[str, Any] = {
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


def read_rnn_python(content: Content) -> Parts:
    """The parts of a checkpoint of relational-neural-network-python."""
    tensors, network = content["model"], "_module._relation_network"
    relations = _relations(tensors, f"{network}._relation_mlps.relation_")
    architecture = Architecture(
        layers=int(content["hparams"]["num_layers"]),
        goal_marking=_is_marked(relations),
        smoothness=12.0,
        **_MISH_RELATIVES,
    )
    pieces = {"update": f"{network}._update_mlp", "readout": "_readout._value"}
    return Parts(tensors, architecture, relations, pieces, ("_inner", "_outer"), ("_module._dummy",))


def read_pymimir_rgnn_01(content: Content) -> Parts:
    """The parts of a checkpoint of pymimir-rgnn 0.1."""
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


def read_pymimir_rgnn_02(content: Content) -> Parts:
    """The parts of a checkpoint of pymimir-rgnn 0.2."""
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
) -> Parts:
    tensors = content["model"]
    relations = _relations(tensors, relation_prefix)
    names = sorted({key.split(".")[1] for key in tensors if re.match(r"_readouts\.[^.]+\._object", key)})
    heads = [name for name in names if f"_readouts.{name}._action_value._inner.weight" not in tensors]
    if len(heads) != 1:
        raise InputError(f"it must have one readout of the state's value, not {len(heads)}.")
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
    pieces = {"update": update, "readout": f"{head}._object_readout._value"}
    if two:
        pieces |= {"first_readout": pieces["readout"], "readout": f"{head}._state_value"}
    if architecture.layer_norm:
        pieces["norm"] = "_mpnn_module._update_normalization"
    # In files of 0.2 the message module is listed twice.
    others = [f"_readouts.{name}." for name in names if name != heads[0]]
    ignored = ("_dummy", "_mpnn_module._message.", *others)
    return Parts(tensors, architecture, relations, pieces, ("_inner", "_outer"), ignored)


def _refuse_extras(inputs: Iterable[str], options: Content, **modules: str) -> None:
    """Refuse a checkpoint with parts that a relational GNN over a state and its goal lacks."""
    extras = [name for name in inputs if name not in _READABLE_INPUTS]
    extras += [name for name in modules.values() if name not in _READABLE_MODULES]
    extras += [name for name in _UNREADABLE_OPTIONS if options.get(name)]
    if extras:
        raise InputError(f"it uses {', '.join(extras)}, which cannot be replayed.")


def _relations(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, str]:
    """For each predicate the prefix of its tensors."""
    ending = "._inner.weight"
    keys = [key for key in tensors if key.startswith(prefix) and key.endswith(ending)]
    return {key[len(prefix) : -len(ending)]: key[: -len(ending)] for key in keys}


def _is_marked(relations: Iterable[str]) -> bool:
    return any(name.endswith(("_goal_true", "_goal_false")) for name in relations)
