"""The families of networks, by name. A new family is a module with its `Network` and an entry here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from distill.common import InputError, Settings, check_memory, did_you_mean
from distill.networks.network import Network
from distill.networks.rgnn import RGNN, build_rgnn, read_rgnn
from distill.networks.settings import AUTO, Architecture
from distill.structures import Vocabulary

_BYTES_IN_TRAINING = 16  # of a parameter: its value, its gradient and the two moments of Adam


@dataclass(frozen=True)
class NetworkFamily:
    """Networks that differ only in vocabulary, settings and weights.

    Attributes
    ----------
    name : in files and configs.
    settings : the class of its settings.
    build : maps the predicates of a domain (with plain goals) and settings to a network.
    read : maps the predicates that a network reads, settings and weights by name to a network.
    """

    name: str
    settings: type[Settings]
    build: Callable[[Vocabulary, Any], Network]
    read: Callable[[Vocabulary, Any, Mapping[str, Tensor]], Network]


FAMILIES: Mapping[str, NetworkFamily] = {
    RGNN.family: NetworkFamily(RGNN.family, Architecture, build_rgnn, read_rgnn),
}


def family_named(name: str) -> NetworkFamily:
    """The family with this name.

    Examples
    --------
    >>> family_named("rgnn").settings.__name__
    'Architecture'
    >>> family_named("rgn")
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: there is no family of networks rgn; did you mean rgnn?
    """
    if name not in FAMILIES:
        raise InputError(f"there is no family of networks {name}; {did_you_mean(name, FAMILIES)}")
    return FAMILIES[name]


def build_network(domain: Vocabulary, settings: Settings, seed: int = 0) -> Network:
    """An untrained network for the states of a domain, of the family that the settings belong to.

    Parameters
    ----------
    domain : its predicates, with plain goals.
    seed : draws the weights.

    Examples
    --------
    >>> from distill.structures import Predicate
    >>> build_network(Vocabulary([Predicate("on", 2)]), Architecture(layers=2, size=4)).family
    'rgnn'
    """
    if getattr(settings, "layers", None) == AUTO:
        raise InputError("The number of layers is auto, which needs states to train on; give a number.")
    check_network(domain, settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _family_of(settings).build(domain, settings)


def check_network(domain: Vocabulary, settings: Settings) -> None:
    """Refuse settings of a network that cannot be trained in the memory of this machine.

    Parameters
    ----------
    domain : its predicates, with plain goals.

    Examples
    --------
    >>> from distill.structures import Predicate
    >>> check_network(Vocabulary([Predicate("on", 2)]), Architecture(layers=2, size=4))
    """
    # On this device, parameters have a shape but no memory.
    with torch.device("meta"):
        network = _family_of(settings).build(domain, settings)
    number = sum(value.numel() for value in network.parameters())
    check_memory(
        number * _BYTES_IN_TRAINING, f"The training of a network with {number} parameters", "lower size"
    )


def _family_of(settings: Settings) -> NetworkFamily:
    [family] = [family for family in FAMILIES.values() if type(settings) is family.settings]
    return family
