"""The relational GNN of thesis Algorithm 1, with options for its published relatives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from distill.common import InputError, check_memory
from distill.encodings import Encoding, goal_encoding
from distill.networks.bags import Bags, Integers
from distill.networks.execution import as_array, run_representatives
from distill.networks.network import INNER, POOLED, VALUE, Activations, Array, Bound, Network, Site
from distill.networks.settings import DEFAULT_FAMILY, Architecture
from distill.networks.wiring import Wiring, wire_quotient, wire_structures
from distill.structures import Options, Predicate, Quotient, Structures, Vocabulary

_WORTH_LIFTING = 0.25  # rows per object; above, running the states themselves is faster
_ACTIVATIONS = {"mish": functional.mish, "relu": functional.relu}


class Perceptron(nn.Module):
    """Two linear maps with an activation between."""

    def __init__(self, inputs: int, hidden: int, outputs: int, activation: str) -> None:
        super().__init__()
        self.inner = nn.Linear(inputs, hidden)
        self.outer = nn.Linear(hidden, outputs)
        self.activation = activation

    def hidden(self, x: Tensor) -> Tensor:
        """(n, hidden) the values between the two maps."""
        return _ACTIVATIONS[self.activation](self.inner(x))

    def forward(self, x: Tensor) -> Tensor:
        """(n, inputs) to (n, outputs)."""
        return self.outer(self.hidden(x))  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Rows:
    """States in the form that an R-GNN computes on: objects, or classes of objects, as rows.

    Attributes
    ----------
    n_rows : the number of rows before the first layer.
    wirings : one for each layer; a single one serves all of them.
    states : the rows of each state at the last depth.
    first : (n_rows, k) initial embeddings; zeros if left out.
    depth : the number of layers already applied to them.
    """

    n_rows: int
    wirings: tuple[Wiring, ...]
    states: Bags
    first: Tensor | None = None
    depth: int = 0

    @property
    def sizes(self) -> Integers:
        """(n_states,) the number of rows of each state."""
        return np.diff(self.states.offsets)

    def part(self, states: Integers) -> "Rows":
        """Some states with their rows, if one wiring serves all layers."""
        [wiring] = self.wirings
        chosen = self.states[states]
        rows, place = np.unique(chosen.row, return_inverse=True)
        first = None if self.first is None else self.first[torch.from_numpy(rows)]
        bags = Bags(chosen.offsets, place, chosen.count)
        return Rows(len(rows), (wiring.part(rows),), bags, first, self.depth)


class RGNN(Network):
    """A relational GNN: from the atoms of a state to its value.

    Parameters
    ----------
    vocabulary : the predicates that send messages, in the order of their parameters.
    settings : the architecture.
    hidden : hidden sizes of the perceptrons, by their name in `state_dict`, where they differ from the
        thesis's.

    Examples
    --------
    >>> from distill.networks import evaluate
    >>> from distill.structures import Structures
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]]})
    >>> evaluate(RGNN(words, Architecture(layers=2, size=4)), tower).value.shape
    torch.Size([1])
    """

    family: ClassVar[str] = DEFAULT_FAMILY
    recurrent: ClassVar[bool] = True
    lifts: ClassVar[bool] = True
    settings: Architecture

    def __init__(
        self, vocabulary: Vocabulary, settings: Architecture, hidden: Mapping[str, int] | None = None
    ) -> None:
        super().__init__()
        if settings.random_initial > settings.size:
            raise InputError(f"random_initial must be at most size, {settings.size}.")
        self.vocabulary = vocabulary
        self.settings = settings
        # With this floor, the largest message of all states matters.
        self.whole_batch = settings.floor == "batch"
        self.pooling = settings.pooling
        k, sizes = settings.size, hidden or {}

        def perceptron(name: str, inputs: int, default: int, outputs: int, activation: str) -> Perceptron:
            return Perceptron(inputs, sizes.get(name, default), outputs, activation)

        message, readout = settings.activation, settings.readout_activation
        widths = [k * _positions(predicate) for predicate in vocabulary]
        self.messages = nn.ModuleList(
            perceptron(f"messages.{number}", width, width, width, message)
            for number, width in enumerate(widths)
        )
        self.update = perceptron("update", 2 * k, 2 * k, k, message)
        self.norm = nn.LayerNorm(k) if settings.layer_norm else None
        two = settings.readout != "pooled"
        self.first_readout = perceptron("first_readout", k, k, k, readout) if two else None
        self.readout = perceptron("readout", k, 2 * k, 1, readout)

    def layer(self, x: Tensor, wiring: Wiring) -> Tensor:
        """One round of message passing: (n_rows before, k) to (n_rows after, k)."""
        k, options = self.settings.size, self.settings
        sent = []
        for predicate, message in zip(self.vocabulary, self.messages, strict=True):
            rows = wiring.senders.get(predicate.name)
            if rows is not None:
                inputs = x.index_select(0, rows).view(-1, k * _positions(predicate))
                outputs = message(inputs)
                sent.append((inputs + outputs if options.message_residual else outputs).view(-1, k))
        table = torch.cat(sent) if sent else x.new_zeros(0, k)
        aggregate = wiring.received.reduce(
            table, options.aggregation, smoothness=options.smoothness, floor=options.floor
        )
        own = x if wiring.parent_row is None else x.index_select(0, wiring.parent_row)
        both = (own, aggregate) if options.update_order == "embedding" else (aggregate, own)
        change: Tensor = self.update(torch.cat(both, dim=1))
        if self.norm is not None:
            change = self.norm(change)
        return own + change if options.update_residual else change

    def read(self, x: Tensor, states: Bags) -> tuple[Tensor, Tensor, Tensor]:
        """From embeddings (n_rows, k) and the rows of each state: pooled, inner and value."""
        options = self.settings
        if self.first_readout is not None and options.readout == "two-part":
            x = self.first_readout(x)
        pooled = states.reduce(x, self.pooling)
        last = pooled
        if self.first_readout is not None and options.readout == "twice":
            last = self.first_readout(pooled)
        inner = self.readout.hidden(last)
        value = self.readout.outer(inner).view(-1)
        return pooled, inner, value.abs() if options.absolute else value

    @property
    def encoding(self) -> Encoding:
        """Goals plain or marked."""
        return goal_encoding(self.settings.goal_marking)

    @property
    def sites(self) -> tuple[Site, ...]:
        """`layer 0` to `layer L` about objects, then pooled embeddings, the readout's hidden values, V."""
        layers = self.settings.layers
        return (*map(_layer, range(layers + 1)), *_about_states(layers))

    @property
    def bound(self) -> Bound:
        """A round of refinement for each layer, with multisets."""
        return Bound(Options(nullary=self.settings.nullary), self.settings.layers)

    def inputs(self, batch: Structures, *, seed: int | None = None) -> Rows:
        """Every object is a row; `seed` draws the random part of the first embeddings, if there is one."""
        n, width, first = batch.n_objects, self.settings.random_initial, None
        if seed is not None and width:
            first = self._zeros(n)
            random = torch.randn(n, width, generator=torch.Generator().manual_seed(seed))
            first[:, -width:] = random.to(first.dtype)
        states = Bags(batch.object_offsets, np.arange(n), np.ones(n))
        return Rows(n, (wire_structures(batch, self.vocabulary),), states, first)

    def rows(self, quotient: Quotient) -> Rows:
        """The rows of a quotient as rows; each message is computed once.

        Parameters
        ----------
        quotient : at least as deep as the network or stable, and with multisets.
        """
        layers = self.settings.layers
        wirings = tuple(wire_quotient(quotient, depth, self.vocabulary) for depth in range(1, layers + 1))
        last = quotient.layers[min(layers, quotient.depth)]
        return Rows(len(quotient.layers[0]), wirings, Bags.of_matrix(last.histogram))

    def examples(self, quotient: Quotient) -> Rows:
        """The stable rows: in every layer, a row receives messages from rows of its own state only."""
        # In a stable quotient the layer after the last repeats it.
        wiring = wire_quotient(quotient, quotient.depth + 1, self.vocabulary)
        return Rows(len(wiring), (wiring,), Bags.of_matrix(quotient.layers[-1].histogram))

    def run(self, inputs: Rows, *, keep: bool = True, layers: int | None = None) -> Activations[Tensor]:
        """Run all layers and the readout, with gradients; see `Network.run`."""
        layers = self.settings.layers if layers is None else layers
        layer_tables: dict[Site, Tensor] = {}
        first = self._zeros(inputs.n_rows) if inputs.first is None else inputs.first
        for depth, x in self._embeddings(first, inputs.wirings, inputs.depth, layers):
            if keep:
                layer_tables[_layer(depth)] = x
        state_tables = zip(_about_states(layers), self.read(x, inputs.states), strict=True)
        return Activations({**layer_tables, **dict(state_tables)})

    def lifted(self, quotient: Quotient) -> dict[Site, Array]:
        """Run the network on the rows of a quotient, without gradients.

        Layers whose rows represent several objects each are lifted. Once nearly every object has its own row,
        the states themselves are run. Both give the same activations.
        """
        layers = self.settings.layers
        limit = _WORTH_LIFTING * max(1, quotient.states.n_objects)
        levels = [quotient.layers[min(depth, quotient.depth)] for depth in range(1, layers + 1)]
        numbers = sum(map(len, levels)) * self.settings.size
        check_memory(
            4 * numbers, f"The replay of {layers} layers with {numbers} activations", "use fewer states"
        )
        begin = layers if self.whole_batch else sum(len(level) <= limit for level in levels)
        if begin == layers:
            return {site: as_array(table) for site, table in self.run(self.rows(quotient)).sites.items()}
        wirings = tuple(wire_quotient(quotient, depth, self.vocabulary) for depth in range(1, begin + 1))
        zeros = self._zeros(len(quotient.layers[0]))
        first = {_layer(depth): as_array(x) for depth, x in self._embeddings(zeros, wirings, 0, begin)}
        start, last = quotient.layers[begin].row, first[_layer(begin)]

        def run_rest(batch: Structures, objects: slice) -> Mapping[Site, Tensor]:
            x = torch.from_numpy(last[start[objects]])
            return self.run(replace(self.inputs(batch), first=x, depth=begin)).sites

        return {**first, **run_representatives(quotient, self.sites[begin + 1 :], run_rest)}

    def _embeddings(
        self, x: Tensor, wirings: Sequence[Wiring], begin: int, end: int
    ) -> Iterator[tuple[int, Tensor]]:
        """The embeddings (n_rows, k) after each layer, from layer `begin` on."""
        yield begin, x
        for depth in range(begin, end):
            x = self.layer(x, wirings[depth if len(wirings) > 1 else 0])
            yield depth + 1, x

    def _zeros(self, n_rows: int) -> Tensor:
        """(n_rows, k) first embeddings."""
        return next(self.parameters()).new_zeros(n_rows, self.settings.size)


def build_rgnn(domain: Vocabulary, settings: Architecture) -> RGNN:
    """A network for the states of a domain.

    Parameters
    ----------
    domain : its predicates, with plain goals.
    """
    vocabulary = goal_encoding(settings.goal_marking).vocabulary(domain)
    if not settings.nullary:
        vocabulary = Vocabulary(predicate for predicate in vocabulary if predicate.arity)
    return RGNN(vocabulary, settings)


def read_rgnn(vocabulary: Vocabulary, settings: Architecture, tensors: Mapping[str, Tensor]) -> RGNN:
    """A network with given weights, which determine the hidden sizes."""
    hidden = {
        name.removesuffix(".inner.weight"): value.shape[0]
        for name, value in tensors.items()
        if name.endswith(".inner.weight")
    }
    return RGNN(vocabulary, settings, hidden).with_weights(tensors)


def _layer(depth: int) -> Site:
    return Site(f"layer {depth}", "objects", depth)


def _about_states(layers: int) -> tuple[Site, ...]:
    return tuple(Site(name, "states", layers) for name in (POOLED, INNER, VALUE))


def _positions(predicate: Predicate) -> int:
    """The number of objects that an atom sends messages to; nullary atoms count as unary."""
    return max(1, predicate.arity)
