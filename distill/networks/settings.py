"""The settings of networks and of their training."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler
from pydantic.annotated_handlers import GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from distill.common import MOST_SEED, Real, Settings, setting


class _Auto(int):
    """The number of layers that is computed from the states."""


AUTO = _Auto(-1)


@dataclass(frozen=True)
class _Layers:
    """A number of layers in a range, or `auto`."""

    ge: int = 1
    le: int = 1000

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def parsed(value: Any, validate: Any) -> int:
            return AUTO if value == "auto" or isinstance(value, _Auto) else int(validate(value))

        return core_schema.no_info_wrap_validator_function(
            parsed,
            core_schema.int_schema(ge=self.ge, le=self.le, strict=True),
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda layers: "auto" if isinstance(layers, _Auto) else layers
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [{"type": "integer", "minimum": self.ge, "maximum": self.le}, {"const": "auto"}]}


class Architecture(Settings):
    """The architecture of a relational GNN; the defaults are thesis Algorithm 1.

    The options from `smoothness` on exist for networks of other projects.
    """

    # Files without a family mean this one, so it is not written.
    family: Literal["rgnn"] = Field(default="rgnn", description="The family of networks.", exclude=True)
    layers: Annotated[int, _Layers()] = Field(
        5,
        description="Rounds of message passing; auto is the least number for which each object receives what "
        "holds of each object that is connected with it, in all states of all splits.",
    )
    size: int = setting(32, "Dimension of an object's embedding.", least=1, most=8192)
    aggregation: Literal["sum", "mean", "max", "logsumexp"] = setting(
        "logsumexp", "Aggregation of an object's messages."
    )
    pooling: Literal["sum", "max"] = setting("sum", "Aggregation of the objects' embeddings.")
    goal_marking: bool = setting(False, "Goals are split into achieved and missing goals.")
    nullary: bool = setting(True, "Nullary atoms hold of every object; otherwise they are ignored.")
    smoothness: Real = setting(
        1.0, "Factor inside logsumexp: the larger, the closer to max.", least=1e-3, most=1e3
    )
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
    random_initial: int = setting(
        0,
        "Number of last components of the first embedding that are random; they are 0 in replay.",
        most=8192,
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

    epochs: int = setting(
        100,
        "Largest number of epochs.",
        least=1,
        most=1_000_000,
    )
    batches: int = setting(300, "Batches in an epoch.", least=1, most=1_000_000)
    batch_size: int = setting(
        64,
        "States in a batch, drawn by inverse frequency of their V*; 0 takes all, weighted by it.",
        most=1_000_000,
    )
    loss: Literal["l1", "mse"] = setting("l1", "Mean absolute (l1) or squared (mse) error.")
    learning_rate: Real = setting(1e-3, "Learning rate of Adam.")
    schedule: Literal["cosine", "none"] = setting(
        "cosine",
        "The learning rate rises over the first 100 batches and falls along a cosine to 0 (cosine), or is "
        "constant (none).",
    )
    weight_decay: Real = setting(5e-4, "Weight decay of Adam.")
    multiplicity: bool = setting(
        False,
        "States of equal V* count as often as they occur in the data, in batches and in the validation "
        "error; otherwise those that no relational GNN distinguishes count once.",
    )
    layer_spread: int = setting(
        0,
        "Each batch runs a random number of layers that differs by at most this from `layers`. Embeddings "
        "then converge, and the network generalises better to larger instances.",
        most=1000,
    )
    clip: Real = setting(1.0, "Largest norm of the gradient; 0 does not clip.")
    patience: int = setting(20, "Epochs without a better validation error before training stops.")
    time_limit: Real = setting(
        0.0, "Seconds of training after which no further epoch begins; 0 sets no limit."
    )
    validation_states: int = setting(1000, "Largest number of validation states.", least=1)
    seeds: int = setting(
        1, "Number of networks; the one with the best validation error is used.", most=10_000
    )
    seed: int = setting(0, "The first seed.", most=MOST_SEED)
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
