"""The relational GNN of thesis Algorithm 1, with options for its published relatives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from distill.models.bags import Bags
from distill.models.wiring import Wiring
from distill.settings import Architecture
from distill.structures import Predicate, Vocabulary

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
class Activations:
    """All that a network computes for a batch.

    Attributes
    ----------
    embeddings : for depth 0, 1, … L an array (n_rows at that depth, k).
    pooled : (n_states, k) what pooling gives, before the readout's last networks.
    inner : (n_states, hidden) the readout's last hidden values, of which V is a linear map.
    value : (n_states,) V.
    """

    embeddings: tuple[Tensor, ...]
    pooled: Tensor
    inner: Tensor
    value: Tensor


class Network(nn.Module):
    """A relational GNN: from the atoms of a state to its value.

    Parameters
    ----------
    vocabulary : the predicates that send messages, in the order of their parameters.
    architecture : what is computed.
    hidden : hidden sizes of the perceptrons, by their name in `state_dict`, where they differ from the
        thesis's.

    Examples
    --------
    >>> from distill.models import evaluate
    >>> from distill.structures import Structures
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]]})
    >>> evaluate(Network(words, Architecture(layers=2, size=4)), tower).value.shape
    torch.Size([1])
    """

    def __init__(
        self, vocabulary: Vocabulary, architecture: Architecture, hidden: Mapping[str, int] | None = None
    ) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.architecture = architecture
        k, sizes = architecture.size, hidden or {}

        def perceptron(name: str, inputs: int, default: int, outputs: int, activation: str) -> Perceptron:
            return Perceptron(inputs, sizes.get(name, default), outputs, activation)

        message, readout = architecture.activation, architecture.readout_activation
        widths = [k * _positions(predicate) for predicate in vocabulary]
        self.messages = nn.ModuleList(
            perceptron(f"messages.{number}", width, width, width, message)
            for number, width in enumerate(widths)
        )
        self.update = perceptron("update", 2 * k, 2 * k, k, message)
        self.norm = nn.LayerNorm(k) if architecture.layer_norm else None
        two = architecture.readout != "pooled"
        self.first_readout = perceptron("first_readout", k, k, k, readout) if two else None
        self.readout = perceptron("readout", k, 2 * k, 1, readout)

    def layer(self, x: Tensor, wiring: Wiring) -> Tensor:
        """One round of message passing: (n_rows before, k) to (n_rows after, k)."""
        k, options = self.architecture.size, self.architecture
        sent = []
        for predicate, message in zip(self.vocabulary, self.messages, strict=True):
            rows = wiring.senders.get(predicate.name)
            if rows is not None:
                heard = x.index_select(0, rows).view(-1, k * _positions(predicate))
                made = message(heard)
                sent.append((heard + made if options.message_residual else made).view(-1, k))
        table = torch.cat(sent) if sent else x.new_zeros(0, k)
        gathered = wiring.received.reduce(
            table, options.aggregation, smoothness=options.smoothness, floor=options.floor
        )
        own = x if wiring.parent_row is None else x.index_select(0, wiring.parent_row)
        both = (own, gathered) if options.update_order == "embedding" else (gathered, own)
        change: Tensor = self.update(torch.cat(both, dim=1))
        if self.norm is not None:
            change = self.norm(change)
        return own + change if options.update_residual else change

    def read(self, x: Tensor, states: Bags) -> tuple[Tensor, Tensor, Tensor]:
        """From embeddings (n_rows, k) and the rows of each state: pooled, inner and value."""
        options = self.architecture
        if self.first_readout is not None and options.readout == "two-part":
            x = self.first_readout(x)
        pooled = states.reduce(x, options.pooling)
        last = pooled
        if self.first_readout is not None and options.readout == "twice":
            last = self.first_readout(pooled)
        inner = self.readout.hidden(last)
        value = self.readout.outer(inner).view(-1)
        return pooled, inner, value.abs() if options.absolute else value

    def run(
        self,
        first: Tensor,
        wirings: Sequence[Wiring],
        states: Bags,
        *,
        keep: bool = True,
        layers: int | None = None,
    ) -> Activations:
        """Run all layers.

        Parameters
        ----------
        first : (n_rows at depth 0, k) the first embeddings.
        wirings : one for each layer; a single one serves all of them.
        states : the rows at the last depth that each state has.
        keep : whether to keep the embeddings of all depths, or of the last one only.
        layers : run so many instead of the architecture's.
        """
        x, kept = first, [first]
        for number in range(self.architecture.layers if layers is None else layers):
            x = self.layer(x, wirings[number if len(wirings) > 1 else 0])
            kept = [*kept, x] if keep else [x]
        return Activations(tuple(kept), *self.read(x, states))

    def zeros(self, n_rows: int) -> Tensor:
        """(n_rows, k) first embeddings."""
        return next(self.parameters()).new_zeros(n_rows, self.architecture.size)


def _positions(predicate: Predicate) -> int:
    """How many objects an atom sends messages to: a nullary one counts as unary."""
    return max(1, predicate.arity)
