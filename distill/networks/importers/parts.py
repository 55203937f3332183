"""The parts of a foreign checkpoint, and the network that they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from distill.common import InputError
from distill.networks.rgnn import RGNN, read_rgnn
from distill.networks.settings import Architecture
from distill.networks.wiring import TOP_TYPE
from distill.structures import ACHIEVED, GOAL, MISSING, Predicate, Vocabulary

Content = Mapping[str, Any]


@dataclass(frozen=True)
class Parts:
    """The parts of a checkpoint.

    Attributes
    ----------
    tensors : all tensors by name.
    architecture : of the network; the size is taken from the tensors.
    relations : for each predicate, in their spelling, the prefix of its tensors.
    pieces : for each other part of our network the prefix of its tensors.
    maps : the names of the two linear maps of a perceptron.
    ignored : prefixes of tensors that V does not need.
    """

    tensors: Mapping[str, Tensor]
    architecture: Architecture
    relations: Mapping[str, str]
    pieces: Mapping[str, str]
    maps: tuple[str, str]
    ignored: tuple[str, ...]


def assemble(parts: Parts) -> RGNN:
    """Our network with the tensors of the checkpoint."""
    tensors = parts.tensors
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
        raise InputError(f"it has unknown weights ({', '.join(unknown[:3])}).")
    architecture = Architecture(**{**parts.architecture.to_mapping(), "size": size})
    return read_rgnn(Vocabulary(predicates), architecture, ours)


def _predicate(name: str, arity: int) -> Predicate:
    """Our predicate for one in their spelling: `on`, `on_goal`, `on_goal_true`, `on_goal_false`."""
    for ending, own in (("_goal_true", GOAL + ACHIEVED), ("_goal_false", GOAL + MISSING), ("_goal", GOAL)):
        if name.endswith(ending):
            return Predicate(name.removesuffix(ending) + own, arity, "goal")
    return TOP_TYPE if (name, arity) == (TOP_TYPE.name, TOP_TYPE.arity) else Predicate(name, arity)
