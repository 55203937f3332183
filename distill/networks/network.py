"""The interface of network families.

A family is a subclass of `Network` with an entry in `distill.networks.families`. Training, checkpoints,
replay, probes, controls and evaluation use only what is declared here.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from distill.common import InputError, Settings
from distill.encodings import Encoding
from distill.structures import Options, Quotient, Structures, Vocabulary

Integers = NDArray[np.int64]
Array = NDArray[np.float32]
POOLED, INNER, VALUE = "pooled", "inner", "value"


@dataclass(frozen=True)
class Site:
    """A place in a network where activations can be taken.

    Attributes
    ----------
    name : `layer 0`, `layer 1`, … about objects; `pooled`, `inner`, `value` about states.
    about : `objects` or `states`; each has one row of activations.
    depth : objects (or states) with equal colours at this depth of the refinement have equal activations.
    """

    name: str
    about: str
    depth: int


@dataclass(frozen=True)
class Bound:
    """The refinement that bounds a network: equal colours imply equal activations.

    Attributes
    ----------
    options : of the colouring.
    depth : rounds of refinement; None for a stable colouring.
    """

    options: Options
    depth: int | None


Table = TypeVar("Table", Tensor, Array)


@dataclass(frozen=True, eq=False)
class Activations(Generic[Table]):
    """The activations of a network on a batch.

    Attributes
    ----------
    sites : the array of each site, those about objects first and by depth: (n_rows at that depth, k) about
        objects, (n_states, k) about states. The site `value` has (n_states,).
    """

    sites: Mapping[Site, Table]

    def __getitem__(self, name: str) -> Table:
        """The array of a site."""
        return next(table for site, table in self.sites.items() if site.name == name)

    @property
    def embeddings(self) -> tuple[Table, ...]:
        """The arrays of all sites about objects, by depth."""
        return tuple(table for site, table in self.sites.items() if site.about == "objects")

    @property
    def pooled(self) -> Table:
        """(n_states, k) the embedding of each state."""
        return self[POOLED]

    @property
    def value(self) -> Table:
        """(n_states,) V."""
        return self[VALUE]


class Inputs(Protocol):
    """States in the form that a family computes on."""

    @property
    def sizes(self) -> Integers:
        """(n_states,) the number of rows of each state."""

    def part(self, states: Integers) -> Self:
        """Some states, by number."""


@dataclass(frozen=True, eq=False)
class StructureInputs:
    """Inputs of networks that compute on structures."""

    states: Structures

    @property
    def sizes(self) -> Integers:
        """(n_states,) the number of objects of each state."""
        return np.diff(self.states.object_offsets)

    def part(self, states: Integers) -> "StructureInputs":
        """Some states, by number."""
        return StructureInputs(self.states[states])


class Network(nn.Module, ABC):
    """A network from structures to values.

    Attributes
    ----------
    family : its name in `distill.networks.families.FAMILIES`.
    recurrent : whether the number of layers can vary.
    lifts : whether it can be run on the rows of a quotient instead of on objects.
    whole_batch : whether the activations of a state depend on the other states of the batch.
    pooling : how the embeddings of objects become one of the state: `sum`, `mean` or `max`.
    vocabulary : the predicates that it reads.
    settings : of the family.
    origin : its file, for messages.
    """

    family: ClassVar[str]
    recurrent: ClassVar[bool] = False
    lifts: ClassVar[bool] = False
    whole_batch: bool = False
    pooling: str = "sum"
    vocabulary: Vocabulary
    settings: Settings
    origin: str = "The network"

    @property
    @abstractmethod
    def encoding(self) -> Encoding:
        """The encoding of its states."""

    @property
    @abstractmethod
    def sites(self) -> tuple[Site, ...]:
        """Where activations can be taken: about objects by depth, then about states, `value` last."""

    @property
    @abstractmethod
    def bound(self) -> Bound:
        """The refinement that bounds it. Structures are those of its encoding."""

    @property
    def layers(self) -> int:
        """The number of layers."""
        return max(site.depth for site in self.sites)

    def inputs(self, batch: Structures, *, seed: int | None = None) -> Inputs:
        """Structures in the form that `run` takes.

        Parameters
        ----------
        batch : structures over a vocabulary that includes the network's.
        seed : draws the random part of the input, if there is one; zeros if left out.
        """
        return StructureInputs(batch)

    @abstractmethod
    def run(self, inputs: Any, *, keep: bool = True, layers: int | None = None) -> Activations[Tensor]:
        """Run the network, with gradients.

        Parameters
        ----------
        keep : whether to keep the activations of all sites, or only those about states.
        layers : the number of layers, if the network is recurrent.
        """

    def examples(self, quotient: Quotient) -> Inputs:
        """Representatives of the state rows of a stable quotient, in the form that `run` takes."""
        return self.inputs(quotient.states[quotient.chosen])

    def lifted(self, quotient: Quotient) -> dict[Site, Array]:
        """Run a network that lifts on the rows of a quotient, without gradients.

        Parameters
        ----------
        quotient : of structures in its encoding, at least as fine as `bound`.

        Returns
        -------
        For each site (n_rows at its depth, k) or (n_state_rows, k).
        """
        raise NotImplementedError(f"networks of the family {self.family} do not lift")

    def untrained(self, seed: int) -> Self:
        """A network of the same form with random weights; the same seed gives the same weights."""
        network = copy.deepcopy(self)
        network.origin = "The untrained network"
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for module in network.modules():
                reset = getattr(module, "reset_parameters", None)
                if reset is not None:
                    reset()
        return network

    def with_weights(self, tensors: Mapping[str, Tensor]) -> Self:
        """Load weights into this network; weights of other shapes are refused."""
        try:
            self.load_state_dict(dict(tensors))
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip().rstrip(".")
            raise InputError(f"the weights do not fit the architecture ({reason}).") from error
        broken = [name for name, value in tensors.items() if not value.isfinite().all()]
        if broken:
            raise InputError(f"weights are not finite numbers ({', '.join(broken[:3])}); train it again.")
        return self.eval()
