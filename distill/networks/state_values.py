"""V of labelled states: a network is run once on each equivalence class of states."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.networks.activations import replay
from distill.networks.matching import check_vocabulary
from distill.networks.network import Network
from distill.structures import DataSet, Options
from distill.symmetry import QuotientMap, build_quotient, labelled_states

Array = NDArray[np.float64]
_AT_ONCE = 2_000_000  # objects of all states that are run together
_PART = 500_000  # objects of a part


def quotient_for(
    network: Network,
    sets: Mapping[str, DataSet],
    options: Options | None = None,
    *,
    stable: bool = False,
) -> QuotientMap:
    """Build the quotient of labelled states in a network's encoding, as deep as its bound.

    Domains that the network cannot read are refused.

    Parameters
    ----------
    options : of the colouring; those of the network's bound if left out.
    stable : whether to refine until the rows are stable.
    """
    for data in sets.values():
        check_vocabulary(network, data.vocabulary)
    if not any(len(data) for data in sets.values()):
        raise InputError("There are no labelled states to run the network on; label some first.")
    depth = None if stable else network.bound.depth
    return build_quotient(labelled_states(sets, network.encoding), depth, options or network.bound.options)


def predict(network: Network, sets: Mapping[str, DataSet]) -> dict[str, Array]:
    """V of every state: (n_states,) for each set.

    Large sets are run in parts, so that memory stays bounded where few states are alike.
    """
    objects = {name: np.cumsum(data.n_objects[data.state_instance]) for name, data in sets.items()}
    if network.whole_batch or sum(int(count[-1]) for count in objects.values() if len(count)) <= _AT_ONCE:
        return _predict(network, sets)
    found: dict[str, Array] = {}
    for name, data in sets.items():
        parts = np.split(np.arange(len(data)), np.flatnonzero(np.diff(objects[name] // _PART)) + 1)
        own = [_predict(network, {name: data.pick(part)})[name] for part in parts if len(part)]
        found[name] = np.concatenate([np.zeros(0), *own])
    return found


def _predict(network: Network, sets: Mapping[str, DataSet]) -> dict[str, Array]:
    built = quotient_for(network, sets)
    values = replay(network, built.quotient).value[built.state_row].astype(np.float64)
    ends = np.cumsum([len(data) for data in sets.values()])[:-1]
    return dict(zip(sets, np.split(values, ends), strict=True))
