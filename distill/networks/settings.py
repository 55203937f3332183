"""The settings of networks and of their training."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, NonNegativeInt, PlainSerializer, WithJsonSchema

from distill.common import NonNegativeReal, Settings, setting

AUTO = -1
"""The number of layers that is computed from the states."""
_LAYERS_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 0}, {"const": "auto"}]}


def _parsed_layers(value: Any) -> Any:
    if isinstance(value, int) and value < 0:
        raise ValueError("negative")
    return AUTO if value == "auto" else value


Layers = Annotated[
    int,
    BeforeValidator(_parsed_layers),
    PlainSerializer(lambda layers: "auto" if layers == AUTO else layers),
    WithJsonSchema(_LAYERS_SCHEMA),
]


class Architecture(Settings):
    """The architecture of a relational GNN; the defaults are thesis Algorithm 1.

    The options from `smoothness` on exist for networks of other projects.
    """

    # Files without a family mean this one, so it is not written.
    family: Literal["rgnn"] = Field(default="rgnn", description="The family of networks.", exclude=True)
    layers: Layers = setting(
        5,
        "Rounds of message passing; auto is the least number for which every object receives what "
        "holds of each object that is connected with it, in all states of all splits.",
    )
    size: NonNegativeInt = setting(32, "Dimension of an object's embedding.")
    aggregation: Literal["sum", "mean", "max", "logsumexp"] = setting(
        "logsumexp", "Aggregation of an object's messages."
    )
    pooling: Literal["sum", "max"] = setting("sum", "Aggregation of the objects' embeddings.")
    goal_marking: bool = setting(False, "Goals are split into achieved and missing goals.")
    nullary: bool = setting(True, "Nullary atoms hold of every object; otherwise they are ignored.")
    smoothness: NonNegativeReal = setting(1.0, "Factor inside logsumexp: the larger, the closer to max.")
    floor: Literal["none", "object", "batch"] = setting(
        "none",
        "Added by logsumexp before the logarithm: nothing, or 1e-16 relative to the largest message of the "
        "object or of the whole batch. Without it, an empty aggregate is 0.",
    )
    activation: Literal["mish", "relu"] = setting("mish", "Activation of messages and updates.")
    message_residual: bool = setting(True, "A message is added to the embedding it goes to.")
    update_residual: bool = setting(True, "An update is added to the embedding.")
    update_order: Literal["embedding", "aggregate"] = setting(
        "embedding", "First part of the update's input."
    )
    layer_norm: bool = setting(False, "Updates are normalised, with a learned scale and shift.")
    random_initial: NonNegativeInt = setting(
        0, "Number of last components of the first embedding that are random; they are 0 in replay."
    )
    readout: Literal["pooled", "two-part", "twice"] = setting(
        "pooled",
        "Perceptrons of the readout: one after pooling, one before and one after, or two after.",
    )
    readout_activation: Literal["relu", "mish"] = setting("relu", "Activation of the readout.")
    absolute: bool = setting(False, "V is the absolute value of the readout.")

    @classmethod
    def _fault(cls, name: str, value: Any) -> str:
        fault = super()._fault(name, value)
        return fault.replace(", not ", " or auto, not ", 1) if name == "layers" else fault


DEFAULT_FAMILY = "rgnn"  # the family of files that name none
FAMILY_SETTINGS: Mapping[str, type[Settings]] = {DEFAULT_FAMILY: Architecture}
"""The settings of each family of networks; the setting `family` selects one."""


class Training(Settings):
    """How a network is trained (thesis 5.3)."""

    added = frozenset({"schedule", "multiplicity", "time_limit"})

    epochs: NonNegativeInt = setting(100, "Largest number of epochs.")
    batches: NonNegativeInt = setting(300, "Batches in an epoch.")
    batch_size: NonNegativeInt = setting(
        64, "States in a batch, drawn by inverse frequency of their V*; 0 takes all, weighted by it."
    )
    loss: Literal["l1", "mse"] = setting("l1", "Mean absolute (l1) or squared (mse) error.")
    learning_rate: NonNegativeReal = setting(1e-3, "Learning rate of Adam.")
    schedule: Literal["cosine", "none"] = setting(
        "cosine",
        "The learning rate rises over the first 100 batches and falls along a cosine to 0 (cosine), or is "
        "constant (none).",
    )
    weight_decay: NonNegativeReal = setting(5e-4, "Weight decay of Adam.")
    multiplicity: bool = setting(
        False,
        "States of equal V* count as often as they occur in the data, in batches and in the validation "
        "error; otherwise those that no relational GNN distinguishes count once.",
    )
    layer_spread: NonNegativeInt = setting(
        0,
        "Each batch runs a random number of layers that differs by at most this from `layers`. Embeddings "
        "then converge, and the network generalises better to larger instances.",
    )
    clip: NonNegativeReal = setting(1.0, "Largest norm of the gradient; 0 does not clip.")
    patience: NonNegativeInt = setting(20, "Epochs without a better validation error before training stops.")
    time_limit: NonNegativeReal = setting(
        0.0, "Seconds of training after which no further epoch begins; 0 sets no limit."
    )
    validation_states: NonNegativeInt = setting(1000, "Largest number of validation states.")
    seeds: NonNegativeInt = setting(1, "Number of networks; the one with the best validation error is used.")
    seed: NonNegativeInt = setting(0, "The first seed.")
    reduce: Literal["none", "exact", "iso", "wl"] = setting(
        "wl", "Reduction of the data, see `distill data`."
    )

    def of_one_seed(self) -> dict[str, Any]:
        """The settings that the training from one seed depends on, without the seed.

        The time limit is not among them: with a greater one, the same training goes on.

        Examples
        --------
        >>> Training(seeds=3).of_one_seed() == Training(seed=8).of_one_seed()
        True
        """
        others = ("seed", "seeds", "time_limit")
        return {name: value for name, value in self.identity().items() if name not in others}
